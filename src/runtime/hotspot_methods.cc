// Names and lines of Java methods.
#include "runtime/hotspot.h"
#include "runtime/hotspot_code.h"
#include "runtime/hotspot_stream.h"
#include "runtime/hotspot_structs.h"
#include "runtime/object_bytes.h"
#include "runtime/stopped_walk.h"

#include "runtime/hotspot_walk.h"

#include <algorithm>
#include <cstring>

namespace runtime {

namespace {

constexpr uint64_t max_const_bytes = 1 << 20; // of a ConstMethod with its bytecode and tables
constexpr size_t max_lines = 1 << 16;         // of a method: it has no more bytecode

struct Line {
  uint32_t position, line;
};

std::string symbol_at(const hotspot_layout& l, PagedMemory& memory, uint64_t symbol) {
  std::string out(symbol ? memory.number(symbol + l.symbol_length, 2) : 0, '\0');
  for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<char>(memory.number(symbol + l.symbol_body + i, 1));
  return out;
}

// The type at the begin of a descriptor, as it is written in Java, without its package: "Ljava/lang/String;" is "String".
std::string take_type(std::string_view& text) {
  constexpr std::pair<char, std::string_view> types[] = {{'B', "byte"},  {'C', "char"},  {'D', "double"},  {'F', "float"}, {'I', "int"},
                                                         {'J', "long"}, {'S', "short"}, {'Z', "boolean"}, {'V', "void"}};
  std::string brackets, out;
  for (; !text.empty() && text.front() == '['; text.remove_prefix(1)) brackets += "[]";
  if (text.empty()) return brackets;
  const char first = text.front();
  text.remove_prefix(1);
  if (first == 'L') {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view name = text.substr(0, end);
    const size_t slash = name.rfind('/');
    out = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  } else if (const auto* row = std::ranges::find(types, first, [](const auto& t) { return t.first; }); row != std::end(types)) {
    out = row->second;
  }
  return out + brackets;
}

// "(ILjava/lang/String;)V" is "(int,String)".
std::string parameters_of(std::string_view descriptor) {
  if (descriptor.empty() || descriptor.front() != '(') return {};
  descriptor.remove_prefix(1);
  std::string out = "(";
  while (!descriptor.empty() && descriptor.front() != ')') {
    if (out.size() > 1) out += ',';
    out += take_type(descriptor);
  }
  return out + ")";
}

// The table of lines: pairs of differences, of which small ones share a byte.
std::vector<Line> lines_of(Bytes table, unsigned release) {
  std::vector<Line> out;
  HotspotStream in(table, 0, release);
  uint32_t position = 0, line = 0;
  for (uint8_t next = in.byte(); next && in.ok() && out.size() < max_lines; next = in.byte()) {
    if (next == 0xff) {
      position += static_cast<uint32_t>(in.signed_number());
      line += static_cast<uint32_t>(in.signed_number());
    } else {
      position += next >> 3;
      line += next & 7;
    }
    if (in.ok()) out.push_back({position, line});
  }
  return out;
}

// "a/b/C", "f" and "(I)V" are "a.b.C.f(int)". Hidden classes have '+' before their address.
std::string name_of(std::string scope, std::string_view name, std::string_view descriptor) {
  std::ranges::replace(scope, '/', '.');
  std::ranges::replace(scope, '+', '/');
  return scope + "." + std::string(name) + parameters_of(descriptor);
}

std::optional<Code> decode_method(const language_object& object, const hotspot_layout& l, const ReadMemory& read) {
  hotspot_memory m = {};
  walked_memory = &read;
  if (hotspot_read_method(&l, &m, object.address) || hotspot_method_check(&l, &m) != object.check) return std::nullopt;
  PagedMemory memory(read);
  const Bytes constants = as_bytes(m.const_bytes);
  const uint64_t pool = number_at(constants, l.const_pool, 8), holder = memory.number(pool + l.pool_holder, 8);
  const auto entry = [&](uint64_t index) { return index ? symbol_at(l, memory, memory.number(pool + l.pool_bytes + 8 * index, 8)) : std::string(); };
  const std::string name = entry(number_at(constants, l.const_name, 2));
  const std::string scope = symbol_at(l, memory, memory.number(holder + l.class_name, 8));
  if (name.empty() || scope.empty()) return std::nullopt;
  Code out = {.name = name_of(scope, name, entry(number_at(constants, l.const_signature, 2))), .kind = LANGUAGE_JAVA};
  out.file = entry(l.pool_file ? memory.number(pool + l.pool_file, 2) : l.class_file ? memory.number(holder + l.class_file, 2) : 0);
  const uint64_t flags = number_at(constants, l.const_flags, 2);
  out.is_hidden = (l.method_hidden && (memory.number(object.address + l.method_flags, 2) & l.method_hidden)) || (flags & l.const_hidden);
  const uint64_t bytes = 8 * number_at(constants, l.const_size, 4), code = l.const_bytes + number_at(constants, l.const_code_size, 2);
  if (!(flags & l.const_has_lines) || bytes <= code || bytes > max_const_bytes) return out;
  std::vector<std::byte> table(bytes - code);
  if (!read(m.constants + code, table)) return out;
  const std::vector<Line> lines = lines_of(table, l.version);
  out.lines.resize(lines.size() * sizeof(Line));
  std::memcpy(out.lines.data(), lines.data(), out.lines.size());
  return out;
}

std::optional<Code> decode_blob(const language_object& object, const hotspot_layout& l, const ReadMemory& read) {
  hotspot_memory m = {};
  walked_memory = &read;
  m.blob = object.address;
  hotspot_read_blob(&l, &m); // no pc is looked for
  if (hotspot_blob_check(&l, &m) != object.check) return std::nullopt;
  const Bytes header = as_bytes(m.blob_bytes);
  Code out = {.kind = LANGUAGE_JAVA};
  if (!m.is_compiled) {
    PagedMemory memory(read);
    out.name = memory.text(number_at(header, l.blob_name, 8));
    out.version = hotspot_stub;
    return out.name.empty() ? std::nullopt : std::optional(out);
  }
  out.compiled = std::make_shared<const CompiledCode>(read_compiled_code(l, object.address, header, read));
  // No other has this address and number.
  out.name = "compiled code " + std::to_string(object.address) + "." + std::to_string(number_at(header, l.compiled_id, 4)) + "." +
             std::to_string(object.check);
  return out;
}

std::string symbol_of(const hotspot_layout& l, Bytes symbol) {
  const uint64_t length = number_at(symbol, l.symbol_length, 2);
  if (!length || l.symbol_body + length > symbol.size()) return {};
  return {reinterpret_cast<const char*>(symbol.data()) + l.symbol_body, length};
}

std::optional<Code> name_only(const language_object& object, const hotspot_layout& l) {
  const std::string name = symbol_of(l, as_bytes(object.name)), scope = symbol_of(l, as_bytes(object.file));
  if (name.empty() || scope.empty()) return std::nullopt;
  return Code{.name = name_of(scope, name, symbol_of(l, as_bytes(object.lines))), .kind = LANGUAGE_JAVA};
}

} // namespace

// The process may have ended, or thrown the code away: then there is only its name.
std::optional<Code> decode_hotspot(const language_object& object, const language_table& table, const ReadMemory& read) {
  std::optional<Code> out;
  if (read) out = object.object[HOTSPOT_OBJECT_IS_BLOB] ? decode_blob(object, table.hotspot, read) : decode_method(object, table.hotspot, read);
  return out || !object.object[HOTSPOT_OBJECT_HAS_NAME] ? out : name_only(object, table.hotspot);
}

uint32_t line_of_hotspot(const Code& code, uint64_t position) {
  uint32_t best = 0, line = 0;
  for (size_t at = 0; position != HOTSPOT_NO_POSITION && at + sizeof(Line) <= code.lines.size(); at += sizeof(Line)) {
    Line l;
    std::memcpy(&l, &code.lines[at], sizeof l);
    if (l.position == position) return l.line;
    if (l.position < position && l.position >= best) best = l.position, line = l.line;
  }
  return line;
}

} // namespace runtime
