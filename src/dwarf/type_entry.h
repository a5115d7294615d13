// What the attributes of a type's entry say, read once; and the walks that all readers of types share.
#pragma once

#include "dwarf/debug_info.h"

namespace dwarf {

struct TypeEntry {
  Attribute name, type, size, encoding, signature, specification;
  Attribute place, bit_size, bit_offset, data_bit_offset; // of members
  Attribute value, count, upper, lower;                   // of enumerators and dimensions
  bool is_declaration = false, is_external = false, is_artificial = false, is_virtual = false,
       is_scoped = false;
};

TypeEntry read_type_entry(const Die& die);

// typedef, const, …: entries that stand for the type they name.
bool is_modifier(uint16_t tag);
bool is_structure(uint16_t tag); // also classes and unions
// Entries inside which types are declared: also functions and units.
bool may_hold_types(uint16_t tag);
// struct and class are one kind; others are themselves.
uint16_t kind_of_tag(uint16_t tag);

// Languages without namespaces, where structures are written with their keyword.
bool is_c(uint16_t language);

// The entry that DW_AT_type names; nothing: void.
std::optional<Die> type_of(const Die& die);
// The type itself behind typedefs, const, … and signatures; nothing: void, or a malformed chain.
std::optional<Die> skip_modifiers(std::optional<Die> die);
// Number of elements of one dimension; 0: not known.
uint64_t elements_of(const Die& dimension);
// DW_AT_byte_size, where it is a constant.
std::optional<uint64_t> size_of(const TypeEntry& entry);

// Calls take(const Die&) for the entries right below.
template<class Take> void for_each_child(const Die& die, Take take) {
  if (!die.has_children()) return;
  DieCursor cursor(die);
  for (bool more = cursor.next() && cursor.next(); more; more = cursor.next_sibling()) take(cursor.die());
}

} // namespace dwarf
