// `acu store FILE import RECORDING`
#pragma once

#include "base/result.h"
#include "session/arguments.h"

#include <string>

namespace tool {

// Adds the samples of a recording of any format that is read, at the times at which they were taken; `path` of the store is made if it is not there. Failure: samples without a
// time, of another unit, or of a time of which the store has samples of that kind already.
base::Status import_recording(const std::string& path, const std::string& recording, const session::Arguments& arguments);

} // namespace tool
