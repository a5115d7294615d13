// Lua 5.1 to 5.4, as lua.org has it, on x86-64: which file it is, and what its prototypes say.
//
// A file is Lua if it exports lua_ident, which has the version, and is not LuaJIT. luaV_execute has no symbol in stripped files: it is the
// largest function that is called with a saved register as the first argument. Where the lua_State is while it runs is read from its code: in
// rbp, or in a register or stack slot of its caller, for each of its callers; of others there are no frames.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_lua(const format::ElfFile& file);
std::optional<Code> decode_lua(const language_object& object, const language_table& table, const ReadMemory& read);
LanguageStack walk_lua(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Positions are instructions.
uint32_t line_of_lua(const Code& code, uint64_t position);

} // namespace runtime
