// Everything that can be asked of debug information, whatever is in it: for tests with damaged files.
#pragma once

#include "dwarf/address_lookup.h"
#include "dwarf/line_program.h"

namespace samples {

// Adds up what it sees, so that nothing is optimised away and results can be compared.
class Look {
public:
  explicit Look(const dwarf::Sections& sections, size_t most_entries = 20000)
      : info_(sections), other_(sections), entries_left_(most_entries) {
    // A file that claims to be its own other half has all that a damaged pair could have.
    info_.set_companions({[this] { return &other_; }, [this](const dwarf::Unit&) { return &other_; }});
  }
  size_t everywhere() {
    for (size_t i = 0; i < info_.units().size() && entries_left_ > 0; i++) {
      (void)info_.type_of_signature(info_.units()[i].signature);
      const dwarf::Unit* unit = info_.unit(i);
      if (!unit) continue;
      look_at_entries(*unit);
      look_at_lines(*unit);
      if (const dwarf::Unit* split = info_.split_unit(*unit)) look_at_entries(*split);
      info_.trim_units();
      other_.trim_units();
    }
    dwarf::AddressLookup(info_).find(addresses_, [&](size_t, std::span<const dwarf::SourceFrame> frames) {
      for (const dwarf::SourceFrame& f : frames)
        seen_ += f.name.size() + f.linkage.size() + f.file.size() + f.line;
    });
    return seen_;
  }

private:
  void look_at_entries(const dwarf::Unit& unit) {
    dwarf::DieCursor cursor(unit);
    while (entries_left_ > 0 && cursor.next()) {
      entries_left_--;
      const dwarf::Die die = cursor.die();
      dwarf::for_each_attribute(die, [&](const dwarf::Attribute& a) {
        seen_ += dwarf::text_of(unit, a).value_or("").size() + dwarf::address_of(unit, a).value_or(0) +
                 dwarf::unsigned_of(a).value_or(0) + static_cast<size_t>(dwarf::signed_of(a).value_or(0));
        if (auto to = dwarf::reference_of(unit, a)) seen_ += to->offset;
        return true;
      });
      seen_ += dwarf::name_of(die).size() + dwarf::linkage_name_of(die).size();
      if (entries_left_ % 64 != 0 && addresses_.size() > 1000) continue;
      for (const dwarf::AddressRange& range : dwarf::ranges_of(die))
        if (addresses_.size() < 2000) addresses_.insert(addresses_.end(), {range.begin, range.end - 1});
      if (cursor.depth() > 2 && entries_left_ % 7 == 0) cursor.skip_children();
    }
  }
  void look_at_lines(const dwarf::Unit& unit) {
    auto lines = dwarf::read_line_program(unit);
    if (!lines) return;
    for (uint64_t file = 0; file < lines->files.size() && file < 100; file++)
      seen_ += lines->path(file).size();
    size_t rows = 0;
    dwarf::for_each_row(*lines, [&](const dwarf::LineRow& row) {
      seen_ += row.line + row.address;
      if (rows++ % 16 == 0 && addresses_.size() < 2000) addresses_.push_back(row.address);
      return rows < 20000;
    });
  }

  dwarf::DebugInfo info_, other_;
  size_t entries_left_, seen_ = 0;
  std::vector<uint64_t> addresses_;
};

} // namespace samples
