// Which functions compiled code of V8 runs at a place. Baseline code (Sparkplug) has a table of bytecode offsets. Optimised code (Maglev, TurboFan) has
// deoptimization data: for each place where it may be left, the frames of the interpreter that would go on, also of inlined functions.
//
// Sources: src/codegen/safepoint-table.h, src/maglev safepoints; src/objects/deoptimization-data.h, src/deoptimizer/translated-state.cc,
// frame-translation-builder.cc, src/baseline/bytecode-offset-iterator.h of V8.
#include "runtime/node_objects.h"
#include "runtime/object_bytes.h"

#include <algorithm>
#include <map>

namespace runtime {

namespace {

constexpr uint64_t page_bytes = 4096, code_alignment = 32;
constexpr uint64_t max_code = NODE_PAGE; // larger code has a page of its own
constexpr size_t max_operations = 1 << 16, max_points = 1 << 20, max_inlined = 256;
constexpr int32_t max_bytecode = 8 << 20; // bytes of a function

struct NodeCode {
  uint64_t code = 0; // tagged
  uint64_t start = 0, size = 0;
  uint32_t kind = 0;
};

// The code whose instructions begin at `start`, if it holds pc.
std::optional<NodeCode> code_at(NodeObjects& objects, uint64_t start, uint64_t pc) {
  const NodeLayout& l = objects.layout;
  NodeCode out = {.start = start};
  if (l.code_inline) {
    out.code = start - l.code_inline + 1;
  } else {
    const uint64_t stream = start - l.stream_header;
    out.code = objects.at(stream + 8, 8);
    if (!node_is_object_word(out.code) || objects.word(out.code, l.code_stream) != stream + 1 || objects.word(out.code, l.code_start) != start) return std::nullopt;
  }
  out.size = objects.half(out.code, l.code_size);
  if (pc - start > out.size || objects.type(out.code) != l.code) return std::nullopt;
  out.kind = objects.half(out.code, l.code_flags) & 0xf;
  return out;
}

// The code that pc is in: the last before it, in the heap's page.
std::optional<NodeCode> find_code(NodeObjects& objects, uint64_t pc) {
  const uint64_t header = objects.layout.code_inline ? objects.layout.code_inline : objects.layout.stream_header;
  const uint64_t page = pc & ~uint64_t{NODE_PAGE - 1};
  std::vector<std::byte> bytes(page_bytes);
  uint64_t read = 0; // address of `bytes`
  for (uint64_t start = (pc - 1) & ~(code_alignment - 1); start >= page + header && pc - start < max_code; start -= code_alignment) {
    // Its first word is the address of a map.
    const uint64_t at = start - header;
    if ((at & ~(page_bytes - 1)) != read) {
      read = at & ~(page_bytes - 1);
      if (!objects.read(read, bytes)) return std::nullopt;
    }
    const uint64_t map = number_at(bytes, at - read, 8);
    if (!node_is_object_word(map) || map >> 47) continue;
    if (auto found = code_at(objects, start, pc)) return found;
  }
  return std::nullopt;
}

// The offset in the bytecode of a place in baseline code; nothing: it cannot be read.
std::optional<uint32_t> baseline_position(NodeObjects& objects, const NodeCode& code, uint64_t offset) {
  const NodeLayout& l = objects.layout;
  const uint64_t bytecode = objects.bytecode_in(code.code);
  const uint64_t sizes_of_scale = objects.table.root_bytes / 3; // for operands of 1, 2 and 4 bytes
  if (!bytecode || !sizes_of_scale) return std::nullopt;
  const int32_t length = objects.small(bytecode, 8);
  if (length <= 0 || length > max_bytecode) return std::nullopt;
  std::vector<uint8_t> instructions(static_cast<size_t>(length)), sizes(3 * sizes_of_scale);
  if (!objects.read(objects.moved(bytecode) - 1 + l.walk.bytecode_data, std::as_writable_bytes(std::span(instructions))) ||
      !objects.read(objects.table.root, std::as_writable_bytes(std::span(sizes))))
    return std::nullopt;
  const std::vector<uint8_t> table = objects.bytes(objects.word(code.code, l.code_positions));
  NodeNumbers in(table);
  uint64_t end = in.number(), next = 0;
  uint32_t position = NODE_NO_POSITION; // before the first instruction
  while (end < offset && !in.ended()) {
    end += in.number();
    if (next >= instructions.size()) return std::nullopt;
    position = static_cast<uint32_t>(next);
    // A prefix says that operands are wider.
    const uint8_t first = instructions[next];
    const bool is_prefix = first < 4;
    const uint64_t scale = is_prefix ? 1 + (first & 1) : 0;
    if (is_prefix && ++next >= instructions.size()) return std::nullopt;
    if (instructions[next] >= sizes_of_scale) return std::nullopt;
    const uint8_t size = sizes[scale * sizes_of_scale + instructions[next]];
    if (!size) return std::nullopt;
    next += size;
  }
  return position;
}

// The places in optimised code of which deoptimization data tells.
struct Point {
  uint64_t offset; // of the instruction behind it
  int64_t index;   // in the deoptimization data
};

// Where calls return to.
void add_safepoints(NodeObjects& objects, const NodeCode& code, std::vector<Point>& out) {
  const bool is_maglev = code.kind == objects.layout.baseline + 1u;
  if (is_maglev && !objects.layout.has_maglev) return;
  const uint64_t table = code.start + code.size, length = objects.layout.safepoint_length, header = length + (is_maglev ? 12 : 8);
  const uint64_t count = objects.at(table + length, 4), config = objects.at(table + length + 4, 4);
  const bool has_data = config & 1;
  const uint64_t register_bytes = (config >> 1 & 7) + is_maglev; // of Maglev, also a byte for slots
  const uint64_t pc_bytes = config >> 4 & 7, index_bytes = config >> 7 & 7;
  const uint64_t entry = pc_bytes + (has_data ? index_bytes + pc_bytes : 0) + register_bytes;
  if (!has_data || pc_bytes > 4 || index_bytes > 4 || !entry || count > max_points) return;
  std::vector<uint8_t> bytes(count * entry);
  if (!objects.read(table + header, std::as_writable_bytes(std::span(bytes)))) return;
  const Bytes all = std::as_bytes(std::span(bytes));
  for (uint64_t at = 0; at < bytes.size(); at += entry) {
    const auto index = static_cast<int64_t>(number_at(all, at + pc_bytes, static_cast<unsigned>(index_bytes))) - 1;
    if (index < 0) continue;
    out.push_back({number_at(all, at, static_cast<unsigned>(pc_bytes)), index});
    // Where the call returns to once the code is thrown away, plus 1; 0: nowhere else.
    const uint64_t trampoline = number_at(all, at + pc_bytes + index_bytes, static_cast<unsigned>(pc_bytes));
    if (trampoline) out.push_back({trampoline - 1, index});
  }
}

// Where the code may be left, as its jumps lead to the calls of the deoptimizer behind it: one for each entry of the deoptimization data, by offset.
void add_exits(NodeObjects& objects, const NodeCode& code, const std::map<uint64_t, int64_t>& exits, std::vector<Point>& out) {
  std::vector<uint8_t> bytes(std::min(code.size, max_code));
  if (!objects.read(code.start, std::as_writable_bytes(std::span(bytes)))) return;
  constexpr size_t length = 6; // 0f 8x, and a distance of 32 bits
  for (size_t at = 0; at + length <= bytes.size(); at++) {
    if (bytes[at] != 0x0f || (bytes[at + 1] & 0xf0) != 0x80) continue;
    const auto distance = static_cast<int32_t>(number_at(std::as_bytes(std::span(bytes)), at + 2, 4));
    const auto exit = exits.find(at + length + static_cast<uint64_t>(int64_t{distance}));
    if (exit != exits.end()) out.push_back({at + length, exit->second});
  }
}

struct Operation {
  uint8_t code;
  int64_t operands[2]; // the first ones
};

// The operations of one description, with those that it takes from an earlier one.
class Description {
public:
  Description(const NodeTranslations& form, std::span<const uint8_t> bytes, size_t at) : form_(form), own_(bytes, at), bytes_(bytes), old_(bytes, at) {}
  std::optional<Operation> next() {
    if (!form_.is_compact) return own_.ended() ? std::nullopt : take(own_, static_cast<uint64_t>(own_.signed_number()));
    if (from_old_ && --from_old_) return take(old_, old_.byte());
    if (own_.ended()) return std::nullopt;
    const size_t count = form_.operands.size(), match = count - 1;
    const size_t at = own_.at();
    uint64_t code = own_.byte();
    if (code == form_.begin[0] || code == form_.begin[1]) {
      NodeNumbers distance(bytes_, own_.at());
      const uint64_t back = distance.number();
      if (back > at) return std::nullopt;
      if (back) old_ = NodeNumbers(bytes_, at - back);
      since_ = 1;
      return take(own_, code);
    }
    if (code < match) {
      since_++;
      return take(own_, code);
    }
    from_old_ = code >= count ? code - count : own_.number();
    for (; since_; since_--)
      if (!take(old_, old_.byte())) return std::nullopt;
    return from_old_ ? take(old_, old_.byte()) : std::nullopt;
  }

private:
  std::optional<Operation> take(NodeNumbers& in, uint64_t code) const {
    if (code >= form_.operands.size()) return std::nullopt;
    Operation out = {.code = static_cast<uint8_t>(code), .operands = {}};
    for (size_t i = 0; i < form_.operands[code]; i++) {
      const int64_t operand = in.signed_number();
      if (i < std::size(out.operands)) out.operands[i] = operand;
    }
    return out;
  }
  const NodeTranslations& form_;
  NodeNumbers own_;
  std::span<const uint8_t> bytes_;
  NodeNumbers old_;
  uint64_t from_old_ = 0; // operations, with the one that was taken last
  uint64_t since_ = 0;    // own operations since `old_` was where it is
};

class Deoptimization {
public:
  Deoptimization(NodeObjects& objects, const NodeCode& code) : objects_(objects), data_(objects.word(code.code, objects.layout.code_data)) {}
  // Of the entry with that index; `field`: 1 is where its description begins, 2 the offset in the code.
  int64_t entry(int64_t index, uint64_t field) { return objects_.small(data_, element(objects_.layout.deopt_first + 3 * static_cast<uint64_t>(index) + field)); }
  // Where each entry is left to: TurboFan's are one behind the other.
  std::map<uint64_t, int64_t> exits(bool is_maglev) {
    constexpr uint64_t exit_bytes = 4;
    const auto first = static_cast<uint64_t>(objects_.small(data_, element(objects_.layout.deopt_first - 3u)));
    std::map<uint64_t, int64_t> out;
    for (int64_t i = 0; i < std::min<int64_t>(count(), max_points); i++)
      out.emplace(is_maglev ? static_cast<uint64_t>(entry(i, 2)) : first + exit_bytes * static_cast<uint64_t>(i), i);
    return out;
  }
  int64_t count() { return (objects_.small(data_, 8) - objects_.layout.deopt_first) / 3; }
  uint64_t literal(int64_t index) {
    const uint64_t literals = objects_.word(data_, element(objects_.layout.deopt_literals));
    if (index < 0 || index >= objects_.small(literals, 8)) return 0;
    return (objects_.word(literals, element(static_cast<uint64_t>(index))) & ~uint64_t{3}) | 1; // it may be a weak reference
  }
  std::vector<NodeCall> calls(int64_t index) {
    const NodeTranslations& form = objects_.layout.translations;
    const std::vector<uint8_t> bytes = objects_.bytes(objects_.word(data_, element(0)));
    std::vector<NodeCall> out;
    const int64_t first = entry(index, 1);
    if (first < 0 || static_cast<size_t>(first) >= bytes.size()) return out;
    Description description(form, bytes, static_cast<size_t>(first));
    for (size_t n = 0; n < max_operations; n++) {
      const auto operation = description.next();
      if (!operation || (n && std::ranges::find(form.begin, operation->code) != std::end(form.begin))) break;
      const bool is_continuation = std::ranges::find(form.continuation, operation->code) != std::end(form.continuation);
      if (!is_continuation && std::ranges::find(form.interpreted, operation->code) == std::end(form.interpreted)) continue;
      const int64_t position = is_continuation || operation->operands[0] < 0 ? int64_t{NODE_NO_POSITION} : operation->operands[0];
      out.push_back({literal(operation->operands[1]), static_cast<uint32_t>(position)});
    }
    if (out.size() > max_inlined) out.clear();
    std::ranges::reverse(out); // the outermost was the first
    return out;
  }

private:
  static uint64_t element(uint64_t index) { return 16 + 8 * index; }
  NodeObjects& objects_;
  uint64_t data_;
};

} // namespace

std::optional<std::vector<NodeCall>> node_calls_at(NodeObjects& objects, uint64_t shared, uint64_t pc, bool is_exact) {
  const auto code = find_code(objects, pc);
  const uint8_t baseline = objects.layout.baseline;
  if (!code || code->kind < baseline) return std::vector<NodeCall>();
  const uint64_t offset = pc - code->start;
  const auto only = [&](uint32_t position) { return std::vector<NodeCall>{{shared, position}}; };
  if (code->kind == baseline) {
    const auto position = baseline_position(objects, *code, offset + is_exact);
    return position ? std::optional(only(*position)) : std::nullopt;
  }
  std::vector<Point> points;
  add_safepoints(objects, *code, points);
  Deoptimization data(objects, *code);
  const int64_t count = std::min<int64_t>(data.count(), max_points);
  if (is_exact) add_exits(objects, *code, data.exits(code->kind == baseline + 1u), points);
  std::ranges::stable_sort(points, {}, &Point::offset);
  auto at = std::ranges::lower_bound(points, offset, {}, &Point::offset);
  if (at != points.end() && at->offset != offset && !is_exact) at = points.end();
  // Behind the last one the code is of no call that could be left.
  if (at == points.end()) return only(NODE_NO_POSITION);
  if (at->index >= count) return std::nullopt;
  std::vector<NodeCall> out = data.calls(at->index);
  if (out.empty() || out.back().shared != shared) return std::nullopt;
  return out;
}

} // namespace runtime
