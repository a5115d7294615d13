// Perl 5.28 to 5.40, with threads and without: which file it is, and what its statements say.
//
// A file is Perl if it exports the evaluation function and the numbers of its version: `perl` itself, or libperl.so. That its interpreter is laid
// out as in the table is checked against the code of two exported functions, which begin with the fields that a walk begins with.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_perl(const format::ElfFile& file);
std::optional<Code> decode_perl(const language_object& object, const language_table& table, const ReadMemory& read);
LanguageStack walk_perl(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Positions are lines.
uint32_t line_of_perl(const Code& code, uint64_t position);

} // namespace runtime
