// Makes the bytes of an index: the units are read in two runs, each with tables of its own, by a thread each;
// then the second run's tables are joined to the first one's, always in this order, and the result is
// written. Where the runs are cut depends on the files alone, so the bytes do not depend on the threads.
#include "dwarf/index_scan.h"
#include "dwarf/index_write.h"

#include <algorithm>
#include <thread>

namespace dwarf {
namespace {

constexpr uint64_t small_file = 4 << 20; // bytes of units: not worth a second run
constexpr size_t units_at_once = 64;     // loaded, before they are let go

// One thread's own view of the files.
class Files {
public:
  explicit Files(std::span<const IndexFile> files) {
    for (const IndexFile& file : files)
      infos_.push_back(file.file ? std::make_unique<DebugInfo>(*file.file)
                                 : std::make_unique<DebugInfo>(file.sections));
    DebugInfo* alternate = infos_.size() > index_alternate ? infos_[index_alternate].get() : nullptr;
    for (auto& info : infos_)
      info->set_companions({.alternate = [alternate] { return alternate; }, .split = {}});
  }
  DebugInfo& at(size_t file) { return *infos_[file]; }
  size_t size() const { return infos_.size(); }

private:
  std::vector<std::unique_ptr<DebugInfo>> infos_;
};

// Of all files; of the debug file only those in `wanted`, if there is such a list.
std::vector<UnitPlace> list_units(Files& files, const std::vector<size_t>* wanted) {
  std::vector<UnitPlace> out;
  for (uint32_t file = 0; file < files.size(); file++) {
    uint32_t number = 0;
    for (const UnitHeader& header : files.at(file).units()) {
      if (!wanted || file != index_main || std::binary_search(wanted->begin(), wanted->end(), number))
        out.push_back({file, number, header});
      number++;
    }
  }
  return out;
}

// The number of units in the first of two runs.
size_t half_of(const std::vector<UnitPlace>& units) {
  uint64_t total = 0, sum = 0;
  for (const UnitPlace& unit : units) total += unit.header.end - unit.header.offset;
  if (total < small_file) return units.size();
  size_t i = 0;
  while (i < units.size() && sum < total / 2) sum += units[i].header.end - units[i].header.offset, i++;
  return i;
}

// Enough for any sane file: all its texts and abbreviations several times.
uint64_t reading_allowed(Files& files) {
  uint64_t bytes = 1 << 24;
  for (size_t i = 0; i < files.size(); i++) {
    const Sections& s = files.at(i).sections();
    bytes += 4 * (s.str.size() + s.line_str.size() + s.info.size() + s.types.size()) + 64 * s.abbrev.size();
  }
  return bytes;
}

// What may have been read of a unit that cannot be used: its table of abbreviations.
uint64_t wasted(DebugInfo& info, const UnitHeader& header) {
  uint64_t size = info.sections().abbrev.size();
  return 64 + std::min<uint64_t>(size - std::min(size, header.abbrev_offset), 4 << 20);
}

void scan_units(std::span<const IndexFile> all_files, std::span<const UnitPlace> units, uint32_t first,
                IndexPart& part) {
  Files files(all_files);
  part.left_to_read = reading_allowed(files);
  UnitScanner scanner(part);
  for (uint32_t i = 0; i < units.size(); i++) {
    DebugInfo& info = files.at(units[i].file);
    const Unit* unit = part.left_to_read > 0 ? info.unit(units[i].number) : nullptr;
    if (!unit) part.left_to_read -= std::min(part.left_to_read, wasted(info, units[i].header));
    if (!unit || !scanner.scan(*unit, units[i].file, first + i)) part.damaged++;
    if (unit && unit->split_id && !units[i].header.signature)
      part.split_ids.push_back({first + i, unit->split_id});
    info.count_bytes(units[i].header.end - units[i].header.offset);
    if (info.loaded_units() >= units_at_once) info.drop_units();
  }
}

// Entries whose names are in other units, once all units were read: each unit that has some is read again.
void resolve_deferred(std::span<const IndexFile> all_files, IndexPart& part) {
  if (part.deferred.empty()) return;
  Files files(all_files);
  UnitScanner scanner(part);
  for (int round = 0; round < 4 && !part.deferred.empty(); round++) {
    std::vector<DeferredEntry> entries;
    entries.swap(part.deferred);
    std::stable_sort(entries.begin(), entries.end(), [](const DeferredEntry& a, const DeferredEntry& b) {
      return std::pair(a.file, a.target) < std::pair(b.file, b.target);
    });
    for (size_t i = 0; i < entries.size();) {
      uint32_t file = entries[i].file;
      std::optional<size_t> number;
      if (file < files.size()) number = files.at(file).unit_of(entries[i].target);
      const Unit* unit = number && part.left_to_read > 0 ? files.at(file).unit(*number) : nullptr;
      size_t first = i++;
      if (!unit) continue;
      while (i < entries.size() && entries[i].file == file && entries[i].target < unit->header->end) i++;
      scanner.resolve(*unit, file, std::span(entries).subspan(first, i - first));
      files.at(file).count_bytes(unit->header->end - unit->header->offset);
      if (files.at(file).loaded_units() >= units_at_once) files.at(file).drop_units();
    }
  }
}

// Joins what the second run found to the first.
void join(IndexPart& to, const IndexPart& from) {
  std::vector<uint32_t> names(from.names.size()), scopes(from.scopes.size());
  for (uint32_t i = 0; i < names.size(); i++) names[i] = to.names.add(from.names.text(i));
  for (uint32_t i = 1; i < scopes.size(); i++) {
    ScopeRecord record = from.scopes.at(i);
    scopes[i] = to.scopes.add({names[record.name], scopes[record.parent], record.flags});
  }
  from.entries.each([&](ListedEntry entry) {
    entry.name = names[entry.name];
    entry.scope = scopes[entry.scope];
    if (!entry.is_repeated || to.seen.insert(key_of(entry))) to.entries.add(entry);
  });
  for (LinkageEntry linkage : from.linkages) {
    linkage.name = names[linkage.name];
    linkage.scope = scopes[linkage.scope];
    to.linkages.push_back(linkage);
  }
  for (DeferredEntry deferred : from.deferred) {
    deferred.entry.name = names[deferred.entry.name];
    to.deferred.push_back(deferred);
  }
  to.split_ids.insert(to.split_ids.end(), from.split_ids.begin(), from.split_ids.end());
  to.damaged += from.damaged;
}

} // namespace

base::Result<std::vector<std::byte>> build_index(std::span<const IndexFile> all_files, unsigned threads,
                                                 const std::vector<size_t>* wanted) {
  Files files(all_files);
  std::vector<UnitPlace> units = list_units(files, wanted);
  if (units.empty() && !wanted)
    return base::Error{base::Failure::nothing_matched, "there is no debug information (.debug_info)"};
  size_t half = half_of(units);
  std::span<const UnitPlace> first = std::span(units).first(half), second = std::span(units).subspan(half);
  IndexPart part, other;
  {
    auto scan_second = [&] { scan_units(all_files, second, static_cast<uint32_t>(half), other); };
    std::thread helper;
    if (threads > 1 && !second.empty()) helper = std::thread(scan_second);
    scan_units(all_files, first, 0, part);
    if (helper.joinable())
      helper.join();
    else if (!second.empty())
      scan_second();
  }
  if (!second.empty()) join(part, other);
  resolve_deferred(all_files, part);
  return write_index(part, units);
}

} // namespace dwarf
