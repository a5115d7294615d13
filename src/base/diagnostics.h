// What is wrong with a script: collected by every stage, shown all at once.
//
//   stdin:1:12-16: ERROR: message
//   begin { $x = prnt(1) }
//           ~~~~
//   HINT: did you mean `print`?
#pragma once

#include "base/source.h"

#include <string>
#include <string_view>
#include <vector>

namespace base {

enum class Severity : unsigned char { error, warning };

struct Diagnostic {
  Severity severity;
  std::string_view tag; // a name of spec/diagnostics.h: tests refer to it
  Range where;
  std::string message;
  std::string hint; // may be empty
  Range other;      // a place that has to do with it, empty if there is none …
  std::string note; // … and how
};

class Diagnostics {
public:
  [[gnu::cold]] void error(std::string_view tag, Range where, std::string message, std::string hint = {},
             Range other = {}, std::string note = {});
  [[gnu::cold]] void warning(std::string_view tag, Range where, std::string message, std::string hint = {},
               Range other = {}, std::string note = {});
  bool has_errors() const { return errors_ != 0; }
  size_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // All of them in the order of their places, as text for a person.
  std::string render(const Source& source, bool with_warnings) const;

private:
  std::vector<Diagnostic> all_;
  size_t errors_ = 0;
};

// One diagnostic as text; also used for warnings that are found while a script runs.
std::string render(const Source& source, const Diagnostic& d);

} // namespace base
