#include "unwind/compile_tables.h"

#include "dwarf/frame_program.h"
#include "unwind/compile_rule.h"
#include "unwind/linker_stubs.h"
#include "unwind/table_maker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace unwind {

// The two instructions that handlers of signals return to, `mov $15, %rax (or %eax); syscall`.
static constexpr std::string_view signal_returns[] = {{"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9}, {"\xb8\x0f\0\0\0\x0f\x05", 7}};
static constexpr uint64_t most_behind_signal_return = 16; // bytes of its function: a trap, padding

// Where less code than this is without tables, it is not looked through.
static constexpr uint64_t least_unknown = 4096;
static constexpr uint64_t most_looked_through = 16 << 20; // bytes of code without tables

namespace {

// What tells of some code: an FDE, or nothing but the rule.
struct Piece {
  uint64_t begin = 0, end = 0;
  const dwarf::FrameCie* cie = nullptr; // nullptr: only the rule
  base::ByteSpan program;
  unwind_rule rule = {};
  bool is_eh = false;
  bool operator<(const Piece& o) const { return begin < o.begin; }
};

class Compiler {
public:
  Compiler(const dwarf::FrameTables& tables, const std::vector<CodeRange>& ranges)
      : ranges_(ranges), eh_(tables, true), debug_(tables, false) {}
  Tables run(std::vector<KnownCode> known);

private:
  std::vector<Piece> list(dwarf::FrameEntries& entries, bool is_eh);
  bool clip(uint64_t& begin, uint64_t& end) const;
  std::string_view code_at(uint64_t begin, uint64_t end) const;
  bool is_signal_return(const dwarf::FrameFde& fde) const;
  void add(std::vector<Piece> more);
  std::vector<Piece> find_signal_returns() const;
  void look_through(uint64_t begin, uint64_t end, std::vector<Piece>& to, uint64_t& left) const;
  void put_piece(const Piece& piece, uint64_t end);
  void put(uint64_t address, const unwind_rule& rule) { damaged_ += !maker_.put(address, rule); }

  const std::vector<CodeRange>& ranges_;
  dwarf::FrameEntries eh_, debug_;
  dwarf::FrameProgram eh_program_{eh_.table()}, debug_program_{debug_.table()};
  std::vector<Piece> pieces_; // in order
  TableMaker maker_;
  uint32_t damaged_ = 0;
};

} // namespace

// To the range that `begin` is in; false: it is in none.
bool Compiler::clip(uint64_t& begin, uint64_t& end) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                [](uint64_t wanted, const CodeRange& r) { return wanted < r.begin; });
  if (after == ranges_.begin()) return false;
  end = std::min(end, (after - 1)->end);
  return begin < end;
}

// What is in one range; empty: it is not.
std::string_view Compiler::code_at(uint64_t begin, uint64_t end) const {
  for (const CodeRange& range : ranges_) {
    if (begin < range.begin || begin >= range.end) continue;
    const base::ByteSpan code = base::slice(range.bytes, begin - range.begin, end - begin);
    return {reinterpret_cast<const char*>(code.data()), code.size()};
  }
  return {};
}

// The entry in .debug_frame says of the function that it was called like any other.
bool Compiler::is_signal_return(const dwarf::FrameFde& fde) const {
  if (fde.cie->is_signal || fde.end - fde.begin > signal_returns[0].size() + most_behind_signal_return) return false;
  const std::string_view code = code_at(fde.begin, fde.end);
  return std::ranges::any_of(signal_returns, [&](std::string_view s) { return code.starts_with(s); });
}

// Looked up from one byte before on, as an address that a call returns to.
static Piece signal_return(uint64_t begin, uint64_t end) { return {begin - 1, end, nullptr, {}, rule_of(UNWIND_CFA_SIGNAL), false}; }

std::vector<Piece> Compiler::list(dwarf::FrameEntries& entries, bool is_eh) {
  std::vector<Piece> out;
  while (std::optional<dwarf::FrameFde> fde = entries.next()) {
    // Functions that were left out of the program stand at 0 in .debug_frame.
    if (fde->begin == 0 || !clip(fde->begin, fde->end)) continue;
    if (!is_eh && is_signal_return(*fde))
      out.push_back(signal_return(fde->begin, fde->end));
    else
      out.push_back({fde->begin, fde->end, fde->cie, fde->program, {}, is_eh});
  }
  damaged_ += entries.damaged();
  if (!std::is_sorted(out.begin(), out.end())) std::stable_sort(out.begin(), out.end());
  return out;
}

// Those of code that nothing tells of so far; `more` is in order.
void Compiler::add(std::vector<Piece> more) {
  size_t before = pieces_.size();
  auto next = pieces_.begin(), last = pieces_.end();
  std::erase_if(more, [&](const Piece& piece) {
    while (next != last && next->end <= piece.begin) next++;
    return next != last && next->begin < piece.end;
  });
  pieces_.insert(pieces_.end(), more.begin(), more.end());
  std::inplace_merge(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(before), pieces_.end());
}

// Code that handlers of signals return to: some C libraries have it without tables.
void Compiler::look_through(uint64_t begin, uint64_t end, std::vector<Piece>& to, uint64_t& left) const {
  if (end - begin < least_unknown || end - begin > left) return;
  left -= end - begin;
  const std::string_view code = code_at(begin, end);
  for (std::string_view wanted : signal_returns)
    for (size_t at = 0;; at++) {
      const void* found = ::memmem(code.data() + at, code.size() - at, wanted.data(), wanted.size());
      if (!found) break;
      at = static_cast<size_t>(static_cast<const char*>(found) - code.data());
      to.push_back(signal_return(begin + at, begin + at + wanted.size()));
    }
}

std::vector<Piece> Compiler::find_signal_returns() const {
  std::vector<Piece> out;
  uint64_t left = most_looked_through;
  size_t next = 0;
  for (const CodeRange& range : ranges_) {
    uint64_t from = range.begin;
    for (; next < pieces_.size() && pieces_[next].begin < range.end; next++) {
      if (pieces_[next].begin > from) look_through(from, pieces_[next].begin, out, left);
      from = std::max(from, pieces_[next].end);
    }
    if (from < range.end) look_through(from, range.end, out, left);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void Compiler::put_piece(const Piece& piece, uint64_t end) {
  if (!piece.cie) return put(piece.begin, piece.rule);
  dwarf::FrameProgram& program = piece.is_eh ? eh_program_ : debug_program_;
  program.start({piece.begin, end, 0, piece.cie, piece.program});
  while (program.next()) put(program.row().begin, compile_rule(program.row()));
  if (!program.is_damaged()) return;
  damaged_++;
  put(program.reached(), rule_of(UNWIND_CFA_NOT_HELD));
}

// What is left between two functions for the sake of alignment: no code that needs a row.
static bool is_padding(uint64_t begin, uint64_t end) { return end % 16 == 0 && end - begin < 16; }

Tables Compiler::run(std::vector<KnownCode> known) {
  pieces_ = list(eh_, true);
  add(list(debug_, false));
  std::vector<Piece> more;
  for (KnownCode& code : known)
    if (clip(code.begin, code.end)) more.push_back({code.begin, code.end, nullptr, {}, code.rule, false});
  std::sort(more.begin(), more.end());
  add(std::move(more));
  add(find_signal_returns());
  for (size_t i = 0; i < pieces_.size(); i++) {
    // Where two tell of the same code, the one that begins later counts.
    bool is_last = i + 1 == pieces_.size();
    uint64_t next = is_last ? UINT64_MAX : pieces_[i + 1].begin, end = std::min(pieces_[i].end, next);
    if (end <= pieces_[i].begin) continue;
    put_piece(pieces_[i], end);
    if (is_last || (end < next && !is_padding(end, next))) put(end, rule_of(UNWIND_CFA_NO_TABLE));
  }
  return maker_.finish(damaged_);
}

Tables compile_tables(const dwarf::FrameTables& tables, const std::vector<CodeRange>& ranges,
                      std::vector<KnownCode> known) {
  return Compiler(tables, ranges).run(std::move(known));
}

// ---- of an ELF file

static std::vector<CodeRange> code_ranges_of(const format::ElfFile& file) {
  constexpr uint32_t load = 1, executable = 1; // PT_LOAD, PF_X
  std::vector<CodeRange> out;
  for (const format::ElfSegment& s : file.elf().segments()) {
    if (s.type != load || !(s.flags & executable) || s.offset >= file.bytes().size()) continue;
    uint64_t size = std::min({s.file_size, s.memory_size, file.bytes().size() - s.offset});
    if (size > UINT64_MAX - s.address) continue;
    out.push_back({s.address, s.address + size, file.bytes().subspan(s.offset, size)});
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < out.size(); i++) // damaged ones may overlap
    if (out[i].begin < out[i - 1].end) out[i - 1].end = out[i].begin;
  return out;
}

// Where the loader of the GNU C library begins: it calls its first C function and jumps to the program.
static void add_loader_start(const format::ElfFile& file, std::vector<KnownCode>& to) {
  constexpr uint64_t entry_at = 24, longest = 96; // Elf64_Ehdr.e_entry
  constexpr std::string_view begins("\x48\x89\xe7\xe8") /* mov %rsp, %rdi; call */, ends("\x41\xff\xe4") /* jmp *%r12 */;
  const auto entry = base::Reader(file.bytes(), entry_at).number<uint64_t>();
  for (const CodeRange& range : code_ranges_of(file)) {
    if (entry < range.begin || entry >= range.end) continue;
    base::ByteSpan code = range.bytes.subspan(entry - range.begin);
    std::string_view text(reinterpret_cast<const char*>(code.data()), std::min<size_t>(code.size(), longest));
    const size_t end = text.find(ends);
    if (text.starts_with(begins) && end != text.npos)
      to.push_back({entry, entry + end + ends.size(), rule_of(UNWIND_CFA_END)});
  }
}

// The functions of the sections .init and .fini, put together from pieces: they move the stack by 8 and back.
static void add_init(const format::ElfSection& s, base::ByteSpan code, std::vector<KnownCode>& to) {
  constexpr std::string_view down("\x48\x83\xec\x08"), up_and_return("\x48\x83\xc4\x08\xc3");
  std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  const size_t first = text.substr(0, 8).find(down);
  if ((first != 0 && first != 4) || !text.ends_with(up_and_return)) return;
  const uint64_t moved = s.address + first + down.size(), back = s.address + s.size - 1;
  to.push_back({s.address, moved, rule_of(UNWIND_CFA_RSP, 8)});
  to.push_back({moved, back, rule_of(UNWIND_CFA_RSP, 16)});
  to.push_back({back, back + 1, rule_of(UNWIND_CFA_RSP, 8)});
}

// What compilers and linkers write no tables for: jumps to other files' functions (PLT), the first and the last code.
static std::vector<KnownCode> known_code_of(const format::ElfFile& file) {
  std::vector<KnownCode> out;
  auto begins = [](base::ByteSpan code, size_t at, std::string_view with) {
    return code.size() >= at + with.size() && std::memcmp(code.data() + at, with.data(), with.size()) == 0;
  };
  constexpr std::string_view push("\xff\x35"), jump("\xff\x25");
  add_loader_start(file, out);
  for (const format::ElfSection& s : file.elf().sections()) {
    const bool is_init = s.name == ".init" || s.name == ".fini";
    if (s.size > UINT64_MAX - s.address || !(is_init || s.name.starts_with(".plt") || s.name == ".iplt"))
      continue;
    base::ByteSpan code = file.elf().content(s);
    if (is_init) {
      if (code.size() == s.size) add_init(s, code, out);
      continue;
    }
    if (s.name == ".plt" && begins(code, 0, push) && begins(code, 6, jump) && begins(code, 16, jump) &&
        code.size() == s.size) {
      // The first entry is jumped to with a number on the stack and pushes another; see gABI's lazy binding.
      out.push_back({s.address, s.address + 6, rule_of(UNWIND_CFA_RSP, 16)});
      out.push_back({s.address + 6, s.address + 16, rule_of(UNWIND_CFA_RSP, 24)});
      out.push_back({s.address + 16, s.address + s.size, rule_of_parts(UNWIND_CFA_PLT, 8, 11)});
    } else {
      std::ranges::move(rules_of_stubs(s.address, code), std::back_inserter(out));
    }
  }
  return out;
}

Tables make_tables(const format::ElfFile& file, const format::ElfFile* debug) {
  if (file.elf().machine() != spec::x86_64.elf_machine) return {};
  dwarf::FrameTables tables = dwarf::frame_tables_of(file, debug);
  return compile_tables(tables, code_ranges_of(file), known_code_of(file));
}

} // namespace unwind
