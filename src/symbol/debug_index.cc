#include "symbol/debug_index.h"

#include "dwarf/name_tables.h"
#include "symbol/kept_sections.h"

namespace symbol {
namespace {

std::vector<dwarf::IndexFile> index_files(std::span<const format::ElfFile* const> files, const Cache& cache) {
  std::vector<dwarf::IndexFile> out;
  for (const format::ElfFile* file : files)
    out.push_back(file ? dwarf::IndexFile::of(keep_sections(*file, cache)) : dwarf::IndexFile());
  return out;
}

// An ElfFile gives plain sections, so what counts is what is compressed in them, too; the section is not
// touched.
uint64_t size_of_info(const format::ElfFile& file) {
  const format::ElfSection* info = file.elf().section(".debug_info");
  return info ? info->size : file.bytes().size();
}

// Tells this state of these files from others.
uint64_t number_of(std::span<const format::ElfFile* const> files) {
  uint64_t out = files.size();
  for (const format::ElfFile* file : files) out = combine(out, file ? file->id() : base::FileId());
  return out;
}

CacheKey key_of(std::span<const format::ElfFile* const> files) {
  return {"index", dwarf::Index::version, files[0]->build_id(), number_of(files)};
}

bool is_keepable(std::span<const format::ElfFile* const> files, const IndexSizes& sizes) {
  for (const format::ElfFile* file : files)
    if (file && (file->id() == base::FileId() || file->damaged()))
      return false; // no file that could be found again
  return size_of_info(*files[0]) >= sizes.kept_from;
}

} // namespace

base::Result<DebugIndex> DebugIndex::of_bytes(std::vector<std::byte> bytes) {
  DebugIndex out;
  out.made_ = std::move(bytes); // their place stays the same when this is moved
  ACU_TRY(out.index_, dwarf::Index::open(out.made_));
  return out;
}

std::optional<DebugIndex> DebugIndex::find(const CacheKey& key, const Cache& cache) {
  std::optional<CachedFile> stored = cache.find(key);
  if (!stored) return std::nullopt;
  auto index = dwarf::Index::open(stored->bytes());
  if (!index.ok()) return std::nullopt;
  DebugIndex out;
  out.stored_ = std::move(stored);
  out.index_ = std::move(*index);
  return out;
}

base::Result<DebugIndex> DebugIndex::open(std::span<const format::ElfFile* const> files, const Cache& cache,
                                          const IndexSizes& sizes) {
  if (files.empty() || !files[0])
    return base::Error{base::Failure::nothing_matched, "there is no debug file"};
  bool keep = is_keepable(files, sizes);
  if (keep)
    if (auto found = find(key_of(files), cache)) return std::move(*found);
  std::vector<dwarf::IndexFile> sections = index_files(files, cache);
  ACU_TRY(auto bytes, dwarf::build_index(sections));
  if (keep && is_keepable(files, sizes))
    (void)cache.store(key_of(files), bytes); // without, it is made again next time
  return of_bytes(std::move(bytes));
}

base::Result<DebugIndex> DebugIndex::open_for(std::string_view name,
                                              std::span<const format::ElfFile* const> files,
                                              const Cache& cache, const IndexSizes& sizes) {
  bool is_large = !files.empty() && files[0] && size_of_info(*files[0]) >= sizes.short_cut_from;
  if (!is_large) return open(files, cache, sizes);
  if (is_keepable(files, sizes))
    if (auto found = find(key_of(files), cache)) return std::move(*found);
  dwarf::DebugInfo info(keep_sections(*files[0], cache));
  if (!dwarf::has_name_tables(info.sections())) return open(files, cache, sizes);
  std::optional<std::vector<size_t>> units = dwarf::units_with(info, name);
  if (!units) return open(files, cache, sizes);
  std::vector<dwarf::IndexFile> sections = index_files(files, cache);
  ACU_TRY(auto bytes, dwarf::build_index(sections, 2, &*units));
  ACU_TRY(DebugIndex out, of_bytes(std::move(bytes)));
  out.is_whole_ = false;
  return out;
}

} // namespace symbol
