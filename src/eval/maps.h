// A map of the script in this process. Behaves as the kernel's: values are found by the bytes of their key
// and stay at their address; a full map refuses new keys, an LRU map gives up the entry that was not used for
// longest. There is one CPU, so per-CPU kinds are as the plain ones.
//
// A removed entry keeps its memory until collect(): the kernel, too, leaves it alone while a program may hold
// its address.
#pragma once

#include "ir/ir.h"

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eval {

class MapTable {
public:
  explicit MapTable(const ir::Map& map);

  // `key` is key_size() bytes; empty for scalar maps.
  std::byte* find(std::string_view key);
  // The value of `key`, made of zeros if it is not there; nullptr when the map is full.
  std::byte* slot(std::string_view key);
  // Was it there? Scalar and task values are there once their flag is set.
  bool remove(std::string_view key);
  void clear();
  void zero(); // values, but neither keys nor flags
  void collect() { removed_.clear(); }

  size_t size() const; // keys; 1 for a scalar map that was assigned
  uint32_t key_size() const { return key_size_; }
  uint32_t value_size() const { return map_.value_size; }

  struct Entry {
    std::string key; // never moves: its bytes are handed to loop bodies
    std::unique_ptr<std::byte[]> value;
  };
  // Oldest first. Scalar maps: their one value, assigned or not.
  const std::list<Entry>& entries() const { return entries_; }
  bool is_present(const Entry& entry) const;

private:
  using Place = std::list<Entry>::iterator;
  Place make(std::string_view key);
  void drop(Place entry);
  void used(Place entry);

  const ir::Map& map_;
  const uint32_t key_size_;
  const bool is_lru_;
  std::list<Entry> entries_;
  std::unordered_map<std::string_view, Place> by_key_; // views of Entry::key
  std::list<Entry> removed_;
};

} // namespace eval
