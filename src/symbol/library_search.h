// From a short name to files: programs as the shell finds them, libraries as the dynamic loader does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symbol {

// Whether a file of this name is the library: "libssl" is "libssl.so.3", "libc" also "libc-2.31.so".
bool is_library(std::string_view name, std::string_view file);

// All files of libraries that a name may mean ("libc", "libssl.so.3", "libssl*"), the one that the loader
// would take first: of LD_LIBRARY_PATH, of ld.so.cache, of the default folders; of several versions the
// newest first. Paths are as seen in `root`.
std::vector<std::string> find_libraries(std::string_view name, const std::string& root);

// The programs of PATH with this name, which may have wildcards, the first one first.
std::vector<std::string> find_programs(std::string_view name, const std::string& root);

// Names that are like this one, of libraries and programs, for messages; at most a few.
std::vector<std::string> similar_binaries(std::string_view name, const std::string& root);

} // namespace symbol
