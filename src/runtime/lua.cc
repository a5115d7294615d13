#include "runtime/lua.h"

#include "dwarf/frame_entries.h"
#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/lua_layouts.h"
#include "runtime/lua_names.h"
#include "runtime/stopped_walk.h"

#include "runtime/lua_walk.h"

#include <algorithm>
#include <cstring>

static int lua_find_state(const language_table* table, language_walk* walk) { return lua_read_state(table, walk); }

namespace runtime {

namespace {

using Bytes = std::span<const std::byte>;

uint64_t number_at(Bytes bytes, uint64_t offset, unsigned size) { return base::Reader(bytes, offset).number_of(size); }

bool is_at(Bytes code, size_t at, std::string_view pattern) {
  return at <= code.size() && pattern.size() <= code.size() - at && std::memcmp(code.data() + at, pattern.data(), pattern.size()) == 0;
}

// "$LuaVersion: Lua 5.4.4  Copyright …", before 5.2 "$Lua: Lua 5.1.5 Copyright …"
std::string version_of(const format::ElfFile& file) {
  const auto ident = format::find_exported(file, "lua_ident");
  if (!ident) return {};
  const Bytes bytes = bytes_at(file, ident->value, 64);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t at = text.find("Lua 5.");
  return at == text.npos ? "" : std::string(text.substr(at + 4, text.find_first_not_of("0123456789.", at + 4) - at - 4));
}

// Registers that a function has to save, as x86 and DWARF number them.
struct Saved {
  std::string_view push, from_first, to_first; // push %r; mov %rdi, %r; mov %r, %rdi
};
constexpr Saved saved[] = {
    {"\x53", "\x48\x89\xfb", "\x48\x89\xdf"},     // rbx
    {"\x55", "\x48\x89\xfd", "\x48\x89\xef"},     // rbp
    {"\x41\x54", "\x49\x89\xfc", "\x4c\x89\xe7"}, // r12
    {"\x41\x55", "\x49\x89\xfd", "\x4c\x89\xef"}, // r13
    {"\x41\x56", "\x49\x89\xfe", "\x4c\x89\xf7"}, // r14
    {"\x41\x57", "\x49\x89\xff", "\x4c\x89\xff"}, // r15
};
constexpr size_t rbp = 1, prologue = 40;

// Which of them has the first argument after the prologue; -1: none.
int first_argument(Bytes code) {
  for (size_t at = 0; at < std::min(prologue, code.size()); at++)
    for (size_t r = 0; r < std::size(saved); r++)
      if (is_at(code, at, saved[r].from_first)) return static_cast<int>(r);
  return -1;
}

// Where a function that saves all of them puts each, from its CFA on; nothing: it is no such function.
std::optional<std::array<int32_t, std::size(saved)>> saves(Bytes code) {
  std::array<int32_t, std::size(saved)> out = {};
  int32_t slot = -16;
  for (size_t at = 0; at < std::min(prologue, code.size());) {
    size_t length = 1;
    for (size_t r = 0; r < std::size(saved); r++)
      if (!out[r] && is_at(code, at, saved[r].push)) {
        out[r] = slot, slot -= 8;
        length = saved[r].push.size();
        break;
      }
    at += length;
  }
  return std::ranges::count(out, 0) ? std::nullopt : std::optional(out);
}

struct Function {
  uint64_t begin;
  Bytes code;
};

std::vector<Function> functions_of(const format::ElfFile& file) {
  std::vector<Function> out;
  const dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  while (auto entry = entries.next())
    if (entry->end > entry->begin) out.push_back({entry->begin, bytes_at(file, entry->begin, entry->end - entry->begin)});
  return out;
}

// Where L is when the call that returns to `at` has been made, from the callee's CFA on: in a register that the callee saves, or in the caller's
// frame.
std::optional<int32_t> place_of_state(const Function& caller, size_t at, const std::array<int32_t, std::size(saved)>& slots, bool is_direct) {
  constexpr size_t near = 20;
  const size_t from = at > near ? at - near : 0;
  for (size_t i = at; i-- > from;) {
    for (size_t r = 0; r < std::size(saved); r++)
      if (is_at(caller.code, i, saved[r].to_first)) return slots[r];
    if (is_at(caller.code, i, "\x48\x8b\x3c\x24")) return 0;                                                                 // mov (%rsp), %rdi
    if (is_at(caller.code, i, "\x48\x8b\x7c\x24")) return static_cast<int32_t>(number_at(caller.code, i + 4, 1)); // mov …(%rsp), %rdi
  }
  if (!is_direct) return std::nullopt;
  const int r = first_argument(caller.code);
  return r < 0 ? std::nullopt : std::optional(slots[static_cast<size_t>(r)]);
}

// Callers of luaV_execute. luaD_rawrunprotected, which calls setjmp, calls functions that end in a jump to it.
bool find_sites(const std::vector<Function>& functions, const Function& evaluation, lua_layout& to) {
  const auto slots = saves(evaluation.code);
  if (!slots) return false;
  bool is_called = false;
  for (const Function& f : functions) {
    for (size_t at = 0; at + 5 <= f.code.size(); at++) {
      size_t length = 0;
      if (f.code[at] == std::byte{0xe8}) {
        const auto distance = static_cast<int32_t>(number_at(f.code, at + 1, 4));
        const uint64_t after = f.begin + at + 5;
        if (after + static_cast<uint64_t>(int64_t{distance}) == evaluation.begin) length = 5;
        is_called |= length != 0;
        // call setjmp; [endbr64;] test %eax, %eax; jne …; …; call *%rax
        const size_t test = at + 5 + (is_at(f.code, at + 5, "\xf3\x0f\x1e\xfa") ? 4 : 0);
        if (!length && is_at(f.code, test, "\x85\xc0\x75"))
          for (size_t i = test + 4; i < test + 27 && !length; i++)
            if (is_at(f.code, i, "\xff\xd0")) length = i + 2 - at;
      }
      if (!length || to.sites == LUA_MAX_SITES) continue;
      const auto slot = place_of_state(f, at + (length == 5 ? 0 : length - 2), *slots, length == 5);
      if (slot) to.site[to.sites++] = {static_cast<int32_t>(f.begin + at + length - evaluation.begin), *slot};
    }
  }
  return is_called;
}

} // namespace

std::optional<FileRuntime> recognise_lua(const format::ElfFile& file) {
  if (!format::find_exported(file, "lua_gettop") || format::find_exported(file, "luaJIT_setmode")) return std::nullopt;
  const std::string version = version_of(file);
  if (version.empty()) return std::nullopt;
  FileRuntime out = {.version = "Lua " + version, .problem = "layout not known"};
  const auto number = static_cast<uint16_t>(500 + (version.size() > 2 ? version[2] - '0' : 0));
  const auto* row = std::ranges::find(lua_layouts, number, &lua_layout::version);
  if (row == std::end(lua_layouts)) return out;
  std::vector<Function> functions = functions_of(file);
  constexpr size_t smallest = 3000; // of luaV_execute
  std::vector<Function> large;
  std::ranges::copy_if(functions, std::back_inserter(large), [](const Function& f) { return f.code.size() > smallest; });
  std::ranges::sort(large, std::greater{}, [](const Function& f) { return f.code.size(); });
  out.problem = "luaV_execute not found";
  for (const Function& f : large) {
    lua_layout layout = *row;
    if (!find_sites(functions, f, layout)) continue;
    layout.state_is_in_rbp = first_argument(f.code) == static_cast<int>(rbp);
    if (!layout.state_is_in_rbp && !layout.sites) continue;
    out.problem.clear();
    out.table.kind = LANGUAGE_LUA;
    out.table.evaluation[0] = {f.begin, f.begin + f.code.size()};
    out.table.evaluation[1] = cold_part(file, out.table.evaluation[0]);
    out.table.lua = layout;
    break;
  }
  return out;
}

std::optional<Code> decode_lua(const language_object& object, const language_table& table, const ReadMemory& read) {
  const lua_layout& l = table.lua;
  const Bytes proto = std::as_bytes(std::span(object.object)), text = std::as_bytes(std::span(object.name));
  if (number_at(proto, LUA_TYPE, 1) != l.proto_type) return std::nullopt;
  Code out = {.first_line = static_cast<uint32_t>(number_at(proto, l.proto_first_line, 4)), .kind = LANGUAGE_LUA};
  const bool is_short = l.version >= 503 && (number_at(text, LUA_TYPE, 1) & 63) == LUA_TEXT_SHORT;
  const uint64_t length = is_short ? number_at(text, LUA_TEXT_SHORT_LENGTH, 1) : number_at(text, LUA_TEXT_LENGTH, 8);
  std::string chunk(std::min<uint64_t>(length, text.size() - LUA_TEXT), '\0');
  std::memcpy(chunk.data(), text.data() + LUA_TEXT, chunk.size());
  name_lua_function(out, chunk);

  constexpr uint64_t most = 1 << 20; // instructions, lines in full
  const uint64_t instructions = number_at(proto, l.proto_instructions, 4);
  const auto content = [&](Bytes known, uint64_t address, uint64_t size) {
    std::vector<std::byte> bytes(address ? size : 0);
    const size_t part = std::min(known.size(), bytes.size());
    std::memcpy(bytes.data(), known.data(), part);
    if (part < bytes.size() && (!read || !read(address + part, std::span(bytes).subspan(part)))) bytes.resize(part);
    return bytes;
  };
  if (!instructions || instructions > most) return out;
  const uint64_t width = l.proto_absolute_count ? 1 : 4;
  out.lines = content(std::as_bytes(std::span(object.lines)), number_at(proto, l.proto_lines, 8), instructions * width);
  if (width == 4) return out;
  // 5.4: a byte for each instruction, how far to go on in lines; -128: the line is in the table of those in full (luaG_getfuncline).
  const uint64_t count = std::min(most, number_at(proto, l.proto_absolute_count, 4));
  const std::vector<std::byte> full = content(std::as_bytes(std::span(object.file)), number_at(proto, l.proto_absolute_lines, 8), 8 * count);
  std::vector<std::byte> lines;
  uint32_t line = out.first_line;
  for (size_t at = 0, next = 0; at < out.lines.size(); at++) {
    const auto more = static_cast<int8_t>(out.lines[at]);
    if (more != -128)
      line += static_cast<uint32_t>(int32_t{more});
    else if (next + 8 <= full.size())
      line = static_cast<uint32_t>(number_at(full, next + 4, 4)), next += 8;
    else
      break;
    const auto* bytes = reinterpret_cast<const std::byte*>(&line);
    lines.insert(lines.end(), bytes, bytes + sizeof line);
  }
  out.lines = std::move(lines);
  return out;
}

LanguageStack walk_lua(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  const unwind::Frame* innermost = take_evaluations(table, thread, walk, true);
  if (!innermost) return {.words = {}, .objects = {}, .end = LANGUAGE_NO_THREAD};
  static constexpr unsigned registers[] = {ARCH_RBX, ARCH_R13, ARCH_R14, ARCH_R12, ARCH_R15, ARCH_RBP};
  for (size_t i = 0; i < std::size(registers); i++) walk.lua.registers[i] = innermost->registers.get(registers[i]).value_or(0);
  lua_begin(&walk);
  return walk_frames(
      spec::FrameKind::lua, walk, [&] { return lua_turn(&table, &walk); },
      [&](language_object& object) {
        std::memcpy(object.object, walk.lua.proto, sizeof walk.lua.proto);
        lua_describe(&table.lua, &walk.lua, &object);
      },
      [&] { return walk.lua.is_closed != 0; });
}

uint32_t line_of_lua(const Code& code, uint64_t position) {
  if (position == LUA_NO_POSITION || 4 * position + 4 > code.lines.size()) return 0;
  return static_cast<uint32_t>(number_at(code.lines, 4 * position, 4));
}

} // namespace runtime
