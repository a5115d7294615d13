#include "target/modules.h"

#include "format/load_bias.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <unordered_set>

namespace target {

static constexpr uint64_t page = 4096;
static constexpr size_t most_compared = 64; // mappings of a file
static constexpr uint64_t most_headers = 256, most_notes = 1 << 16, most_modules = 1 << 16,
                          longest_path = 4096;

namespace {

// What the headers of an ELF file in memory tell.
struct Headers {
  std::vector<format::ElfSegment> segments;
  bool is_fixed = false; // it is always at the addresses it names
};

std::optional<std::vector<format::ElfSegment>> read_segments(Memory& memory, uint64_t at, uint64_t count) {
  if (count == 0 || count > most_headers) return std::nullopt;
  std::vector<std::byte> bytes(count * sizeof(Elf64_Phdr));
  if (memory.read(at, bytes) != Missing::none) return std::nullopt;
  std::vector<format::ElfSegment> out;
  base::Reader r(bytes);
  for (uint64_t i = 0; i < count; i++) {
    format::ElfSegment s;
    s.type = r.number<uint32_t>();
    s.flags = r.number<uint32_t>();
    s.offset = r.number<uint64_t>();
    s.address = r.number<uint64_t>();
    r.skip(8);
    s.file_size = r.number<uint64_t>();
    s.memory_size = r.number<uint64_t>();
    s.alignment = r.number<uint64_t>();
    out.push_back(s);
  }
  return out;
}

std::optional<Headers> read_headers(Memory& memory, uint64_t at) {
  std::array<std::byte, sizeof(Elf64_Ehdr)> bytes;
  if (memory.read(at, bytes) != Missing::none || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  if (static_cast<uint8_t>(bytes[EI_CLASS]) != ELFCLASS64) return std::nullopt;
  base::Reader r(bytes, EI_NIDENT);
  auto type = r.number<uint16_t>();
  r.skip(2 + 4 + 8);
  auto headers_at = r.number<uint64_t>();
  r.skip(8 + 4 + 2 + 2);
  auto count = r.number<uint16_t>();
  auto segments = read_segments(memory, at + headers_at, count);
  if (!segments) return std::nullopt;
  return Headers{std::move(*segments), type == ET_EXEC};
}

// As many mappings as follow each other, are of the same file as the first, and fit: `fits(index)`.
template<class Fits> size_t count_while(std::span<const FileMapping> mappings, Fits fits) {
  size_t count = 1;
  while (count < mappings.size() && mappings[count].path == mappings[0].path && fits(count)) count++;
  return count;
}

// What was added to the addresses of the file of the first mapping.
std::optional<uint64_t> bias_of(std::span<const format::ElfSegment> segments,
                                std::span<const FileMapping> mappings) {
  std::vector<format::MappedPages> pages;
  const size_t count = count_while(mappings, [](size_t i) { return i < most_compared; });
  for (const FileMapping& m : mappings.first(count))
    pages.push_back({m.begin, m.end, m.offset, std::nullopt});
  return format::bias_of(segments, pages[0], pages);
}

uint64_t end_of(std::span<const format::ElfSegment> segments, uint64_t bias) {
  uint64_t end = 0;
  for (const format::ElfSegment& s : segments)
    if (s.type == PT_LOAD) end = std::max(end, bias + s.address + s.memory_size);
  return (end + page - 1) / page * page;
}

std::vector<std::byte> build_id_of(Memory& memory, std::span<const format::ElfSegment> segments,
                                   uint64_t bias) {
  for (const format::ElfSegment& s : segments) {
    if (s.type != PT_NOTE || s.memory_size > most_notes) continue;
    std::vector<std::byte> notes(s.memory_size);
    if (memory.read(bias + s.address, notes) != Missing::none) continue;
    base::ByteSpan id = format::build_id_in_notes(notes, s.alignment);
    if (!id.empty()) return {id.begin(), id.end()};
  }
  return {};
}

// Without headers in memory the file must do, if it fits.
void take_bias_from_file(Module& m, std::span<const FileMapping> mappings) {
  if (!m.file) return;
  if (auto bias = bias_of(m.file->elf().segments(), mappings)) {
    m.bias = *bias;
  } else {
    m.state = Module::wrong;
    m.problem = m.opened + ": its segments are not those of the file that was mapped";
    m.file.reset();
  }
}

} // namespace

std::vector<Module> find_modules(const std::vector<FileMapping>& mappings, Memory& headers,
                                 const Search& search) {
  std::vector<Module> out;
  for (size_t i = 0; i < mappings.size() && out.size() < most_modules;) {
    const FileMapping& first = mappings[i];
    const auto rest = std::span(mappings).subspan(i);
    std::optional<Headers> in_memory = first.offset == 0 ? read_headers(headers, first.begin) : std::nullopt;
    Module m{.path = std::string(first.path), .begin = first.begin};
    // One copy of the file; where no segments tell how far it reaches, until the file begins again.
    size_t count = count_while(rest, [&](size_t k) { return rest[k].offset >= rest[k - 1].offset; });
    auto bias = in_memory ? bias_of(in_memory->segments, rest) : std::nullopt;
    if (bias) {
      m.bias = *bias;
      m.end = end_of(in_memory->segments, m.bias);
      count = count_while(rest, [&](size_t k) { return rest[k].begin < m.end; });
      m.build_id = build_id_of(headers, in_memory->segments, m.bias);
      open_module(m, search);
    } else if (!in_memory) {
      // It may be any file that was mapped: only one that is an ELF file and fits counts.
      open_module(m, search);
      take_bias_from_file(m, rest);
    }
    i += count;
    m.end = std::max(m.end, rest[count - 1].end);
    if (bias || m.file) out.push_back(std::move(m));
  }
  // The zeroed memory behind a module must not reach into the next.
  for (size_t k = 0; k + 1 < out.size(); k++) out[k].end = std::min(out[k].end, out[k + 1].begin);
  return out;
}

std::vector<Module> find_loaded(Memory& memory, uint64_t program_headers, uint64_t header_count,
                                uint64_t program_name, const Search& search) {
  std::vector<Module> out;
  auto segments = read_segments(memory, program_headers, header_count);
  if (!segments) return out;
  uint64_t bias = 0;
  for (const format::ElfSegment& s : *segments)
    if (s.type == PT_PHDR) bias = program_headers - s.address;
  uint64_t list = 0;
  for (const format::ElfSegment& s : *segments) {
    if (s.type != PT_DYNAMIC) continue;
    for (uint64_t at = bias + s.address; at < bias + s.address + s.memory_size; at += 16) {
      auto tag = memory.word(at), value = memory.word(at + 8);
      if (!tag || *tag == DT_NULL) break;
      if (*tag == DT_DEBUG && value) list = memory.word(*value + 8).value_or(0); // r_debug.r_map
    }
  }
  // { l_addr, l_name, l_ld, l_next, l_prev }; a damaged list may lead back to itself.
  std::unordered_set<uint64_t> seen;
  for (uint64_t node = list; node && seen.size() < most_modules && seen.insert(node).second; node = memory.word(node + 24).value_or(0)) {
    auto moved = memory.word(node), name = memory.word(node + 8);
    if (!moved || !name) break;
    Module m{.path = memory.text(*name, longest_path).value_or(""), .bias = *moved};
    if (m.path.empty() && out.empty()) m.path = memory.text(program_name, longest_path).value_or("");
    if (m.path.empty() || m.path[0] != '/') continue; // the vdso
    std::vector<format::ElfSegment> own;
    if (out.empty()) own = *segments;
    if (auto headers = out.empty() ? std::nullopt : read_headers(memory, m.bias)) own = headers->segments;
    m.build_id = build_id_of(memory, own, m.bias);
    open_module(m, search);
    if (own.empty() && m.file) own = m.file->elf().segments();
    m.begin = ~uint64_t{0};
    for (const format::ElfSegment& s : own)
      if (s.type == PT_LOAD) m.begin = std::min(m.begin, m.bias + s.address / page * page);
    m.end = end_of(own, m.bias);
    if (m.begin < m.end) out.push_back(std::move(m));
  }
  std::sort(out.begin(), out.end(), [](const Module& a, const Module& b) { return a.begin < b.begin; });
  return out;
}

Module find_vdso(Memory& memory, uint64_t address) {
  Module m{.path = "[vdso]", .begin = address};
  m.problem = "is not in the core";
  auto headers = read_headers(memory, address);
  if (!headers) return m;
  auto bias = format::bias_of(headers->segments,
                              {.begin = address, .end = address + page, .offset = 0, .may_be_executed = {}});
  if (!bias) return m;
  m.bias = *bias;
  m.build_id = build_id_of(memory, headers->segments, m.bias);
  m.end = end_of(headers->segments, m.bias);
  constexpr uint64_t largest = 1 << 20;
  if (m.end <= m.begin || m.end - m.begin > largest) return m;
  std::vector<std::byte> image(m.end - m.begin);
  // Its sections lie behind the segment, as far as whole pages go.
  if (memory.read(address, image) != Missing::none) return m;
  auto file = format::ElfFile::of(std::move(image));
  if (!file.ok()) return m;
  m.file = std::make_shared<format::ElfFile>(std::move(*file));
  m.state = Module::found;
  m.opened = m.path;
  m.problem.clear();
  return m;
}

void open_mapped(Module& module, const std::string& path) {
  auto file = format::ElfFile::open(path);
  if (!file.ok()) return;
  module.state = Module::found;
  module.problem.clear();
  module.opened = path;
  module.file = std::make_shared<format::ElfFile>(std::move(*file));
}

void mark_program(std::vector<Module>& modules, uint64_t address) {
  for (Module& m : modules) m.is_program = address >= m.begin && address < m.end;
}

} // namespace target
