// Values of attributes: how many bytes each form takes, and what they are. Forms that only name a place
// (an index, an offset, a signature) are read as that; units.h has the functions that go there.
// Specification: DWARF 5, section 7.5.5.
#pragma once

#include "dwarf/abbreviations.h"

namespace dwarf {

// What the sizes of forms depend on.
struct Encoding {
  uint16_t version = 0;
  uint8_t address_size = 8;
  uint8_t offset_size = 4; // 8 in 64-bit DWARF
};

struct Attribute {
  uint16_t name = 0; // DW_AT_…; 0: there is none
  uint16_t form = 0; // DW_FORM_…, never DW_FORM_indirect
  uint64_t number =
      0; // of all but blocks: constants (sdata extended by its sign), flags, addresses, offsets, indexes
  ByteSpan block; // of blocks, expressions, data16; of DW_FORM_string its bytes without the NUL
  explicit operator bool() const { return name != 0; }
};

// One value. False: it does not fit what is left, or the form is not known, so that nothing after it can be
// read.
bool read_form(base::Reader& r, const Encoding& encoding, const AttributeSpec& spec, Attribute& out);

// Passes values without reading them: the place after those of `a` that begin at `at`; nullptr: they do not
// fit before `end`, or a form is not known.
const std::byte* skip_attributes(const std::byte* at, const std::byte* end, const Encoding& encoding,
                                 const Abbreviations& table, const Abbreviation& a);
const std::byte* skip_form(const std::byte* at, const std::byte* end, const Encoding& encoding,
                           uint16_t form);

} // namespace dwarf
