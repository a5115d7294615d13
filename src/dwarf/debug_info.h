// The debug information of one file: its units, and the entries (DIEs) in them, read in place. Units are
// loaded (abbreviations, bases of their indexes) when they are first needed, and let go by `drop_units`.
// Entries of other files are reached by the functions in `Companions`.
// Specification: DWARF 5, sections 2, 3.1 and 7.5; dwz and GNU's split DWARF 4 as those tools write it.
//
// A DebugInfo belongs to one thread at a time; several of one file share nothing but the file.
#pragma once

#include "dwarf/forms.h"
#include "dwarf/package.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dwarf {

class DebugInfo;

// What a unit's header says; offsets are those of its section (.debug_info, or .debug_types).
struct UnitHeader {
  uint64_t offset = 0;
  uint64_t end = 0;       // one past the last byte of the unit
  uint64_t first_die = 0; // of the unit's own entry
  uint64_t abbrev_offset = 0;
  uint64_t signature =
      0; // of a type unit that of the type; of a skeleton or split unit of version 5 the dwo_id
  uint64_t type_offset = 0;          // of a type unit: the entry of the type
  Encoding encoding;                 // version 0: one that cannot be read, and is passed over
  uint8_t kind = 0;                  // DW_UT_…, also in versions before 5, as far as the header shows it
  bool in_types = false;             // it is in .debug_types
  uint32_t package_row = UINT32_MAX; // of a package's index

  bool is_type_unit() const { return kind == DW_UT_type || kind == DW_UT_split_type; }
};

// The header at `offset`; nothing if it is cut off there or nonsense. One of an unknown version has its
// `end`.
std::optional<UnitHeader> read_unit_header(ByteSpan section, uint64_t offset, bool in_types, bool split);

struct Unit {
  const UnitHeader* header = nullptr;
  size_t index = 0;          // of DebugInfo::units()
  DebugInfo* info = nullptr; // the file the unit is in
  ByteSpan section;          // .debug_info or .debug_types of that file
  std::shared_ptr<const Abbreviations> abbreviations;
  const Sections* own = nullptr; // of the file the unit is in
  // Those with the unit's addresses, ranges and lines: of its file, or that of the skeleton of a split unit.
  const Sections* main = nullptr;
  uint16_t tag = 0; // of the unit's entry
  uint16_t language = 0;
  std::string_view name, folder, split_name; // folder: DW_AT_comp_dir
  std::optional<uint64_t> low_pc;
  std::optional<uint64_t> line_offset; // DW_AT_stmt_list, of main->line
  uint64_t split_id = 0;               // dwo_id of a skeleton or split unit
  // Added to offsets or before indexes of these sections.
  uint64_t str_offsets_base = 0, addr_base = 0, rnglists_base = 0, loclists_base = 0, ranges_base = 0;

  const Encoding& encoding() const { return header->encoding; }
  bool is_skeleton() const { return !split_name.empty() && !own->split; }
};

struct Die {
  const Unit* unit = nullptr;
  uint64_t offset = 0; // of the section
  const Abbreviation* abbreviation = nullptr;
  uint64_t values = 0; // where the attributes' values begin, of the section

  uint16_t tag() const { return abbreviation->tag; }
  bool has_children() const { return abbreviation->has_children; }
};

struct Companions {
  // The file that several share, as dwz makes it (.gnu_debugaltlink); nullptr: not found.
  std::function<DebugInfo*()> alternate;
  // The .dwo or .dwp file with the rest of a skeleton unit (its split_name, folder, split_id); nullptr: not
  // found.
  std::function<DebugInfo*(const Unit& skeleton)> split;
};

class DebugInfo {
public:
  // The file, or what the sections point to, must outlive this.
  explicit DebugInfo(const format::ElfFile& file, bool with_locations = false);
  explicit DebugInfo(const Sections& sections);
  DebugInfo(const DebugInfo&) = delete;
  void set_companions(Companions companions) { companions_ = std::move(companions); }

  const Sections& sections() const { return sections_; }
  // Of .debug_info in order, then of .debug_types.
  const std::vector<UnitHeader>& units();
  // nullptr: damaged, or of an unknown version.
  const Unit* unit(size_t index);
  // A unit of which only its own entry can be read, not those below it; quickly got. nullptr as above.
  std::unique_ptr<Unit> peek_unit(size_t index);
  // The index of the unit whose header is at, or whose bytes hold, this place.
  std::optional<size_t> unit_of(uint64_t offset, bool in_types = false);
  // Forgets loaded units: all Units and Dies got before are invalid (offsets stay as they are).
  void drop_units();
  // The same if many are loaded, here or in the shared file of dwz; but for `keep`, which is of this one.
  void trim_units(const Unit* keep = nullptr);
  size_t loaded_units() const { return loaded_.size(); }
  // To be told how many bytes of the file are being read, so that the pages that stay are not too many.
  void count_bytes(uint64_t bytes);

  // The entry at a place of .debug_info (or .debug_types); nothing if there is no entry.
  std::optional<Die> die_at(uint64_t offset, bool in_types = false);
  // The entry of the type that a type unit of this file declares.
  std::optional<Die> type_of_signature(uint64_t signature);
  // The shared file of dwz, if it was found.
  DebugInfo* alternate();
  // The unit with the entries which a skeleton stands for; nullptr: not found. It may be in another
  // DebugInfo.
  const Unit* split_unit(const Unit& skeleton);

private:
  void read_headers(ByteSpan section, bool in_types);
  void read_package();
  std::shared_ptr<const Abbreviations> abbreviations(uint64_t offset);
  bool load(Unit& unit, size_t index, bool peek);
  const std::vector<std::pair<uint64_t, size_t>>& signatures();
  const Unit* find_split(const Unit& skeleton);

  const format::ElfFile* file_ = nullptr;
  Sections sections_;
  Companions companions_;
  bool has_headers_ = false, asked_alternate_ = false, has_signatures_ = false;
  DebugInfo* alternate_ = nullptr;
  std::vector<UnitHeader> headers_;
  size_t in_info_ = 0; // how many of them are of .debug_info
  std::vector<Contribution> package_;
  std::unordered_map<size_t, std::unique_ptr<Unit>> loaded_;
  std::unordered_map<uint64_t, std::shared_ptr<const Abbreviations>> tables_; // by offset
  std::vector<std::pair<uint64_t, size_t>> signatures_; // with the index of the unit; sorted
  uint64_t bytes_read_ = 0;
};

// The entry at `offset` of the unit's section; nothing if none begins there.
std::optional<Die> read_die(const Unit& unit, uint64_t offset);
inline std::optional<Die> unit_die(const Unit& unit) { return read_die(unit, unit.header->first_die); }

// Walks attributes in order; `take(const Attribute&)` returns false to stop. The result is where the
// values end, if all were read.
template<class Take> std::optional<uint64_t> for_each_attribute(const Die& die, Take take) {
  base::Reader r(die.unit->section.first(die.unit->header->end), die.values);
  Attribute attribute;
  for (const AttributeSpec& spec : die.unit->abbreviations->specs(*die.abbreviation))
    if (!read_form(r, die.unit->encoding(), spec, attribute) || !take(attribute)) return std::nullopt;
  return r.at();
}
// An attribute of this entry; empty if it has none of this name.
Attribute find_attribute(const Die& die, uint16_t name);
// The same, and if it has none, of the entries that it completes (DW_AT_abstract_origin,
// DW_AT_specification). `owner` gets the entry that has it: values belong to its unit.
Attribute find_attribute(const Die& die, uint16_t name, Die& owner);

// What an attribute's value means. Nothing: it is of another class, or points nowhere.
std::optional<std::string_view> text_of(const Unit& unit, const Attribute& attribute);
std::optional<uint64_t> address_of(const Unit& unit, const Attribute& attribute);
std::optional<uint64_t> unsigned_of(const Attribute& attribute);
// Sign-extended by its size, which is what most producers mean by data1…8.
std::optional<int64_t> signed_of(const Attribute& attribute);
// The entry which a reference names: of the unit, another one, a type unit, or the shared file.
std::optional<Die> reference_of(const Unit& unit, const Attribute& attribute);
// The address with this index (DW_FORM_addrx) in the unit's table.
std::optional<uint64_t> indexed_address(const Unit& unit, uint64_t index);

// DW_AT_name and DW_AT_linkage_name, also through abstract_origin and specification; empty: none.
std::string_view name_of(const Die& die);
std::string_view linkage_name_of(const Die& die);

// Goes over the entries of a unit, or those below one entry, in the order of the file.
class DieCursor {
public:
  explicit DieCursor(const Unit& unit) : DieCursor(unit, unit.header->first_die) {}
  // Begins with this entry, which has depth 0, and ends after the last one below it.
  explicit DieCursor(const Die& die) : DieCursor(*die.unit, die.offset) {}
  DieCursor(const Unit& unit, uint64_t offset);

  // To the next entry, the first time to the first; false: there is none.
  bool next();
  // To the next one that is not below the present one (the first child, if none was visited yet).
  bool next_sibling() { return skip_children(), next(); }
  // `next` will go on after what is below the present entry.
  void skip_children() { skip_ = true; }
  const Die& die() const { return die_; }
  unsigned depth() const { return depth_; }
  // Where the present entry's values end, for those who have read all of them; else they are passed over
  // again.
  void set_end(uint64_t end) { end_ = end; }

private:
  bool leave_values();
  bool leave_children();
  std::optional<uint64_t> sibling() const;

  const std::byte *begin_, *last_; // the unit's section; where the unit ends
  Die die_;
  uint64_t at_ = 0, end_ = 0;
  unsigned depth_ = 0;
  bool started_ = false, skip_ = false;
};

} // namespace dwarf
