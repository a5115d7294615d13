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
// Nothing: a thread's states are found by the C frames that are unwound, which is not done here.
LanguageStack walk_luajit(const language_table& table, uint64_t thread_pointer, const ReadMemory& read);
// Positions are instructions.
uint32_t line_of_luajit(const Code& code, uint64_t position);

} // namespace runtime
