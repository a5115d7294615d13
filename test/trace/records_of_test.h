// Records of scripts/trace.bt as a test gives them, and the lines that come of them.
#pragma once

#include "record_builder.h"
#include "recording_backend.h"

#include "report/names.h"
#include "report/report.h"
#include "spec/syscalls.h"
#include "trace/call_lines.h"

namespace trace {

struct GivenCall {
  int number = 0;
  int64_t result = 0;
  uint64_t duration = 0;
  uint32_t pid = 0x3ffffff, tid = 0x3ffffff; // above the kernel's limit: there is no such process
  std::array<uint64_t, 6> arguments = {};
  std::string_view thread = {};   // empty: the record has none
  std::optional<uint64_t> time = {}; // when it ended
};

inline int call_number(std::string_view name) { return spec::syscall_named(name); }

class Lines {
public:
  explicit Lines(TracingOptions o) : options(std::move(o)), lines(options) {}

  // What is copied of memory follows by `more`.
  RecordBuilder record(const GivenCall& c) {
    RecordBuilder out(types);
    out.number("number", static_cast<uint64_t>(int64_t{c.number})).number("result", static_cast<uint64_t>(c.result)).number("duration", c.duration);
    out.number("task", uint64_t{c.pid} << 32 | c.tid);
    constexpr std::string_view names[] = {"a0", "a1", "a2", "a3", "a4", "a5"};
    for (size_t i = 0; i < 6; i++) out.number(names[i], c.arguments[i]);
    if (c.time) out.number("time", *c.time);
    if (!c.thread.empty()) out.text("thread", c.thread);
    return out;
  }
  std::string line(const RecordBuilder& r) { return lines.line(r.type(), r.bytes(), printer); }
  std::string line(const GivenCall& c) { return line(record(c)); }

  struct Sink : report::Sink {
    void out(std::string_view) override {}
    void message(std::string_view) override {}
  };
  type::Table types;
  TracingOptions options;
  ir::Program program;
  RecordingEngine engine;
  report::SystemNames names;
  Sink sink;
  report::Printer printer{program, engine, names, sink, {}};
  CallLines lines;
};

inline TracingOptions all_calls() {
  TracingOptions out;
  out.all_calls = true;
  out.filter.pid = 0x3ffffff;
  return out;
}

} // namespace trace
