// Files that are there and could not be opened or mapped (too many open files, no memory, no permission): most readers go on without them and
// show less, so whoever prints their results says so.
#pragma once

#include <cstddef>
#include <string>

namespace base {

struct UnopenedFiles {
  size_t count = 0;
  int error = 0;     // errno of the first
  std::string first; // its path; empty: it was open already
};
// In this process so far (base/file_map.cc counts them).
UnopenedFiles unopened_files();

} // namespace base
