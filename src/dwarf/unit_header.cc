// Unit headers (DWARF 5, section 7.5.1).
#include "dwarf/debug_info.h"

namespace dwarf {

// The rest of a header after the version: the order differs before version 5.
static void read_rest(base::Reader& r, UnitHeader& h, bool split) {
  Encoding& e = h.encoding;
  if (e.version >= 5) {
    h.kind = r.number<uint8_t>();
    e.address_size = r.number<uint8_t>();
    h.abbrev_offset = r.number_of(e.offset_size);
  } else {
    h.abbrev_offset = r.number_of(e.offset_size);
    e.address_size = r.number<uint8_t>();
    h.kind =
        h.in_types ? (split ? DW_UT_split_type : DW_UT_type) : (split ? DW_UT_split_compile : DW_UT_compile);
  }
  if (h.is_type_unit() || h.kind == DW_UT_skeleton || (h.kind == DW_UT_split_compile && e.version >= 5))
    h.signature = r.number<uint64_t>();
  if (h.is_type_unit()) h.type_offset = h.offset + r.number_of(e.offset_size);
}

std::optional<UnitHeader> read_unit_header(ByteSpan section, uint64_t offset, bool in_types, bool split) {
  UnitHeader h;
  h.offset = offset;
  h.in_types = in_types;
  base::Reader r(section, offset);
  uint64_t length = r.number<uint32_t>();
  if (length == 0xffffffff) {
    length = r.number<uint64_t>();
    h.encoding.offset_size = 8;
  }
  if (!r.ok() || length > section.size() - r.at()) return std::nullopt;
  h.end = r.at() + length;
  base::Reader in_unit(section.first(h.end), r.at());
  h.encoding.version = in_unit.number<uint16_t>();
  bool known = h.encoding.version >= 2 && h.encoding.version <= 5;
  if (known) read_rest(in_unit, h, split);
  uint8_t address = h.encoding.address_size;
  known = known && in_unit.ok() && (address == 4 || address == 8) && h.kind >= DW_UT_compile &&
          h.kind <= DW_UT_split_type;
  if (!known) h.encoding.version = 0;
  h.first_die = in_unit.at();
  return h;
}

} // namespace dwarf
