#include "symbol/file_names.h"

#include "symbol/function_names_maker.h"

namespace symbol {

namespace {

constexpr uint32_t format_version = 2; // raised when function_names.h or the choice of names changes

uint64_t number_of(const base::FileId& id) {
  uint64_t file = combine(id.device, id.inode);
  return combine(combine(file, static_cast<uint64_t>(id.size)), static_cast<uint64_t>(id.changed_ns));
}

FunctionNames held(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  auto names = FunctionNames::of(*owner, owner);
  return names.ok() ? std::move(*names) : FunctionNames();
}

std::optional<FunctionNames> find_cached(const CacheKey& key, const Cache& cache) {
  auto file = cache.find(key);
  if (!file) return std::nullopt;
  auto owner = std::make_shared<const CachedFile>(std::move(*file));
  auto names = FunctionNames::of(owner->bytes(), owner);
  if (!names.ok()) return std::nullopt;
  return std::move(*names);
}

} // namespace

FunctionNames names_of_file(const format::ElfFile& file, const DebugFile* debug, const Cache& cache) {
  const FoundFile* found = debug && debug->debug.file ? &debug->debug : nullptr;
  const format::ElfFile* extra = found ? &*found->file : nullptr;
  // Whose file it is cannot be told from its build-id, which anyone may copy: so the file itself is in the
  // key.
  bool is_file = file.id() != base::FileId();
  uint64_t source = combine(number_of(file.id()), extra ? number_of(extra->id()) : 0);
  base::ByteSpan build_id = file.build_id();
  if (build_id.empty()) build_id = std::as_bytes(std::span(&source, 1));
  CacheKey key = {.kind = "names", .version = format_version, .build_id = build_id, .source = source};
  if (is_file)
    if (auto names = find_cached(key, cache)) return std::move(*names);
  std::vector<std::byte> bytes = make_function_names(file, extra, found ? found->path : std::string());
  bool is_damaged = file.damaged() || (extra && extra->damaged());
  if (is_file && !is_damaged) (void)cache.store(key, bytes); // next time it is made again
  return held(std::move(bytes));
}

FunctionNames names_of_file(const format::ElfFile& file, const std::string& path, const DebugSearch& search,
                            const Cache& cache) {
  if (file.elf().section(".symtab")) return names_of_file(file, nullptr, cache);
  DebugFile debug = find_debug_file(file, path, search);
  return names_of_file(file, &debug, cache);
}

} // namespace symbol
