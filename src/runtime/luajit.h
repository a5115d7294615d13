// LuaJIT 2.1 on x86-64 with 64-bit references, also OpenResty's: which file it is, and what its prototypes say.
//
// A file is LuaJIT if it exports luaJIT_setmode(). Its interpreter, lj_vm_*, has no symbols in stripped files, but one entry in .eh_frame, with
// the registers that only it saves in that order. Whether the file has the structures of luajit_layout.h is asked of the code: lua_gettop()
// shows where a state has its base, the interpreter where it has its C frames, and where functions and prototypes have their fields.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_luajit(const format::ElfFile& file);
std::optional<Code> decode_luajit(const language_object& object, const language_table& table, const ReadMemory& read);
LanguageStack walk_luajit(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Positions are instructions.
uint32_t line_of_luajit(const Code& code, uint64_t position);
// Traces have no tables, and parts of the interpreter have their stack pointer elsewhere than its only entry in .eh_frame says. In both the
// interpreter's C frame is where the running state has it. A frame of a trace becomes one of the interpreter, at the address after its first byte,
// to which no call returns.
void correct_luajit(const language_table& table, const ReadMemory& read, unwind::Frame& frame, bool has_table);

} // namespace runtime
