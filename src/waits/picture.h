// Pictures of a graph of waits, as elements of a page (report/page.h).
#pragma once

#include "waits/text.h"

#include <string>

namespace waits {

// Who waits, for what, and what was done meanwhile by whoever ended the waits: three columns with bands between them, as wide as the time is long.
std::string flow_svg(const Report& report);
// Threads line by line: what each did at what time.
std::string timeline_svg(const Graph& graph);

// `acu waits -o FILE.html`.
std::string waits_page(const Report& report);

} // namespace waits
