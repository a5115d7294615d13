// The files of page/, and the libraries of the page, as they were when acu was built.
#pragma once

#include "spec/frame_kinds.h"

#include <string>
#include <string_view>

namespace profile {

extern const std::string_view page_style, page_body, page_script, page_libraries, picture_script;

// Rows of spec/frame_kinds.h up to this one, as the page's scripts read them.
std::string frame_kinds_json(spec::FrameKind last);

} // namespace profile
