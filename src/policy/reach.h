// What each command reaches, which decides what a policy asks of it.
#pragma once

#include "spec/complete_table.h"
#include "spec/subcommands.h"

#include <cstdint>
#include <string_view>

namespace policy {

enum class Reach : uint8_t {
  processes, // measures or reads processes: needs a target that the rule permits
  host,      // reads the whole host: needs `targets *`
  files,     // reads files that the caller names: done with the caller's own rights. With -p it is `processes`
  children,  // starts acu again, where the policy is asked anew
  nothing,   // documentation, and lists of what could be probed. With -p or --container it is `processes`
};

enum class Code : uint8_t { none, if_words, always }; // whether the command takes a script, and where

struct CommandReach {
  std::string_view name;
  Reach reach;
  Code code = Code::none;
  bool acts = false; // runs commands of a shell, or writes files with the rights of acu
};
inline constexpr CommandReach reaches[] = {
    {"run", Reach::processes, Code::always},
    {"bpftrace", Reach::processes, Code::always},
    {"dscript", Reach::processes, Code::always},
    {"convert", Reach::nothing, Code::always},
    {"list", Reach::nothing},
    {"sym", Reach::files},
    {"modules", Reach::files},
    {"flame", Reach::processes},
    {"record", Reach::processes},
    {"flight", Reach::processes, Code::if_words},
    {"dump", Reach::host},
    {"top", Reach::processes},
    {"report", Reach::files},
    {"timeline", Reach::files},
    {"diff", Reach::files},
    {"trace", Reach::processes},
    {"slow", Reach::processes},
    {"waits", Reach::processes},
    {"why", Reach::processes},
    {"graph", Reach::processes},
    {"stat", Reach::processes},
    {"core", Reach::files},
    {"snap", Reach::processes, Code::if_words},
    {"sql", Reach::host},
    {"export", Reach::processes, Code::always},
    {"emit", Reach::nothing, Code::always},
    {"tools", Reach::nothing},
    {"tool", Reach::nothing, Code::if_words, true},
    {"mcp", Reach::children},
    {"api", Reach::children},
    {"serve", Reach::host, Code::none, true}, // writes its store with the rights of acu
    {"store", Reach::files},
    {"agent", Reach::host, Code::none, true}, // writes its spool with the rights of acu
    {"collect", Reach::host, Code::none, true}, // and this one the fleet's store
    {"learn", Reach::children, Code::none, true},
    {"policy", Reach::nothing},
    {"info", Reach::nothing},
    {"help", Reach::nothing},
};
inline constexpr auto reach_places = spec::row_places<spec::subcommands, reaches>;

} // namespace policy
