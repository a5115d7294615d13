// Values as JSON (RFC 8259): strings, arrays and objects where the language has text, tuples and structures.
#pragma once

#include "report/context.h"
#include "report/number.h"

#include <string_view>

namespace report {

// Integers beyond 2^53, which readers that hold numbers as doubles would change, become strings.
void append_json(std::string& out, Number n);
// Quoted. Bytes that are not UTF-8 become \u00NN.
void append_json(std::string& out, std::string_view text);
// `div` divides numbers that stand alone; 0: 1.
void append_json(std::string& out, Context& context, const type::Type& type, Bytes bytes, uint64_t div = 1);

// {"type": TYPE, "data": DATA} and a newline; `data` is JSON.
std::string json_line(std::string_view type, std::string_view data);

} // namespace report
