// Text to the tree of a SystemTap script.
#pragma once

#include "base/diagnostics.h"
#include "stap/script.h"

namespace stap {

// Mistakes go to `diagnostics`; the script is then incomplete. Nesting deeper than 100 levels is a mistake, not a crash.
// `words`: arguments of the script.
Script parse(std::string_view text, const std::vector<std::string>& words, base::Diagnostics& diagnostics);

} // namespace stap
