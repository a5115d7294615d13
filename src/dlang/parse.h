// Text of a D script to its tree.
#pragma once

#include "base/diagnostics.h"
#include "dlang/script.h"

#include <string>
#include <vector>

namespace dlang {

// What macro variables stand for.
struct MacroValues {
  std::vector<std::string> words; // $1 …; $0 is the name of the script
  std::string script_name;
  int target = -1;           // $target: the process of -p; -1: none
  bool has_command = false;  // $target is the process of -c, whose number is not known yet
  bool has_defaults = false; // -x defaultargs: what is missing is 0 or ""
};

// All mistakes go to `diagnostics`, also of the script's directives and pragmas; the tree is returned as far as it goes.
Script parse(const base::Source& source, const MacroValues& values, base::Diagnostics& diagnostics);

// The name that stands for $target where the process is not known yet.
inline constexpr std::string_view command_pid = "$target";

} // namespace dlang
