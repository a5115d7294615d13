#include "probe/user_values_code.h"

#include "dwarf/scopes.h"
#include "dwarf/type_entry.h"
#include "symbol/binary.h"

#include <algorithm>

namespace probe {

using namespace dwarf;

static constexpr size_t deepest_scope = 64;
static constexpr size_t most_entries = 1 << 16; // of all scopes around an address
static constexpr size_t most_functions = 1 << 22;

// Where functions with code are found: not below others, which find_scopes goes to.
static bool may_hold_functions(uint16_t tag) {
  return tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit || tag == DW_TAG_namespace ||
         tag == DW_TAG_module;
}

const std::vector<Code::Row>& Code::rows_of(const Unit& unit) {
  auto [at, is_new] = rows_.try_emplace(unit.header);
  std::vector<Row>& rows = at->second;
  if (!is_new) return rows;
  std::vector<AddressRange> ranges;
  DieCursor cursor(unit);
  while (cursor.next() && rows.size() < most_functions) {
    const Die& die = cursor.die();
    if (die.tag() == DW_TAG_subprogram) {
      ranges.clear();
      CodeAttributes code;
      auto end = for_each_attribute(die, [&](const Attribute& a) { return code.take(a), true; });
      if (end) cursor.set_end(*end);
      append_ranges(unit, code, ranges);
      for (const AddressRange& range : ranges) rows.push_back({range.begin, range.end, die.offset});
    }
    if (!may_hold_functions(die.tag())) cursor.skip_children();
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.begin < b.begin; });
  return rows;
}

static uint64_t entry_of(const Die& die) {
  if (auto pc = address_of(*die.unit, find_attribute(die, DW_AT_entry_pc))) return *pc;
  if (auto pc = address_of(*die.unit, find_attribute(die, DW_AT_low_pc))) return *pc;
  std::vector<AddressRange> ranges = ranges_of(die);
  return ranges.empty() ? 0 : ranges[0].begin;
}

std::optional<CodeFunction> Code::function_at(uint64_t address) {
  if (!sources_.info) return std::nullopt;
  if (!units_) units_.emplace(*sources_.info);
  std::optional<size_t> index = units_->find(address);
  const Unit* skeleton = index ? sources_.info->unit(*index) : nullptr;
  if (!skeleton) return std::nullopt;
  const Unit* unit = sources_.info->split_unit(*skeleton);
  if (!unit) unit = skeleton;
  std::optional<uint64_t> offset;
  const std::vector<Row>& rows = rows_of(*unit);
  auto after = std::upper_bound(rows.begin(), rows.end(), address,
                                [](uint64_t a, const Row& row) { return a < row.begin; });
  if (after != rows.begin() && address < std::prev(after)->end) offset = std::prev(after)->die;
  if (!offset) { // functions inside of functions or types
    FoundScopes found;
    find_scopes(*unit, std::span(&address, 1), found);
    uint32_t at = found.innermost[0];
    while (at != Scope::none && found.scopes[at].parent != Scope::none) at = found.scopes[at].parent;
    if (at != Scope::none) offset = found.scopes[at].die;
  }
  std::optional<Die> die = offset ? read_die(*unit, *offset) : std::nullopt;
  // Lambdas are functions of a type inside of a function that does not hold their code.
  if (!die && sources_.binary) die = sources_.binary->function_entry(address);
  if (!die) return std::nullopt;
  return CodeFunction{*die, skeleton, entry_of(*die)};
}

uint64_t Code::prologue_end(const CodeFunction& function) {
  const auto known = prologue_ends_.try_emplace(function.entry, function.entry);
  uint64_t& end = known.first->second;
  if (!known.second) return end;
  std::optional<LineProgram> program = read_line_program(*function.skeleton);
  if (!program) return end;
  bool is_inside = false;
  for_each_row(*program, [&](const LineRow& row) {
    if (row.address == function.entry && !row.end_sequence) is_inside = true;
    if (is_inside && row.end_sequence) is_inside = false;
    if (!is_inside || row.address <= function.entry) return true;
    end = row.address;
    return false;
  });
  return end;
}

static void add_scopes(std::vector<CodeScope>& to, const Die& of, uint64_t address, size_t& entries) {
  auto place = to.size() - 1;
  for_each_child(of, [&](const Die& child) {
    if (entries >= most_entries) return;
    switch (child.tag()) {
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
      entries++;
      to[place].entries.push_back(child);
      return;
    case DW_TAG_GNU_formal_parameter_pack:
      for_each_child(child, [&](const Die& one) {
        if (one.tag() == DW_TAG_formal_parameter && entries++ < most_entries)
          to[place].entries.push_back(one);
      });
      return;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_inlined_subroutine: break;
    default: return;
    }
    entries++;
    bool has_code = find_attribute(child, DW_AT_low_pc) || find_attribute(child, DW_AT_ranges);
    std::vector<AddressRange> ranges = ranges_of(child);
    bool holds = std::ranges::any_of(ranges, [&](const AddressRange& r) { return r.holds(address); });
    // A block of which no code is told is as if its variables stood around it.
    bool is_open = !has_code && child.tag() != DW_TAG_inlined_subroutine;
    if ((!holds && !is_open) || to.size() >= deepest_scope) return;
    CodeScope& inner = to.emplace_back();
    if (child.tag() == DW_TAG_inlined_subroutine)
      if (Attribute origin = find_attribute(child, DW_AT_abstract_origin))
        inner.origin = reference_of(*child.unit, origin);
    add_scopes(to, child, address, entries);
  });
}

std::vector<CodeScope> Code::scopes_at(const CodeFunction& function, uint64_t address) {
  std::vector<CodeScope> out(1);
  if (Attribute origin = find_attribute(function.die, DW_AT_abstract_origin))
    out[0].origin = reference_of(*function.die.unit, origin);
  size_t entries = 0;
  add_scopes(out, function.die, address, entries);
  return out;
}

std::optional<CfaRule> Code::cfa_rule(uint64_t address) {
  if (!sources_.file) return std::nullopt;
  if (!frames_) frames_ = frame_tables_of(*sources_.file, sources_.debug);
  return cfa_rule_at(*frames_, address);
}

} // namespace probe
