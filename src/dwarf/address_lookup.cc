#include "dwarf/address_lookup.h"

#include "dwarf/line_program.h"

#include <algorithm>
#include <tuple>

namespace dwarf {

// What reading a name touches: a page of the texts and those the kernel maps with it.
static constexpr uint64_t bytes_of_a_name = 16 << 10;
// Scopes nest as deep as calls were inlined; damaged files could make it any depth.
static constexpr size_t most_frames = 256;

// What is known of the unit being gone over.
struct AddressLookup::UnitWork {
  const Unit* skeleton = nullptr; // the unit that has the lines
  const Unit* unit = nullptr;     // the one that has the functions
  std::optional<LineProgram> lines;
  std::vector<uint64_t> addresses;
  std::vector<LineRow> rows;
  FoundScopes found;
  std::unordered_map<uint64_t, FunctionNames> names;    // of inlined functions, by what their origin says
  std::unordered_map<uint64_t, std::string_view> files; // by number
};

void AddressLookup::find(std::span<const uint64_t> addresses, const Take& take) {
  if (!ranges_) ranges_.emplace(info_);
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < addresses.size() && i < UINT32_MAX; i++)
    if (std::optional<size_t> unit = ranges_->find(addresses[i]))
      wanted.push_back({static_cast<uint32_t>(*unit), static_cast<uint32_t>(i), addresses[i]});
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.unit, a.address, a.index) < std::tie(b.unit, b.address, b.index);
  });
  for (size_t at = 0; at < wanted.size();) {
    size_t end = at + 1;
    while (end < wanted.size() && wanted[end].unit == wanted[at].unit) end++;
    find_in_unit(std::span(wanted).subspan(at, end - at), take);
    at = end;
  }
  info_.drop_units();
}

void AddressLookup::find_in_unit(std::span<const Wanted> wanted, const Take& take) {
  info_.trim_units();
  UnitWork work;
  work.skeleton = work.unit = info_.unit(wanted[0].unit);
  if (!work.unit) return;
  const Unit* split = info_.split_unit(*work.skeleton);
  if (split) work.unit = split;
  for (const Wanted& w : wanted)
    if (work.addresses.empty() || work.addresses.back() != w.address) work.addresses.push_back(w.address);
  work.rows.resize(work.addresses.size());
  for (LineRow& row : work.rows) row.end_sequence = true;
  work.lines = read_line_program(*work.skeleton);
  if (work.lines)
    find_rows(*work.lines, work.addresses, [&](size_t i, const LineRow& row) {
      if (work.rows[i].end_sequence) work.rows[i] = row;
    });
  find_scopes(*work.unit, work.addresses, work.found);
  std::vector<SourceFrame> frames;
  size_t address = 0;
  for (const Wanted& w : wanted) {
    if (work.addresses[address] != w.address) address++, frames.clear();
    if (frames.empty()) make_frames(work, address, frames);
    if (!frames.empty()) take(w.index, frames);
  }
  info_.count_bytes(work.lines ? work.lines->program.size() : 0);
  work.unit->info->count_bytes(work.unit->header->end - work.unit->header->offset);
  if (split) split->info->drop_units();
}

void AddressLookup::make_frames(UnitWork& work, size_t address, std::vector<SourceFrame>& out) {
  SourceFrame frame;
  const LineRow& row = work.rows[address];
  if (!row.end_sequence) {
    frame.file = file_of(work, row.file);
    frame.line = row.line;
    frame.column = row.column;
  }
  uint32_t number = work.found.innermost[address];
  if (number == Scope::none && row.end_sequence) return;
  while (number != Scope::none && out.size() < most_frames) {
    const Scope& scope = work.found.scopes[number];
    FunctionNames names = names_of(work, scope);
    frame.name = names.name;
    frame.linkage = names.linkage;
    frame.begin = scope.begin;
    frame.inlined = scope.parent != Scope::none;
    out.push_back(frame);
    frame = SourceFrame();
    frame.file = file_of(work, scope.call_file);
    frame.line = scope.call_line;
    frame.column = scope.call_column;
    number = scope.parent;
  }
  if (out.empty()) out.push_back(frame);
}

std::string_view AddressLookup::file_of(UnitWork& work, uint64_t number) {
  if (!work.lines) return {};
  auto [entry, is_new] = work.files.try_emplace(number);
  if (is_new) entry->second = *files_.insert(work.lines->path(number)).first;
  return entry->second;
}

FunctionNames AddressLookup::names_of(UnitWork& work, const Scope& scope) {
  auto read = [&] {
    std::optional<Die> die = read_die(*work.unit, scope.die);
    FunctionNames names = die ? function_names(*die) : FunctionNames();
    work.unit->info->trim_units(work.unit);
    work.unit->info->count_bytes(bytes_of_a_name);
    return names;
  };
  if (!scope.inlined || !scope.origin)
    return read(); // one source of several functions, such as of destructors
  // Forms differ in what their numbers count from; those of one producer do not mix for the same number.
  auto [entry, is_new] = work.names.try_emplace(scope.origin.number * 64 + scope.origin.form % 64);
  if (is_new) entry->second = read();
  return entry->second;
}

} // namespace dwarf
