// A SystemTap script to a script of acu: the tree that lang has for it, printed as source text.
#pragma once

#include "base/diagnostics.h"

#include <string>
#include <vector>

namespace stap {

struct Converted {
  std::string text;   // the script; empty if there are mistakes
  size_t remarks = 0; // comments in it that begin with `convert: `
};

// Mistakes, and what can't be carried over, go to `diagnostics`, with their place in the SystemTap script. Nothing is checked against
// this host: that a probe or a member exists, acu says when it runs the result. `words`: arguments of the script, which become part of it.
Converted convert(const base::Source& source, base::Diagnostics& diagnostics, const std::vector<std::string>& words = {});

} // namespace stap
