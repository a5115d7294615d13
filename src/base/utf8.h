// UTF-8 in foreign bytes: names of functions, files and threads may hold anything.
#pragma once

#include <cstddef>
#include <string_view>

namespace base {

// Bytes of the UTF-8 character at the start of `text`, or 0 if it is none.
size_t utf8_length(std::string_view text);

} // namespace base
