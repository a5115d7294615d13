// Maps of the evaluator: a list in the order of insertion (of use, for LRU kinds) and an index over it by
// key.
#include "eval/maps.h"

#include <cstring>
#include <iterator>

namespace eval {

using ir::MapKind;

MapTable::MapTable(const ir::Map& map)
    : map_(map), key_size_(ir::is_scalar(map.kind)     ? 0
                           : map.kind == MapKind::task ? 8
                                                       : map.key_size),
      is_lru_(map.kind == MapKind::lru_hash || map.kind == MapKind::percpu_lru_hash) {
  if (ir::is_scalar(map.kind)) make({});
}

MapTable::Place MapTable::make(std::string_view key) {
  entries_.push_back({std::string(key), std::make_unique<std::byte[]>(map_.value_size)});
  const Place made = std::prev(entries_.end());
  by_key_.emplace(made->key, made);
  return made;
}

void MapTable::drop(Place entry) {
  by_key_.erase(entry->key);
  removed_.splice(removed_.end(), entries_, entry);
}

void MapTable::used(Place entry) {
  if (is_lru_) entries_.splice(entries_.end(), entries_, entry);
}

std::byte* MapTable::find(std::string_view key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  used(found->second);
  return found->second->value.get();
}

std::byte* MapTable::slot(std::string_view key) {
  if (std::byte* value = find(key)) return value;
  // Task storage lives with the tasks: it has no limit of its own.
  if (map_.kind != MapKind::task && entries_.size() >= map_.max_entries) {
    if (!is_lru_) return nullptr;
    drop(entries_.begin());
  }
  return make(key)->value.get();
}

bool MapTable::remove(std::string_view key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return false;
  const Place entry = found->second;
  const bool was_present = is_present(*entry);
  if (ir::is_scalar(map_.kind))
    std::memset(entry->value.get(), 0, map_.value_size);
  else
    drop(entry);
  return was_present;
}

void MapTable::clear() {
  if (ir::is_scalar(map_.kind))
    remove({});
  else
    while (!entries_.empty()) drop(entries_.begin());
}

void MapTable::zero() {
  for (const Entry& e : entries_) {
    uint64_t flag = 0;
    std::byte* const at = e.value.get() + map_.present_offset;
    if (map_.present_offset != ~0u) std::memcpy(&flag, at, sizeof flag);
    std::memset(e.value.get(), 0, map_.value_size);
    if (map_.present_offset != ~0u) std::memcpy(at, &flag, sizeof flag);
  }
}

bool MapTable::is_present(const Entry& entry) const {
  if (map_.present_offset == ~0u) return true;
  uint64_t flag;
  std::memcpy(&flag, entry.value.get() + map_.present_offset, sizeof flag);
  return flag != 0;
}

size_t MapTable::size() const {
  if (map_.present_offset == ~0u) return entries_.size();
  size_t n = 0;
  for (const Entry& e : entries_) n += is_present(e);
  return n;
}

} // namespace eval
