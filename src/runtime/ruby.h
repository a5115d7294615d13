// CRuby 2.7, 3.1 and 3.3, as a library or in the executable: which file it is, and what its functions say.
//
// A file is Ruby if it exports ruby_version, which has the version as text. The evaluation function (vm_exec_core), the thread-local variable
// ruby_current_ec and the table of symbols need have no names: code shows them. Functions have the names of Ruby's own backtraces ("block in
// serve"); those in C have no file.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_ruby(const format::ElfFile& file);
std::optional<Code> decode_ruby(const language_object& object, const language_table& table, const ReadMemory& read);
// Of machine code that YJIT has made of a function: it is walked as the evaluation function.
void correct_ruby(const language_table& table, const ReadMemory& read, unwind::Frame& frame, bool has_table);
LanguageStack walk_ruby(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Positions are lines.
uint32_t line_of_ruby(const Code& code, uint64_t position);

} // namespace runtime
