// The verbs that programs may ask for, and their arguments. A verb stands for one command line of acu; schemas, the check of
// arguments, help and docs/mcp.md are made from the table in verbs.cc.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agent {

enum class Kind : uint8_t { text, integer, number, flag, list };

struct Parameter {
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view doc;
  bool required = false;
  bool is_word = false;         // a word of the command line, which must not look like an option
  double min = 0, max = 0;      // text: bytes; numbers: value; lists: entries
  std::string_view allowed = {}; // words separated by '|'; empty: any text
};

// An argument that has passed the check.
struct Value {
  std::string text;
  double number = 0;
  bool flag = false;
  std::vector<std::string> list;
};

class Arguments {
public:
  bool has(std::string_view name) const { return values_.contains(name); }
  std::string text(std::string_view name) const { return has(name) ? values_.find(name)->second.text : std::string(); }
  double number(std::string_view name, double otherwise) const { return has(name) ? values_.find(name)->second.number : otherwise; }
  bool flag(std::string_view name) const { return has(name) && values_.find(name)->second.flag; }
  std::vector<std::string> list(std::string_view name) const { return has(name) ? values_.find(name)->second.list : std::vector<std::string>(); }
  void set(std::string_view name, Value value) { values_.insert_or_assign(std::string(name), std::move(value)); }

private:
  std::map<std::string, Value, std::less<>> values_;
};

enum class Form : uint8_t {
  value, // one JSON value
  lines, // one JSON value a line
  text,
  tree, // folded stacks, in a file: a tree as text
};

// What the administrator who starts the server allows.
struct Settings {
  double max_seconds = 300; // for one call
  double max_cost = 50;     // percent of a CPU
  std::vector<std::string> verbs; // those offered; empty: all
  // Whether a tool of this name reads stopped programs; nothing: there is no such tool.
  std::function<std::optional<bool>(const std::string&)> find_tool;
};

// What is run for a call.
struct Plan {
  std::vector<std::string> words; // after `acu`
  std::vector<std::string> shown; // what a person would type; empty: `words`
  std::string output;             // file of Form::tree, which the caller removes with its folder
  double seconds = 0;             // ends it by SIGINT so long after it has attached its probes; 0: it ends by itself
  double expected_seconds = 0;    // how long it will take, for progress; 0: nobody knows
  double limit_seconds = 0;       // ends it in any case
  double max_cost = 0;            // percent of a CPU; 0: does not measure
  bool enforces_cost = false;     // acu does not do so itself
  uint64_t max_output = 0;        // bytes
  uint64_t rows = 0;              // Form::tree: lines
  std::string unit;               // Form::tree: of its amounts
  double min_percent = 0;         // Form::tree: smaller branches are left out
  bool status_is_answer = false;  // exit status 2 is an answer, not a failure
  Form form = Form::value;
};

struct Verb {
  std::string_view name;
  std::string_view title;
  std::string_view doc;
  std::string_view command; // what it stands for, in help
  std::span<const Parameter> parameters;
  std::string_view units;
  Form form = Form::value;
  double seconds = 0;     // default of `duration`; 0: no such argument
  double limit_seconds = 60; // default of `time_limit`; beyond `seconds`
  double max_cost = 0;    // default of `max_cost` in percent of a CPU; 0: no such argument
  // Fills `words` and what else differs from the defaults.
  base::Status (*make)(const Arguments&, const Settings&, Plan&) = nullptr;
};

std::span<const Verb> verbs();
// Of those that the settings offer; nullptr: there is none.
const Verb* find_verb(std::string_view name, const Settings& settings);
bool is_offered(const Verb& verb, const Settings& settings);
// The verb's own parameters, then those that all share: duration, time_limit, max_cost, max_output.
std::vector<Parameter> parameters_of(const Verb& verb, const Settings& settings);

constexpr uint64_t default_output = 256 << 10, max_output = 8 << 20; // bytes of a result
constexpr uint64_t longest_script = 64 << 10;

// The command line of a call (Failure::usage: why not).
base::Result<Plan> plan(const Verb& verb, const Arguments& arguments, const Settings& settings);
// How a person types it.
std::string command_line(const Plan& plan);

} // namespace agent
