// What commands write, kept for tests; the program itself has these functions beside main().
#pragma once

#include "session/arguments.h"
#include "tool/tool.h"

#include <string>
#include <vector>

namespace tool {

inline std::string said, complained;

// The command line of a subcommand, taken apart.
inline base::Result<session::Arguments> parse(std::string_view subcommand, std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  return session::parse_arguments(*spec::find_subcommand(subcommand), pointers);
}

// The message with which a subcommand refuses a command line; nothing may be started by it.
inline std::string refusal(std::string_view subcommand, std::vector<std::string> words) {
  complained.clear();
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  for (const Command& c : commands)
    if (c.name == subcommand && run_command(c, pointers) != static_cast<int>(base::Failure::usage)) return "it was not refused: " + complained;
  return complained;
}

} // namespace tool
