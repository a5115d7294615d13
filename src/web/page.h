// The console: one page with style and script in it, embedded when acu is built.
#pragma once

#include <string_view>

namespace web {

extern const std::string_view console_page;

} // namespace web
