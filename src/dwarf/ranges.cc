#include "dwarf/ranges.h"

namespace dwarf {

// An entry's code is in a handful of pieces; of the unit of a program optimised as a whole in many thousands.
static constexpr size_t most_entries = 1 << 20;

namespace {

struct Ranges {
  const Unit& unit;
  std::vector<AddressRange>& out;
  size_t read = 0;
  uint64_t base = unit.low_pc.value_or(0);

  // A linker that drops code writes 0, 1 or the largest number for its address.
  void add(uint64_t begin, uint64_t end) {
    if (begin < end && (begin > 0 || unit.main->relocatable)) out.push_back({begin, end});
  }
};

} // namespace

// DWARF 2 to 4: pairs of addresses relative to a base, which pairs that begin with the largest number set.
static void read_old_list(Ranges& ranges, uint64_t offset) {
  unsigned size = ranges.unit.encoding().address_size;
  uint64_t largest = size == 8 ? UINT64_MAX : UINT32_MAX;
  base::Reader r(ranges.unit.main->ranges, offset);
  for (; ranges.read < most_entries; ranges.read++) {
    uint64_t begin = r.number_of(size), end = r.number_of(size);
    if (!r.ok() || (begin == 0 && end == 0)) return;
    if (begin == largest)
      ranges.base = end;
    else if (begin != end)
      ranges.add(ranges.base + begin, ranges.base + end);
  }
}

// One entry of a list of DWARF 5; false at the end.
static bool read_entry(Ranges& ranges, base::Reader& r) {
  unsigned size = ranges.unit.encoding().address_size;
  auto indexed = [&] { return indexed_address(ranges.unit, r.uleb128()).value_or(0); };
  uint64_t begin, end;
  switch (r.number<uint8_t>()) {
  case DW_RLE_base_addressx: ranges.base = indexed(); return r.ok();
  case DW_RLE_base_address: ranges.base = r.number_of(size); return r.ok();
  case DW_RLE_startx_endx: begin = indexed(), end = indexed(); break;
  case DW_RLE_startx_length: begin = indexed(), end = begin + r.uleb128(); break;
  case DW_RLE_offset_pair: begin = ranges.base + r.uleb128(), end = ranges.base + r.uleb128(); break;
  case DW_RLE_start_end: begin = r.number_of(size), end = r.number_of(size); break;
  case DW_RLE_start_length: begin = r.number_of(size), end = begin + r.uleb128(); break;
  default: return false;
  }
  if (r.ok()) ranges.add(begin, end);
  return r.ok();
}

// Where the list with this number begins (DW_FORM_rnglistx): a table of offsets stands at the base.
static std::optional<uint64_t> indexed_list(const Unit& unit, uint64_t index) {
  ByteSpan section = unit.own->rnglists;
  unsigned size = unit.encoding().offset_size;
  if (unit.rnglists_base > section.size() || index >= (section.size() - unit.rnglists_base) / size)
    return std::nullopt;
  return unit.rnglists_base + base::Reader(section, unit.rnglists_base + index * size).number_of(size);
}

static void read_list(Ranges& ranges, const Attribute& a) {
  const Unit& unit = ranges.unit;
  if (unit.encoding().version < 5)
    return read_old_list(ranges, a.number + (unit.own->split ? unit.ranges_base : 0));
  std::optional<uint64_t> at = a.form == DW_FORM_rnglistx ? indexed_list(unit, a.number) : a.number;
  if (!at) return;
  base::Reader r(unit.own->rnglists, *at);
  while (ranges.read < most_entries && read_entry(ranges, r)) ranges.read++;
}

size_t append_ranges(const Unit& unit, const CodeAttributes& attributes, std::vector<AddressRange>& out) {
  Ranges ranges{unit, out};
  if (attributes.ranges) {
    read_list(ranges, attributes.ranges);
    return ranges.read;
  }
  std::optional<uint64_t> low = address_of(unit, attributes.low_pc);
  if (!low || !attributes.high_pc) return 0;
  if (std::optional<uint64_t> high = address_of(unit, attributes.high_pc))
    ranges.add(*low, *high);
  else if (std::optional<uint64_t> size = unsigned_of(attributes.high_pc))
    ranges.add(*low, *low + *size);
  return 0;
}

std::vector<AddressRange> ranges_of(const Die& die) {
  std::vector<AddressRange> out;
  CodeAttributes attributes;
  for_each_attribute(die, [&](const Attribute& a) { return attributes.take(a), true; });
  append_ranges(*die.unit, attributes, out);
  return out;
}

} // namespace dwarf
