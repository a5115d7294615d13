// Pages with inline style and script, and the policy that lets nothing else run in them.
#pragma once

#include "web/http.h"

#include <string>

namespace web {

// `sources`: what else the page may do, as directives of a Content-Security-Policy.
Response page(std::string html, std::string_view sources);
inline constexpr std::string_view console_sources = "connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; frame-ancestors 'none'";
inline constexpr std::string_view chart_sources = "img-src data: blob:; frame-ancestors 'self'";

// "script-src 'sha256-…' …; style-src 'sha256-…'" of the blocks that are in the page.
std::string hashes_of(std::string_view html);

} // namespace web
