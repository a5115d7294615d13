// What a D script is translated with, from the command line of `acu dscript`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
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

// A text of the command line, or a file: each begins a line of the script.
struct ScriptPart {
  bool is_file = false;
  std::string name; // of the file; of a text what is before its predicate and its actions
  uint32_t line = 1;
};

struct TranslateOptions {
  MacroValues values;
  std::vector<std::pair<std::string, std::string>> settings; // -x NAME=VALUE
  std::string command;                                       // -c; its first word is the program that pid$target probes
  std::vector<ScriptPart> parts = {};                        // in their order; none: the script is one file
};

} // namespace dlang
