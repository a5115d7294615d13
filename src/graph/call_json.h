// Calls as Chrome's trace events, which Perfetto (ui.perfetto.dev), chrome://tracing and speedscope read: one
// complete event ("X") for each call, times in microseconds of CLOCK_MONOTONIC. Format: Trace Event Format,
// Google, 2016, "Complete Events" and "Metadata Events".
#pragma once

#include "graph/call_graph.h"
#include "report/report.h"

#include <set>

namespace graph {

class CallJson : public CallListener {
public:
  explicit CallJson(report::Sink& sink) : sink_(sink) {}
  void end(const CallThread& thread, const Call& call, size_t level) override;
  // Closes the document. `lost`: records that were.
  void finish(uint64_t lost);

private:
  void add(const std::string& event);
  void introduce(const CallThread& thread);

  report::Sink& sink_;
  bool is_begun_ = false;
  std::map<uint32_t, std::string> threads_; // named by now
  std::set<uint32_t> processes_;
};

} // namespace graph
