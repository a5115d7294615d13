#include "dwarf/debug_info.h"

#include <algorithm>

namespace dwarf {

// The largest programs have some ten thousands; a file of nothing but headers must not take all memory.
static constexpr size_t most_units = 1 << 21;
// A unit's table of abbreviations takes some 30 KB; programs optimised as a whole refer from one unit to
// many.
static constexpr size_t most_loaded_units = 128;
// How much of a file may be touched before its pages are given back.
static constexpr uint64_t bytes_between_releases = 24 << 20;
// The kernel maps the neighbours of a touched page along with it.
static constexpr uint64_t bytes_of_a_touch = 64 << 10;

DebugInfo::DebugInfo(const format::ElfFile& file, bool with_locations)
    : file_(&file), sections_(sections_of(file, with_locations)) {}
DebugInfo::DebugInfo(const Sections& sections) : sections_(sections) {}

void DebugInfo::count_bytes(uint64_t bytes) {
  bytes_read_ += bytes;
  if (bytes_read_ < bytes_between_releases) return;
  bytes_read_ = 0;
  if (file_) file_->release_pages();
}

void DebugInfo::drop_units() {
  loaded_.clear();
  tables_.clear();
}

void DebugInfo::trim_units(const Unit* keep) {
  if (loaded_.size() > most_loaded_units) {
    std::erase_if(loaded_, [&](const auto& entry) { return !keep || entry.second.get() != keep; });
    tables_.clear();
  }
  if (alternate_ && alternate_ != this) alternate_->trim_units();
}

const std::vector<UnitHeader>& DebugInfo::units() {
  if (has_headers_) return headers_;
  has_headers_ = true;
  read_headers(sections_.info, false);
  in_info_ = headers_.size();
  read_headers(sections_.types, true);
  read_package();
  return headers_;
}

void DebugInfo::read_headers(ByteSpan section, bool in_types) {
  for (uint64_t at = 0; at < section.size() && headers_.size() < most_units;) {
    std::optional<UnitHeader> h = read_unit_header(section, at, in_types, sections_.split);
    if (!h) return; // where the next one would be is not known
    count_bytes(std::min(h->end - at, bytes_of_a_touch));
    at = h->end;
    headers_.push_back(*h);
  }
}

// Gives each unit of a package the parts of the other sections that belong to it.
void DebugInfo::read_package() {
  for (ByteSpan index : {sections_.cu_index, sections_.tu_index}) {
    std::vector<Contribution> rows = read_package_index(index, sections_);
    package_.insert(package_.end(), rows.begin(), rows.end());
  }
  for (uint32_t row = 0; row < package_.size(); row++) {
    const Contribution& c = package_[row];
    std::optional<size_t> unit = unit_of(c.unit_offset, c.in_types);
    if (!unit || headers_[*unit].offset != c.unit_offset || headers_[*unit].package_row != UINT32_MAX)
      continue;
    headers_[*unit].package_row = row;
    headers_[*unit].abbrev_offset += c.abbrev;
    headers_[*unit].signature = c.signature;
  }
}

std::optional<size_t> DebugInfo::unit_of(uint64_t offset, bool in_types) {
  units();
  auto middle = headers_.begin() + static_cast<ptrdiff_t>(in_info_);
  auto from = in_types ? middle : headers_.begin(), to = in_types ? headers_.end() : middle;
  auto after =
      std::upper_bound(from, to, offset, [](uint64_t at, const UnitHeader& h) { return at < h.offset; });
  if (after == from || offset >= (after - 1)->end) return std::nullopt;
  return static_cast<size_t>(after - 1 - headers_.begin());
}

std::shared_ptr<const Abbreviations> DebugInfo::abbreviations(uint64_t offset) {
  auto& table = tables_[offset];
  if (!table) table = std::make_shared<const Abbreviations>(Abbreviations::read(sections_.abbrev, offset));
  return table;
}

const Unit* DebugInfo::unit(size_t index) {
  if (index >= units().size()) return nullptr;
  auto [entry, is_new] = loaded_.try_emplace(index);
  if (!is_new) return entry->second.get();
  auto unit = std::make_unique<Unit>();
  if (load(*unit, index, false)) entry->second = std::move(unit);
  return entry->second.get();
}

std::unique_ptr<Unit> DebugInfo::peek_unit(size_t index) {
  if (index >= units().size()) return nullptr;
  auto unit = std::make_unique<Unit>();
  return load(*unit, index, true) ? std::move(unit) : nullptr;
}

// What of a unit's own entry depends on other attributes of it, so that it is looked at last.
struct UnitAttributes {
  Attribute name, folder, split_name, low_pc;
};

static void take_unit_attribute(const Attribute& a, Unit& u, UnitAttributes& late) {
  switch (a.name) {
  case DW_AT_name: late.name = a; break;
  case DW_AT_comp_dir: late.folder = a; break;
  case DW_AT_dwo_name:
  case DW_AT_GNU_dwo_name: late.split_name = a; break;
  case DW_AT_low_pc: late.low_pc = a; break;
  case DW_AT_stmt_list: u.line_offset = a.number; break;
  case DW_AT_language: u.language = static_cast<uint16_t>(a.number); break;
  case DW_AT_GNU_dwo_id: u.split_id = a.number; break;
  case DW_AT_str_offsets_base: u.str_offsets_base = a.number; break;
  case DW_AT_addr_base:
  case DW_AT_GNU_addr_base: u.addr_base = a.number; break;
  case DW_AT_rnglists_base: u.rnglists_base = a.number; break;
  case DW_AT_loclists_base: u.loclists_base = a.number; break;
  case DW_AT_GNU_ranges_base: u.ranges_base = a.number; break;
  }
}

bool DebugInfo::load(Unit& u, size_t index, bool peek) {
  const UnitHeader& h = headers_[index];
  if (h.encoding.version == 0) return false;
  u.header = &h;
  u.index = index;
  u.info = this;
  u.own = u.main = &sections_;
  u.section = h.in_types ? sections_.types : sections_.info;
  if (peek) {
    uint64_t first = base::Reader(u.section.first(h.end), h.first_die).uleb128();
    u.abbreviations =
        std::make_shared<const Abbreviations>(Abbreviations::read(sections_.abbrev, h.abbrev_offset, first));
  } else {
    u.abbreviations = abbreviations(h.abbrev_offset);
  }
  u.split_id = h.is_type_unit() ? 0 : h.signature;
  if (sections_.split) { // its tables are its own: after their headers, or where the package has them
    uint64_t header = h.encoding.version < 5 ? 0 : h.encoding.offset_size == 8 ? 16 : 8;
    uint64_t list_header = h.encoding.version < 5 ? 0 : header + 4;
    Contribution part = h.package_row < package_.size() ? package_[h.package_row] : Contribution();
    u.str_offsets_base = part.str_offsets + header;
    u.rnglists_base = part.rnglists + list_header;
    u.loclists_base = part.loclists + list_header;
  }
  std::optional<Die> die = unit_die(u);
  if (!die) return false;
  u.tag = die->tag();
  UnitAttributes late;
  for_each_attribute(*die, [&](const Attribute& a) { return take_unit_attribute(a, u, late), true; });
  u.name = text_of(u, late.name).value_or("");
  u.folder = text_of(u, late.folder).value_or("");
  u.split_name = text_of(u, late.split_name).value_or("");
  u.low_pc = address_of(u, late.low_pc);
  return true;
}

std::optional<Die> DebugInfo::die_at(uint64_t offset, bool in_types) {
  std::optional<size_t> index = unit_of(offset, in_types);
  const Unit* u = index ? unit(*index) : nullptr;
  return u ? read_die(*u, offset) : std::nullopt;
}

const std::vector<std::pair<uint64_t, size_t>>& DebugInfo::signatures() {
  if (has_signatures_) return signatures_;
  has_signatures_ = true;
  for (size_t i = 0; i < units().size(); i++)
    if (headers_[i].signature) signatures_.push_back({headers_[i].signature, i});
  std::sort(signatures_.begin(), signatures_.end());
  return signatures_;
}

std::optional<Die> DebugInfo::type_of_signature(uint64_t signature) {
  auto& all = signatures();
  for (auto i = std::lower_bound(all.begin(), all.end(), std::pair(signature, size_t{0}));
       i != all.end() && i->first == signature; i++) {
    const Unit* u = headers_[i->second].is_type_unit() ? unit(i->second) : nullptr;
    if (u) return read_die(*u, u->header->type_offset);
  }
  return std::nullopt;
}

DebugInfo* DebugInfo::alternate() {
  if (!asked_alternate_ && companions_.alternate) alternate_ = companions_.alternate();
  asked_alternate_ = true;
  return alternate_ == this ? nullptr : alternate_;
}

const Unit* DebugInfo::split_unit(const Unit& skeleton) {
  DebugInfo* other = companions_.split && skeleton.is_skeleton() ? companions_.split(skeleton) : nullptr;
  return other && other != this ? other->find_split(skeleton) : nullptr;
}

// The compile unit of this split file that the skeleton stands for, with what the skeleton knows of it.
const Unit* DebugInfo::find_split(const Unit& skeleton) {
  std::vector<size_t> candidates;
  auto& all = signatures();
  for (auto i = std::lower_bound(all.begin(), all.end(), std::pair(skeleton.split_id, size_t{0}));
       i != all.end() && i->first == skeleton.split_id; i++)
    candidates.push_back(i->second);
  // In version 4, without a package, the unit's own entry has the number; such a file has one compile unit.
  for (size_t i = 0; candidates.empty() && i < headers_.size(); i++)
    if (!headers_[i].signature) candidates.push_back(i);
  for (size_t i : candidates) {
    if (headers_[i].is_type_unit() || !unit(i) || unit(i)->split_id != skeleton.split_id) continue;
    Unit& u = *loaded_[i];
    u.main = skeleton.main;
    u.addr_base = skeleton.addr_base;
    u.ranges_base = skeleton.ranges_base;
    u.low_pc = skeleton.low_pc;
    u.line_offset = skeleton.line_offset;
    if (u.folder.empty()) u.folder = skeleton.folder;
    return &u;
  }
  return nullptr;
}

} // namespace dwarf
