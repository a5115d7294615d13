// The C preprocessor for D scripts: `acu dscript -C` runs the host's cpp, as dtrace does.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace tool {

// The text with macros replaced. Its lines have the numbers that they have in `text`: a header's text is in the line of its #include.
// `options`: -D, -U and -I, as cpp takes them; headers in quotes are looked for in `folder`. Failure: there is no cpp, or it found a mistake.
base::Result<std::string> preprocess_d(const std::string& text, const std::string& folder, const std::vector<std::string>& options);

// What cpp wrote, with the lines where they were; for tests.
std::string with_own_lines(std::string_view output);

} // namespace tool
