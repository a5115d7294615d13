#include "format/elf_file.h"

#include "format/decompress.h"
#include "format/elf_relocate.h"

#include <algorithm>
#include <atomic>
#include <elf.h>
#include <mutex>
#include <new>

namespace format {

using base::ByteSpan;
using base::Reader;

static constexpr uint32_t compress_zlib = 1, compress_zstd = 2; // ELFCOMPRESS_…

// What a compressed section became; made by the first who asks.
struct Plain {
  std::once_flag once;
  std::unique_ptr<std::byte[]> memory;
  ByteSpan bytes;
};

struct ElfFile::State {
  base::FileMap map;
  std::vector<std::byte> held;
  ByteSpan bytes; // of either, or of what outlives us
  Elf elf;

  std::unique_ptr<Plain[]> plain;       // for each section
  std::atomic<uint64_t> plain_size = 0; // bytes of all of them
  std::once_flag build_id_once, packed_once, store_once;
  std::unique_ptr<PlainStore> owned_store;
  std::atomic<PlainStore*> store = nullptr;
  ByteSpan build_id;
  std::optional<ElfFile> packed;

  std::mutex problems_changing;
  std::vector<std::string> problems;

  void complain(std::string_view section, std::string_view why) {
    std::lock_guard lock(problems_changing);
    problems.push_back("section " + std::string(section) + ": " + std::string(why));
  }
  size_t index_of(const ElfSection& s) const { return static_cast<size_t>(&s - elf.sections().data()); }
  bool is_relocated(const ElfSection& s) const;
  bool is_allowed(const ElfSection& s, uint64_t size, uint64_t most);
  bool reserve(const ElfSection& s, uint64_t size, Plain& into);
  void make_plain(const ElfFile& self, const ElfSection& s, Plain& into);
};

// ---- making

ElfFile::ElfFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

base::Result<ElfFile> ElfFile::make(std::unique_ptr<State> state) {
  ACU_TRY(state->elf, Elf::parse(state->bytes));
  state->plain = std::make_unique<Plain[]>(state->elf.sections().size());
  return ElfFile(std::move(state));
}

base::Result<ElfFile> ElfFile::open(const std::string& path, const std::string& root) {
  ACU_TRY(base::FileMap map, base::FileMap::open(path, root));
  auto file = of(std::move(map));
  if (!file) return std::move(file.error()).with(path);
  return file;
}

base::Result<ElfFile> ElfFile::of(base::FileMap map) {
  auto state = std::make_unique<State>();
  state->map = std::move(map);
  state->bytes = state->map.bytes();
  return make(std::move(state));
}

base::Result<ElfFile> ElfFile::of(std::vector<std::byte> image) {
  auto state = std::make_unique<State>();
  state->held = std::move(image);
  state->bytes = state->held;
  return make(std::move(state));
}

base::Result<ElfFile> ElfFile::view(ByteSpan image) {
  auto state = std::make_unique<State>();
  state->bytes = image;
  return make(std::move(state));
}

const Elf& ElfFile::elf() const { return state_->elf; }
ByteSpan ElfFile::bytes() const { return state_->bytes; }
const base::FileId& ElfFile::id() const { return state_->map.id(); }
bool ElfFile::damaged() const { return state_->map.damaged(); }
void ElfFile::release_pages() const { state_->map.release_pages(); }

std::vector<std::string> ElfFile::problems() const {
  std::lock_guard lock(state_->problems_changing);
  return state_->problems;
}

// ---- sections

// ".zdebug_info": how sections were compressed before the ABI had a flag for it.
static bool is_old_compressed(const ElfSection& s) { return s.name.starts_with(".zdebug_"); }
static bool is_compressed(const ElfSection& s) { return (s.flags & SHF_COMPRESSED) || is_old_compressed(s); }

struct CompressionHeader {
  uint32_t kind = 0;
  uint64_t size = 0;   // of the plain bytes
  uint64_t header = 0; // bytes of the header itself
};

static std::optional<CompressionHeader> compression_header(const ElfSection& s, ByteSpan stored) {
  Reader r(stored);
  if (s.flags & SHF_COMPRESSED) { // Elf64_Chdr
    CompressionHeader h;
    h.kind = r.number<uint32_t>();
    r.skip(4);
    h.size = r.number<uint64_t>();
    r.skip(8); // alignment
    h.header = r.at();
    return r.ok() ? std::optional(h) : std::nullopt;
  }
  if (stored.size() < 12 || std::memcmp(stored.data(), "ZLIB", 4) != 0) return std::nullopt;
  CompressionHeader h = {.kind = compress_zlib, .size = 0, .header = 12};
  for (size_t i = 4; i < 12; i++) h.size = h.size << 8 | static_cast<uint8_t>(stored[i]);
  return h;
}

bool ElfFile::State::is_relocated(const ElfSection& s) const {
  return elf.is_relocatable() && s.name.substr(0, 7) == ".debug_" && relocations_of(elf, index_of(s));
}

// Whether so many plain bytes are within what a file may become.
bool ElfFile::State::is_allowed(const ElfSection& s, uint64_t size, uint64_t most) {
  uint64_t before = plain_size.fetch_add(size), most_of_all = most_decompressed(bytes.size());
  if (size > most || before > most_of_all || size > most_of_all - before) {
    complain(s.name, "it would become unreasonably large (" + std::to_string(size) + " bytes)");
    return false;
  }
  return true;
}

bool ElfFile::State::reserve(const ElfSection& s, uint64_t size, Plain& into) {
  into.memory.reset(new (std::nothrow) std::byte[size]);
  if (!into.memory) complain(s.name, "no memory is left");
  return into.memory != nullptr;
}

// Decompresses, or copies, and relocates.
void ElfFile::State::make_plain(const ElfFile& self, const ElfSection& s, Plain& into) {
  ByteSpan stored = elf.content(s);
  if (stored.empty()) {
    if (s.size && s.type != SHT_NOBITS) complain(s.name, "it is not within the file");
    return;
  }
  std::span<std::byte> out;
  if (is_compressed(s)) {
    auto header = compression_header(s, stored);
    if (!header) return complain(s.name, "it begins with no header of a compressed section");
    if (header->kind != compress_zlib && header->kind != compress_zstd)
      return complain(s.name, "it is compressed in an unknown way (" + std::to_string(header->kind) + ")");
    PlainStore* const keeper = is_relocated(s) ? nullptr : store.load();
    if (keeper)
      if (into.bytes = keeper->find(self, index_of(s), header->size); !into.bytes.empty()) return;
    ByteSpan in = stored.subspan(header->header);
    if (!is_allowed(s, header->size, most_decompressed(in.size()))) return;
    std::optional<std::string> problem; // none: not tried yet
    const auto fill = [&](std::span<std::byte> room) {
      problem = header->kind == compress_zlib ? decompress_zlib(in, room) : decompress_zstd(in, room);
      return problem->empty();
    };
    if (keeper)
      if (into.bytes = keeper->make(self, index_of(s), header->size, fill); !into.bytes.empty()) return;
    if (!problem || problem->empty()) {
      if (!reserve(s, header->size, into)) return;
      out = {into.memory.get(), header->size};
      fill(out);
    }
    if (!problem->empty()) {
      into.memory.reset();
      return complain(s.name, *problem);
    }
  } else {
    if (!is_allowed(s, stored.size(), stored.size()) || !reserve(s, stored.size(), into)) return;
    out = {into.memory.get(), stored.size()};
    std::ranges::copy(stored, out.begin());
  }
  if (is_relocated(s)) {
    const ElfSection& entries = *relocations_of(elf, index_of(s));
    std::string problem = relocate(elf, index_of(s), entries, elf.content(entries), out);
    if (!problem.empty()) complain(s.name, problem);
  }
  into.bytes = out;
}

void ElfFile::set_store(std::unique_ptr<PlainStore> store) const {
  std::call_once(state_->store_once, [&] {
    state_->owned_store = std::move(store);
    state_->store = state_->owned_store.get();
  });
}

ByteSpan ElfFile::section(const ElfSection& s) const {
  if (!is_compressed(s) && !state_->is_relocated(s)) return state_->elf.content(s);
  Plain& plain = state_->plain[state_->index_of(s)];
  std::call_once(plain.once, [&] { state_->make_plain(*this, s, plain); });
  return plain.bytes;
}

// Of several that have the name, the first with bytes: a file with nothing but symbols keeps the headers of
// sections it left out.
static const ElfSection* find_section(const Elf& elf, std::string_view name) {
  for (const ElfSection& s : elf.sections()) {
    bool matches = s.name == name || (is_old_compressed(s) && name.starts_with(".debug_") &&
                                      s.name.substr(2) == name.substr(1));
    if (matches && s.type != SHT_NOBITS && s.size) return &s;
  }
  return nullptr;
}

ByteSpan ElfFile::section(std::string_view name) const {
  const ElfSection* s = find_section(state_->elf, name);
  return s ? section(*s) : ByteSpan();
}

bool ElfFile::has_section(std::string_view name) const { return find_section(state_->elf, name); }

// ---- what the file says of itself

static constexpr size_t longest_build_id = 64; // bytes; SHA-512, should anybody want that

// Notes: sizes of name and description, kind, name, description, each padded. See elf(5), "Notes".
ByteSpan build_id_in_notes(ByteSpan notes, uint64_t alignment) {
  auto padded = [&](uint64_t size) {
    return alignment == 8 ? (size + 7) & ~uint64_t{7} : (size + 3) & ~uint64_t{3};
  };
  for (uint64_t at = 0; at < notes.size();) {
    Reader r(notes, at);
    uint64_t name_size = r.number<uint32_t>(), size = r.number<uint32_t>();
    auto kind = r.number<uint32_t>();
    if (!r.ok()) break;
    uint64_t description = at + padded(12 + name_size);
    if (kind == NT_GNU_BUILD_ID && base::text_at(base::slice(notes, r.at(), name_size), 0) == "GNU" && size &&
        size <= longest_build_id)
      return base::slice(notes, description, size);
    at = description + padded(size);
  }
  return {};
}

static ByteSpan find_build_id(const ElfFile& file) {
  for (const ElfSection& s : file.elf().sections()) {
    if (s.type != SHT_NOTE) continue;
    if (ByteSpan id = build_id_in_notes(file.section(s), s.alignment); !id.empty()) return id;
  }
  for (const ElfSegment& s : file.elf().segments()) {
    if (s.type != PT_NOTE) continue;
    if (ByteSpan id = build_id_in_notes(base::slice(file.bytes(), s.offset, s.file_size), s.alignment);
        !id.empty())
      return id;
  }
  return {};
}

ByteSpan ElfFile::build_id() const {
  std::call_once(state_->build_id_once, [&] { state_->build_id = find_build_id(*this); });
  return state_->build_id;
}

std::optional<DebugLink> ElfFile::debug_link() const {
  ByteSpan link = section(".gnu_debuglink");
  DebugLink out = {.name = base::text_at(link, 0)};
  Reader r(link, (out.name.size() + 4) & ~uint64_t{3}); // after the NUL, aligned
  out.crc = r.number<uint32_t>();
  if (out.name.empty() || !r.ok()) return std::nullopt;
  return out;
}

// .debug_sup of DWARF 5: version, whether this is the shared file itself, path of that file, size of the
// checksum (LEB128; one byte for any sensible checksum), checksum.
struct DebugSup {
  bool is_shared_file = false;
  std::string_view path;
  ByteSpan checksum;
};

static std::optional<DebugSup> read_debug_sup(ByteSpan bytes) {
  DebugSup sup;
  Reader r(bytes);
  auto version = r.number<uint16_t>();
  sup.is_shared_file = r.number<uint8_t>() != 0;
  sup.path = base::text_at(bytes, r.at());
  r.skip(sup.path.size() + 1);
  auto size = r.number<uint8_t>();
  if (!r.ok() || version != 5 || size >= 128) return std::nullopt;
  sup.checksum = base::slice(bytes, r.at(), size);
  return sup;
}

std::optional<DebugAltLink> ElfFile::debug_alt_link() const {
  if (ByteSpan link = section(".gnu_debugaltlink"); !link.empty()) {
    DebugAltLink out = {.path = base::text_at(link, 0)};
    if (out.path.empty() || out.path.size() + 1 >= link.size()) return std::nullopt;
    out.build_id = link.subspan(out.path.size() + 1);
    return out;
  }
  auto sup = read_debug_sup(section(".debug_sup"));
  if (!sup || sup->is_shared_file || sup->path.empty()) return std::nullopt;
  return DebugAltLink{.path = sup->path, .build_id = sup->checksum};
}

ByteSpan ElfFile::shared_id() const {
  auto sup = read_debug_sup(section(".debug_sup"));
  return sup && sup->is_shared_file ? sup->checksum : build_id();
}

const ElfFile* ElfFile::packed_symbols() const {
  std::call_once(state_->packed_once, [&] {
    constexpr std::string_view name = ".gnu_debugdata";
    ByteSpan packed = section(name);
    if (packed.empty()) return;
    std::vector<std::byte> image;
    std::string problem = decompress_xz(packed, image);
    if (!problem.empty()) return state_->complain(name, problem);
    auto file = of(std::move(image));
    if (!file) return state_->complain(name, file.error().message);
    state_->packed = std::move(*file);
  });
  return state_->packed ? &*state_->packed : nullptr;
}

std::string to_hex(ByteSpan bytes) {
  std::string out;
  for (std::byte b : bytes) {
    out += "0123456789abcdef"[static_cast<uint8_t>(b) >> 4];
    out += "0123456789abcdef"[static_cast<uint8_t>(b) & 15];
  }
  return out;
}

} // namespace format
