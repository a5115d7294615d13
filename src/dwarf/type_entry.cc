#include "dwarf/type_entry.h"

namespace dwarf {

static constexpr int longest_chain = 64; // typedefs of typedefs: longer ones are malformed

TypeEntry read_type_entry(const Die& die) {
  TypeEntry out;
  for_each_attribute(die, [&](const Attribute& a) {
    switch (a.name) {
    case DW_AT_name: out.name = a; break;
    case DW_AT_type: out.type = a; break;
    case DW_AT_byte_size: out.size = a; break;
    case DW_AT_encoding: out.encoding = a; break;
    case DW_AT_signature: out.signature = a; break;
    case DW_AT_specification: out.specification = a; break;
    case DW_AT_data_member_location: out.place = a; break;
    case DW_AT_bit_size: out.bit_size = a; break;
    case DW_AT_bit_offset: out.bit_offset = a; break;
    case DW_AT_data_bit_offset: out.data_bit_offset = a; break;
    case DW_AT_const_value: out.value = a; break;
    case DW_AT_count: out.count = a; break;
    case DW_AT_upper_bound: out.upper = a; break;
    case DW_AT_lower_bound: out.lower = a; break;
    case DW_AT_declaration: out.is_declaration = a.number != 0; break;
    case DW_AT_external: out.is_external = a.number != 0; break;
    case DW_AT_artificial: out.is_artificial = a.number != 0; break;
    case DW_AT_virtuality: out.is_virtual = a.number != 0; break;
    case DW_AT_enum_class: out.is_scoped = a.number != 0; break;
    }
    return true;
  });
  return out;
}

bool is_modifier(uint16_t tag) {
  switch (tag) {
  case DW_TAG_typedef:
  case DW_TAG_const_type:
  case DW_TAG_volatile_type:
  case DW_TAG_restrict_type:
  case DW_TAG_atomic_type:
  case DW_TAG_packed_type:
  case DW_TAG_shared_type:
  case DW_TAG_immutable_type:
  case DW_TAG_dynamic_type:
  case DW_TAG_template_alias:
  case DW_TAG_subrange_type: return true;
  }
  return false;
}

bool is_structure(uint16_t tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_interface_type;
}

bool may_hold_types(uint16_t tag) {
  switch (tag) {
  case DW_TAG_compile_unit:
  case DW_TAG_partial_unit:
  case DW_TAG_type_unit:
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_subprogram:
  case DW_TAG_lexical_block: return true;
  }
  return is_structure(tag);
}

uint16_t kind_of_tag(uint16_t tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_interface_type ? uint16_t{DW_TAG_structure_type} : tag;
}

bool is_c(uint16_t language) {
  switch (language) {
  case DW_LANG_C89:
  case DW_LANG_C:
  case DW_LANG_C99:
  case DW_LANG_C11:
  case DW_LANG_C17:
  case DW_LANG_Mips_Assembler: return true;
  }
  return false;
}

std::optional<Die> type_of(const Die& die) {
  Attribute type = find_attribute(die, DW_AT_type);
  return type ? reference_of(*die.unit, type) : std::nullopt;
}

std::optional<Die> skip_modifiers(std::optional<Die> die) {
  for (int i = 0; die && i < longest_chain; i++) {
    if (is_modifier(die->tag())) {
      die = type_of(*die);
      continue;
    }
    Attribute signature;
    if (is_structure(die->tag()) || die->tag() == DW_TAG_enumeration_type)
      signature = find_attribute(*die, DW_AT_signature);
    std::optional<Die> whole = signature ? reference_of(*die->unit, signature) : std::nullopt;
    if (!whole) return die;
    die = whole;
  }
  return std::nullopt;
}

// Where counting begins if nothing else is said (DWARF 5, section 7.12).
static int64_t default_lower_bound(uint16_t language) {
  switch (language) {
  case DW_LANG_Fortran77:
  case DW_LANG_Fortran90:
  case DW_LANG_Ada83: return 1;
  }
  return 0;
}

uint64_t elements_of(const Die& dimension) {
  TypeEntry e = read_type_entry(dimension);
  if (e.count) return unsigned_of(e.count).value_or(0);
  std::optional<uint64_t> upper = unsigned_of(e.upper);
  if (!upper) return 0;
  int64_t lower = e.lower ? signed_of(e.lower).value_or(0) : default_lower_bound(dimension.unit->language);
  auto count =
      static_cast<int64_t>(*upper + 1 - static_cast<uint64_t>(lower)); // -1 is how [0] was once written
  return count > 0 ? static_cast<uint64_t>(count) : 0;
}

std::optional<uint64_t> size_of(const TypeEntry& entry) { return unsigned_of(entry.size); }

} // namespace dwarf
