#include "report/place.h"

#include "report/json.h"

#include <charconv>

namespace report {

namespace {

void append_number(std::string& out, uint64_t number, int radix) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number, radix).ptr;
  if (radix == 16) out += "0x";
  out.append(digits, end);
}

void append_line(std::string& out, const symbol::Frame& frame) {
  if (frame.file.empty()) return;
  out += " at ";
  out += frame.file;
  out += ':';
  if (!frame.line) {
    out += '?';
    return;
  }
  append_number(out, frame.line, 10);
  if (!frame.column) return;
  out += ':';
  append_number(out, frame.column, 10);
}

// "main+0x29", "/lib/libx.so+0x1f01", "??"
void append_function(std::string& out, const symbol::Place& place) {
  std::string_view known_by_lines = place.frames.empty() ? std::string_view() : place.frames.back().name;
  bool is_known = !place.name.empty();
  if (is_known)
    out += place.name;
  else if (!known_by_lines.empty())
    out += known_by_lines; // where it begins is not known
  else
    out += place.module.empty() ? std::string_view("??") : place.module;
  if (!is_known && (!known_by_lines.empty() || place.module.empty())) return;
  uint64_t offset = is_known ? place.offset : place.module_address;
  if (is_known && !offset) return;
  out += '+';
  append_number(out, offset, 16);
}

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ", ";
  out += '"';
  out += key;
  out += "\": ";
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  append_key(out, key);
  append_json(out, text);
}

void append_address(std::string& out, std::string_view key, uint64_t address) {
  append_key(out, key);
  out += '"';
  append_number(out, address, 16);
  out += '"';
}

void append_count(std::string& out, std::string_view key, uint64_t number) {
  append_key(out, key);
  append_number(out, number, 10);
}

void append_frame_json(std::string& out, const symbol::Frame& frame) {
  out += '{';
  append_text(out, "function", frame.name);
  append_text(out, "file", frame.file);
  if (frame.line) append_count(out, "line", frame.line);
  if (frame.column) append_count(out, "column", frame.column);
  out += '}';
}

} // namespace

void append_place(std::string& out, const symbol::Place& place, bool with_module) {
  append_number(out, place.address, 16);
  out += ": ";
  for (size_t i = 0; i + 1 < place.frames.size(); i++) {
    const symbol::Frame& frame = place.frames[i];
    out += frame.name.empty() ? "??" : frame.name;
    append_line(out, frame);
    out += "\n (inlined by) ";
  }
  append_function(out, place);
  if (!place.frames.empty()) append_line(out, place.frames.back());
  if (with_module && !place.name.empty() && !place.module.empty()) {
    out += " (";
    out += place.module;
    out += ')';
  }
  out += '\n';
}

void append_place_json(std::string& out, const symbol::Place& place) {
  out += '{';
  append_address(out, "address", place.address);
  append_text(out, "module", place.module);
  if (!place.module.empty() && place.module != spec::row_of(spec::FrameKind::kernel).module)
    append_address(out, "module_offset", place.module_address);
  append_text(out, "function", place.name);
  if (!place.name.empty()) append_count(out, "offset", place.offset);
  if (!place.frames.empty()) {
    append_key(out, "frames");
    out += '[';
    for (size_t i = 0; i < place.frames.size(); i++) {
      if (i) out += ", ";
      append_frame_json(out, place.frames[i]);
    }
    out += ']';
  }
  out += "}\n";
}

} // namespace report
