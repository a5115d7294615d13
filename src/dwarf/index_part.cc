#include "dwarf/index_part.h"

#include <algorithm>
#include <cstring>

namespace dwarf {
namespace {

template<class T> T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

} // namespace

size_t operator_length(std::string_view name) {
  constexpr std::string_view word = "operator";
  if (!name.starts_with(word) || name.size() == word.size()) return 0;
  std::string_view rest = name.substr(word.size());
  if (is_word(rest[0]) || rest[0] == ' ') return 0; // a conversion, or another name
  for (std::string_view symbol : {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]"})
    if (rest.starts_with(symbol)) return word.size() + symbol.size();
  return word.size() + 1;
}

uint64_t hash_of_text(std::string_view text) {
  constexpr uint64_t factor = 0xa0761d6478bd642fu;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = left;
  for (; left > 8; at += 8, left -= 8) hash = mix(hash ^ load<uint64_t>(at), factor);
  uint64_t rest = 0;
  if (left >= 4)
    rest = uint64_t{load<uint32_t>(at)} << 32 | load<uint32_t>(at + left - 4);
  else if (left > 0)
    rest = uint64_t{static_cast<uint8_t>(at[0])} << 16 | uint64_t{static_cast<uint8_t>(at[left / 2])} << 8 |
           static_cast<uint8_t>(at[left - 1]);
  return mix(hash ^ rest, factor ^ text.size());
}

std::string_view without_template_arguments(std::string_view name) {
  size_t from = operator_length(name);
  if (from == 0) from = 1; // "<lambda()>" is a name
  size_t at = name.find('<', from);
  if (at == name.npos || !name.ends_with('>')) return name;
  while (at > from && name[at - 1] == ' ') at--;
  return name.substr(0, at);
}

uint32_t hash_of_name(std::string_view name) {
  return static_cast<uint32_t>(hash_of_text(without_template_arguments(name)) >> 32);
}

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
