#include "dwarf/scopes.h"

#include <algorithm>

namespace dwarf {

// Lists of ranges read and addresses looked at in one unit; damaged ones may refer to the same lists without
// end.
static constexpr uint64_t most_steps = 1 << 24, most_steps_per_address = 1024;
// Inlined calls within inlined calls.
static constexpr size_t deepest = 250;

namespace {

class ScopeWalk {
public:
  ScopeWalk(const Unit& unit, std::span<const uint64_t> addresses, FoundScopes& out)
      : unit_(unit), addresses_(addresses), out_(out), cursor_(unit),
        types_hold_code_(may_hold_code(unit.language)) {}
  void run();

private:
  // gcc and clang define member functions beside the types of C++; not all compilers do.
  static bool may_hold_code(uint16_t language);
  bool is_worth_entering(uint16_t tag) const;
  void visit_function();
  bool claim(Scope scope, uint32_t parent);

  const Unit& unit_;
  std::span<const uint64_t> addresses_;
  FoundScopes& out_;
  DieCursor cursor_;
  bool types_hold_code_;
  uint64_t steps_ = 0;
  std::vector<std::pair<unsigned, uint32_t>> open_; // depth and number of the scopes around the present entry
  std::vector<AddressRange> ranges_;
};

} // namespace

bool ScopeWalk::may_hold_code(uint16_t language) {
  switch (language) {
  case DW_LANG_C89:
  case DW_LANG_C:
  case DW_LANG_C99:
  case DW_LANG_C11:
  case DW_LANG_C17:
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
  case DW_LANG_C_plus_plus_17:
  case DW_LANG_C_plus_plus_20: return false;
  }
  return true;
}

bool ScopeWalk::is_worth_entering(uint16_t tag) const {
  switch (tag) {
  case DW_TAG_compile_unit:
  case DW_TAG_partial_unit:
  case DW_TAG_skeleton_unit:
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
  case DW_TAG_with_stmt: return true;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type:
  case DW_TAG_variant_part:
  case DW_TAG_variant:
  case DW_TAG_interface_type: return types_hold_code_;
  }
  return false;
}

void ScopeWalk::run() {
  uint64_t most = most_steps + most_steps_per_address * addresses_.size();
  while (steps_ < most && cursor_.next()) {
    while (!open_.empty() && open_.back().first >= cursor_.depth()) open_.pop_back();
    uint16_t tag = cursor_.die().tag();
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
      visit_function();
    else if (!is_worth_entering(tag))
      cursor_.skip_children();
  }
}

// Gives the addresses in ranges_ to this scope, those that an earlier one in the same parent does not have.
bool ScopeWalk::claim(Scope scope, uint32_t parent) {
  auto number = static_cast<uint32_t>(out_.scopes.size());
  bool any = false;
  for (const AddressRange& range : ranges_) {
    auto at = std::lower_bound(addresses_.begin(), addresses_.end(), range.begin);
    for (; at != addresses_.end() && *at < range.end; at++) {
      steps_++;
      uint32_t& innermost = out_.innermost[static_cast<size_t>(at - addresses_.begin())];
      if (innermost != parent) continue;
      innermost = number;
      any = true;
    }
  }
  if (!any) return false;
  scope.parent = parent;
  out_.scopes.push_back(scope);
  open_.push_back({cursor_.depth(), number});
  return true;
}

void ScopeWalk::visit_function() {
  const Die& die = cursor_.die();
  Scope scope;
  scope.die = die.offset;
  CodeAttributes code;
  std::optional<uint64_t> end = for_each_attribute(die, [&](const Attribute& a) {
    switch (a.name) {
    case DW_AT_call_file: scope.call_file = a.number; break;
    case DW_AT_call_line: scope.call_line = static_cast<uint32_t>(a.number); break;
    case DW_AT_call_column: scope.call_column = static_cast<uint32_t>(a.number); break;
    case DW_AT_abstract_origin: scope.origin = a; break;
    default: code.take(a);
    }
    return true;
  });
  if (end) cursor_.set_end(*end);
  ranges_.clear();
  steps_ += append_ranges(unit_, code, ranges_);
  if (!ranges_.empty()) scope.begin = ranges_[0].begin;
  scope.inlined = die.tag() == DW_TAG_inlined_subroutine;
  uint32_t parent = scope.inlined && !open_.empty() ? open_.back().second : Scope::none;
  if (open_.size() < deepest && claim(scope, parent)) return;
  // A function's code may hold another function of its own, whose code is elsewhere.
  if (scope.inlined || ranges_.empty()) cursor_.skip_children();
}

void find_scopes(const Unit& unit, std::span<const uint64_t> addresses, FoundScopes& out) {
  out.scopes.clear();
  out.innermost.assign(addresses.size(), Scope::none);
  ScopeWalk(unit, addresses, out).run();
}

FunctionNames function_names(const Die& die) {
  static constexpr int most_origins = 8;
  FunctionNames out;
  std::optional<Die> at = die;
  for (int i = 0; at && i < most_origins && (out.name.empty() || out.linkage.empty()); i++) {
    Attribute origin;
    for_each_attribute(*at, [&](const Attribute& a) {
      switch (a.name) {
      case DW_AT_name:
        if (out.name.empty()) out.name = text_of(*at->unit, a).value_or("");
        break;
      case DW_AT_linkage_name:
      case DW_AT_MIPS_linkage_name:
        if (out.linkage.empty()) out.linkage = text_of(*at->unit, a).value_or("");
        break;
      case DW_AT_abstract_origin:
      case DW_AT_specification: origin = a; break;
      }
      return true;
    });
    at = origin ? reference_of(*at->unit, origin) : std::nullopt;
  }
  return out;
}

} // namespace dwarf
