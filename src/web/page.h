// The console: one page with style and script in it, embedded when acu is built. Where the build has no console, it is a page that says so.
#pragma once

#include <string_view>

namespace web {

extern const std::string_view console_page;

} // namespace web
