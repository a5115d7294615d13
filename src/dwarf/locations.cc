#include "dwarf/locations.h"

namespace dwarf {

// Of a variable in a function of many thousand lines there are some hundreds.
static constexpr size_t most_entries = 1 << 16;

namespace {

enum : uint8_t { // DW_LLE_…
  end_of_list,
  base_addressx,
  startx_endx,
  startx_length,
  offset_pair,
  default_location,
  base_address,
  start_end,
  start_length,
  view_pair, // GNU's: which of several places of one address are meant
};

struct List {
  const Unit& unit;
  std::vector<LocationRange>& out;
  size_t read = 0;
  uint64_t base = unit.low_pc.value_or(0);

  void add(uint64_t begin, uint64_t end, ByteSpan expression, bool is_default = false) {
    if (begin <= end || is_default) out.push_back({{begin, end}, expression, is_default});
  }
};

// DWARF 2 to 4: as lists of ranges, each with an expression.
void read_old_list(List& list, uint64_t offset) {
  unsigned size = list.unit.encoding().address_size;
  uint64_t largest = size == 8 ? UINT64_MAX : UINT32_MAX;
  base::Reader r(list.unit.own->loc, offset);
  for (; list.read < most_entries; list.read++) {
    uint64_t begin = r.number_of(size), end = r.number_of(size);
    if (!r.ok() || (begin == 0 && end == 0)) return;
    if (begin == largest) {
      list.base = end;
      continue;
    }
    ByteSpan expression = r.bytes(r.number<uint16_t>());
    if (!r.ok()) return;
    list.add(list.base + begin, list.base + end, expression);
  }
}

// One entry of .debug_loclists, or of .debug_loc.dwo of version 4, which has smaller operands; false at the
// end.
bool read_entry(List& list, base::Reader& r, bool is_old) {
  unsigned size = list.unit.encoding().address_size;
  auto indexed = [&] { return indexed_address(list.unit, r.uleb128()).value_or(0); };
  auto length = [&] { return is_old ? r.number<uint32_t>() : r.uleb128(); };
  auto kind = r.number<uint8_t>();
  if (is_old && kind > offset_pair) return false;
  uint64_t begin = 0, end = 0;
  switch (kind) {
  case base_addressx: list.base = indexed(); return r.ok();
  case base_address: list.base = r.number_of(size); return r.ok();
  case view_pair: r.uleb128(), r.uleb128(); return r.ok();
  case startx_endx: begin = indexed(), end = indexed(); break;
  case startx_length: begin = indexed(), end = begin + length(); break;
  case offset_pair: begin = list.base + length(), end = list.base + length(); break;
  case start_end: begin = r.number_of(size), end = r.number_of(size); break;
  case start_length: begin = r.number_of(size), end = begin + r.uleb128(); break;
  case default_location: break;
  default: return false;
  }
  ByteSpan expression = r.bytes(is_old ? r.number<uint16_t>() : r.uleb128());
  if (!r.ok()) return false;
  list.add(begin, end, expression, kind == default_location);
  return true;
}

// Where the list with this number begins (DW_FORM_loclistx): a table of offsets stands at the base.
std::optional<uint64_t> indexed_list(const Unit& unit, uint64_t index) {
  ByteSpan section = unit.own->loclists;
  unsigned size = unit.encoding().offset_size;
  if (unit.loclists_base > section.size() || index >= (section.size() - unit.loclists_base) / size)
    return std::nullopt;
  return unit.loclists_base + base::Reader(section, unit.loclists_base + index * size).number_of(size);
}

} // namespace

std::vector<LocationRange> location_list(const Unit& unit, const Location& location) {
  std::vector<LocationRange> out;
  List list{unit, out};
  if (location.kind != Location::list && location.kind != Location::list_index) return out;
  bool is_old = unit.encoding().version < 5;
  if (is_old && !unit.own->split) {
    read_old_list(list, location.number);
    return out;
  }
  std::optional<uint64_t> at = location.number;
  if (location.kind == Location::list_index)
    at = indexed_list(unit, location.number);
  else if (is_old)
    at = location.number + unit.loclists_base;
  if (!at) return out;
  base::Reader r(is_old ? unit.own->loc : unit.own->loclists, *at);
  while (list.read < most_entries && read_entry(list, r, is_old)) list.read++;
  return out;
}

std::optional<ByteSpan> expression_at(const Unit& unit, const Location& location, uint64_t address,
                                      std::optional<uint64_t> entry) {
  if (location.kind == Location::expression) return location.bytes;
  std::optional<ByteSpan> found, otherwise;
  for (const LocationRange& range : location_list(unit, location)) {
    if (range.is_default) {
      otherwise = range.expression;
    } else if (range.code.begin == range.code.end) {
      if (entry == range.code.begin && !range.expression.empty()) return range.expression;
    } else if (!found && range.code.holds(address)) {
      found = range.expression;
    }
  }
  if (!found) found = otherwise;
  return found && !found->empty() ? found : std::nullopt;
}

} // namespace dwarf
