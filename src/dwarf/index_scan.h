// Reads the units of a file for the index of names: which entries define a name, in which scope. See index.h
// for what is listed. It goes once over each unit; where the producer wrote siblings, what is inside of C's
// functions and structures is never touched.
#pragma once

#include "dwarf/index_entry.h"
#include "dwarf/index_part.h"

namespace dwarf {

class UnitScanner {
public:
  explicit UnitScanner(IndexPart& part) : part_(part) {}

  // Adds the entries of a unit to the part. `file`: the unit's among all files, `number`: its own among all
  // units. False: it is damaged; what was found before the damage is kept.
  bool scan(const Unit& unit, uint32_t file, uint32_t number);

  // Finishes entries that were deferred to this unit, or defers them again.
  void resolve(const Unit& unit, uint32_t file, std::span<const DeferredEntry> entries);

private:
  // To the entry that tells what another one lacks.
  struct Reference {
    uint16_t form = 0;
    uint64_t value = 0;
  };
  // Something with entries in it that have its name before theirs.
  struct LocalScope {
    uint64_t begin, end; // of the section
    int32_t parent;      // of local_scopes_; -1: none
    uint8_t flags;
    uint16_t name_form;
    uint64_t name;
    Reference to;                // of an entry that completes another
    uint32_t known = UINT32_MAX; // of part_.scopes
  };
  // What is being read: the entries below one.
  struct Level {
    int32_t scope;  // around them
    int32_t opened; // the one to be closed with this level; -1: none
    bool in_function, only_enumerators;
  };
  struct Below { // what to do with the entries below one
    bool skip = true;
    Level level = {-1, -1, false, false};
  };
  struct Pending {
    ListedEntry entry;
    uint64_t linkage = 0;
    Reference to;
  };

  void begin(const Unit& unit, uint32_t file, uint32_t number);
  bool read_entries();
  const EntryShape* read_shape(const std::byte*& at) const;
  bool skip_children(const EntryShape& shape);
  bool jump_to_sibling(const EntryShape& shape);

  Below take(const EntryShape& shape, uint64_t die);
  Below take_unit(const EntryShape& shape);
  Below take_function(const EntryShape& shape, uint64_t die);
  void take_variable(const EntryShape& shape, uint64_t die);
  Below take_structure(const EntryShape& shape, uint64_t die);
  Below take_enumeration(const EntryShape& shape, uint64_t die);
  void take_plain(const EntryShape& shape, uint64_t die);
  Below take_namespace(const EntryShape& shape, uint64_t die);

  bool is_declared(const EntryShape& shape) const {
    return shape.fills(slot_declaration) && slots_[slot_declaration];
  }
  ListedEntry listed(NameKind kind, uint64_t die) const;
  // False: it was there.
  bool add(ListedEntry entry, uint32_t scope, uint64_t linkage);
  bool add_named(ListedEntry entry, const EntryShape& shape);
  int32_t open_scope(const EntryShape& shape, uint64_t die, uint8_t flags);
  uint32_t scope_number(int32_t local, size_t depth = 0);
  void complete_scope(const LocalScope& scope, uint32_t& name, int32_t& parent);
  int32_t scope_around(uint64_t die) const;

  // Text of a form of strings: its number; the hash of its text. 0: none.
  uint32_t name_number(uint16_t form, uint64_t value);
  uint64_t text_hash(uint16_t form, uint64_t value);
  bool find_text(uint16_t form, uint64_t value, ByteSpan& section, uint64_t& offset) const;
  bool may_read(uint64_t bytes);
  const EntryShape* read_again(const std::byte* at, Slots& slots);
  void follow(Pending pending);
  bool is_here(const Reference& to, uint64_t& target) const;
  void defer(const Pending& pending);

  IndexPart& part_;
  PlaceMap known_names_, known_hashes_;
  EntryShapes shapes_;
  Slots slots_ = {};

  const Unit* unit_ = nullptr;
  uint32_t file_ = 0, number_ = 0;
  const std::byte *begin_ = nullptr, *at_ = nullptr,
                  *end_ = nullptr; // the section; the next entry; the unit's end
  bool is_flat_ = false;           // C: nothing inside of others has a name that counts
  bool only_scopes_ = false;       // nothing is listed
  std::vector<Level> levels_;      // the innermost one last
  std::vector<LocalScope> local_scopes_;
  std::vector<Pending> pending_;
};

} // namespace dwarf
