// Text in XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace base {

// As character data, or in an attribute with quotation marks around. Control characters become blanks, but for ends of lines, and bytes that are no UTF-8 U+FFFD: either would
// end an XML document.
void append_markup(std::string& out, std::string_view text);
std::string markup(std::string_view text);

} // namespace base
