// What one thread gathers for an index: the names, scopes and entries of a run of units. The largest debug
// files have millions of entries, so they are kept as a stream of few bytes each and read twice when the
// index is written.
#pragma once

#include "dwarf/index.h"
#include "dwarf/index_format.h"
#include "dwarf/index_name.h"

#include <string_view>
#include <vector>

namespace dwarf {

// Texts by number, each once. They lie in the sections that they were read from.
class NameTable {
public:
  NameTable() { add(""); } // number 0: no name
  uint32_t add(std::string_view text);
  std::string_view text(uint32_t name) const { return texts_[name]; }
  size_t size() const { return texts_.size(); }

private:
  void grow();

  std::vector<std::string_view> texts_;
  std::vector<uint32_t> low_hashes_; // lower half of the hash of each text
  std::vector<uint32_t> slots_;      // 0, or a name's number and 1
};

// What is known of texts by the place where they lie: most names are met a thousand times at the same place.
class PlaceMap {
public:
  const uint64_t* find(const char* place) const;
  void add(const char* place, uint64_t value); // a place that is not there yet

private:
  struct Slot {
    const char* place = nullptr;
    uint64_t value = 0;
  };
  static size_t start(const char* place) {
    return static_cast<size_t>(mix(reinterpret_cast<uintptr_t>(place), 0x2545f4914f6cdd1du));
  }
  void put(const Slot& slot);

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

// Namespaces, classes and functions with names inside; 0 is the outermost.
struct ScopeRecord {
  uint32_t name, parent;
  uint8_t flags; // scope_…
  bool operator==(const ScopeRecord&) const = default;
};

// A set of 64-bit keys.
class KeySet {
public:
  bool insert(uint64_t key); // false: it was there

private:
  bool put(uint64_t key);

  std::vector<uint64_t> slots_;
  size_t count_ = 0;
};

class ScopeTable {
public:
  uint32_t add(const ScopeRecord& record);
  const ScopeRecord& at(uint32_t scope) const { return records_[scope]; }
  size_t size() const { return records_.size(); }

private:
  std::vector<ScopeRecord> records_ = {{0, 0, 0}};
  std::vector<uint32_t> slots_;
};

// An entry to be listed.
struct ListedEntry {
  uint32_t unit = 0; // of all files' units in order
  uint8_t head = 0;  // see index_format.h
  uint32_t name = 0, scope = 0;
  uint64_t die = 0; // from the unit's header
  // Entries with the same kind, name, scope and identity are one.
  bool is_repeated = false;
  uint32_t identity = 0;
};
uint64_t key_of(const ListedEntry& entry);

class EntryStream {
public:
  void add(const ListedEntry& entry);
  // Calls take(const ListedEntry&) in the order they were added.
  template<class Take> void each(Take take) const {
    ListedEntry entry;
    for (const std::byte* at = bytes_.data(); at != bytes_.data() + bytes_.size();) {
      auto head = std::to_integer<uint8_t>(*at++);
      if (head == next_unit) {
        entry.unit = static_cast<uint32_t>(get(at));
        continue;
      }
      entry.head = head & static_cast<uint8_t>(~repeated);
      entry.is_repeated = head & repeated;
      entry.name = static_cast<uint32_t>(get(at));
      entry.scope = static_cast<uint32_t>(get(at));
      entry.die = get(at);
      entry.identity = entry.is_repeated ? static_cast<uint32_t>(get(at)) : 0;
      take(entry);
    }
  }
  size_t size() const { return count_; }

private:
  // Of the first byte of an entry: a mark that its identity follows; not an entry, but another unit.
  static constexpr uint8_t repeated = 0x80, next_unit = 0xff;
  void put(uint64_t number);
  static uint64_t get(const std::byte*& at) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto byte = std::to_integer<uint64_t>(*at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::vector<std::byte> bytes_;
  uint32_t unit_ = UINT32_MAX; // of the last entry
  size_t count_ = 0;
};

// A name for the linker. The text is not kept: nobody lists them, and two of the same hash are as good as
// impossible.
struct LinkageEntry {
  uint64_t hash;
  uint64_t die;
  uint32_t unit;
  uint32_t name, scope;
  uint8_t head;
};

// An entry whose name, or scope, is told by another entry (DW_AT_specification, DW_AT_abstract_origin).
struct DeferredEntry {
  ListedEntry entry;
  uint64_t linkage = 0; // its hash, if known; `entry.name` likewise
  uint32_t file = 0;    // of the other entry
  uint64_t target = 0;  // of .debug_info there
};

struct IndexPart {
  NameTable names;
  ScopeTable scopes;
  KeySet seen; // keys of repeated entries
  EntryStream entries;
  std::vector<LinkageEntry> linkages;
  std::vector<DeferredEntry> deferred;
  std::vector<std::pair<uint32_t, uint64_t>> split_ids; // of units whose header does not tell
  uint32_t damaged = 0;                                 // units
  uint64_t left_to_read =
      0; // bytes of text and abbreviations: damaged files can make us read the same without end
};

} // namespace dwarf
