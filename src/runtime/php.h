// PHP 7.4 to 8.4, with and without threads, as php, php-fpm and Apache's module: which file it is, and what its functions say.
//
// A file is PHP if it exports the evaluation function (execute_ex). Its version is in the header that it answers requests with
// ("X-Powered-By: PHP/8.2.7"); where its code shows an offset, that must be the one that the version's headers have.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_php(const format::ElfFile& file);
std::optional<Code> decode_php(const language_object& object, const language_table& table, const ReadMemory& read);
LanguageStack walk_php(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Positions are lines.
uint32_t line_of_php(const Code& code, uint64_t position);

} // namespace runtime
