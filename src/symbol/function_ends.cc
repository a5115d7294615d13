#include "spec/arch_x86_64.h"
#include "symbol/function_ends.h"

#include "dwarf/frame_entries.h"
#include "dwarf/frame_rules.h"
#include "symbol/instructions.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace symbol {

namespace {

constexpr size_t most_parts = 16;     // of one function
constexpr uint64_t stack_pointer = 7; // DWARF's number of rsp

struct Range {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", number);
  return text;
}

uint8_t byte(base::ByteSpan code, size_t at) { return at < code.size() ? static_cast<uint8_t>(code[at]) : 0; }

// The last instructions before a jump through a register: how compilers load the distance from a table of
// distances (movslq) and add where the table is.
struct Recent {
  std::array<base::ByteSpan, 4> last;
  size_t count = 0;

  void add(base::ByteSpan code) { last[count++ % last.size()] = code; }
  static bool is_rex(uint8_t b) { return (b & 0xf0) == 0x40; }
  bool adds() const {
    if (!count) return false;
    base::ByteSpan code = last[(count - 1) % last.size()];
    return is_rex(byte(code, 0)) && (byte(code, 1) == 0x01 || byte(code, 1) == 0x03) && byte(code, 2) >= 0xc0;
  }
  bool loads_distance() const {
    auto loads = [](base::ByteSpan code) { return is_rex(byte(code, 0)) && byte(code, 1) == 0x63; };
    return std::any_of(last.begin(), last.end(), loads);
  }
};

// `code`: of a jump through a register or memory.
bool leads_by_table(base::ByteSpan code, const Recent& before) {
  size_t at = 0;
  if (byte(code, at) == 0x3e) return true; // notrack: the processor is told so
  if ((byte(code, at) & 0xf0) == 0x40) at++;
  const uint8_t mode = byte(code, at + 1) >> 6, operand = byte(code, at + 1) & 7;
  if (mode == 3) return before.adds() && before.loads_distance();
  return operand == 4 && (byte(code, at + 2) >> 6) == 3; // *table(,index,8)
}

bool is_plain_return(base::ByteSpan code) {
  const uint8_t first = byte(code, 0);
  return first == 0xc3 || ((first == 0xf2 || first == 0xf3) && byte(code, 1) == 0xc3);
}

class Finder {
public:
  Finder(Binary& binary, const FunctionSymbol& function)
      : binary_(binary), function_(function), tables_(dwarf::frame_tables_of(binary.file())),
        frames_(tables_) {}

  base::Result<FunctionEnds> find() {
    Range all = {function_.address, function_.address + function_.size};
    if (!function_.size) all = described_around(function_.address);
    if (all.begin != function_.address || all.end <= all.begin)
      return base::Error{base::Failure::unsupported, "how long it is is not known"};
    ranges_.push_back(all);
    for (size_t i = 0; i < ranges_.size(); i++) {
      if (i == most_parts) return base::Error{base::Failure::unsupported, "it has too many parts"};
      ACU_CHECK(read(ranges_[i]));
    }
    if (!problem_.empty()) return base::Error{base::Failure::unsupported, problem_};
    return std::move(out_);
  }

private:
  base::Status read(Range range) {
    Recent before;
    Instruction last = {.flow = Flow::stops};
    uint64_t end = range.begin;
    ACU_CHECK(for_each_instruction(binary_, range.begin, range.end, [&](const Instruction& i) {
      const base::ByteSpan code = binary_.code_at(i.address, i.length);
      take(i, code, before);
      before.add(code);
      last = i;
      end = i.address + i.length;
      return problem_.empty();
    }));
    if (!problem_.empty()) return {};
    if (end != range.end) problem_ = "an instruction reaches beyond its end at " + hex(range.end);
    if (last.flow == Flow::next || last.flow == Flow::branches)
      unknown("goes on behind its end at " + hex(range.end));
    return {};
  }

  void take(const Instruction& i, base::ByteSpan code, const Recent& before) {
    switch (i.flow) {
    case Flow::next:
    case Flow::stops: return;
    case Flow::returns:
      if (!is_plain_return(code) || has_frame(i.address))
        problem_ = "what returns at " + hex(i.address) + " is no common return";
      out_.returns.push_back(i.address);
      return;
    case Flow::calls:
      if (i.target)
        out_.callees.push_back(*i.target);
      else
        out_.calls_by_pointer = true;
      return;
    case Flow::jumps:
    case Flow::branches: return i.target ? go_to(i, *i.target) : go_by_pointer(i, code, before);
    }
  }

  void go_to(const Instruction& i, uint64_t target) {
    if (std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.holds(target); })) return;
    if (has_frame(i.address) || is_part(target)) return add_part(target);
    if (i.flow == Flow::branches)
      return unknown("ends with a conditional jump to another function at " + hex(i.address));
    out_.tail_calls.push_back({i.address, target});
  }

  void go_by_pointer(const Instruction& i, base::ByteSpan code, const Recent& before) {
    if (!has_frame(i.address) && !leads_by_table(code, before))
      unknown("ends with a jump through a pointer at " + hex(i.address));
  }

  // Whether something of the function is on the stack, besides its return address: before the function is
  // left, it has to be taken off.
  bool has_frame(uint64_t address) {
    auto row = frames_.find(address);
    return !row || !row->has_cfa || row->cfa.is_expression || row->cfa.reg != stack_pointer ||
           row->cfa.offset != 8;
  }

  bool is_part(uint64_t target) {
    auto f = binary_.function_at(target);
    return f && f->name.size() > function_.name.size() && f->name.starts_with(function_.name) &&
           f->name.substr(function_.name.size()).starts_with(".cold");
  }

  void add_part(uint64_t target) {
    const Range part = described_around(target);
    if (!part.holds(target))
      return unknown("jumps to " + hex(target) + ", of which the tables for exceptions tell nothing");
    ranges_.push_back(part);
  }

  // What one entry of the tables tells of.
  Range described_around(uint64_t address) {
    dwarf::FrameEntries entries(tables_, true);
    auto place = dwarf::search_frame_header(tables_, address);
    if (auto entry = place ? entries.at(*place) : std::nullopt) return {entry->begin, entry->end};
    if (!tables_.eh_frame_hdr.empty()) return {};
    while (auto entry = entries.next()) // static programs have no index
      if (Range range{entry->begin, entry->end}; range.holds(address)) return range;
    return {};
  }

  void unknown(std::string what) {
    if (out_.unknown.empty()) out_.unknown = "it " + std::move(what);
  }

  Binary& binary_;
  const FunctionSymbol& function_;
  dwarf::FrameTables tables_;
  dwarf::FrameLookup frames_;
  std::vector<Range> ranges_; // of the function
  FunctionEnds out_;
  std::string problem_;
};

} // namespace

base::Result<FunctionEnds> find_ends(Binary& binary, const FunctionSymbol& function) {
  if (binary.file().elf().machine() != spec::x86_64.elf_machine)
    return base::Error{base::Failure::unsupported, "acu reads the instructions of x86-64 only"};
  return Finder(binary, function).find();
}

bool has_exception_frame(const Binary& binary, uint64_t address) {
  dwarf::FrameTables tables = dwarf::frame_tables_of(binary.file());
  tables.debug_frame = {};
  return dwarf::frame_row_at(tables, address).has_value();
}

} // namespace symbol
