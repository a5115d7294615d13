// The script of `acu graph`, in acu's own language: probes at the entries and returns of functions, and the
// scheduler's switches for the time that threads are off the CPU inside of calls.
#pragma once

#include "session/graph_functions.h"

#include <cstdint>
#include <string>

namespace session {

// What a record is about: its first field.
enum class GraphRecord : uint8_t {
  entry,
  leave,
  whole,  // a call that has returned, with its begin
  exec,   // of the process
  fork,    // of the process: in place of the stack pointer the new one's first thread
  landing, // of an exception or longjmp: the stack pointer that the thread goes on with; in place of the function GraphLanding
  ending, // of the thread
};

enum class GraphLanding : uint8_t { exception, jump };

// The fields of all records, in this order; behind them values. Of `whole` first the start, the thread's time
// off the CPU until then (two numbers), and the arguments before the result.
enum GraphField {
  graph_record,
  graph_function, // an index into GraphFunctions, or a name (type::Kind::probe_name)
  graph_ns,
  graph_tid,
  graph_pid,
  graph_cpu,
  graph_depth, // calls that are open around it, as the kernel counts them
  graph_stack, // pointer at the entry or behind the return; 0: not known
  graph_waited,
  graph_preempted,
  graph_thread,
  graph_values,
};

// Of the maps @openN, for block N: the same of calls that have not returned. Key: thread, place.
enum GraphOpenField {
  graph_open_ns,
  graph_open_waited,
  graph_open_preempted,
  graph_open_depth,
  graph_open_function,
  graph_open_values
};

// Bytes between the stack pointer at the entry and behind the return.
#if defined(__x86_64__)
inline constexpr uint64_t graph_return_address = 8;
#else
inline constexpr uint64_t graph_return_address = 0;
#endif

struct GraphWanted {
  std::string user_condition = "1", kernel_condition = "1"; // whose calls, in the language
  std::string before;                                       // probes that the conditions need
  uint64_t depth = 0;                                       // calls deeper than that are not told; 0: all are
  uint64_t least_ns = 0;                                    // shorter calls are not told; 0: all are
  uint64_t duration_ns = 0;                                 // 0: until all is over
  bool has_values = true;
};

struct GraphScript {
  std::string text;  // with TASK_STATE in it (name_fields)
  size_t blocks = 0; // and of each a map @openN, with `least_ns`
};
GraphScript make_graph_script(const GraphFunctions& functions, const GraphWanted& wanted);

} // namespace session
