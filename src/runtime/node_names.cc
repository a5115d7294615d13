// Names and lines of JavaScript functions.
#include "runtime/hotspot_code.h"
#include "runtime/node.h"
#include "runtime/node_objects.h"
#include "runtime/object_bytes.h"
#include "runtime/stopped_walk.h"

#include "runtime/node_walk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <unistd.h>

namespace runtime {

namespace {

constexpr std::string_view no_name = "<anonymous>";
constexpr uint64_t script_source = 8, script_line_offset = 24;
constexpr uint64_t uncompiled_name = 8, uncompiled_start = 16;
constexpr uint16_t oddball = 131; // type of undefined, in all versions
constexpr size_t max_lines = 1 << 18;        // of a function
constexpr size_t max_script_lines = 1 << 20; // of a script, of which some are kept

struct Line {
  uint32_t position, line;
};

// Where the lines of a script end. Those of scripts that were asked for last are kept, as their functions are.
class ScriptLines {
public:
  // 0: the source cannot be read, as the collector moves it.
  uint32_t line_of(NodeObjects& objects, uint64_t script, uint64_t position) {
    const std::vector<uint32_t>* ends = of(objects, script);
    if (!ends) return 0;
    const auto before = std::ranges::lower_bound(*ends, position) - ends->begin();
    return static_cast<uint32_t>(before + objects.small(script, script_line_offset) + 1);
  }

private:
  struct Known {
    uint64_t key;
    std::vector<uint32_t> ends;
  };
  static std::vector<uint32_t> ends_of(std::u16string_view text) {
    constexpr char16_t line_separator = 0x2028, paragraph_separator = 0x2029;
    std::vector<uint32_t> out;
    for (size_t i = 0; i < text.size(); i++) {
      const char16_t c = text[i];
      if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
      if (c == '\n' || c == '\r' || c == line_separator || c == paragraph_separator) out.push_back(static_cast<uint32_t>(i));
    }
    return out;
  }
  const std::vector<uint32_t>* of(NodeObjects& objects, uint64_t script) {
    constexpr size_t most = 64;
    const uint64_t source = objects.word(script, script_source);
    // The same numbers at the same addresses, and the same text: it is the same script.
    uint64_t key = language_mix(language_mix(script, source), objects.word(script, NODE_SCRIPT_ID));
    for (uint64_t at = 0; at < 64; at += 8) key = language_mix(key, objects.word(source, at));
    const auto at = std::ranges::find(known_, key, &Known::key);
    if (at != known_.end()) {
      known_.splice(known_.begin(), known_, at);
      return &known_.front().ends;
    }
    const std::u16string text = objects.characters(source);
    if (!objects.is_whole(source, text)) return nullptr;
    std::vector<uint32_t> ends = ends_of(text);
    if (ends.size() > max_script_lines) return nullptr;
    known_.push_front({key, std::move(ends)});
    if (known_.size() > most) known_.pop_back();
    return &known_.front().ends;
  }
  std::list<Known> known_; // the last one first
};

thread_local ScriptLines script_lines;

struct Named {
  std::string name;
  int64_t start = -1; // in the source; -1: not known
  bool is_moved = false; // what has the name cannot be read, as the collector moves it
};

Named named_of(NodeObjects& objects, uint64_t shared) {
  const NodeLayout& l = objects.layout;
  Named out;
  const uint64_t name = objects.word(shared, l.walk.shared_name), data = objects.word(shared, l.walk.shared_data), other = objects.word(shared, l.walk.shared_other_data);
  if (objects.is_string(name)) out.name = objects.text(name);
  if (objects.type(name) != l.scope_info) {
    out.is_moved = node_is_object_word(name) && !objects.is_string(name);
    for (const uint64_t uncompiled : {data, other}) {
      const uint64_t inferred = node_is_object_word(uncompiled) ? objects.word(uncompiled, uncompiled_name) : 0;
      if (!objects.is_string(inferred)) continue;
      if (out.name.empty()) out.name = objects.text(inferred);
      out.start = objects.half(uncompiled, uncompiled_start);
      break;
    }
    return out;
  }
  const uint64_t flags = objects.word(name, NODE_SCOPE_FLAGS) >> l.walk.scope_flags_shift, locals = objects.word(name, NODE_SCOPE_LOCALS) >> 32;
  uint64_t at = NODE_SCOPE_NAME_AT(l.walk.scope_names, flags, locals);
  if (NODE_SCOPE_HAS_NAME(flags)) {
    const uint64_t own = objects.word(name, at);
    if (objects.is_string(own)) out.name = objects.text(own);
    at += 16;
  }
  if (flags & NODE_SCOPE_INFERRED) {
    const uint64_t inferred = objects.word(name, at);
    if (out.name.empty() && objects.is_string(inferred)) out.name = objects.text(inferred);
    at += 8;
  }
  out.start = objects.small(name, l.has_scope_positions ? l.walk.scope_names - 16 : at);
  return out;
}

// Positions in the source by bytecode offset. Functions have them once the engine was asked for a position in one of them; then there are lines.
std::vector<Line> lines_of(NodeObjects& objects, uint64_t script, uint64_t bytecode) {
  std::vector<Line> out;
  const uint64_t table = bytecode ? objects.word(bytecode, objects.layout.bytecode_positions) : 0;
  if (!node_is_object_word(table) || objects.type(table) == oddball) return out; // undefined
  const std::vector<uint8_t> bytes = objects.bytes(table);
  NodeNumbers in(bytes);
  int64_t offset = -1, position = 0; // the first one is the function's entry
  for (size_t n = 0; !in.ended() && n < max_lines; n++) {
    const int64_t step = in.zigzag();
    offset += step >= 0 ? step : -step - 1; // the sign tells statements from expressions
    position += in.zigzag();
    const int64_t place = (position >> 1 & 0x3fffffff) - 1;
    if (place < 0) continue;
    const uint32_t line = script_lines.line_of(objects, script, static_cast<uint64_t>(place));
    if (!line) return {}; // the source cannot be read
    if (out.empty() || out.back().line != line) out.push_back({static_cast<uint32_t>(std::max<int64_t>(offset, 0)), line});
  }
  return out;
}

// What was found, and whether some of it cannot be read now, as the collector moves it.
struct Decoded {
  std::optional<Code> code;
  bool is_moved = false;
};

Decoded decode_function(NodeObjects& objects, uint64_t shared, uint32_t check) {
  node_memory m = {};
  walked_memory = &objects.read;
  if (objects.type(shared) != objects.layout.shared || node_read_shared(&objects.table.node, &m, objects.moved(shared)) || m.function_check != check) return {};
  const Named named = named_of(objects, shared);
  Decoded out = {.code = Code{.name = named.name.empty() ? std::string(no_name) : named.name, .kind = LANGUAGE_NODE}, .is_moved = named.is_moved};
  const uint16_t script_type = objects.type(m.script);
  if (script_type != objects.layout.script) {
    out.is_moved |= node_is_object_word(m.script) && script_type != oddball; // functions of the engine have no script
    return out;
  }
  const uint64_t file = objects.word(m.script, NODE_SCRIPT_NAME);
  out.code->file = objects.is_string(file) ? objects.text(file) : std::string(no_name); // of text that is compiled: eval()
  if (named.start >= 0) out.code->first_line = script_lines.line_of(objects, m.script, static_cast<uint64_t>(named.start));
  out.is_moved |= !out.code->first_line;
  const std::vector<Line> lines = lines_of(objects, m.script, objects.bytecode_of(shared));
  out.code->lines.resize(lines.size() * sizeof(Line));
  if (!lines.empty()) std::memcpy(out.code->lines.data(), lines.data(), out.code->lines.size());
  return out;
}

uint32_t check_of(NodeObjects& objects, uint64_t shared) {
  node_memory m = {};
  walked_memory = &objects.read;
  return objects.type(shared) == objects.layout.shared && !node_read_shared(&objects.table.node, &m, objects.moved(shared)) ? m.function_check : 0;
}

// Is the code around pc what the walker has seen? Addresses of objects in it (movabs) change when the collector moves the objects.
bool is_same_code(NodeObjects& objects, const language_object& object) {
  constexpr size_t opcode = 2, operand = 8, before = opcode + operand; // an instruction may begin before what the walker has read
  uint8_t now[before + NODE_TEXT_BYTES] = {};
  if (!objects.read(object.address - NODE_TEXT_BEFORE - before, std::as_writable_bytes(std::span(now)))) return false;
  std::array<bool, sizeof now> is_address = {};
  for (size_t i = 0; i + opcode < sizeof now; i++)
    if ((now[i] & 0xfe) == 0x48 && (now[i + 1] & 0xf8) == 0xb8) // REX.W, mov to a register
      for (size_t n = i + opcode; n < std::min(i + before, sizeof now); n++) is_address[n] = true;
  for (size_t i = 0; i < NODE_TEXT_BYTES; i++)
    if (object.object[NODE_OBJECT_TEXT + i] != now[before + i] && !is_address[before + i]) return false;
  return true;
}

// No code in the result: the code is gone, belongs to no function, or the collector is moving its description (is_moved).
Decoded decode_code(NodeObjects& objects, const language_object& object, uint64_t shared, uint32_t function_check) {
  if (!is_same_code(objects, object)) return {};
  const auto calls = node_calls_at(objects, shared, object.address, object.object[NODE_OBJECT_IS_EXACT]);
  if (!calls) return {.is_moved = true};
  if (calls->empty()) return {};
  auto compiled = std::make_shared<CompiledCode>();
  for (const NodeCall& call : *calls) {
    const uint32_t check = call.shared == shared ? function_check : check_of(objects, call.shared);
    if (!check) return {.is_moved = true};
    compiled->calls.push_back({call.shared, check, call.position});
  }
  compiled->methods.push_back(compiled->calls.back());
  for (const CompiledCode::Call& call : compiled->calls)
    if (call.method != shared) compiled->methods.push_back(call);
  // No other has this address and check.
  Decoded out = {.code = Code{.name = "compiled code " + std::to_string(object.address) + "." + std::to_string(object.check), .kind = LANGUAGE_NODE}};
  out.code->compiled = std::move(compiled);
  return out;
}

// A string as node_copy_text() has copied it.
std::string copied_text(Bytes string) {
  constexpr uint64_t length_at = 12, data_at = 16;
  const uint64_t length = number_at(string, length_at, 4);
  std::string out;
  for (uint64_t i = 0; i < length && data_at + i < string.size(); i++) out += static_cast<char>(string[data_at + i]);
  return out;
}

// How long to wait for a collector: a few milliseconds, unless that was in vain the last times.
class Patience {
public:
  bool wait_before(size_t attempt) {
    constexpr std::array pauses = {0, 0, 200, 500, 1000, 2000}; // microseconds
    if (attempt >= pauses.size() || (pauses[attempt] && in_vain_ >= most_in_vain)) return false;
    if (pauses[attempt]) ::usleep(pauses[attempt]);
    return true;
  }
  void ended(bool in_vain) { in_vain_ = in_vain ? in_vain_ + 1 : 0; }

private:
  static constexpr unsigned most_in_vain = 8;
  unsigned in_vain_ = 0;
};

thread_local Patience patience;

std::optional<Code> name_only(const language_object& object) {
  const std::string name = copied_text(as_bytes(object.name));
  return Code{.name = name.empty() ? std::string(no_name) : name, .file = copied_text(as_bytes(object.file)), .kind = LANGUAGE_NODE};
}

Decoded decode_once(const language_table& table, const ReadMemory& read, const language_object& object, uint64_t shared, uint32_t check) {
  NodeObjects objects(table, read);
  Decoded compiled;
  if (object.object[NODE_OBJECT_IS_CODE]) compiled = decode_code(objects, object, shared, check);
  if (compiled.code) return compiled;
  Decoded out = decode_function(objects, shared, check);
  out.is_moved |= compiled.is_moved;
  return out;
}

bool is_same(const Decoded& a, const Decoded& b) {
  if (!a.code || !b.code) return !a.code && !b.code;
  const Code &x = *a.code, &y = *b.code;
  if (x.compiled && y.compiled) return x.compiled->calls == y.compiled->calls;
  return !x.compiled && !y.compiled && x.name == y.name && x.file == y.file && x.first_line == y.first_line && x.lines == y.lines;
}

} // namespace

// The process may have ended, or the collector has moved the function: then there is only its name.
std::optional<Code> decode_node(const language_object& object, const language_table& table, const ReadMemory& read) {
  const Bytes bytes = as_bytes(object.object);
  const uint64_t described = number_at(bytes, NODE_OBJECT_SHARED, 8);
  const uint64_t shared = described ? described : object.address;
  const uint32_t check = described ? static_cast<uint32_t>(number_at(bytes, NODE_OBJECT_CHECK, 4)) : object.check;
  Decoded out;
  // What is moved meanwhile may look whole: it is read until it is the same twice.
  bool is_steady = !read;
  for (size_t n = 0; !is_steady && patience.wait_before(n); n++) {
    Decoded now = decode_once(table, read, object, shared, check);
    is_steady = n && !now.is_moved && is_same(out, now);
    out = std::move(now);
  }
  patience.ended(!is_steady);
  bool is_whole = is_steady && (!read || out.code);
  const bool has_name = out.code && (out.code->compiled || out.code->name != no_name);
  if (!has_name && object.object[NODE_OBJECT_HAS_NAME]) {
    // It has one if it had one when it was seen.
    std::optional<Code> copied = name_only(object);
    if (read && copied->name != no_name) is_whole = false;
    if (!out.code || !is_whole) out.code = std::move(copied);
  }
  if (out.code) out.code->is_partial = !is_whole;
  return std::move(out.code);
}

uint32_t line_of_node(const Code& code, uint64_t position) {
  uint32_t line = 0;
  for (size_t at = 0; position != NODE_NO_POSITION && at + sizeof(Line) <= code.lines.size(); at += sizeof(Line)) {
    Line l;
    std::memcpy(&l, &code.lines[at], sizeof l);
    if (l.position > position) break;
    line = l.line;
  }
  return line;
}

} // namespace runtime
