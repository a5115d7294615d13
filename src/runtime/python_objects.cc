#include "runtime/python_objects.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace runtime {

namespace {

constexpr uint64_t most_elements = 1 << 22; // of a table; what is larger is damaged
constexpr size_t longest_name = 200;

} // namespace

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; // bytes that follow
  constexpr unsigned marks[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(marks[more] | c >> 6 * more);
  for (unsigned i = more; i--;) out += static_cast<char>(0x80 | (c >> 6 * i & 0x3f));
}

bool PythonObjects::read(uint64_t at, std::span<std::byte> to) const {
  if (reads_left_) reads_left_--;
  if (to.empty() || (reads_left_ && memory_.read(at, to))) return true;
  failed_ = at;
  return false;
}

std::optional<uint64_t> PythonObjects::number(uint64_t at, unsigned bytes) const {
  uint64_t value = 0;
  if (!read(at, std::as_writable_bytes(std::span(&value, 1)).first(bytes))) return std::nullopt;
  return value;
}

std::string PythonObjects::c_text(uint64_t at) const {
  std::string out;
  while (out.size() < longest_name) {
    const auto c = number(at + out.size(), 1);
    if (!c || (*c && *c < ' ')) return {};
    if (!*c) break;
    out += static_cast<char>(*c);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------- types

bool PythonObjects::is_one_of(uint64_t object, std::initializer_list<PythonGlobal> types) const {
  return std::ranges::any_of(types, [&](PythonGlobal type) { return is_exactly(object, type); });
}

const PythonObjects::Type* PythonObjects::type_at(uint64_t address) const {
  auto [at, is_new] = types_.try_emplace(address);
  if (!is_new) return at->second ? &*at->second : nullptr;
  const PythonObjectLayout& l = known_.layout;
  // The type of a type is a subclass of `type`, and says so.
  const auto meta = word(address + python::object_type);
  const auto meta_flags = meta ? word(*meta + l.type_flags) : std::nullopt;
  if (!meta_flags || !(*meta_flags & python::type_subclass)) return nullptr;
  const auto name = word(address + l.type_name), flags = word(address + l.type_flags), repr = word(address + l.type_repr),
             base = word(address + l.type_base), size = word(address + l.type_size), dict = word(address + l.type_dict_offset);
  if (!name || !flags || !repr || !base || !size || !dict) return nullptr;
  const std::string text = c_text(*name);
  if (text.empty()) return nullptr;
  at->second = Type{.address = address, .name = text.substr(text.rfind('.') + 1), .full_name = text, .flags = *flags, .repr = *repr, .base = *base,
                    .size = *size, .dict_offset = static_cast<int64_t>(*dict)};
  return &*at->second;
}

const PythonObjects::Type* PythonObjects::type_of(uint64_t object) const {
  const auto type = word(object + python::object_type);
  return type ? type_at(*type) : nullptr;
}

// -------------------------------------------------------------------------------------------- strings

std::optional<PythonObjects::Text> PythonObjects::text(uint64_t object, size_t most) const {
  const Type* type = type_of(object);
  const auto length = word(object + layout_.text_length), state = number(object + layout_.text_state, 4);
  if (!type || !type->has(python::str_subclass) || !length || !state) return std::nullopt;
  const unsigned bits = static_cast<unsigned>(*state) >> 2, kind = bits & 7; // interned: 2 bits, kind: 3, compact: 1, ascii: 1
  const bool is_compact = bits >> 3 & 1, is_ascii = bits >> 4 & 1;
  if (kind != 1 && kind != 2 && kind != 4) return std::nullopt;
  uint64_t at = object + (is_compact && is_ascii ? layout_.text_ascii : layout_.text_compact);
  if (!is_compact) { // of a subclass: a pointer is behind the header
    const auto data = word(at);
    if (!data) return std::nullopt;
    at = *data;
  }
  const size_t count = std::min<uint64_t>(*length, most);
  std::vector<std::byte> bytes(count * kind);
  if (!read(at, bytes)) return std::nullopt;
  Text out = {.characters = std::u32string(count, U'\0'), .is_cut = *length > count};
  for (size_t i = 0; i < count; i++) std::memcpy(&out.characters[i], bytes.data() + i * kind, kind);
  return out;
}

std::optional<std::string> PythonObjects::utf8(uint64_t object, size_t most) const {
  const auto found = text(object, most);
  if (!found) return std::nullopt;
  std::string out;
  constexpr char32_t replacement = 0xfffd;
  const auto is_character = [](char32_t c) { return c < 0x110000 && (c < 0xd800 || c > 0xdfff); };
  for (const char32_t c : found->characters) append_utf8(out, is_character(c) ? c : replacement);
  if (found->is_cut) out += "…";
  return out;
}

// ----------------------------------------------------------------------------------------- containers

bool PythonObjects::each_word(uint64_t first, uint64_t count, const EachItem& use) const {
  if (count > most_elements) return false;
  for (uint64_t i = 0; i < count; i++) {
    const auto item = word(first + 8 * i);
    if (!item) return false;
    if (!use(*item)) break;
  }
  return true;
}

bool PythonObjects::each_of_tuple(uint64_t object, const EachItem& use) const {
  const auto size = word(object + python::var_size);
  return size && each_word(object + python::tuple_items, *size, use);
}

bool PythonObjects::each_of_list(uint64_t object, const EachItem& use) const {
  const auto size = word(object + python::var_size), items = word(object + python::list_items);
  return size && items && each_word(*items, *size, use);
}

bool PythonObjects::each_of_set(uint64_t object, const EachItem& use) const {
  const auto mask = word(object + python::set_mask), table = word(object + python::set_table), used = word(object + python::set_used);
  if (!mask || !table || !used || *mask >= most_elements || *used > *mask + 1) return false;
  for (uint64_t i = 0, left = *used; i <= *mask && left; i++) {
    const auto key = word(*table + 16 * i);
    if (!key) return false;
    if (!*key) continue;
    const auto hash = word(*table + 16 * i + 8);
    if (!hash) return false;
    if (*hash == ~uint64_t{0}) continue;
    left--;
    if (!use(*key)) break;
  }
  return true;
}

// A dict is a table of indices, and behind it the entries in the order of insertion. Up to 3.10, an entry is hash, key and value; later without the
// hash if all keys are strings. Instances of a class share the keys (a split table): then the values are in an array of their own.
std::optional<PythonObjects::Keys> PythonObjects::keys_at(uint64_t address) const {
  Keys out = {.stride = 24, .key = 8};
  if (is_since(0x030b)) {
    const auto log2_size = number(address + python::keys_log2_size, 1), log2_bytes = number(address + python::keys_log2_index_bytes, 1),
               kind = number(address + python::keys_kind, 1), count = word(address + python::keys_entries);
    if (!log2_size || !log2_bytes || !kind || !count || *log2_size > 30 || *log2_bytes > 33) return std::nullopt;
    if (*kind) out.stride = 16, out.key = 0;
    out.first = address + python::keys_indices + (uint64_t{1} << *log2_bytes);
    out.count = *count, out.size = uint64_t{1} << *log2_size;
  } else {
    const auto size = word(address + python::old_keys_size), count = word(address + python::old_keys_entries);
    if (!size || !count || *size > uint64_t{1} << 30) return std::nullopt;
    const uint64_t index_bytes = *size <= 0xff ? 1 : *size <= 0xffff ? 2 : 4;
    out.first = address + python::old_keys_indices + *size * index_bytes;
    out.count = *count, out.size = *size;
  }
  if (out.count > out.size || out.count > most_elements) return std::nullopt;
  return out;
}

bool PythonObjects::each_entry(const Keys& keys, const EachPair& use) const {
  for (uint64_t i = 0; i < keys.count; i++) {
    const uint64_t at = keys.first + i * keys.stride + keys.key;
    const auto key = word(at), value = word(at + 8);
    if (!key || !value) return false;
    if (*key && *value && !use(*key, *value)) break;
  }
  return true;
}

// `order`: where the numbers of entries are, a byte each, in the order of insertion; forwards or backwards.
bool PythonObjects::each_in_order(const Keys& keys, uint64_t first_value, uint64_t used, uint64_t order, int step,
                                  const EachPair& use) const {
  for (uint64_t i = 0; i < used; i++) {
    const auto entry = number(order + i * static_cast<uint64_t>(int64_t{step}), 1);
    if (!entry || *entry >= keys.count) return false;
    const auto key = word(keys.first + *entry * keys.stride + keys.key), value = word(first_value + 8 * *entry);
    if (!key || !value) return false;
    if (*key && *value && !use(*key, *value)) break;
  }
  return true;
}

bool PythonObjects::each_value(const Keys& keys, uint64_t values, const EachPair& use) const {
  if (is_since(0x030d)) { // capacity, size, embedded, valid; the values; the order
    const auto capacity = number(values, 1), used = number(values + 1, 1);
    return capacity && used && each_in_order(keys, values + 8, *used, values + 8 + 8 * *capacity, 1, use);
  }
  if (is_since(0x030b)) { // the values; before them, backwards: a size, how many there are, the order
    const auto used = number(values - 2, 1);
    return used && each_in_order(keys, values, *used, values - 3, -1, use);
  }
  for (uint64_t i = 0; i < keys.count; i++) {
    const auto key = word(keys.first + i * keys.stride + keys.key), value = word(values + 8 * i);
    if (!key || !value) return false;
    if (*key && *value && !use(*key, *value)) break;
  }
  return true;
}

bool PythonObjects::each_of_dict(uint64_t object, const EachPair& use) const {
  const auto keys = word(object + python::dict_keys), values = word(object + python::dict_values);
  const auto found = keys && values ? keys_at(*keys) : std::nullopt;
  return found && (*values ? each_value(*found, *values, use) : each_entry(*found, use));
}

uint64_t PythonObjects::item(uint64_t dict, std::string_view key) const {
  uint64_t out = 0;
  const Type* type = type_of(dict);
  if (!type || !type->has(python::dict_subclass)) return 0;
  each_of_dict(dict, [&](uint64_t name, uint64_t value) {
    if (utf8(name) == key) out = value;
    return !out;
  });
  return out;
}

// ----------------------------------------------------------------------------------------- attributes

// Values that an instance has without a dict.
bool PythonObjects::each_inline(uint64_t object, const Type& type, const EachPair& use) const {
  const auto keys = word(type.address + known_.layout.type_keys);
  const auto found = keys && *keys ? keys_at(*keys) : std::nullopt;
  if (!found) return false;
  if (is_since(0x030d)) return type.has(python::inline_values) && each_value(*found, object + type.size, use);
  constexpr uint64_t values_before_3_12 = 32, dict_or_values = 24; // before the object
  const auto values = word(object - (is_since(0x030c) ? dict_or_values : values_before_3_12));
  if (!values || !*values) return false;
  if (!is_since(0x030c)) return each_value(*found, *values, use);
  return *values & 1 && each_value(*found, *values + 1, use);
}

bool PythonObjects::each_attribute(uint64_t object, const EachPair& use) const {
  const Type* type = type_of(object);
  if (!type) return false;
  uint64_t at = 0;
  if (is_since(0x030b) && type->has(python::managed_dict))
    at = object - 24;
  else if (type->dict_offset > 0)
    at = object + static_cast<uint64_t>(type->dict_offset);
  const auto dict = at ? word(at) : std::nullopt;
  if (!dict) return false;
  const bool has_dict = *dict && !(*dict & 1);
  if (has_dict) return is_exactly(*dict, PythonGlobal::dict_type) && each_of_dict(*dict, use);
  return is_since(0x030b) && type->has(python::managed_dict) && each_inline(object, *type, use);
}

uint64_t PythonObjects::attribute(uint64_t object, std::string_view name) const {
  uint64_t out = 0;
  each_attribute(object, [&](uint64_t key, uint64_t value) {
    if (utf8(key) == name) out = value;
    return !out;
  });
  return out;
}

} // namespace runtime
