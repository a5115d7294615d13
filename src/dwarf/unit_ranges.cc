#include "dwarf/unit_ranges.h"

#include <algorithm>
#include <tuple>

namespace dwarf {

// More than the largest programs have; what else a damaged file could make of units that share what is large.
static constexpr size_t most_ranges = 1 << 21, most_abbreviations = 1 << 24;

// One set of .debug_aranges, those of one unit; false: where the next one would be is not known.
static bool read_set(DebugInfo& info, base::Reader& r, std::vector<UnitRange>& out,
                     std::vector<bool>& covered) {
  uint64_t length = r.number<uint32_t>();
  unsigned offset_size = length == 0xffffffff ? 8 : 4;
  if (offset_size == 8) length = r.number<uint64_t>();
  base::Reader set(r.bytes(length));
  if (!r.ok()) return false;
  auto version = set.number<uint16_t>();
  uint64_t unit_at = set.number_of(offset_size);
  unsigned size = set.number<uint8_t>(), segment = set.number<uint8_t>();
  std::optional<size_t> unit = info.unit_of(unit_at);
  if (!set.ok() || version != 2 || segment != 0 || (size != 4 && size != 8) || !unit) return true;
  // Pairs are aligned to their size, counted from where the set begins (its length included).
  uint64_t head = offset_size == 8 ? 12 : 4;
  set.skip((2 * size - (set.at() + head) % (2 * size)) % (2 * size));
  while (set.ok()) {
    uint64_t address = set.number_of(size), bytes = set.number_of(size);
    if (!set.ok() || (address == 0 && bytes == 0)) break;
    if (address == 0 && !info.sections().relocatable) continue; // dropped by the linker
    if (bytes > 0 && address + bytes > address) {
      out.push_back({address, address + bytes, static_cast<uint32_t>(*unit)});
      covered[*unit] = true;
    }
  }
  return true;
}

static bool before(const UnitRange& a, const UnitRange& b) {
  return std::tuple(a.begin, ~a.end, ~a.unit) < std::tuple(b.begin, ~b.end, ~b.unit);
}

// Where ranges overlap the one that begins last has the addresses, that is the inner one; of equal ones, such
// as those of functions that the linker found to be the same, the first unit's.
static std::vector<UnitRange> without_overlaps(std::vector<UnitRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), before);
  std::vector<UnitRange> out, open; // open: begun and not ended, the inner ones last
  uint64_t at = 0;                  // what is before is settled
  auto settle = [&](uint64_t until) {
    while (!open.empty() && at < until) {
      uint64_t end = std::min(open.back().end, until);
      if (end > at) {
        out.push_back({at, end, open.back().unit});
        at = end;
      }
      if (open.back().end <= at) open.pop_back();
    }
    at = std::max(at, until);
  };
  for (const UnitRange& range : ranges) {
    settle(range.begin);
    while (!open.empty() && open.back().end <= range.end) open.pop_back();
    open.push_back(range);
  }
  settle(UINT64_MAX);
  return out;
}

UnitRanges::UnitRanges(DebugInfo& info) {
  std::vector<bool> covered(info.units().size());
  base::Reader r(info.sections().aranges);
  while (r.ok() && r.at() < info.sections().aranges.size() && ranges_.size() < most_ranges)
    if (!read_set(info, r, ranges_, covered)) break;
  std::vector<AddressRange> found;
  size_t abbreviations = 0;
  for (size_t i = 0; i < covered.size() && abbreviations < most_abbreviations && ranges_.size() < most_ranges;
       i++) {
    if (covered[i] || info.units()[i].is_type_unit()) continue;
    std::unique_ptr<Unit> unit = info.peek_unit(i);
    if (!unit) continue;
    abbreviations += unit->abbreviations->all().size();
    found.clear();
    if (std::optional<Die> die = unit_die(*unit)) found = ranges_of(*die);
    for (const AddressRange& range : found)
      ranges_.push_back({range.begin, range.end, static_cast<uint32_t>(i)});
  }
  ranges_ = without_overlaps(std::move(ranges_));
}

std::optional<size_t> UnitRanges::find(uint64_t address) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t wanted, const UnitRange& range) { return wanted < range.begin; });
  if (after == ranges_.begin() || address >= (after - 1)->end) return std::nullopt;
  return (after - 1)->unit;
}

} // namespace dwarf
