#include "dwarf/index_part.h"

#include <algorithm>

namespace dwarf {
uint32_t NameTable::add(std::string_view text) {
  if ((texts_.size() + 1) * 2 > slots_.size()) grow();
  uint64_t hash = hash_of_text(text);
  size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0) {
      slots_[i] = static_cast<uint32_t>(texts_.size() + 1);
      texts_.push_back(text);
      low_hashes_.push_back(static_cast<uint32_t>(hash));
      return slots_[i] - 1;
    }
    uint32_t name = slots_[i] - 1;
    if (low_hashes_[name] == static_cast<uint32_t>(hash) && texts_[name] == text) return name;
  }
}

void NameTable::grow() {
  slots_.assign(std::max<size_t>(1024, slots_.size() * 2), 0);
  size_t mask = slots_.size() - 1;
  for (size_t name = 0; name < texts_.size(); name++) {
    size_t i = low_hashes_[name] & mask;
    while (slots_[i]) i = (i + 1) & mask;
    slots_[i] = static_cast<uint32_t>(name + 1);
  }
}

const uint64_t* PlaceMap::find(const char* place) const {
  if (slots_.empty()) return nullptr;
  size_t mask = slots_.size() - 1;
  for (size_t i = start(place) & mask; slots_[i].place; i = (i + 1) & mask)
    if (slots_[i].place == place) return &slots_[i].value;
  return nullptr;
}

void PlaceMap::add(const char* place, uint64_t value) {
  if ((count_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old(std::max<size_t>(1024, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.place) put(slot);
  }
  put({place, value});
  count_++;
}

void PlaceMap::put(const Slot& slot) {
  size_t mask = slots_.size() - 1, i = start(slot.place) & mask;
  while (slots_[i].place) i = (i + 1) & mask;
  slots_[i] = slot;
}

bool KeySet::insert(uint64_t key) {
  key += key == 0; // 0 is an empty slot
  if ((count_ + 1) * 2 > slots_.size()) {
    std::vector<uint64_t> old(std::max<size_t>(1024, slots_.size() * 2));
    old.swap(slots_);
    for (uint64_t k : old)
      if (k) put(k);
  }
  if (!put(key)) return false;
  count_++;
  return true;
}

bool KeySet::put(uint64_t key) {
  size_t mask = slots_.size() - 1, i = key & mask;
  for (; slots_[i]; i = (i + 1) & mask)
    if (slots_[i] == key) return false;
  slots_[i] = key;
  return true;
}

uint32_t ScopeTable::add(const ScopeRecord& record) {
  auto hash = [](const ScopeRecord& r) { return mix(uint64_t{r.name} << 32 | r.parent, r.flags); };
  if ((records_.size() + 1) * 2 > slots_.size()) {
    slots_.assign(std::max<size_t>(256, slots_.size() * 2), 0);
    for (size_t scope = 1; scope < records_.size(); scope++) {
      size_t i = hash(records_[scope]) & (slots_.size() - 1);
      while (slots_[i]) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = static_cast<uint32_t>(scope);
    }
  }
  size_t mask = slots_.size() - 1, i = hash(record) & mask;
  for (; slots_[i]; i = (i + 1) & mask)
    if (records_[slots_[i]] == record) return slots_[i];
  slots_[i] = static_cast<uint32_t>(records_.size());
  records_.push_back(record);
  return slots_[i];
}

uint64_t key_of(const ListedEntry& entry) {
  using namespace index_format;
  return mix(uint64_t{entry.name} << 32 | entry.scope,
             uint64_t{entry.identity} << 8 | (entry.head & head_kind));
}

void EntryStream::put(uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_.push_back(static_cast<std::byte>(number | 0x80));
  bytes_.push_back(static_cast<std::byte>(number));
}

void EntryStream::add(const ListedEntry& entry) {
  if (entry.unit != unit_) {
    bytes_.push_back(std::byte{next_unit});
    put(unit_ = entry.unit);
  }
  bytes_.push_back(static_cast<std::byte>(entry.head | (entry.is_repeated ? repeated : 0)));
  put(entry.name);
  put(entry.scope);
  put(entry.die);
  if (entry.is_repeated) put(entry.identity);
  count_++;
}

} // namespace dwarf
