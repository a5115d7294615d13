// Abbreviations: which tag and attributes the entries of a unit have; every entry begins with the number of
// one. Specification: DWARF 5, section 7.5.3.
#pragma once

#include "dwarf/constants.h"
#include "dwarf/sections.h"

#include <vector>

namespace dwarf {

struct AttributeSpec {
  uint16_t name = 0;    // DW_AT_…
  uint16_t form = 0;    // DW_FORM_…
  int64_t constant = 0; // the value, if the form is DW_FORM_implicit_const
  bool is_sibling4() const { return name == DW_AT_sibling && form == DW_FORM_ref4; }
};

struct Abbreviation {
  uint64_t code = 0;
  uint32_t first_spec = 0, spec_count = 0; // of Abbreviations::specs
  uint16_t tag = 0;                        // DW_TAG_…
  bool has_children = false;
  bool has_sibling = false; // DW_AT_sibling is among the attributes
  // An entry's values take bytes + offsets * (4 or 8) + addresses * (size of one), if has_fixed_size.
  bool has_fixed_size = false;
  uint16_t bytes = 0;
  uint8_t offsets = 0, addresses = 0;
};

class Abbreviations {
public:
  // The table at `offset` of .debug_abbrev. A damaged one ends where the damage is. `until`: reading may stop
  // after this code, for those who want no more than the first entry of a unit.
  static Abbreviations read(ByteSpan section, uint64_t offset, uint64_t until = 0);

  // nullptr: there is none of this code.
  const Abbreviation* find(uint64_t code) const {
    if (code - 1 < dense_) return &list_[code - 1];
    return dense_ == list_.size() ? nullptr : search(code);
  }
  std::span<const AttributeSpec> specs(const Abbreviation& a) const {
    return {specs_.data() + a.first_spec, a.spec_count};
  }
  const std::vector<Abbreviation>& all() const { return list_; }

private:
  const Abbreviation* search(uint64_t code) const;

  std::vector<Abbreviation>
      list_; // the first `dense_` are those of code 1, 2, …; the rest in order of the code
  std::vector<AttributeSpec> specs_;
  size_t dense_ = 0;
};

} // namespace dwarf
