// The files of page/, and the libraries of the page, as they were when acu was built.
#pragma once

#include <string_view>

namespace profile {

extern const std::string_view page_style, page_body, page_script, page_libraries, picture_script;

} // namespace profile
