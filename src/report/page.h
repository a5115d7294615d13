// A page for a browser: one file with its style in it, for reports with pictures. (Flame graphs have a page of their own: src/profile/page.)
#pragma once

#include <string>
#include <string_view>

namespace report {

// `title` is text; `body` is HTML.
std::string page(std::string_view title, std::string_view body);
// A whole SVG document as an element of a page, where its own script runs on its own.
std::string picture_element(std::string_view svg, std::string_view title);
// Whether the name of a file asks for a page.
bool is_page(std::string_view file);

} // namespace report
