#include "dwarf/frame_rules.h"

#include "dwarf/frame_program.h"

#include <algorithm>
#include <vector>

namespace dwarf {

namespace {

// Where the FDE for some code is.
struct FdePlace {
  uint64_t begin = 0, end = 0, at = 0;
  bool operator<(const FdePlace& o) const { return begin < o.begin; }
};

// One table and, once it was asked for, the list of its entries in the order of addresses.
class TableLookup {
public:
  TableLookup(const FrameTables& tables, bool is_eh) : entries_(tables, is_eh), program_(entries_.table()) {}
  // By the place that somebody else tells, if it is right.
  std::optional<FrameRow> find_at(uint64_t place, uint64_t address);
  std::optional<FrameRow> find(uint64_t address);

private:
  std::optional<FrameRow> row_of(const FrameFde& fde, uint64_t address);
  void list_places();

  FrameEntries entries_;
  FrameProgram program_;
  std::vector<FdePlace> places_;
  bool is_listed_ = false;
};

} // namespace

std::optional<FrameRow> TableLookup::row_of(const FrameFde& fde, uint64_t address) {
  program_.start(fde);
  while (program_.next())
    if (address < program_.row().end) return program_.row();
  return std::nullopt;
}

std::optional<FrameRow> TableLookup::find_at(uint64_t place, uint64_t address) {
  std::optional<FrameFde> fde = entries_.at(place);
  if (!fde || address < fde->begin || address >= fde->end) return std::nullopt;
  return row_of(*fde, address);
}

void TableLookup::list_places() {
  is_listed_ = true;
  while (std::optional<FrameFde> fde = entries_.next())
    if (fde->begin < fde->end) places_.push_back({fde->begin, fde->end, fde->at});
  if (!std::is_sorted(places_.begin(), places_.end())) std::stable_sort(places_.begin(), places_.end());
}

std::optional<FrameRow> TableLookup::find(uint64_t address) {
  if (!is_listed_) list_places();
  auto after = std::upper_bound(places_.begin(), places_.end(), FdePlace{address});
  if (after == places_.begin()) return std::nullopt;
  return find_at((after - 1)->at, address);
}

struct FrameLookup::State {
  explicit State(const FrameTables& given) : tables(given), eh(tables, true), debug(tables, false) {}
  const FrameTables tables;
  TableLookup eh, debug;
};

FrameLookup::FrameLookup(const FrameTables& tables) : state_(std::make_unique<State>(tables)) {}
FrameLookup::~FrameLookup() = default;
FrameLookup::FrameLookup(FrameLookup&&) noexcept = default;

std::optional<FrameRow> FrameLookup::find(uint64_t address) {
  if (std::optional<uint64_t> at = search_frame_header(state_->tables, address))
    if (std::optional<FrameRow> row = state_->eh.find_at(*at, address)) return row;
  if (std::optional<FrameRow> row = state_->eh.find(address)) return row;
  return state_->debug.find(address);
}

std::optional<FrameRow> frame_row_at(const FrameTables& tables, uint64_t address) {
  return FrameLookup(tables).find(address);
}

std::optional<CfaRule> cfa_rule_at(const FrameTables& tables, uint64_t address) {
  std::optional<FrameRow> row = frame_row_at(tables, address);
  return row && row->has_cfa ? std::optional(row->cfa) : std::nullopt;
}

// ---- where the tables are

// Of files whose sections are not listed: the program header points to the search table, that to the other.
static void find_by_segments(const format::ElfFile& file, FrameTables& out) {
  constexpr uint32_t gnu_eh_frame = 0x6474e550; // PT_GNU_EH_FRAME
  for (const format::ElfSegment& s : file.elf().segments()) {
    if (s.type != gnu_eh_frame) continue;
    out.eh_frame_hdr = base::slice(file.bytes(), s.offset, s.file_size);
    out.eh_frame_hdr_address = s.address;
    base::Reader r(out.eh_frame_hdr);
    FrameTable table{out.eh_frame_hdr, s.address, true, &out};
    auto version = r.number<uint8_t>(), encoding = r.number<uint8_t>();
    r.skip(2);
    auto at = version == 1 ? read_frame_address(table, r, encoding, 8) : std::nullopt;
    auto offset = at ? file.elf().offset_of_address(*at) : std::nullopt;
    if (!offset || *offset >= file.bytes().size()) return;
    out.eh_frame = file.bytes().subspan(*offset);
    out.eh_frame_address = *at;
    out.is_open_ended = true;
    return;
  }
}

FrameTables frame_tables_of(const format::ElfFile& file, const format::ElfFile* debug) {
  FrameTables out;
  auto address = [&](std::string_view name) {
    const format::ElfSection* section = file.elf().section(name);
    return section ? section->address : 0;
  };
  out.eh_frame = file.section(".eh_frame");
  out.eh_frame_hdr = file.section(".eh_frame_hdr");
  out.debug_frame = file.section(".debug_frame");
  if (out.debug_frame.empty() && debug) out.debug_frame = debug->section(".debug_frame");
  out.eh_frame_address = address(".eh_frame");
  out.eh_frame_hdr_address = address(".eh_frame_hdr");
  out.text_address = address(".text");
  out.data_address = address(".got");
  if (out.eh_frame.empty()) find_by_segments(file, out);
  return out;
}

} // namespace dwarf
