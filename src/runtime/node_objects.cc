#include "runtime/node_objects.h"

#include <algorithm>

namespace runtime {

namespace {

constexpr uint64_t max_characters = 32 << 20, max_bytes = 8 << 20;
constexpr uint64_t max_name = 4096;           // characters
constexpr unsigned max_depth = 64, max_parts = 1 << 16; // of strings that are made of others
enum { string_cons = 1, string_external = 2, string_sliced = 3, string_one_byte = 8, string_uncached = 0x10 };
enum { string_length = 12, string_data = 16, string_first = 16, string_second = 24, string_offset = 24, string_external_data = 24 };

void add_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

} // namespace

uint64_t NodeObjects::moved(uint64_t object) {
  if (object == moved_from_) return moved_to_;
  const uint64_t map = memory_.number(object - 1, 8);
  moved_from_ = object;
  moved_to_ = map && map % 8 == 0 ? map + 1 : object;
  return moved_to_;
}

uint16_t NodeObjects::type(uint64_t object) {
  constexpr uint16_t none = 0xffff;
  if (!node_is_object_word(object)) return none;
  const uint64_t map = word(object, 0);
  if (!node_is_object_word(map)) return none;
  return static_cast<uint16_t>(memory_.number(map - 1 + NODE_MAP_TYPE, 2));
}

void NodeObjects::add_characters(uint64_t string, uint64_t from, uint64_t count, unsigned depth, std::u16string& out) {
  if (parts_++ > max_parts || out.size() >= max_characters) return;
  const uint16_t kind = type(string);
  if (kind >= NODE_STRING_TYPES || depth > max_depth || !count) return;
  const uint64_t length = half(string, string_length);
  if (from >= length) return;
  count = std::min(count, length - from);
  uint64_t data = moved(string) - 1 + string_data;
  switch (kind & NODE_STRING_MASK) {
  case 0: break;
  case string_cons: {
    const uint64_t first = word(string, string_first), first_length = half(first, string_length);
    if (from < first_length) add_characters(first, from, std::min(count, first_length - from), depth + 1, out);
    if (from + count > first_length) {
      const uint64_t skipped = std::max(from, first_length) - first_length;
      add_characters(word(string, string_second), skipped, from + count - first_length - skipped, depth + 1, out);
    }
    return;
  }
  case string_external:
    if (kind & string_uncached) return;
    data = word(string, string_external_data);
    break;
  case string_sliced: return add_characters(word(string, string_first), from + static_cast<uint32_t>(small(string, string_offset)), count, depth + 1, out);
  case NODE_STRING_THIN: return add_characters(word(string, NODE_TEXT_ACTUAL), from, count, depth + 1, out);
  default: return;
  }
  count = std::min(count, max_characters - std::min<uint64_t>(max_characters, out.size()));
  const size_t before = out.size();
  out.resize(before + count);
  if (kind & string_one_byte) {
    std::vector<uint8_t> narrow(count);
    if (!read(data + from, std::as_writable_bytes(std::span(narrow)))) return out.resize(before);
    std::ranges::copy(narrow, out.begin() + static_cast<ptrdiff_t>(before));
  } else if (!read(data + 2 * from, std::as_writable_bytes(std::span(out).subspan(before)))) {
    out.resize(before);
  }
}

std::u16string NodeObjects::characters(uint64_t string) {
  std::u16string out;
  if (is_string(string)) add_characters(string, 0, half(string, string_length), 0, out);
  return out;
}

bool NodeObjects::is_whole(uint64_t string, std::u16string_view characters) { return is_string(string) && characters.size() == half(string, string_length); }

std::string NodeObjects::text(uint64_t string) {
  std::u16string wide;
  if (is_string(string)) add_characters(string, 0, std::min<uint64_t>(half(string, string_length), max_name), 0, wide);
  std::string out;
  for (size_t i = 0; i < wide.size(); i++) {
    uint32_t c = wide[i];
    const bool is_pair = c >> 10 == 0x36 && i + 1 < wide.size() && wide[i + 1] >> 10 == 0x37;
    if (is_pair) c = 0x10000 + ((c & 0x3ff) << 10) + (wide[++i] & 0x3ffu);
    add_utf8(out, c);
  }
  return out;
}

std::vector<uint8_t> NodeObjects::bytes(uint64_t array) {
  constexpr uint64_t length_at = 8, data_at = 16;
  std::vector<uint8_t> out;
  const int32_t length = small(array, length_at);
  if (length <= 0 || static_cast<uint64_t>(length) > max_bytes) return out;
  out.resize(static_cast<size_t>(length));
  if (!read(moved(array) - 1 + data_at, std::as_writable_bytes(std::span(out)))) out.clear();
  return out;
}

uint64_t NodeObjects::bytecode_in(uint64_t data) {
  constexpr uint64_t interpreter_bytecode = 8; // InterpreterData
  if (type(data) == layout.code) data = word(data, layout.code_data);
  if (type(data) == layout.bytecode) return data;
  if (!node_is_object_word(data)) return 0;
  data = word(data, interpreter_bytecode);
  return type(data) == layout.bytecode ? data : 0;
}

uint64_t NodeObjects::bytecode_of(uint64_t shared) { return bytecode_in(word(shared, layout.walk.shared_data)); }

} // namespace runtime
