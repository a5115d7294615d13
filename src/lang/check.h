// The checker: names to things, a type for every expression, all mistakes at once.
//
// Map and variable types are inferred over the whole program: rounds over all probes until nothing changes,
// then one round that reports. Afterwards every Expr has a type, every name its row or symbol, and:
// - a Probe of the program handles events that all see the same arguments (probes were copied where they
// differ);
// - an integer variable, map or element of a tuple is of the smallest type that holds what it is given (infer.cc);
// - strings of one map or variable have the size of the longest.
#pragma once

#include "base/diagnostics.h"
#include "lang/ast.h"
#include "probe/probe.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lang {

struct CheckOptions {
  std::vector<std::string> positional;                    // $1 …
  std::vector<std::pair<std::string, std::string>> named; // `-- --name=value`
  bool unsafe = false;
  bool read_only = false; // builtins that write files or messages are errors (`--read-only`)
  bool accepts_old_scripts = false; // what bpftrace took before 0.22: variables without blocks, places that are missing among others
  bool needs_events = false; // a script without any of its probes is an error, even with `missing_probes = ignore`
  bool has_cpid = false;
  bool in_kernel = false; // of the script's probes: threads exit while it runs
  bool allows_recursion = true; // of functions: the kernel's verifier does not
  bool calls_loops = true; // bodies of loops over ranges and conditions are functions that are called back
  bool shares_aggregations = false; // keyed ones that are declared as hash have one value for all CPUs
  std::function<bool(const probe::Event&)> wants_probe; // others are left out; empty: all are wanted
  bool runs_tests = false, runs_benches = false; // their probes count; otherwise they are left out
  // Whether a program on several events like this one can tell which of them it is at.
  std::function<bool(const probe::Event&)> tells_events;
  // Whether programs on this event may call the function of the kernel with this type id.
  std::function<bool(probe::Machine&, const probe::Event&, uint32_t function)> kfunc_allowed;
};

// A named parameter that the script declares by getopt(), for its --help.
struct NamedParameter {
  std::string name;
  std::string default_value; // as text; "false" for switches
  std::string help;
};

struct Checked {
  bool ok = false;
  std::vector<NamedParameter> parameters;
};

// The program must have been parsed without mistakes. Mistakes go to `diagnostics`.
Checked check(Program& program, probe::Machine& machine, const CheckOptions& options,
              base::Diagnostics& diagnostics);

// Whether the length of a str() is known and below max_strlen: what is cut there is not marked.
bool cuts_as_asked(const Call& str, const spec::Config& config);

// By sign or without: of literals counts what they are compared with.
bool is_signed_comparison(const Binary& e);

} // namespace lang
