// Entries as the index of names reads them. An index needs few attributes of few entries but must pass over
// all of them, so each abbreviation of a unit is first turned into steps (`EntryShape`): attributes that do
// not matter melt into one skip, the others go into numbered slots. Most entries of C are one skip.
#pragma once

#include "dwarf/abbreviations.h"
#include "dwarf/forms.h"

#include <array>
#include <memory>
#include <vector>

namespace dwarf {

// What an entry is to the index.
enum class Role : uint8_t {
  other,  // of no interest, nor what is below it
  member, // likewise, but it may be completed by a variable outside of its class
  function,
  variable,
  structure, // also classes, unions, interfaces
  enumeration,
  enumerator,
  alias, // typedefs and base types: a name without anything below it
  name_space,
  block, // something in a function that may hold further entries
  unit,
};

// Attributes that are read, if an entry has them. Strings and references as the form stores them; of
// DW_FORM_string the place in the unit's section.
enum Slot : uint8_t {
  slot_sibling,
  slot_name,
  slot_linkage,
  slot_reference, // DW_AT_specification, or else DW_AT_abstract_origin
  slot_declaration,
  slot_inline,
  slot_enum_class,
  slot_exported,
  slot_line,
  slot_size,
  slot_constant,
  slot_signature,
  slot_count,
};
using Slots = std::array<uint64_t, slot_count>;

struct EntryShape {
  uint16_t tag = 0;
  Role role = Role::other;
  bool has_children = false;
  bool readable = false;     // else a form is not known, and nothing can be read from here on
  bool has_place = false;    // it has an address, ranges or a location
  bool has_constant = false; // DW_AT_const_value, of any form
  uint16_t has = 0;          // bits of the slots that are filled
  uint16_t name_form = 0, linkage_form = 0, reference_form = 0;
  uint32_t first_step = 0;
  int32_t fixed_size = -1; // of the values, in bytes; -1: it depends on them

  bool fills(Slot slot) const { return has >> slot & 1; }
};

// The shapes of one table of abbreviations.
class EntryShapes {
public:
  // False: that is what was compiled last.
  bool compile(const std::shared_ptr<const Abbreviations>& table, const Encoding& encoding);
  // nullptr: there is none of this code.
  const EntryShape* find(uint64_t code) const {
    if (code - 1 < dense_) return &shapes_[code - 1];
    return search(code);
  }
  // Reads the values that begin at `at`; only the slots which the shape fills are written. The place after
  // them; nullptr: they are cut off. `begin`: of the section, for the places of strings.
  const std::byte* read(const EntryShape& shape, const std::byte* begin, const std::byte* at,
                        const std::byte* end, Slots& slots) const;
  // The same without the values.
  const std::byte* pass(const EntryShape& shape, const std::byte* begin, const std::byte* at,
                        const std::byte* end, Slots& slots) const {
    if (shape.fixed_size < 0) return read(shape, begin, at, end, slots);
    return end - at < shape.fixed_size ? nullptr : at + shape.fixed_size;
  }

private:
  enum class Action : uint8_t {
    done,
    skip,
    leb,
    string,
    block1,
    block2,
    block4,
    block,
    indirect,
    load,
    load_leb,
    load_string,
    load_constant
  };
  struct Step {
    Action action;
    Slot slot;       // of loads
    uint16_t size;   // of numbers: 1, 2, 3, 4 or 8 bytes; of LEB128 that are loaded: signed_leb or 0
    uint32_t number; // bytes that are skipped before; of load_constant: which of `constants_`
  };
  static constexpr uint16_t signed_leb = 1;
  const EntryShape* search(uint64_t code) const;
  EntryShape compile_one(const Abbreviation& a);
  bool add_steps(EntryShape& shape, const AttributeSpec& spec, uint32_t& skipped);
  void flush(uint32_t& skipped);

  std::shared_ptr<const Abbreviations> table_;
  Encoding encoding_;
  size_t dense_ = 0;
  std::vector<EntryShape> shapes_;
  std::vector<Step> steps_;
  std::vector<uint64_t> constants_;
};

} // namespace dwarf
