#include "dwarf/package.h"

#include <algorithm>

namespace dwarf {

// More units than any program has; also keeps the products below from overflowing.
static constexpr uint32_t most_rows = 1 << 22, most_columns = 32;

static void set_column(Contribution& c, uint32_t version, uint32_t column, uint32_t offset, uint32_t size,
                       const Sections& sections) {
  switch (column) {
  case DW_SECT_INFO:
  case DW_SECT_TYPES:
    if (version != 2 && column == DW_SECT_TYPES) break;
    c.in_types = column == DW_SECT_TYPES;
    c.unit = base::slice(c.in_types ? sections.types : sections.info, offset, size);
    c.unit_offset = offset;
    break;
  case DW_SECT_ABBREV: c.abbrev = offset; break;
  case DW_SECT_LINE: c.line = offset; break;
  case DW_SECT_LOCLISTS: c.loclists = offset; break;
  case DW_SECT_STR_OFFSETS: c.str_offsets = offset; break;
  case DW_SECT_RNGLISTS:
    if (version == 5) c.rnglists = offset;
    break;
  }
}

std::vector<Contribution> read_package_index(ByteSpan index, const Sections& sections) {
  std::vector<Contribution> out;
  base::Reader r(index);
  uint32_t version = r.number<uint32_t>(); // of version 5: 2 bytes and 2 of padding
  if (version != 2) version &= 0xffff;
  auto columns = r.number<uint32_t>(), units = r.number<uint32_t>(), slots = r.number<uint32_t>();
  if (!r.ok() || (version != 2 && version != 5) || columns > most_columns || units > most_rows ||
      slots > most_rows)
    return out;
  // Signatures of the slots, row numbers of the slots, names of the columns, offsets by row, sizes by row.
  uint64_t rows_at = r.at() + uint64_t{slots} * 8, columns_at = rows_at + uint64_t{slots} * 4;
  uint64_t offsets_at = columns_at + uint64_t{columns} * 4;
  uint64_t sizes_at = offsets_at + uint64_t{columns} * 4 * units;
  if (sizes_at + uint64_t{columns} * 4 * units > index.size()) return out;
  auto cell = [&](uint64_t at) { return base::Reader(index, at).number<uint32_t>(); };
  for (uint64_t slot = 0; slot < slots; slot++) {
    uint32_t row = cell(rows_at + slot * 4);
    if (row == 0 || row > units) continue;
    Contribution c;
    c.signature = base::Reader(index, 16 + slot * 8).number<uint64_t>();
    for (uint32_t column = 0; column < columns; column++) {
      uint64_t at = (uint64_t{row - 1} * columns + column) * 4;
      set_column(c, version, cell(columns_at + column * 4), cell(offsets_at + at), cell(sizes_at + at),
                 sections);
    }
    if (!c.unit.empty()) out.push_back(c);
  }
  std::sort(out.begin(), out.end(), [](const Contribution& a, const Contribution& b) {
    return std::pair(a.in_types, a.unit_offset) < std::pair(b.in_types, b.unit_offset);
  });
  return out;
}

} // namespace dwarf
