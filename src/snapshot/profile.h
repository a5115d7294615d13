// Where the threads of a program that stands still are, as a profile: a sample a thread, for flame graphs.
#pragma once

#include "base/result.h"
#include "probe/still.h"
#include "profile/profile.h"

#include <string>

namespace snapshot {

profile::Profile profile_of_stacks(probe::Still& still);

// Writes it to a file, whose ending chooses the format (profile/formats.h). Failure: no such format, or the
// file cannot be written.
base::Status write_stacks(probe::Still& still, const std::string& path);

} // namespace snapshot
