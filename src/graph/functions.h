// The functions that `acu graph` traces: turns a request into probes of the language, with the names
// and types of arguments and results if debug information or the kernel's types have them.
#pragma once

#include "base/result.h"
#include "graph/call_graph.h"
#include "graph/landings.h"

#include <deque>
#include <string>
#include <vector>

namespace graph {

struct Value {
  std::string name;       // of an argument; empty: of the result
  std::string expression; // in the language
  bool is_text = false;   // a pointer to text: the text comes behind it
  bool is_known = true;   // else where it is passed probes cannot read: only its name is shown
};

struct Function {
  CalledFunction about;
  std::string symbol;       // as the `func` of the language has it
  std::string entry, leave; // probes; no `leave`: its return is not probed
  bool is_typed = false;
  bool has_many_arguments = false; // more than registers: of the kernel, older trampolines (fentry) can't be put there
  std::vector<Value> arguments;
  std::vector<Value> result; // one or none
};

struct Functions {
  std::deque<Function> functions;
  Landings landings; // none where all are functions of the kernel
  std::vector<std::string> notes; // to be told
};

struct Request {
  std::vector<std::string> functions; // as they were written
  std::string program;                // that plain names are of; empty: there is none
  int pid = -1;
  bool all_returns = false; // also of functions that exceptions may pass through
};

// Whether it is a kernel function; a plain name is a function of the program.
bool is_kernel_function_name(std::string_view function);
// Whether the name includes its program or library.
bool names_program(std::string_view function);

// Failure: no such function; names the nearest one.
base::Result<Functions> find_graph_functions(const Request& request);

} // namespace graph
