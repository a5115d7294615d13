// Where the threads of a stopped program are, as a profile: one sample per thread, for flame graphs.
#pragma once

#include "base/result.h"
#include "probe/stopped_program.h"
#include "profile/profile.h"

#include <string>

namespace snapshot {

profile::Profile profile_of_stacks(probe::StoppedProgram& stopped);

// Writes it to a file, whose extension selects the format (profile/formats.h). Failure: no such format, or the
// file cannot be written.
base::Status write_stacks(probe::StoppedProgram& stopped, const std::string& path);

} // namespace snapshot
