// The policy of a host: who may run which commands, and on whose processes. It is read from /etc/acu/policy (docs/policy.md):
//
//     user alice bob          # or: group NAME…; everyone
//       commands flame trace slow
//       targets unit:web.service container:shop-* user:www-data own
//       may scripts unsafe
//
// Text to `Policy`, and `Policy` with a caller and a request to a decision. Nothing here reads the host; enforce.h does.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace policy {

// What a caller wants to trace, and what a rule permits: a kind and a name.
enum class TargetKind : uint8_t { all, unit, container, user, own };
struct Target {
  TargetKind kind = TargetKind::all;
  std::string name; // of units and containers a pattern with * and ?; of users a name or a number
};
std::string to_string(const Target& target); // "unit:web.service", "*", "own"

struct Rule {
  uint32_t line = 0;
  std::vector<std::string> users, groups; // names or numbers
  bool is_for_everyone = false;
  std::vector<std::string> commands; // patterns; "*": all
  std::vector<Target> targets;       // none: nothing but what reads files
  bool may_scripts = false; // code and conditions in acu's language, which read whatever the kernel can
  bool may_unsafe = false;  // what acts on the host: --unsafe, `acu dscript -w`
  bool may_all_targets() const;
};

struct Policy {
  std::string file; // as messages name it
  std::vector<Rule> rules;
};

// All mistakes of a text, one a line, as "FILE:LINE: …" (Failure::usage).
base::Result<Policy> read_policy(std::string_view text, std::string file);

struct Caller {
  uint32_t user = 0;
  std::string name;                // of the user; empty: it has none
  std::vector<uint32_t> groups;    // numbers
  std::vector<std::string> group_names;
};

// The first rule for this caller; nullptr: there is none.
const Rule* rule_for(const Policy& policy, const Caller& caller);

// A process, group or user that a request is about, with all that rules may call it.
struct Subject {
  std::string shown; // "process 17", "user www-data"
  std::vector<Target> is; // unit, container or user
};

struct Request {
  std::string command;           // subcommand
  bool needs_target = false;     // it measures or reads processes, and not only files
  bool names_target = false;     // it has a filter, or starts its own command
  std::vector<Subject> subjects; // what the filter means; all of them must be permitted
  std::string code;              // the option or command that takes code; empty: none
  std::string action;            // the option that acts on the host; empty: none
};

// Failure (permission): the sentence names the file, the line of the rule and what it permits.
base::Status decide(const Policy& policy, const Caller& caller, const Request& request);

// The rule of a caller in words, for `acu policy show`.
std::string describe(const Policy& policy, const Caller& caller);

} // namespace policy
