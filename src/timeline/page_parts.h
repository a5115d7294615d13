// The files of page/ as they were when acu was built, with the scripts of profile/page that they use.
#pragma once

#include <string_view>

namespace timeline {

extern const std::string_view page_style, page_body, page_script;

} // namespace timeline
