// Java frames in walked stacks, as they are shown, and in native walks of stopped programs.
#include "runtime/hotspot.h"
#include "runtime/hotspot_code.h"
#include "runtime/stopped_walk.h"
#include "spec/stack_entries.h"

#include "runtime/hotspot_walk.h"

namespace runtime {

static uint32_t check_of(const spec::StackEntry& entry) { return entry.number >> LANGUAGE_CHECK_SHIFT & LANGUAGE_CHECK_MASK; }

// Frames of the JVM between Java frames, and on the way to the first one, are left out; so are stubs that lead from one to the other.
Expanded expand_hotspot(std::span<const uint64_t> words, const ProcessRuntime& process, Show show, const FindCodeObject& find) {
  const spec::UserStack parts = spec::split_user_stack(words);
  const hotspot_layout& l = process.table.hotspot;
  const bool is_native = show == Show::native;
  Expanded out;
  size_t index = 0; // of the entry
  bool is_inside = false;
  const auto put = [&](std::initializer_list<uint64_t> entry) {
    out.words.insert(out.words.end(), entry);
    out.from.push_back(index);
  };
  const auto add = [&](const CompiledCode::Call& call) {
    const Code* code = find(call.method, call.check);
    if (code && code->is_hidden) return;
    const uint64_t number = uint64_t{call.check} << LANGUAGE_CHECK_SHIFT | (call.position & LANGUAGE_POSITION_MASK);
    put({spec::tagged_word(spec::FrameKind::java, number), call.method});
  };
  for (std::span<const uint64_t> rest = parts.frames; !rest.empty(); index++) {
    const bool is_innermost = !index;
    const uint64_t word = rest.front();
    const spec::StackEntry entry = spec::take_entry(rest);
    if (entry.tag != LANGUAGE_TAG_JAVA) {
      const uint64_t code = entry.address - (is_innermost ? 0 : 1);
      const bool is_vm = code - process.code.begin < process.code.end - process.code.begin, is_stub = hotspot_is_code(&l, entry.address);
      const bool folds = is_stub || (is_inside && is_vm);
      if (show == Show::foldable && folds && !is_stub)
        put({spec::tagged_word(spec::FrameKind::interpreter, 0), code});
      else if (!folds || show == Show::both || is_native)
        put({word});
      continue;
    }
    is_inside = true;
    const Code* code = find(entry.address, check_of(entry));
    if (!(entry.number & LANGUAGE_FIRST)) {
      add({entry.address, check_of(entry), static_cast<uint32_t>(entry.number & LANGUAGE_POSITION_MASK)});
    } else if (!code || !code->compiled) {
      if (!code || code->version != hotspot_stub || is_innermost || show == Show::both) put({word, entry.address});
    } else {
      for (const CompiledCode::Call& call : code->compiled->at(entry.number & LANGUAGE_POSITION_MASK)) add(call);
    }
  }
  if (parts.end) out.words.push_back(parts.end);
  return out;
}

std::optional<RuntimeFrame> frame_of_hotspot(const language_table& table, const ReadMemory& read, const unwind::Frame& frame) {
  using unwind::Registers;
  const hotspot_layout& l = table.hotspot;
  language_walk walk = {};
  hotspot_memory& m = walk.hotspot;
  m.pc = frame.registers.get(Registers::rip).value_or(0);
  if (!hotspot_is_code(&l, m.pc)) return std::nullopt;
  walked_memory = &read;
  m.sp = frame.registers.get(Registers::rsp).value_or(0);
  m.bp = frame.registers.get(Registers::rbp).value_or(0);
  m.r13 = frame.is_exact ? frame.registers.get(ARCH_R13).value_or(0) : 0;
  m.is_exact = frame.is_exact;
  if (m.pc - l.interpreter_begin >= l.interpreter_end - l.interpreter_begin && !hotspot_find_heap(&l, &m)) {
    for (int hops = 0; hops < HOTSPOT_MAX_HOPS && !hotspot_hop(&m); hops++) {}
    hotspot_block(&l, &m);
    m.is_known = m.is_known && !hotspot_read_blob(&l, &m);
  }
  hotspot_frame(&l, &walk);
  RuntimeFrame out;
  if (walk.code) {
    out.number = language_entry(&walk);
    out.object = language_object{.address = walk.code, .check = walk.check};
    hotspot_describe(&l, &walk, &*out.object);
  }
  if (!m.next_pc || m.next_sp <= m.sp) return out;
  unwind::Frame& caller = out.caller.emplace();
  caller.registers.set(Registers::rip, m.next_pc);
  caller.registers.set(Registers::rsp, m.next_sp);
  caller.registers.set(Registers::rbp, m.next_bp);
  return out;
}

} // namespace runtime
