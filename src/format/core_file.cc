#include "format/core_file.h"

#include "base/counted.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <elf.h>

namespace format {

using base::ByteSpan;
using base::Reader;

// Linux lets a process have 2^16 mappings, or as many as its administrator says; damaged counts must cost
// neither memory nor time.
static constexpr uint64_t most_segments = 1 << 22, most_threads = 1 << 20, most_mappings = 1 << 22;

static base::Error no_core(std::string why) { return {base::Failure::runtime, std::move(why)}; }

base::Result<CoreFile> CoreFile::open(const std::string& path) {
  auto map = base::FileMap::open(path);
  if (!map.ok()) return std::move(map.error());
  auto core = of(std::move(*map));
  if (!core.ok()) return std::move(core.error()).with(path);
  return core;
}

base::Result<CoreFile> CoreFile::of(base::FileMap map) {
  CoreFile out;
  out.map_ = std::move(map);
  out.bytes_ = out.map_.bytes();
  ACU_CHECK(out.read());
  return out;
}

base::Result<CoreFile> CoreFile::view(ByteSpan bytes) {
  CoreFile out;
  out.bytes_ = bytes;
  ACU_CHECK(out.read());
  return out;
}

static std::string machine_name(uint16_t machine) {
  switch (machine) {
  case EM_386: return "32-bit x86";
  case EM_ARM: return "32-bit ARM";
  case EM_AARCH64: return "ARM64 (aarch64)";
  case EM_PPC64: return "PowerPC";
  case EM_S390: return "S/390";
  case EM_RISCV: return "RISC-V";
  case EM_LOONGARCH: return "LoongArch";
  default: return "machine number " + std::to_string(machine);
  }
}

// What a file is that is no core: people mix up the program and its core.
static std::string kind_of_file(uint16_t type) {
  switch (type) {
  case ET_EXEC: return "a program";
  case ET_DYN: return "a program or library";
  case ET_REL: return "an object file";
  default: return "an ELF file of kind " + std::to_string(type);
  }
}

base::Status CoreFile::read() {
  constexpr std::string_view compressed[] = {"\x28\xb5\x2f\xfd", "\x1f\x8b",
                                             "\xfd"
                                             "7zXZ",
                                             "\x04\x22\x4d\x18"};
  if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) {
    std::string_view begin(reinterpret_cast<const char*>(bytes_.data()), std::min<size_t>(bytes_.size(), 8));
    for (std::string_view magic : compressed)
      if (begin.starts_with(magic))
        return no_core(
            "it is compressed: unpack it first (zstd -d, gunzip, xz -d, lz4 -d; `coredumpctl dump` "
            "does so by itself)");
    return no_core(bytes_.empty() ? "the file is empty: was the core dump cut off by a limit (ulimit -c)?"
                                  : "it is no core dump: it does not begin as an ELF file");
  }
  auto ident = [&](size_t i) { return i < bytes_.size() ? static_cast<uint8_t>(bytes_[i]) : 0; };
  Reader r(bytes_, EI_NIDENT);
  auto type = r.number<uint16_t>(), machine = r.number<uint16_t>();
  r.skip(4 + 8); // version, entry
  auto segments_at = r.number<uint64_t>(), sections_at = r.number<uint64_t>();
  r.skip(4 + 2); // flags, size of the header
  uint64_t entry_size = r.number<uint16_t>(), count = r.number<uint16_t>();
  if (!r.ok() && ident(EI_CLASS) != ELFCLASS32) return no_core("it is cut off within its header");
  if (ident(EI_DATA) == ELFDATA2MSB)
    return no_core("it is the core of a big-endian machine; acu reads those of x86-64");
  if (type != ET_CORE) return no_core("it is " + kind_of_file(type) + ", not a core dump");
  if (machine != EM_X86_64 || ident(EI_CLASS) != ELFCLASS64)
    return no_core("it is a core of " + (machine == EM_X86_64 ? "the x32 kind" : machine_name(machine)) +
                   "; acu reads those of x86-64");
  if (count == PN_XNUM) { // the number stands in the first section header
    Reader first(bytes_, sections_at);
    first.skip(44);
    count = first.number<uint32_t>();
    if (!first.ok())
      return no_core("it has more segments than its header can count, and is cut before their number");
  }
  if (entry_size < sizeof(Elf64_Phdr) || !segments_at)
    return no_core("its header names no segments: it is damaged");
  read_segments(segments_at, std::min(count, most_segments), entry_size);
  sort_segments();
  if (threads_.empty())
    problems_.push_back(is_cut_ ? "it is cut before the registers of its threads"
                                : "it has no registers of threads (no NT_PRSTATUS note)");
  return {};
}

void CoreFile::read_segments(uint64_t at, uint64_t count, uint64_t entry_size) {
  uint64_t needed = 0;
  for (uint64_t i = 0; i < count; i++) {
    Reader r(bytes_, at + i * entry_size);
    auto type = r.number<uint32_t>(), flags = r.number<uint32_t>();
    auto offset = r.number<uint64_t>(), address = r.number<uint64_t>();
    r.skip(8); // physical address
    auto in_file = r.number<uint64_t>(), in_memory = r.number<uint64_t>();
    if (!r.ok()) {
      problems_.push_back("it is cut within the table of its memory: " + base::counted(count - i, "stretch") + " " +
                          std::string(base::is_or_are(count - i)) + " unknown");
      is_cut_ = true;
      break;
    }
    // The end of the file as it was meant to be; of damaged sizes nothing is said.
    if (offset + in_file >= offset) needed = std::max(needed, offset + in_file);
    uint64_t there = offset < bytes_.size() ? std::min(in_file, bytes_.size() - offset) : 0;
    ByteSpan bytes = base::slice(bytes_, offset, there);
    if (type == PT_NOTE) read_notes(bytes);
    if (type != PT_LOAD || in_memory == 0 || address + in_memory < address) continue;
    bytes = bytes.first(std::min<uint64_t>(bytes.size(), in_memory));
    segments_.push_back({address, address + in_memory, flags, bytes, std::min(in_file, in_memory)});
  }
  if (needed > bytes_.size()) {
    is_cut_ = true;
    problems_.push_back("it is cut: it has " + std::to_string(bytes_.size()) + " of " +
                        std::to_string(needed) + " bytes");
  }
}

// By address; of what overlaps, which only damaged files have, the first one counts.
void CoreFile::sort_segments() {
  std::stable_sort(segments_.begin(), segments_.end(),
                   [](const CoreSegment& a, const CoreSegment& b) { return a.begin < b.begin; });
  std::vector<CoreSegment> kept;
  kept.reserve(segments_.size());
  size_t dropped = 0;
  for (const CoreSegment& s : segments_)
    if (kept.empty() || s.begin >= kept.back().end)
      kept.push_back(s);
    else
      dropped++;
  segments_ = std::move(kept);
  if (dropped)
    problems_.push_back(base::counted(dropped, "stretch") + " of its memory " + (dropped == 1 ? "overlaps another" : "overlap others") + " and " +
                        std::string(base::is_or_are(dropped)) + " left out: it is damaged");
}

void CoreFile::read_notes(ByteSpan notes) {
  auto padded = [](uint64_t n) { return (n + 3) / 4 * 4; };
  for (uint64_t at = 0; at + 12 <= notes.size();) {
    Reader r(notes, at);
    uint64_t name_size = r.number<uint32_t>(), size = r.number<uint32_t>();
    auto type = r.number<uint32_t>();
    uint64_t content_at = at + 12 + padded(name_size);
    ByteSpan content = base::slice(notes, content_at, size);
    std::string_view name =
        base::text_at(notes.first(std::min<uint64_t>(notes.size(), at + 12 + name_size)), at + 12);
    if (content.empty() && size) break; // cut, or damaged
    if (name == "CORE" || name == "LINUX") take_note(type, content);
    at = content_at + padded(size);
  }
}

void CoreFile::take_note(uint32_t type, ByteSpan content) {
  Reader r(content);
  switch (type) {
  case NT_PRSTATUS: {
    if (threads_.size() >= most_threads) return;
    CoreThread t;
    r.skip(12); // struct elf_siginfo
    t.signal = r.number<uint16_t>();
    r.skip(2 + 16); // masks
    t.id = r.number<uint32_t>();
    r.skip(12 + 64); // other ids, times
    for (uint64_t& value : t.registers) value = r.number<uint64_t>();
    if (r.ok()) threads_.push_back(t);
    return;
  }
  case NT_PRPSINFO: {
    CoreProcess p;
    r.skip(16); // state, flags
    p.user = r.number<uint32_t>();
    p.group = r.number<uint32_t>();
    p.id = r.number<uint32_t>();
    p.parent = r.number<uint32_t>();
    r.skip(8);
    auto text = [&](uint64_t most) {
      ByteSpan bytes = r.bytes(most);
      const char* begin = reinterpret_cast<const char*>(bytes.data());
      return std::string_view(begin, bytes.empty() ? 0 : strnlen(begin, bytes.size()));
    };
    p.name = text(16);
    p.arguments = text(80);
    while (p.arguments.ends_with(' ')) p.arguments.remove_suffix(1);
    if (r.ok() && !process_) process_ = p;
    return;
  }
  case NT_SIGINFO: {
    CoreSignal s;
    s.number = static_cast<int>(r.number<uint32_t>());
    r.skip(4); // errno
    s.code = static_cast<int>(r.number<uint32_t>());
    r.skip(4);
    s.address = r.number<uint64_t>();
    s.sender = static_cast<uint32_t>(s.address);
    if (r.ok() && !signal_) signal_ = s;
    return;
  }
  case NT_AUXV:
    if (auxiliary_.empty()) auxiliary_ = content;
    return;
  case NT_FILE:
    if (mappings_.empty()) take_mappings(content);
    return;
  case NT_PRFPREG: // the first part of that, which older kernels write alone
    if (!threads_.empty() && threads_.back().extended.empty()) threads_.back().extended = content;
    return;
  case NT_X86_XSTATE:
    if (!threads_.empty()) threads_.back().extended = content;
    return;
  default: return;
  }
}

// { count, page size }, { begin, end, offset in pages }…, then as many paths, each with a NUL.
void CoreFile::take_mappings(ByteSpan content) {
  Reader rows(content);
  auto count = rows.number<uint64_t>(), page = rows.number<uint64_t>();
  if (!rows.ok() || count > most_mappings || count > content.size() / 24) return;
  Reader paths(content, 16 + count * 24);
  for (uint64_t i = 0; i < count; i++) {
    CoreMapping m;
    m.begin = rows.number<uint64_t>();
    m.end = rows.number<uint64_t>();
    m.offset = rows.number<uint64_t>() * page;
    m.path = paths.text();
    if (!rows.ok() || !paths.ok()) break;
    if (m.begin < m.end) mappings_.push_back(m);
  }
  std::stable_sort(mappings_.begin(), mappings_.end(),
                   [](const CoreMapping& a, const CoreMapping& b) { return a.begin < b.begin; });
}

std::optional<uint64_t> CoreFile::auxiliary(uint64_t type) const {
  for (Reader r(auxiliary_); r.ok();) {
    auto key = r.number<uint64_t>(), value = r.number<uint64_t>();
    if (!r.ok() || key == AT_NULL) break;
    if (key == type) return value;
  }
  return std::nullopt;
}

bool has_address(const CoreSignal& s) {
  bool is_access = s.number == SIGSEGV || s.number == SIGBUS || s.number == SIGILL || s.number == SIGFPE ||
                   s.number == SIGTRAP;
  // Of other processes (SI_USER, …) and of the kernel itself (SI_KERNEL), which knows no address.
  return is_access && s.code > 0 && s.code < SI_KERNEL;
}

std::string_view meaning_of(const CoreSignal& s) {
  if (s.code == SI_USER) return "sent by kill()";
  if (s.code == SI_TKILL) return "sent by tgkill() or raise()";
  if (s.code == SI_QUEUE) return "sent by sigqueue()";
  if (s.code == SI_KERNEL)
    return s.number == SIGSEGV ? "an address that no program can have, or a forbidden instruction"
                               : "sent by the kernel";
  if (s.number == SIGSEGV && s.code == SEGV_MAPERR) return "nothing is mapped there";
  if (s.number == SIGSEGV && s.code == SEGV_ACCERR) return "the memory there does not allow it";
  if (s.number == SIGBUS && s.code == BUS_ADRALN) return "the address is not aligned";
  if (s.number == SIGBUS && s.code == BUS_ADRERR) return "behind the end of the mapped file";
  if (s.number == SIGFPE && s.code == FPE_INTDIV) return "an integer was divided by zero";
  if (s.number == SIGILL && s.code == ILL_ILLOPN) return "no such instruction";
  return {};
}

} // namespace format
