// A core dump as a Target. The kernel leaves out what can be read from files: code and constants. Those bytes
// come from the files, after their build-id was compared with the one in the core. Modules are the files that
// NT_FILE tells of; where that note is lost, those of the loader's list (struct link_map, by DT_DEBUG).
#pragma once

#include "base/result.h"
#include "format/core_file.h"
#include "target/target.h"

#include <memory>
#include <string>

namespace target {

// Failure: the file cannot be opened, or is no core that we read.
base::Result<std::unique_ptr<Target>> open_core(const std::string& path, Search search);

// Of a core that was opened; `path` is for its title.
std::unique_ptr<Target> make_core(format::CoreFile core, std::string path, Search search);

} // namespace target
