// printf and its kin: a format string and the bytes of its arguments to text.
#pragma once

#include "report/context.h"
#include "type/format_string.h"

#include <span>

namespace report {

// `payload`: the tuple of the arguments, or nullptr. The format was checked against it (type::check_format);
// where bytes are missing, zeros and empty texts are printed.
void append_values(std::string& out, Context& context, std::span<const type::Conversion> pieces, const type::Type* payload, Bytes bytes);

} // namespace report
