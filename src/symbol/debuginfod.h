// Debug files from the servers that DEBUGINFOD_URLS names, by build-id. The library for it (libdebuginfod,
// with curl behind it) is loaded when the first file is asked for, and nowhere else; it keeps what it fetched
// in a folder of its own. See debuginfod_find_debuginfo(3).
#pragma once

#include "base/fd.h"
#include "base/reader.h"
#include "base/result.h"

#include <string>

namespace symbol {

struct Download {
  base::Fd fd;
  std::string path; // where the library keeps it
};

// May take as long as DEBUGINFOD_TIMEOUT says (90 s for each file). Failure: no library, no server, no such
// file.
base::Result<Download> download_debug_file(base::ByteSpan build_id);

} // namespace symbol
