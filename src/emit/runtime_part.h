// Files of src/emit/python/ and src/emit/c/, which become parts of what is written.
#pragma once

#include <span>
#include <string_view>

namespace emit {

struct RuntimePart {
  std::string_view name; // "values.py"
  std::string_view text;
};
std::span<const RuntimePart> python_parts(); // by name
std::span<const RuntimePart> c_parts();
// Of a name that there is.
std::string_view python_part(std::string_view name);
std::string_view c_part(std::string_view name);

} // namespace emit
