#include "runtime/python.h"

#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/object_bytes.h"
#include "runtime/python_layouts.h"
#include "runtime/python_object_layouts.h"
#include "runtime/python_objects.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace runtime {

namespace {

constexpr std::string_view cookie = "xdebugpy";
constexpr uint16_t first_published = 0x030d, last_known = 0x030e;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Three numbers, maybe with more behind: "3.9.18", "3.10.0rc1", "2.7.18+".
bool is_version(std::string_view text) {
  return text.size() <= 12 && std::ranges::count(text, '.') == 2 && (text.starts_with("3.") || text.starts_with("2.")) && is_digit(text[2]);
}

// Of a file that has no Py_Version: one of the constants whose addresses Py_GetVersion() takes. Others look like versions, too, and the linker
// puts this one at the end of a path.
std::string version_text(const format::ElfFile& file) {
  const auto function = format::find_exported(file, "Py_GetVersion");
  if (!function) return {};
  const base::ByteSpan code = bytes_at(file, function->value, std::min<uint64_t>(function->size, 512));
  for (size_t at = 0; at + 7 <= code.size(); at++) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(code[at + i]); };
    const auto number = [&](size_t i) { return base::Reader(code, at + i).number<uint32_t>(); };
    uint64_t address = 0;
    if ((byte(0) & 0xfb) == 0x48 && byte(1) == 0x8d && (byte(2) & 0xc7) == 0x05) // lea distance(%rip), register
      address = function->value + at + 7 + static_cast<uint64_t>(int64_t{static_cast<int32_t>(number(3))});
    else if ((byte(0) & 0xf8) == 0xb8) // mov address, register
      address = number(1);
    const auto offset = file.elf().offset_of_address(address);
    if (const std::string_view text = offset ? base::text_at(file.bytes(), *offset) : ""; is_version(text)) return std::string(text);
  }
  return {};
}

// Of PY_VERSION_HEX: "3.14.0b2".
std::string text_of_version(uint32_t number) {
  const char* stages[16] = {};
  stages[0xa] = "a", stages[0xb] = "b", stages[0xc] = "rc";
  char text[32];
  std::snprintf(text, sizeof text, "%u.%u.%u", number >> 24, number >> 16 & 255, number >> 8 & 255);
  std::string out = text;
  if (const char* stage = stages[number >> 4 & 15]) out.append(stage).append(std::to_string(number & 15));
  return out;
}

uint16_t minor_of(std::string_view text) {
  unsigned major = 0, minor = 0;
  return std::sscanf(std::string(text).c_str(), "%u.%u", &major, &minor) == 2 ? static_cast<uint16_t>(major << 8 | minor) : 0;
}

std::optional<PythonObjectLayout> object_layout(uint16_t version) {
  const auto* row = std::ranges::find(python_object_layouts, version, &PythonObjectLayout::version);
  return row == std::end(python_object_layouts) ? std::nullopt : std::optional(*row);
}

} // namespace

std::optional<FileRuntime> recognise_python(const format::ElfFile& file) {
  std::optional<format::ElfSymbol> evaluation;
  for (const std::string_view name : {"_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx"})
    if (!evaluation) evaluation = format::find_exported(file, name);
  if (!evaluation || !evaluation->is_function() || !evaluation->size) return std::nullopt;
  FileRuntime out;
  const auto number = format::find_exported(file, "Py_Version");
  std::string version =
      number ? text_of_version(base::Reader(bytes_at(file, number->value, 4)).number<uint32_t>()) : version_text(file);
  out.version = version.empty() ? "CPython" : "CPython " + version;
  out.problem = "layout not known";
  const auto root = format::find_exported(file, "_PyRuntime");
  if (!root) return out;
  const uint16_t minor = minor_of(version);
  std::optional<python_layout> layout;
  const base::ByteSpan published = minor >= first_published ? bytes_at(file, root->value, std::min<uint64_t>(root->size, 1024)) : base::ByteSpan();
  if (minor >= first_published)
    layout = published_layout(published);
  else if (const auto* row = std::ranges::find(python_layouts, minor, &python_layout::version); row != std::end(python_layouts))
    layout = *row;
  if (!layout) return out;
  out.problem.clear();
  out.table.kind = LANGUAGE_PYTHON;
  out.table.root = root->value;
  out.table.root_bytes = static_cast<uint32_t>(root->size);
  out.table.python = *layout;
  out.table.evaluation[0] = {evaluation->value, evaluation->value + evaluation->size};
  out.table.evaluation[1] = cold_part(file, out.table.evaluation[0]);
  if (const auto objects = minor >= first_published ? published_objects(published) : object_layout(minor)) {
    out.objects = {.layout = *objects};
    for (size_t i = 0; i < python_symbols.size(); i++)
      if (const auto symbol = format::find_exported(file, python_symbols[i])) out.objects->globals[i] = symbol->value;
  }
  return out;
}

// ----------------------------------------------------------------------------------------- published offsets

namespace {

// The groups of _Py_DebugOffsets in their order, with the number of fields in each, up to those that are needed.
struct Groups {
  uint16_t version;
  uint8_t runtime, interpreter, thread, frame, code, before_bytes, bytes, unicode;
};
constexpr Groups groups[] = {
    // object 2, type 4, tuple 3, list 3, dict 3, float 2, long 3
    {.version = 0x030d, .runtime = 3, .interpreter = 13, .thread = 9, .frame = 6, .code = 10, .before_bytes = 20, .bytes = 3, .unicode = 4},
    // and set 4
    {.version = 0x030e, .runtime = 3, .interpreter = 16, .thread = 9, .frame = 8, .code = 11, .before_bytes = 24, .bytes = 3, .unicode = 4},
};

template<class T> bool fits(uint64_t value, T& to) {
  to = static_cast<T>(value);
  return to == value;
}

// The fields by group, in their order.
struct Published {
  uint16_t version;
  std::vector<uint64_t> runtime, interpreter, thread, frame, code, before_bytes, bytes, unicode;
};
std::optional<Published> read_published(base::ByteSpan offsets) {
  base::Reader in(offsets);
  const base::ByteSpan mark = in.bytes(cookie.size());
  if (mark.empty() || std::memcmp(mark.data(), cookie.data(), cookie.size()) != 0) return std::nullopt;
  const auto version = static_cast<uint16_t>(in.number<uint64_t>() >> 16);
  const bool is_free_threaded = in.number<uint64_t>() != 0;
  const auto* known = std::ranges::find(groups, version, &Groups::version);
  if (known == std::end(groups) || version > last_known) return std::nullopt;
  if (is_free_threaded) return std::nullopt; // objects have other headers, and threads copies of the bytecode of their own
  Published out = {.version = version};
  const std::pair<std::vector<uint64_t>*, size_t> all[] = {
      {&out.runtime, known->runtime}, {&out.interpreter, known->interpreter}, {&out.thread, known->thread}, {&out.frame, known->frame},
      {&out.code, known->code}, {&out.before_bytes, known->before_bytes}, {&out.bytes, known->bytes}, {&out.unicode, known->unicode}};
  for (const auto& [group, fields] : all)
    for (size_t i = 0; i < fields; i++) group->push_back(in.number<uint64_t>());
  return in.ok() ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace

std::optional<python_layout> published_layout(base::ByteSpan offsets) {
  const auto published = read_published(offsets);
  if (!published) return std::nullopt;
  const auto& [version, runtime, interpreter, thread, frame, code, before_bytes, bytes, unicode] = *published;

  python_layout l = {.version = version, .boundary = PYTHON_SHIM, .shim_owner = 3, .cframe_frame = PYTHON_NO_FIELD, .position_is_pointer = 1};
  // 3.14 tags references in the two lowest bits.
  l.code_mask = version >= 0x030e ? 3 : 0;
  constexpr uint64_t var_size = 16, header = 16; // of a PyVarObject, of a PyObject
  const bool fit = fits(runtime[2], l.interpreters_head) && fits(interpreter[2], l.interpreter_next) && fits(interpreter[3], l.threads_head) &&
                   fits(thread[2], l.thread_next) && fits(thread[4], l.thread_frame) && fits(thread[5], l.thread_id) &&
                   fits(frame[1], l.frame_previous) && fits(frame[2], l.frame_code) && fits(frame[3], l.frame_position) &&
                   fits(frame[5], l.frame_owner) && fits(frame[4], l.frame_bytes) && fits(code[1], l.code_file) && fits(code[3], l.code_name) &&
                   fits(code[4], l.code_lines) && fits(code[5], l.code_first_line) && fits(code[9], l.code_instructions) &&
                   fits(bytes[1], l.bytes_size) && fits(bytes[2], l.bytes_data) && fits(unicode[1], l.text_state) &&
                   fits(unicode[2], l.text_length) && fits(unicode[3], l.text_ascii) &&
                   fits(unicode[3] + 16, l.text_compact) && // utf8_length, utf8
                   fits(uint64_t{std::max({l.code_file, l.code_name, l.code_lines, l.code_first_line})} + 8, l.code_bytes);
  l.code_size = var_size;
  const bool makes_sense = fit && l.frame_bytes < PYTHON_FRAME_BYTES && l.frame_owner < l.frame_bytes && l.frame_previous < l.frame_bytes &&
                           l.frame_code < l.frame_bytes && l.frame_position < l.frame_bytes && l.code_bytes < PYTHON_CODE_BYTES &&
                           l.text_ascii >= header + 8 && l.bytes_data > l.bytes_size && l.code_instructions >= l.code_lines;
  return makes_sense ? std::optional(l) : std::nullopt;
}

std::optional<PythonObjectLayout> published_objects(base::ByteSpan offsets) {
  const auto published = read_published(offsets);
  auto out = published ? object_layout(published->version) : std::nullopt;
  if (!out) return std::nullopt;
  const std::vector<uint64_t>&interpreter = published->interpreter, &frame = published->frame, &code = published->code, &objects = published->before_bytes;
  // By their places in the groups: what is a constant here must be so there.
  enum { object_type = 1, type_name = 3, type_repr, type_flags, tuple_item = 7, list_item = 10, dict_keys = 13, dict_values, float_value = 16, long_digit = 19 };
  const bool is_as_known = objects[object_type] == python::object_type && objects[tuple_item] == python::tuple_items &&
                           objects[list_item] == python::list_items && objects[dict_keys] == python::dict_keys &&
                           objects[dict_values] == python::dict_values && objects[float_value] == python::float_value &&
                           objects[long_digit] == python::long_digits;
  const bool fit = is_as_known && fits(interpreter[5], out->interpreter_modules) && fits(frame[4], out->frame_variables) &&
                   fits(code[6], out->code_arguments) && fits(code[7], out->code_variables) && fits(code[8], out->code_kinds) &&
                   fits(objects[type_name], out->type_name) && fits(objects[type_repr], out->type_repr) && fits(objects[type_flags], out->type_flags);
  return fit ? out : std::nullopt;
}

// ----------------------------------------------------------------------------------------------- names

namespace {

// So many bytes of an object from `offset` on. What was not read of it before is read now, or is missing at the end.
std::vector<std::byte> content(Bytes object, uint64_t address, uint64_t offset, uint64_t size, const ReadMemory& read) {
  std::vector<std::byte> out(size);
  if (out.empty()) return out;
  if (offset + size <= object.size()) {
    std::memcpy(out.data(), object.data() + offset, size);
  } else if (!read || !read(address + offset, out)) {
    out.resize(offset < object.size() ? object.size() - offset : 0);
    std::memcpy(out.data(), object.data() + std::min<uint64_t>(offset, object.size()), out.size());
  }
  return out;
}

// A string: characters of 1, 2 or 4 bytes, behind a header that is shorter if they are ASCII.
std::optional<std::string> text_of(Bytes object, uint64_t address, const python_layout& l, const ReadMemory& read) {
  constexpr uint64_t longest = 4096;
  const uint64_t length = number_at(object, l.text_length, 8);
  const auto state = static_cast<uint32_t>(number_at(object, l.text_state, 4));
  // interned: 2 bits, from 3.14 on 16; kind: 3, compact: 1, ascii: 1. Of the others nothing is known.
  const uint32_t bits = state >> (l.version >= 0x030e ? 16 : 2), kind = bits & 7, is_compact = bits >> 3 & 1, is_ascii = bits >> 4 & 1;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || !length || length > longest) return std::nullopt;
  const std::vector<std::byte> characters = content(object, address, is_ascii ? l.text_ascii : l.text_compact, length * kind, read);
  std::string out;
  for (size_t at = 0; at + kind <= characters.size(); at += kind) append_utf8(out, static_cast<uint32_t>(number_at(characters, at, kind)));
  if (characters.size() < length * kind) out += "…";
  return out;
}

} // namespace

std::optional<Code> decode_python(const language_object& object, const language_table& table, const ReadMemory& read) {
  const python_layout& l = table.python;
  const Bytes code = as_bytes(object.object);
  const auto pointer = [&](uint16_t field) { return number_at(code, field, 8); };
  auto name = text_of(as_bytes(object.name), pointer(l.code_name), l, read), file = text_of(as_bytes(object.file), pointer(l.code_file), l, read);
  if (!name || !file) return std::nullopt;
  Code out = {.name = std::move(*name), .file = std::move(*file), .kind = LANGUAGE_PYTHON, .version = l.version};
  out.first_line = static_cast<uint32_t>(number_at(code, l.code_first_line, 4));
  constexpr uint64_t longest_table = 1 << 20;
  const uint64_t size = number_at(as_bytes(object.lines), l.bytes_size, 8);
  if (size <= longest_table) out.lines = content(as_bytes(object.lines), pointer(l.code_lines), l.bytes_data, size, read);
  out.is_table_cut = out.lines.size() < size;
  return out;
}

// ----------------------------------------------------------------------------------------------- lines

namespace {

// 3.8, 3.9: pairs of how far to go on in the bytecode and in lines (Objects/lnotab_notes.txt). The last line goes on to the end of the function.
uint32_t line_by_pairs(const Code& code, uint64_t at) {
  int64_t line = code.first_line;
  uint64_t address = 0;
  for (size_t i = 0; i + 1 < code.lines.size(); i += 2) {
    address += static_cast<uint8_t>(code.lines[i]);
    if (address > at) return static_cast<uint32_t>(line);
    line += static_cast<int8_t>(code.lines[i + 1]);
  }
  return code.is_table_cut ? 0 : static_cast<uint32_t>(line);
}

// 3.10: pairs of the length of a range and how far to go on in lines before it; -128: the range has no line (PEP 626).
uint32_t line_by_ranges(const Code& code, uint64_t at) {
  int64_t line = code.first_line;
  uint64_t end = 0;
  for (size_t i = 0; i + 1 < code.lines.size(); i += 2) {
    const auto more = static_cast<int8_t>(code.lines[i + 1]);
    end += static_cast<uint8_t>(code.lines[i]);
    if (more != -128) line += more;
    if (at < end) return more == -128 ? 0 : static_cast<uint32_t>(line);
  }
  return 0;
}

// 3.11 and later: entries of varying length, the first byte of each has its highest bit set (Objects/locations.md).
class Locations {
public:
  explicit Locations(Bytes bytes) : in_(bytes), bytes_(bytes) {}

  uint32_t line_at(int64_t line, uint64_t at) {
    enum { one_line_0 = 10, one_line_2 = 12, no_column = 13, with_all = 14, none = 15 };
    uint64_t end = 0; // instructions
    while (in_.at() < bytes_.size()) {
      const auto head = in_.number<uint8_t>();
      const unsigned kind = head >> 3 & 15;
      end += (head & 7u) + 1;
      if (kind >= one_line_0 && kind <= one_line_2) line += kind - one_line_0;
      if (kind == no_column || kind == with_all) line += signed_number();
      if (at < end) return kind == none ? 0 : static_cast<uint32_t>(line);
      while (in_.at() < bytes_.size() && !(static_cast<uint8_t>(bytes_[in_.at()]) & 0x80)) in_.skip(1);
    }
    return 0;
  }

private:
  // 6 bits in a byte, the lowest first; the lowest bit is the sign.
  int64_t signed_number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const auto byte = in_.number<uint8_t>();
      value |= uint64_t{byte & 63u} << shift;
      if (!(byte & 64)) break;
    }
    const auto half = static_cast<int64_t>(value >> 1);
    return value & 1 ? -half : half;
  }

  base::Reader in_;
  Bytes bytes_;
};

} // namespace

uint32_t line_of_python(const Code& code, uint64_t position) {
  const bool has_begun = position <= LANGUAGE_POSITION_MASK / 2;
  if (!has_begun && code.version < 0x030a) return code.first_line;
  if (!has_begun) position = 0;
  if (code.version >= 0x030b) return Locations(code.lines).line_at(code.first_line, position);
  return code.version == 0x030a ? line_by_ranges(code, 2 * position) : line_by_pairs(code, 2 * position);
}

} // namespace runtime
