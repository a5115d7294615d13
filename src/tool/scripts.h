// The ready tools (the folder tools/ of the sources), which are in the executable: `acu NAME` runs one.
#pragma once

#include "tool/tool.h"

#include <span>
#include <string_view>

namespace tool {

struct Script {
  std::string_view name;
  bool is_stopped; // for stopped programs: `acu NAME CORE`, `acu NAME -p PID`
  std::string_view text;
};

// Made from the folder when acu is built.
std::span<const Script> all_scripts();
// Its README.md: the tables group the tools.
std::string_view about_scripts();

// The rows of those tables: tools in their order.
struct ListedTool {
  std::string_view name, group;
  std::string title;
};
std::vector<ListedTool> listed_tools();

// nullptr where there is none of this name.
const Script* find_script(std::string_view name);
// Where the script's file is not there and a tool has its name, that tool is meant.
void take_tool(session::Options& options);
// `words`: what follows the name. With --help it is explained instead.
int run_script(const Script& script, Words words);

} // namespace tool
