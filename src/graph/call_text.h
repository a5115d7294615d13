// Calls as text, in the layout of ftrace's function_graph: caller, duration,
// time off the CPU, and functions indented by depth.
//
// The lines of a thread's outermost call are printed together when it ends, so that threads don't mix; those of one
// that lasts longer than a second, or has very many lines, are printed as they become known.
#pragma once

#include "graph/call_graph.h"
#include "report/report.h"

namespace graph {

class CallText : public CallListener {
public:
  explicit CallText(report::Sink& sink) : sink_(sink) {}
  void header();
  void begin(const CallThread& thread, const Call& call, size_t level) override;
  void end(const CallThread& thread, const Call& call, size_t level) override;
  // Prints lines that have waited long enough.
  void report_old(uint64_t now_ns);
  void finish();

private:
  struct Lines {
    std::string text;
    uint64_t since_ns = 0; // of the outermost call
    bool is_streaming = false;
    // A call that nothing was heard of but its entry.
    std::string begun, begun_who;
    size_t begun_level = 0;
    bool has_begun = false;
  };
  void add(Lines& lines, const std::string& who, const std::string& times, size_t level,
           const std::string& what);
  void settle(Lines& lines);

  report::Sink& sink_;
  std::map<uint32_t, Lines> threads_;
};

// What a call and its result look like: "read(fd=3)", " = 12".
std::string call_text(const Call& call);

// A table of functions: calls, total, self and off-CPU time.
class CallTable : public CallListener {
public:
  void end(const CallThread& thread, const Call& call, size_t level) override;
  // `top`: number of functions, by time; 0: all.
  std::string text(size_t top) const;

private:
  struct Row {
    uint64_t calls = 0, ns = 0, self_ns = 0, longest_ns = 0, unfinished = 0;
    uint64_t timed = 0, untimed = 0; // calls whose time is known, and is not
    OffCpu off;
  };
  std::map<const CalledFunction*, Row> rows_;
  uint64_t left_ = 0; // calls, by an exception or longjmp
};

} // namespace graph
