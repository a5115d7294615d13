// Entries to types, see types.h. Only pointers and arrays are followed at once: what a structure holds is
// decoded by types_members.cc when asked for, so that one type does not bring in all that it leads to.
#include "dwarf/types.h"

#include "dwarf/type_entry.h"

#include <algorithm>

namespace dwarf {

namespace {

constexpr int max_depth = 40; // pointers to pointers, arrays of arrays: longer chains are malformed
constexpr uint64_t max_object = 1u << 30;
constexpr size_t max_dimensions = 16;

// Numbers of other widths than a register's (__int128, long double) are kept as their bytes.
const type::Type* number_type(type::Table& table, uint64_t size, bool is_signed) {
  if (size == 1 || size == 2 || size == 4 || size == 8)
    return table.integer(static_cast<uint32_t>(size), is_signed);
  if (size == 0 || size > 64) return nullptr;
  return table.array(table.integer(1, false), static_cast<uint32_t>(size));
}

bool is_signed_encoding(uint64_t encoding) {
  return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

const type::Type* base_type(type::Table& table, const Die& die) {
  TypeEntry e = read_type_entry(die);
  uint64_t bits = unsigned_of(e.bit_size).value_or(0);
  uint64_t size = size_of(e).value_or(bits / 8 + (bits % 8 != 0)), encoding = e.encoding.number;
  if (size == 1 && encoding == DW_ATE_boolean) return table.boolean();
  // `signed char` and `unsigned char` are numbers.
  bool is_text = encoding == DW_ATE_UTF || text_of(*die.unit, e.name).value_or("") == "char";
  if (size == 1 && is_text) return table.character();
  // Of 16 bytes there are two formats, told by their names.
  bool is_floating = encoding == DW_ATE_float && (size == 4 || size == 8 || text_of(*die.unit, e.name) == "long double");
  if (is_floating) return table.floating(static_cast<uint32_t>(size));
  return number_type(table, size, is_signed_encoding(encoding));
}

// Pointers of 32-bit programs are numbers, for pointers here have 8 bytes.
const type::Type* pointer_to(type::Table& table, const Die& die, const type::Type* to, type::Space space) {
  uint64_t size = size_of(read_type_entry(die)).value_or(die.unit->encoding().address_size);
  return size == 8 ? table.pointer(to, space) : number_type(table, size, false);
}

const type::Type* pointer_to_member(type::Table& table, const Die& die) {
  std::optional<Die> of = skip_modifiers(type_of(die));
  // The function (or its place in the table of virtual ones), and what is to be added to `this`.
  if (of && of->tag() == DW_TAG_subroutine_type) return table.array(table.uint64(), 2);
  return table.int64();
}

} // namespace

Place place_of(const Die& die) { return {die.unit->info, die.offset, die.unit->header->in_types}; }

std::optional<Die> die_at(const Place& place) {
  return place.info ? place.info->die_at(place.offset, place.in_types) : std::nullopt;
}

Types::Types(type::Table& table, type::Space space, Find find)
    : table_(table), space_(space), find_(std::move(find)) {}

const type::Type* Types::convert(const Die& given, int depth) {
  if (depth > max_depth) return nullptr;
  auto at = made_.find(place_of(given));
  if (at != made_.end()) return at->second;
  std::optional<Die> die = skip_modifiers(given);
  const type::Type* type = nullptr;
  if (!die || die->offset == given.offset) {
    type = die ? make(*die, depth) : nullptr;
  } else {
    type = convert(*die, depth + 1);
  }
  made_[place_of(given)] = type;
  return type;
}

const type::Type* Types::make(const Die& die, int depth) {
  switch (die.tag()) {
  case DW_TAG_base_type: return base_type(table_, die);
  case DW_TAG_pointer_type:
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type: {
    std::optional<Die> to = type_of(die);
    return pointer_to(table_, die, to ? convert(*to, depth + 1) : nullptr, space_);
  }
  case DW_TAG_unspecified_type: // decltype(nullptr) is the one that has values
    return name_of(die).find("nullptr") != std::string_view::npos ? table_.pointer(nullptr, space_) : nullptr;
  case DW_TAG_ptr_to_member_type: return pointer_to_member(table_, die);
  case DW_TAG_array_type: return make_array(die, depth);
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_interface_type:
  case DW_TAG_union_type: return make_structure(die);
  case DW_TAG_enumeration_type: return make_enumeration(die, depth);
  case DW_TAG_string_type:
  case DW_TAG_set_type:
  case DW_TAG_file_type: {
    uint64_t size = size_of(read_type_entry(die)).value_or(0);
    if (size == 0 || size > max_object) return nullptr;
    if (die.tag() == DW_TAG_string_type) return table_.string(static_cast<uint32_t>(size));
    return table_.array(table_.integer(1, false), static_cast<uint32_t>(size));
  }
  default: return nullptr;
  }
}

// The last dimension is the innermost. One without a known size counts 0, as the array at the end of a
// structure.
const type::Type* Types::make_array(const Die& die, int depth) {
  std::optional<Die> of = type_of(die);
  const type::Type* type = of ? convert(*of, depth + 1) : nullptr;
  if (!type || !type->has_size) return nullptr;
  std::vector<uint64_t> dimensions;
  for_each_child(die, [&](const Die& child) {
    bool is_dimension = child.tag() == DW_TAG_subrange_type || child.tag() == DW_TAG_generic_subrange;
    if (is_dimension && dimensions.size() < max_dimensions) dimensions.push_back(elements_of(child));
  });
  if (dimensions.empty()) dimensions.push_back(0);
  for (auto n = dimensions.rbegin(); n != dimensions.rend(); n++) {
    uint64_t count = *n > max_object || *n * type->size > max_object ? 0 : *n;
    bool is_text = type->is_char && count > 0;
    type = is_text ? table_.string(static_cast<uint32_t>(count))
                   : table_.array(type, static_cast<uint32_t>(count));
  }
  return type;
}

const type::Type* Types::make_structure(const Die& given) {
  Die die = definition_of(given);
  TypeEntry e = read_type_entry(die);
  std::optional<uint64_t> size = size_of(e);
  if (e.is_declaration || !size) return incomplete(die);
  if (*size > max_object) return nullptr;
  auto at = made_.find(place_of(die));
  if (at != made_.end()) return at->second;
  std::string name = full_name(die);
  Shape shape;
  const type::Type* type = same_as(die, name, *size, shape);
  if (!type) {
    uint32_t id = remember(die);
    type = table_.structure(name, die.tag() == DW_TAG_union_type, static_cast<uint32_t>(*size), this, id);
    keep_type(id, type, shape);
  }
  return made_[place_of(die)] = type;
}

// A structure of which nothing but the name is known.
const type::Type* Types::incomplete(const Die& die) {
  std::string name = full_name(die);
  bool is_union = die.tag() == DW_TAG_union_type;
  auto [at, is_new] = incomplete_.try_emplace((is_union ? "u" : "s") + name, nullptr);
  if (is_new || name.empty())
    at->second = table_.arena().make<type::Type>(type::Type{.kind = type::Kind::structure,
                                                            .is_union = is_union,
                                                            .has_size = false,
                                                            .name = table_.keep(name),
                                                            .table = &table_,
                                                            .decoded_ = true});
  return at->second;
}

const type::Type* Types::make_enumeration(const Die& given, int depth) {
  Die die = definition_of(given);
  auto at = made_.find(place_of(die));
  if (at != made_.end()) return at->second;
  TypeEntry e = read_type_entry(die);
  std::optional<Die> of = type_of(die);
  const type::Type* under = of ? convert(*of, depth + 1) : nullptr;
  uint64_t size = size_of(e).value_or(under ? under->size : 0);
  if (e.is_declaration && !size) size = 4; // as that of an `int`, for nothing else is known
  if (size != 1 && size != 2 && size != 4 && size != 8) return nullptr;
  std::string name = full_name(die);
  Shape shape;
  const type::Type* type = same_as(die, name, size, shape);
  if (!type) {
    uint32_t id = remember(die);
    bool is_signed = under ? under->is_signed : is_signed_encoding(e.encoding.number);
    if (!under && !e.encoding) {
      std::vector<type::Enumerator> all = enumerators(id);
      is_signed = std::any_of(all.begin(), all.end(), [](const type::Enumerator& x) { return x.value < 0; });
    }
    type = table_.enumeration(name, static_cast<uint32_t>(size), is_signed, this, id);
    keep_type(id, type, shape);
  }
  return made_[place_of(die)] = type;
}

const type::Type* Types::find(std::string_view keyword, std::string_view name) {
  static constexpr uint16_t any[] = {DW_TAG_typedef, DW_TAG_base_type, DW_TAG_structure_type,
                                     DW_TAG_union_type, DW_TAG_enumeration_type};
  std::span<const uint16_t> tags = any;
  if (keyword == "struct") tags = tags.subspan(2, 1);
  if (keyword == "union") tags = tags.subspan(3, 1);
  if (keyword == "enum") tags = tags.subspan(4, 1);
  for (uint16_t tag : tags) {
    std::optional<Die> die = find_ ? find_(tag, name) : std::nullopt;
    if (const type::Type* type = die ? convert(*die, 0) : nullptr) return type;
  }
  return nullptr;
}

std::optional<Die> Types::entry_of(const type::Type& type) {
  if (type.provider != this || type.provider_id >= entries_.size()) return std::nullopt;
  return die_at(entries_[type.provider_id].place);
}

} // namespace dwarf
