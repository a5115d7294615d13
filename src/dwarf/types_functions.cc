// Functions and variables with the types of what they are given, and where it is.
#include "dwarf/types.h"

#include "dwarf/type_entry.h"

namespace dwarf {

static constexpr size_t most_parameters = 4096;

Location location_of(const Die& die, const Attribute& a) {
  Location out{.bytes = a.block, .number = a.number};
  switch (a.form) {
  case 0: return {};
  case DW_FORM_exprloc:
  case DW_FORM_block:
  case DW_FORM_block1:
  case DW_FORM_block2:
  case DW_FORM_block4:
    out.kind = a.name == DW_AT_const_value ? Location::constant : Location::expression;
    break;
  case DW_FORM_loclistx: out.kind = Location::list_index; break;
  case DW_FORM_sec_offset: out.kind = Location::list; break;
  case DW_FORM_data4:
  case DW_FORM_data8: // so until version 3
    out.kind = a.name == DW_AT_const_value ? Location::constant : Location::list;
    break;
  default:
    if (a.name != DW_AT_const_value) return {};
    out.kind = Location::constant;
    if (auto text = text_of(*die.unit, a)) out.bytes = std::as_bytes(std::span(*text));
  }
  if (out.kind == Location::expression && out.bytes.empty()) return {};
  return out;
}

Variable Types::variable(const Die& die) {
  Variable out;
  out.name = name_of(die);
  Die owner;
  Attribute type = find_attribute(die, DW_AT_type, owner);
  if (std::optional<Die> of = type ? reference_of(*owner.unit, type) : std::nullopt) {
    out.type = convert(*of, 0);
    out.type_place = place_of(*of);
  }
  Attribute location = find_attribute(die, DW_AT_location);
  if (!location) location = find_attribute(die, DW_AT_const_value, owner);
  out.location = location_of(die, location);
  out.is_artificial = find_attribute(die, DW_AT_artificial, owner).number != 0;
  return out;
}

namespace {

void collect(Parameters& to, const Die& of, bool is_pack) {
  for_each_child(of, [&](const Die& child) {
    if (child.tag() == DW_TAG_formal_parameter && to.all.size() < most_parameters) to.all.push_back(child);
    if (child.tag() == DW_TAG_unspecified_parameters) to.is_variadic = true;
    if (child.tag() == DW_TAG_GNU_formal_parameter_pack && !is_pack) collect(to, child, true);
  });
}

// The entry that a parameter's own one completes.
std::optional<Die> origin_of(const Die& parameter) {
  Attribute origin = find_attribute(parameter, DW_AT_abstract_origin);
  return origin ? reference_of(*parameter.unit, origin) : std::nullopt;
}

bool same_entry(const Die& a, const Die& b) { return place_of(a) == place_of(b); }

} // namespace

// An instance has its own entries only for the parameters that are left; the function itself has all of them.
Parameters parameters_of(const Die& function) {
  Parameters own, whole;
  collect(own, function, false);
  if (std::optional<Die> origin = origin_of(function)) collect(whole, *origin, false);
  if (whole.all.empty()) return own;
  std::unordered_map<uint64_t, Die> left;
  for (const Die& p : own.all)
    if (std::optional<Die> origin = origin_of(p)) left.try_emplace(origin->offset, p);
  for (Die& p : whole.all)
    if (auto at = left.find(p.offset); at != left.end() && same_entry(*origin_of(at->second), p))
      p = at->second;
  whole.is_variadic |= own.is_variadic;
  return whole;
}

Function Types::function(const Die& die) {
  Function out;
  out.name = name_of(die);
  out.linkage_name = linkage_name_of(die);
  Die owner;
  Attribute type = find_attribute(die, DW_AT_type, owner);
  if (std::optional<Die> of = type ? reference_of(*owner.unit, type) : std::nullopt) {
    out.result = convert(*of, 0);
    out.result_place = place_of(*of);
  }
  Parameters parameters = parameters_of(die);
  for (const Die& p : parameters.all) out.parameters.push_back(variable(p));
  out.is_variadic = parameters.is_variadic;
  out.frame_base = location_of(die, find_attribute(die, DW_AT_frame_base));
  return out;
}

} // namespace dwarf
