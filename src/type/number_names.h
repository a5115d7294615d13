// The names that numbers have in the language, in C and in the kernel.
#pragma once

#include "type/type.h"

#include <string_view>
#include <vector>

namespace type {

// All of them, for telling which one was meant.
std::vector<std::string_view> number_names();
bool is_number_name(std::string_view name);
// "unsigned long", "uint8", "pid_t", "bool", "char"; nullptr if it is none (void is none).
const Type* number_type(Table& table, std::string_view name);

} // namespace type
