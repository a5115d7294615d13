#include "runtime/luajit.h"

#include "dwarf/frame_entries.h"
#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/lua_names.h"
#include "runtime/stopped_walk.h"

#include "runtime/luajit_walk.h"

#include <algorithm>
#include <cstring>

namespace runtime {

namespace {

using Bytes = std::span<const std::byte>;

uint64_t number_at(Bytes bytes, uint64_t offset, unsigned size) { return base::Reader(bytes, offset).number_of(size); }
int32_t distance_at(Bytes bytes, uint64_t offset) { return static_cast<int32_t>(number_at(bytes, offset, 4)); }

Bytes as_pattern(std::string_view text) { return std::as_bytes(std::span(text)); }

bool has_pattern(Bytes code, std::string_view pattern) { return !std::ranges::search(code, as_pattern(pattern)).empty(); }

// Where code is that equals `pattern`, in which any byte 0xcc stands for any other; code.size(): nowhere.
size_t find_pattern(Bytes code, std::string_view pattern) {
  const auto found = std::ranges::search(code, as_pattern(pattern), [](std::byte a, std::byte b) { return b == std::byte{0xcc} || a == b; });
  return static_cast<size_t>(found.begin() - code.begin());
}

// The entry of emit_asm_debug() in vm_x64.dasc: the CFA is always at rsp + 80; rbp, rbx, r15 and r14 are saved below the return address.
language_code find_interpreter(const format::ElfFile& file) {
  static constexpr std::string_view program("\x0e\x50\x86\x02\x83\x03\x8f\x04\x8e\x05", 10);
  const dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  while (auto entry = entries.next())
    if (entry->program.size() >= program.size() && std::memcmp(entry->program.data(), program.data(), program.size()) == 0)
      return {entry->begin, entry->end};
  return {};
}

// mov 0x28(%rdi), %rax; sub 0x20(%rdi), %rax: top and base of a lua_State
constexpr size_t endbr64_bytes = 4; // it may be before that
constexpr std::string_view top_and_base("\x48\x8b\x47\x28\x48\x2b\x47\x20", 8);
// Of the interpreter, for each structure of luajit_layout.h.
constexpr std::string_view expected[] = {
    {"\x48\x8b\x4c\x24\x20\x48\x89\x4d\x50", 9},         // mov 0x20(%rsp), %rcx; mov %rcx, 0x50(%rbp): vm_leave_cp, SAVE_CFRAME to L->cframe
    {"\x48\x89\x7c\x24\x10", 5},                         // mov %rdi, 0x10(%rsp): SAVE_L
    {"\x4c\x8b\x7d\x38\x4c\x2b\x7d\x28", 8},             // mov 0x38(%rbp), %r15; sub 0x28(%rbp), %r15: vm_cpcall, L->stack - L->top
    {"\x44\x89\x7c\x24\x08", 5},                         // mov %r15d, 0x8(%rsp): SAVE_NRES
    {"\x48\x89\x5c\x24\x18", 5},                         // mov %rbx, 0x18(%rsp): SAVE_PC
    {"\x48\x8b\x5d\x20\x8b\x0b", 6},                     // mov 0x20(%rbp), %rbx; mov (%rbx), %ecx: a function's first instruction
    {"\x0f\xb6\x4b\x9f", 4},                             // movzx -0x61(%rbx), %ecx: a prototype's frame size, so its size is 104
    {"\x4c\x8b\x7b\xb4", 4},                             // mov -0x4c(%rbx), %r15: its constants
};

// Code that runs and leaves traces; without it there are none.
bool find_traces(Bytes code, luajit_layout& to) {
  // vm_resume: mov 0x10(%rbp), %r14; add $…, %r14
  const size_t global = find_pattern(code, {"\x4c\x8b\x75\x10\x49\x81\xc6\xcc\xcc\xcc\xcc", 11});
  // vm_exit_handler: mov …(%r14), %rbp; mov …(%r14), %rdx: cur_L, jit_base
  const size_t leave = find_pattern(code, {"\x49\x8b\xae\xcc\xcc\xcc\xcc\x49\x8b\x96\xcc\xcc\xcc\xcc", 14});
  // BC_JLOOP: mov …(%r14), %rcx; mov (%rcx,%rax,8), %rax; mov 0x58(%rax), %rax: J->trace, GCtrace.mcode
  const size_t enter = find_pattern(code, {"\x49\x8b\x8e\xcc\xcc\xcc\xcc\x48\x8b\x04\xc1\x48\x8b\x40\x58", 15});
  // vm_exit_handler: mov …(%r14), %ecx; movl $…, …(%r14): vmstate
  const size_t number = find_pattern(code, {"\x41\x8b\x8e\xcc\xcc\xcc\xcc\x41\xc7\x86\xcc\xcc\xcc\xcc", 14});
  // vm_exit_handler: push %r13; push %r12; …, up to vm_exit_interp: mov %rcx, %rsp
  const size_t begin = find_pattern(code, {"\x41\x55\x41\x54\x41\x53\x41\x52\x41\x51\x41\x50\x57\x56\x55", 15});
  const size_t end = begin + find_pattern(code.subspan(begin), {"\x48\x89\xcc", 3});
  for (const size_t at : {global, leave, enter, number, end})
    if (at == code.size()) return false;
  to = {.global = -distance_at(code, global + 7),
        .state = distance_at(code, leave + 3),
        .jit_base = distance_at(code, leave + 10),
        .trace_number = distance_at(code, number + 3),
        .traces = distance_at(code, enter + 3),
        .leave = static_cast<uint32_t>(begin),
        .leave_bytes = static_cast<uint32_t>(end + 3 - begin)};
  return distance_at(code, number + 10) == to.trace_number;
}

} // namespace

std::optional<FileRuntime> recognise_luajit(const format::ElfFile& file) {
  if (!format::find_exported(file, "luaJIT_setmode")) return std::nullopt;
  FileRuntime out = {.version = "LuaJIT", .problem = "layout not known"};
  const language_code interpreter = find_interpreter(file);
  const auto top = format::find_exported(file, "lua_gettop");
  if (!interpreter.end || !top) return out;
  const Bytes code = bytes_at(file, interpreter.begin, interpreter.end - interpreter.begin);
  if (!has_pattern(bytes_at(file, top->value, endbr64_bytes + top_and_base.size()), top_and_base)) return out;
  for (const std::string_view pattern : expected)
    if (!has_pattern(code, pattern)) return out;
  out.problem.clear();
  out.table.kind = LANGUAGE_LUAJIT;
  out.table.root = interpreter.begin;
  out.table.evaluation[0] = interpreter;
  if (!find_traces(code, out.table.luajit)) out.table.luajit = {};
  return out;
}

std::optional<Code> decode_luajit(const language_object& object, const language_table&, const ReadMemory& read) {
  const Bytes proto = std::as_bytes(std::span(object.object)), text = std::as_bytes(std::span(object.name));
  if (number_at(proto, LUAJIT_TYPE, 1) != LUAJIT_PROTO) return std::nullopt;
  Code out = {.first_line = static_cast<uint32_t>(number_at(proto, LUAJIT_PROTO_FIRST_LINE, 4)), .kind = LANGUAGE_LUAJIT};
  std::string chunk(std::min<uint64_t>(number_at(text, LUAJIT_TEXT_LENGTH, 4), text.size() - LUAJIT_TEXT), '\0');
  std::memcpy(chunk.data(), text.data() + LUAJIT_TEXT, chunk.size());
  name_lua_function(out, chunk);
  // One number for each instruction but the first, from the first line on; as wide as the number of lines needs.
  constexpr uint64_t most_instructions = 1 << 20;
  const uint64_t lines = number_at(proto, LUAJIT_PROTO_LINES, 4), instructions = number_at(proto, LUAJIT_PROTO_INSTRUCTIONS, 4);
  const uint64_t table = number_at(proto, LUAJIT_PROTO_LINE_TABLE, 8);
  out.version = lines < 0x100 ? 1 : lines < 0x10000 ? 2 : 4;
  if (!table || !instructions || instructions > most_instructions) return out;
  out.lines.resize((instructions - 1) * out.version);
  const Bytes known = std::as_bytes(std::span(object.lines));
  const size_t size = std::min(known.size(), out.lines.size());
  std::memcpy(out.lines.data(), known.data(), size);
  if (size < out.lines.size() && (!read || !read(table + size, std::span(out.lines).subspan(size)))) out.lines.resize(size);
  return out;
}

void correct_luajit(const language_table& table, const ReadMemory& read, unwind::Frame& frame, bool has_table) {
  using unwind::Registers;
  const luajit_layout& layout = table.luajit;
  if (!layout.global) return;
  const language_code& interpreter = table.evaluation[0];
  const uint64_t at = frame.look_up() - interpreter.begin, rsp = frame.registers.get(Registers::rsp).value_or(0);
  const bool is_interpreter = at < interpreter.end - interpreter.begin, leaves = at - layout.leave < layout.leave_bytes;
  if (is_interpreter ? !leaves && !frame.is_exact : has_table) return;
  walked_memory = &read;
  language_walk walk = {};
  walk.luajit.dispatch = frame.registers.get(ARCH_R14).value_or(0);
  const uint64_t cframe = luajit_cframe(&layout, &walk, rsp);
  if (!cframe) return;
  if (is_interpreter) {
    // Small functions within the interpreter have a return address of their own.
    if (leaves || cframe == rsp + 8) frame.registers.set(Registers::rsp, cframe);
    return;
  }
  if (!luajit_find_trace(&layout, &walk.luajit)) return;
  frame.registers.set(Registers::rip, interpreter.begin + 1);
  frame.registers.set(Registers::rsp, cframe);
  frame.is_exact = false;
}

LanguageStack walk_luajit(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  const unwind::Frame* innermost = take_evaluations(table, thread, walk);
  if (!innermost) return {.words = {}, .objects = {}, .end = LANGUAGE_NO_THREAD};
  luajit_memory& m = walk.luajit;
  m.rdx = innermost->registers.get(ARCH_RDX).value_or(0);
  m.rbx = innermost->registers.get(ARCH_RBX).value_or(0);
  m.rbp = innermost->registers.get(ARCH_RBP).value_or(0);
  m.dispatch = innermost->registers.get(ARCH_R14).value_or(0);
  const bool is_trace = !innermost->is_exact && innermost->look_up() == table.evaluation[0].begin; // correct_luajit()
  if (is_trace) luajit_find_trace(&table.luajit, &m);
  luajit_begin(&walk);
  return walk_frames(
      spec::FrameKind::lua, walk, [&] { return luajit_turn(&walk); },
      [&](language_object& object) {
        std::memcpy(object.object, m.proto, LUAJIT_PROTO_BYTES);
        luajit_describe(&m, &object);
      },
      [&] { return m.is_closed != 0; });
}

uint32_t line_of_luajit(const Code& code, uint64_t position) {
  if (position == LUAJIT_NO_POSITION || code.lines.empty()) return 0;
  if (!position) return code.first_line;
  const uint64_t at = (position - 1) * code.version;
  if (at + code.version > code.lines.size()) return 0;
  return code.first_line + static_cast<uint32_t>(number_at(code.lines, at, code.version));
}

} // namespace runtime
