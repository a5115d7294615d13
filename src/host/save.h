// This host as a file, from which scripts can be compiled for it elsewhere (saved.h has the format).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace host {

struct SavedFile {
  std::string bytes;
  std::vector<std::string> left_out; // what could not be read: "trace events: Permission denied"
};

// `answers`: of Environment::answer, by question. Addresses of the kernel are those it has without randomisation (KASLR),
// so that the file may be given away; modules begin at a fixed address.
SavedFile save_this_host(std::map<std::string, int64_t> answers);

} // namespace host
