// The text of the script, from the command line, a file or standard input.
#pragma once

#include "base/result.h"
#include "base/source.h"
#include "session/options.h"

namespace session {

// Failures: usage where there is no such file or it is no text, permission where it may not be read.
base::Result<base::Source> read_script(const Options& options);

// What is wrong with a file's content if it is no text of a script; empty if nothing is.
std::string not_text(std::string_view content);

} // namespace session
