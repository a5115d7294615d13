// The names of the functions of an ELF file, wherever they are: in the cache of former runs, in the file, in
// a separate debug file. What had to be made goes to the cache.
#pragma once

#include "symbol/cache.h"
#include "symbol/debug_files.h"
#include "symbol/function_names.h"

namespace symbol {

// `path`: of the file as seen in search.root; only used to look for its debug file, which is done when the
// file itself was stripped of its symbols. Never fails: a file that nothing is known of has no functions. The
// result needs `file` no longer.
FunctionNames names_of_file(const format::ElfFile& file, const std::string& path, const DebugSearch& search,
                            const Cache& cache);
// The same when the debug file has been looked for.
FunctionNames names_of_file(const format::ElfFile& file, const DebugFile* debug, const Cache& cache);

} // namespace symbol
