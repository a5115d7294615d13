// Objects of CPython as they are in a program's memory, made from a layout: strings, bytes and code objects.
#pragma once

#include "runtime/python.h"
#include "runtime/python_layouts.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace runtime {

using Memory = std::vector<uint8_t>;

template<class T> void put(Memory& memory, size_t offset, T value) {
  if (memory.size() < offset + sizeof value) memory.resize(offset + sizeof value);
  std::memcpy(memory.data() + offset, &value, sizeof value);
}

// The bits of a string's state. Those before `interned` and behind `ascii` are set, as they mean nothing here.
inline uint32_t text_state(const python_layout& l, unsigned kind, bool is_compact, bool is_ascii) {
  const unsigned shift = l.version >= 0x030e ? 16 : 2;
  return (kind | unsigned{is_compact} << 3 | unsigned{is_ascii} << 4) << shift | ((1u << shift) - 1) | 1u << (shift + 5);
}

// A compact string, as CPython keeps it: as many bytes per character as the widest one needs.
inline Memory text_object(const python_layout& l, std::u32string_view text) {
  const char32_t widest = text.empty() ? 0 : *std::ranges::max_element(text);
  const unsigned kind = widest > 0xffff ? 4 : widest > 0xff ? 2 : 1;
  Memory out;
  put<uint64_t>(out, l.text_length, text.size());
  put(out, l.text_state, text_state(l, kind, true, widest < 0x80));
  size_t at = widest < 0x80 ? l.text_ascii : l.text_compact;
  out.resize(std::max<size_t>(out.size(), at + (text.size() + 1) * kind));
  for (const char32_t c : text) {
    std::memcpy(out.data() + at, &c, kind);
    at += kind;
  }
  return out;
}
inline Memory text_object(const python_layout& l, std::string_view ascii) { return text_object(l, std::u32string(ascii.begin(), ascii.end())); }

inline Memory bytes_object(const python_layout& l, std::string_view bytes) {
  Memory out;
  put<uint64_t>(out, l.bytes_size, bytes.size());
  out.resize(std::max<size_t>(out.size(), l.bytes_data));
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

struct CodeParts {
  Memory name, file, lines;
  uint32_t first_line = 1;
  uint64_t size = 10; // ob_size
  uint64_t name_at = 0x7f0000010000, file_at = 0x7f0000020000, lines_at = 0x7f0000030000;
};

inline Memory code_object(const python_layout& l, const CodeParts& parts) {
  Memory out;
  put<uint64_t>(out, l.code_size, parts.size);
  put(out, l.code_file, parts.file_at);
  put(out, l.code_name, parts.name_at);
  put(out, l.code_lines, parts.lines_at);
  put(out, l.code_first_line, parts.first_line);
  return out;
}

// What a walker reads of it: of each part what its buffer holds.
inline language_object object_of(const python_layout& l, const CodeParts& parts) {
  language_object out = {};
  const auto copy = [](std::span<uint8_t> to, const Memory& from) { std::memcpy(to.data(), from.data(), std::min(to.size(), from.size())); };
  copy(out.object, code_object(l, parts));
  copy(out.name, parts.name);
  copy(out.file, parts.file);
  copy(out.lines, parts.lines);
  return out;
}

inline CodeParts code_parts(const python_layout& l, std::string_view name, std::string_view file, uint32_t line = 1, std::string_view lines = {}) {
  return {.name = text_object(l, name), .file = text_object(l, file), .lines = bytes_object(l, lines), .first_line = line};
}

inline language_table table_of(const python_layout& l) {
  language_table out = {};
  out.kind = LANGUAGE_PYTHON;
  out.python = l;
  return out;
}

} // namespace runtime
