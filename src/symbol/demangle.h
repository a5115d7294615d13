// Names of functions as they are written in the source: C++ (Itanium ABI) and Rust (both manglings).
#pragma once

#include <string>
#include <string_view>

namespace symbol {

// Whether a name may be a mangled one; most names of C are told apart at once.
inline bool is_mangled(std::string_view name) {
  return name.size() > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

// "_ZN1A1fEi" -> "A::f(int)". What a compiler added behind ("_ZN1A1fEi.cold") stays in brackets. Empty: not a
// mangled name, or one that is too long, too deep or too large when it is written out (a few bytes can stand
// for gigabytes).
std::string demangle(std::string_view name);

// Of a type, by the name in its std::type_info: "St13runtime_error" -> "std::runtime_error"; that of a type of one file only begins with an asterisk.
std::string demangle_type(std::string_view name);

} // namespace symbol
