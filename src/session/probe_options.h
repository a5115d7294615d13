// Options that say which probes there are, read before a script is checked.
#pragma once

#include "base/result.h"
#include "probe/probe.h"

#include <functional>
#include <string>

namespace session {

// --probe-filter: whether a probe's name matches the regular expression (POSIX extended; anywhere in the name). `begin` and `end`
// always do.
base::Result<std::function<bool(const probe::Event&)>> probe_filter(const std::string& expression);

// --traceable-functions: the text of the file, lines as in available_filter_functions ("vfs_read", "xfs_read [xfs]").
base::Result<std::string> traceable_functions(const std::string& path);

} // namespace session
