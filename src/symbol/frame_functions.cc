#include "symbol/frame_functions.h"

#include "dwarf/frame_entries.h"
#include "dwarf/frame_program.h"

#include <algorithm>
#include <charconv>
#include <elf.h>

namespace symbol {

namespace {

constexpr std::string_view prefix = "func_0x";

// What is loaded and executed, and whether sections say what of it is the PLT.
class Code {
public:
  explicit Code(const format::ElfFile& file) : file_(file) {}

  // Cuts what reaches beyond the code; false: it begins in none.
  bool clip(FrameFunction& f) const {
    for (const format::ElfSegment& s : file_.elf().segments()) {
      if (s.type != PT_LOAD || !(s.flags & PF_X) || f.address - s.address >= s.file_size) continue;
      f.size = std::min(f.size, s.file_size - (f.address - s.address));
      return f.size > 0;
    }
    return false;
  }

  bool is_plt(const FrameFunction& f) const {
    if (file_.elf().sections().empty()) return looks_like_plt(f);
    return std::ranges::any_of(file_.elf().sections(), [&](const format::ElfSection& s) {
      return s.name.starts_with(".plt") && f.address - s.address < s.size;
    });
  }

private:
  bool begins_with(uint64_t address, std::string_view code) const {
    auto offset = file_.elf().offset_of_address(address);
    base::ByteSpan bytes = offset ? base::slice(file_.bytes(), *offset, code.size()) : base::ByteSpan();
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == code;
  }
  // x86-64: entries of 16 bytes that push or jump by the table of addresses, perhaps behind endbr64; see
  // psABI, "Procedure Linkage Table".
  bool looks_like_plt(const FrameFunction& f) const {
    constexpr std::string_view push("\xff\x35"), jump("\xff\x25"), mark("\xf3\x0f\x1e\xfa");
    auto jumps = [&](uint64_t at) {
      if (begins_with(at, mark)) at += mark.size();
      return begins_with(at, jump) || begins_with(at, "\xf2\xff\x25");
    };
    if (begins_with(f.address, push))
      return f.size >= 32 && (jumps(f.address + 6) || begins_with(f.address + 6, "\xf2\xff\x25"));
    return f.size % 8 == 0 && jumps(f.address) &&
           (f.size <= 16 || jumps(f.address + 16) || jumps(f.address + 8));
  }

  const format::ElfFile& file_;
};

bool is_called(dwarf::FrameEntries& entries, const dwarf::FrameFde& fde) {
  constexpr uint64_t stack_pointer = 7;
  dwarf::FrameProgram program(entries.table());
  program.start(fde);
  if (!program.next() || !program.row().has_cfa || fde.cie->is_signal) return false;
  const dwarf::CfaRule& cfa = program.row().cfa;
  return !cfa.is_expression && cfa.reg == stack_pointer && cfa.offset == 8;
}

} // namespace

void for_each_frame_function(const format::ElfFile& file,
                             const std::function<void(const FrameFunction&)>& take) {
  if (file.elf().machine() != EM_X86_64) return;
  const Code code(file);
  dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  while (auto fde = entries.next()) {
    FrameFunction f = {fde->begin, fde->end - fde->begin};
    if (f.address && code.clip(f) && !code.is_plt(f)) take(f);
  }
}

std::optional<FrameFunction> called_frame_function(const format::ElfFile& file, uint64_t address) {
  if (file.elf().machine() != EM_X86_64 || !address) return std::nullopt;
  const Code code(file);
  dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  auto fits = [&](const std::optional<dwarf::FrameFde>& fde) { return fde && fde->begin == address; };
  std::optional<dwarf::FrameFde> fde;
  if (auto at = dwarf::search_frame_header(tables, address)) fde = entries.at(*at);
  while (!fits(fde) && (fde = entries.next())) {
  }
  if (!fits(fde) || !is_called(entries, *fde)) return std::nullopt;
  FrameFunction f = {fde->begin, fde->end - fde->begin};
  return code.clip(f) && !code.is_plt(f) ? std::optional(f) : std::nullopt;
}

std::string frame_function_name(uint64_t address) {
  char digits[16];
  return std::string(prefix).append(digits, std::to_chars(digits, std::end(digits), address, 16).ptr);
}

std::optional<uint64_t> frame_function_address(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint64_t address = 0;
  auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), address, 16);
  bool is_all = problem == std::errc() && end == name.data() + name.size() && !name.empty();
  return is_all ? std::optional(address) : std::nullopt;
}

} // namespace symbol
