// The text of a rule file, checked before CLIPS reads it: what is not text, what is nested too deep, constructs that rules must not have, names that are
// defined twice or not at all, functions that call themselves. CLIPS would accept some of it and explain the rest badly.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace why {

struct KnownNames {
  std::set<std::string, std::less<>> templates;
  std::map<std::string, std::string, std::less<>> defined; // "defrule NAME" to the file that has it
};

// Adds what the text defines to `known`. Failure: "NAME:LINE: why".
base::Status check_rule_text(std::string_view text, std::string_view name, KnownNames& known);

} // namespace why
