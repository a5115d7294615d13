// What structures and enumerations are made of. A member that would reach out of its structure, or hold it,
// is left out: those who walk values go down as far as types say.
#include "dwarf/types.h"

#include "dwarf/type_entry.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dwarf {

namespace {

constexpr int max_nesting = 64; // structures by value in structures; deeper ones are malformed
constexpr int longest_chain = 64;
constexpr size_t max_members = 1 << 16;
constexpr int max_variants = 4; // variants in variants
constexpr uint64_t max_alignment = uint64_t{1} << 28; // gcc's own limit

enum : uint8_t {
  plus_constant = 0x23,
  constant_unsigned = 0x10,
  plus = 0x22
}; // DW_OP_plus_uconst, constu, plus

// Bytes from the start of the object; nothing where only the object itself tells.
std::optional<uint64_t> constant_place(const Attribute& place) {
  if (!place) return 0;
  if (auto number = unsigned_of(place)) return number;
  if (place.block.empty()) return std::nullopt;
  base::Reader r(place.block); // DWARF 2 has an expression, to which the object's address is given
  auto operation = r.number<uint8_t>();
  uint64_t value = r.uleb128();
  bool adds = operation == plus_constant || (operation == constant_unsigned && r.number<uint8_t>() == plus);
  if (!adds || !r.ok() || r.at() != place.block.size()) return std::nullopt;
  return value;
}

// The first bit from the start of the object, as little-endian machines count. Versions 2 and 3 count from
// the most significant bit of a storage unit, and may count backwards from it.
std::optional<uint64_t> first_bit(const TypeEntry& e, uint64_t type_size) {
  if (e.data_bit_offset) return unsigned_of(e.data_bit_offset);
  std::optional<uint64_t> place = constant_place(e.place);
  if (!place || *place > UINT32_MAX) return std::nullopt;
  if (!e.bit_offset) return *place * 8;
  bool can_be_negative = e.bit_offset.form == DW_FORM_sdata || e.bit_offset.form == DW_FORM_implicit_const;
  std::optional<int64_t> above =
      can_be_negative ? signed_of(e.bit_offset) : static_cast<int64_t>(e.bit_offset.number);
  uint64_t storage = size_of(e).value_or(type_size), bits = e.bit_size.number;
  if (*above < -512 || *above > 512 || storage > 64 || bits > 512) return std::nullopt;
  int64_t at = static_cast<int64_t>(*place * 8 + storage * 8) - *above - static_cast<int64_t>(bits);
  return at < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(at));
}

// From a multiple of its type's size if it does not cross one, else from the byte it begins in.
void place_bits(type::Field& field, uint64_t first, uint64_t bits) {
  uint64_t unit = field.type->size * 8;
  bool crosses = first % unit + bits > unit;
  field.bit_size = static_cast<uint16_t>(bits);
  field.offset = static_cast<uint32_t>(crosses ? first / 8 : first / unit * field.type->size);
  field.bit_offset = static_cast<uint16_t>(first - uint64_t{field.offset} * 8);
}

bool fits(const type::Field& field, uint64_t size) {
  return uint64_t{field.offset} + field.type->size <= size;
}

} // namespace

// The structure that a member has by value, also in an array.
std::optional<Die> Types::structure_held_by(const Die& member) {
  std::optional<Die> type = skip_modifiers(type_of(member));
  for (int i = 0; type && type->tag() == DW_TAG_array_type; i++) {
    if (i == longest_chain) return std::nullopt;
    type = skip_modifiers(type_of(*type));
  }
  if (!type || !is_structure(type->tag())) return std::nullopt;
  return definition_of(*type);
}

// How many structures stand in each other, at most max_nesting, which is also that of one that holds itself.
int Types::nesting_of(const Die& structure, int depth) {
  if (depth >= max_nesting) return max_nesting;
  auto [at, is_new] = nesting_.try_emplace(place_of(structure), max_nesting); // until it is known
  if (!is_new) return at->second;
  int deepest = 0;
  auto look_at = [&](const Die& child) {
    std::optional<Die> inner;
    if (child.tag() == DW_TAG_member || child.tag() == DW_TAG_inheritance) inner = structure_held_by(child);
    if (inner) deepest = std::max(deepest, nesting_of(*inner, depth + 1));
  };
  for_each_child(structure, [&](const Die& child) {
    if (child.tag() != DW_TAG_variant_part) return look_at(child);
    for_each_child(child, [&](const Die& variant) { for_each_child(variant, look_at); });
  });
  int nesting = std::min(deepest + 1, max_nesting);
  nesting_[place_of(structure)] = nesting;
  return nesting;
}

void Types::add_member(std::vector<type::Field>& to, const type::Type& of, const Die& member) {
  TypeEntry e = read_type_entry(member);
  if (e.is_declaration || e.is_external) return; // static
  std::optional<Die> declared = e.type ? reference_of(*member.unit, e.type) : std::nullopt;
  type::Field field{.name = text_of(*member.unit, e.name).value_or(""),
                    .type = declared ? convert(*declared, 0) : nullptr};
  if (!field.type || !field.type->has_size) return;
  bool is_anonymous = field.name.empty() && field.type->is(type::Kind::structure);
  if (field.name.empty() && !is_anonymous) return;
  std::optional<Die> held = structure_held_by(member);
  if (held && nesting_of(*held, 1) >= max_nesting) return;
  std::optional<uint64_t> first = first_bit(e, field.type->size);
  if (!first || *first > uint64_t{of.size} * 8) return;
  uint64_t bits = unsigned_of(e.bit_size).value_or(0);
  bool is_whole =
      bits == 0 || (!field.type->is_integer() && *first % 8 == 0 && bits == uint64_t{field.type->size} * 8);
  if (is_whole) {
    field.offset = static_cast<uint32_t>(*first / 8);
    if (fits(field, of.size)) to.push_back(field);
  } else if (field.type->is_integer() && bits <= uint64_t{field.type->size} * 8 &&
             *first + bits <= uint64_t{of.size} * 8) {
    place_bits(field, *first, bits);
    to.push_back(field);
  }
}

void Types::add_base(std::vector<type::Field>& to, const type::Type& of, const Die& inheritance) {
  TypeEntry e = read_type_entry(inheritance);
  std::optional<Die> held = structure_held_by(inheritance);
  std::optional<uint64_t> offset = constant_place(e.place);
  if (e.is_virtual || !held || !offset || *offset > of.size || nesting_of(*held, 1) >= max_nesting) return;
  type::Field field{.type = convert(*held, 0), .offset = static_cast<uint32_t>(*offset)};
  if (!field.type || !field.type->has_size) return;
  if (fits(field, of.size)) return to.push_back(field);
  // A class with virtual bases takes less room as a base: these stand elsewhere then.
  for (type::Field inner : field.type->fields()) {
    inner.offset += field.offset;
    uint64_t bits = inner.bit_size ? inner.bit_offset + inner.bit_size : uint64_t{inner.type->size} * 8;
    if (uint64_t{inner.offset} * 8 + bits <= uint64_t{of.size} * 8) to.push_back(inner);
  }
}

void Types::add_variants(std::vector<type::Field>& to, const type::Type& of, const Die& part, int depth) {
  if (depth > max_variants) return;
  for_each_child(part, [&](const Die& child) {
    if (child.tag() == DW_TAG_member) add_member(to, of, child);
    if (child.tag() == DW_TAG_variant || child.tag() == DW_TAG_variant_part)
      add_variants(to, of, child, depth + 1);
  });
}

std::vector<type::Field> Types::fields(type::Table&, uint32_t id) {
  std::vector<type::Field> out;
  if (id >= entries_.size()) return out;
  std::optional<Die> die = die_at(entries_[id].place);
  const type::Type* of = entries_[id].type;
  if (!die || !of || !is_structure(die->tag())) return out;
  for_each_child(*die, [&](const Die& child) {
    if (out.size() >= max_members) return;
    if (child.tag() == DW_TAG_member) add_member(out, *of, child);
    if (child.tag() == DW_TAG_inheritance) add_base(out, *of, child);
    if (child.tag() == DW_TAG_variant_part) add_variants(out, *of, child, 0);
  });
  return out;
}

// Those of a pack count one by one.
const type::Type* Types::argument(uint32_t id, uint32_t n) {
  std::optional<Die> die = id < entries_.size() ? die_at(entries_[id].place) : std::nullopt;
  if (!die || !is_structure(die->tag())) return nullptr;
  std::optional<Die> found;
  auto look = [&](auto&& self, const Die& of) -> void {
    for_each_child(of, [&](const Die& child) {
      if (found) return;
      if (child.tag() == DW_TAG_GNU_template_parameter_pack) self(self, child);
      if (child.tag() == DW_TAG_template_type_parameter && n-- == 0) found = type_of(child);
    });
  };
  look(look, *die);
  return found ? convert(*found, 0) : nullptr;
}

uint32_t Types::alignment(uint32_t id) {
  std::optional<Die> die = id < entries_.size() ? die_at(entries_[id].place) : std::nullopt;
  if (!die || !is_structure(die->tag())) return 0;
  uint64_t out = 0;
  auto look = [&](const Die& at) {
    const uint64_t asked = unsigned_of(find_attribute(at, DW_AT_alignment)).value_or(0);
    if (std::has_single_bit(asked) && asked <= max_alignment) out = std::max(out, asked);
  };
  look(*die);
  for_each_child(*die, [&](const Die& child) { if (child.tag() == DW_TAG_member) look(child); });
  return static_cast<uint32_t>(out);
}

// DWARF 5, section 5.7.10: a variant without a value stands for all others.
std::optional<type::Field> Types::variant(type::Table&, uint32_t id, base::ByteSpan bytes) {
  std::optional<Die> die = id < entries_.size() ? die_at(entries_[id].place) : std::nullopt;
  const type::Type* of = die ? entries_[id].type : nullptr;
  std::optional<Die> variants;
  if (of) for_each_child(*die, [&](const Die& child) { if (child.tag() == DW_TAG_variant_part) variants = child; });
  if (!variants) return std::nullopt;
  Attribute told = find_attribute(*variants, DW_AT_discr);
  std::optional<Die> member = told ? reference_of(*variants->unit, told) : std::nullopt;
  uint64_t value = 0, mask = ~uint64_t{0};
  if (member) {
    // What tells variants apart is a number, or a pointer where one that cannot be stands for a variant.
    std::optional<Die> declared = type_of(*member);
    const type::Type* type = declared ? convert(*declared, 0) : nullptr;
    std::optional<uint64_t> first = type ? first_bit(read_type_entry(*member), type->size) : std::nullopt;
    if (!first || type->size > 8 || *first / 8 + type->size > bytes.size()) return std::nullopt;
    std::memcpy(&value, bytes.data() + *first / 8, type->size);
    if (type->size < 8) mask = (uint64_t{1} << type->size * 8) - 1;
  }
  std::optional<Die> chosen, otherwise;
  for_each_child(*variants, [&](const Die& child) {
    if (child.tag() != DW_TAG_variant) return;
    Attribute is = find_attribute(child, DW_AT_discr_value);
    if (!is) otherwise = child;
    if (is && ((is.number ^ value) & mask) == 0) chosen = child;
  });
  if (!chosen) chosen = otherwise;
  std::vector<type::Field> fields;
  if (chosen) add_variants(fields, *of, *chosen, 0);
  if (fields.size() != 1) return std::nullopt;
  return fields[0];
}

std::vector<Types::Base> Types::bases(const type::Type& type) {
  std::vector<Base> out;
  std::optional<Die> die = entry_of(type);
  if (!die) return out;
  for_each_child(*die, [&](const Die& child) {
    if (child.tag() != DW_TAG_inheritance) return;
    TypeEntry e = read_type_entry(child);
    std::optional<Die> base = structure_held_by(child);
    std::optional<uint64_t> offset = constant_place(e.place);
    const type::Type* made = base ? convert(*base, 0) : nullptr;
    bool is_virtual = e.is_virtual || !offset;
    if (made) out.push_back({made, static_cast<uint32_t>(is_virtual ? 0 : *offset), is_virtual});
  });
  return out;
}

// A constant of fixed size has no sign of its own: it is that of the type if it is as wide.
static int64_t value_of(const TypeEntry& e, uint64_t size) {
  switch (e.value.form) {
  case DW_FORM_data1:
    return size == 1 ? static_cast<int8_t>(e.value.number) : static_cast<int64_t>(e.value.number);
  case DW_FORM_data2:
    return size == 2 ? static_cast<int16_t>(e.value.number) : static_cast<int64_t>(e.value.number);
  case DW_FORM_data4:
    return size == 4 ? static_cast<int32_t>(e.value.number) : static_cast<int64_t>(e.value.number);
  default: return static_cast<int64_t>(e.value.number);
  }
}

std::vector<type::Enumerator> Types::enumerators(uint32_t id) {
  std::vector<type::Enumerator> out;
  std::optional<Die> die = id < entries_.size() ? die_at(entries_[id].place) : std::nullopt;
  if (!die || die->tag() != DW_TAG_enumeration_type) return out;
  std::optional<Die> under = skip_modifiers(type_of(*die));
  bool is_signed = under && [&] {
    uint64_t encoding = read_type_entry(*under).encoding.number;
    return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  }();
  uint64_t size = is_signed ? size_of(read_type_entry(*die)).value_or(0) : 0;
  for_each_child(*die, [&](const Die& child) {
    if (child.tag() != DW_TAG_enumerator) return;
    TypeEntry e = read_type_entry(child);
    out.push_back({text_of(*child.unit, e.name).value_or(""), value_of(e, size)});
  });
  return out;
}

// An entry does not say what it stands in: its unit is gone through.
std::optional<std::pair<const type::Type*, int64_t>> Types::enumerator(const Die& die) {
  if (die.tag() != DW_TAG_enumerator) return std::nullopt;
  std::optional<Die> owner;
  DieCursor cursor(*die.unit);
  bool more = cursor.next();
  while (more && cursor.die().offset < die.offset) {
    bool is_owner = cursor.die().tag() == DW_TAG_enumeration_type;
    if (is_owner) owner = cursor.die();
    more = is_owner || may_hold_types(cursor.die().tag()) ? cursor.next() : cursor.next_sibling();
  }
  if (!more || cursor.die().offset != die.offset) return std::nullopt;
  const type::Type* type = owner ? convert(*owner, 0) : nullptr;
  if (!type || !type->is(type::Kind::enumeration)) return std::nullopt;
  std::string_view name = name_of(die);
  for (const type::Enumerator& e : type->enumerators())
    if (e.name == name) return std::pair(type, e.value);
  return std::nullopt;
}

} // namespace dwarf
