// Bytes as text (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace base {

std::string base64(std::string_view bytes);
// Empty: it is none.
std::string from_base64(std::string_view text);

} // namespace base
