// Whether a name that somebody wrote means a function by its demangled name.
#pragma once

#include "symbol/frame.h"

#include <string>
#include <string_view>
#include <vector>

namespace symbol {

// A name of C++ or Rust as scripts have it: "ns::f" (all overloads and instances), "ns::f(int, char const*)"
// (one), "ns::f<int>", "ns::A::operator+", "ns::*" (wildcards `*` and `?`).
class SourceName {
public:
  explicit SourceName(std::string_view written);
  // `demangled`: "int ns::f<int>(int)".
  bool matches(std::string_view demangled) const;
  // Whether a mangled name can be meant; only a quick look.
  bool may_match(std::string_view mangled) const;

private:
  std::string wanted_; // without blanks that mean nothing
  bool has_parameters_ = false, has_arguments_ = false, has_glob_ = false;
  std::string word_; // which the mangled name contains; empty: any
};

// Whether the stack is in a call of that function.
bool has_call_of(const std::vector<Frame>& frames, const SourceName& name);

// The parts of a demangled name: "int ns::f<int>(int) const" is {"ns::f<int>", "(int) const"}.
struct SourceParts {
  std::string_view name, parameters;
};
SourceParts split_source_name(std::string_view demangled);

} // namespace symbol
