// The lifetime of a compiled script: begin probes, attach, wait, stop, end probes, losses, maps.
#pragma once

#include "session/backend.h"
#include "session/child.h"
#include "session/effects.h"
#include "session/follow_files.h"
#include "session/options.h"
#include "session/output.h"
#include "watch/process_watch.h"
#include "watch/thread_contexts.h"
#include "watch/unwinding.h"

#include <atomic>
#include <functional>

namespace session {

// What is done now and then while a session waits for its end.
struct Regular {
  std::function<void()> begin;              // all probes are there; it may set next_ns
  std::function<base::Result<bool>()> tick; // next_ns (CLOCK_MONOTONIC) is past, which it sets anew; false: the session ends
  std::function<bool()> input;              // `fd` is readable, or the terminal has another size; false: the session ends
  std::function<void()> end;                // messages may follow
  uint64_t next_ns = 0;
  int fd = -1;
  static constexpr uint64_t never = ~uint64_t{0}; // of next_ns
};

struct Life {
  const ir::Program& program;
  const Options& options;
  const base::Source* source;
  Backend& backend;
  Effects& effects;
  report::Printer& printer;
  Output& output;
  Child* child = nullptr; // -c
  int target_fd = -1;     // readable when the process of -p has ended, …
  std::span<const base::Fd> more_targets = {}; // … and these, when further ones have; the session ends with the last
  watch::ProcessWatch* watch = nullptr; // where names of user code are asked for
  watch::Unwinding* unwinding = nullptr; // with user stacks by tables
  watch::ThreadContexts* contexts = nullptr; // with trace_id or span_id
  FollowFiles* files = nullptr;  // with user probes
  std::vector<Regular*> regulars = {};
  bool records_may_wait = false; // nobody sees them before the end: they are taken when the kernel's ring fills
  bool failed = false;    // a test did, see trials.h
  bool print_maps_on_exit = true;
  Backend::Refused refused = {}; // decides on events that cannot be attached, in place of the next two
  bool missing_may_be = false; // missing_probes is not `error`
  bool report_missing = true; // missing_probes is not `ignore`
  bool reports_attached = true; // false: the script itself asks for silence
  std::string attached = {};    // what is reported in place of the number of probes
  std::function<void()> detached = {}; // nothing is attached any more, and all records were handed out: messages may follow
  const std::atomic<bool>* cancelled = nullptr; // true: it ends as soon as it can, also while it attaches
  uint64_t lost_told = 0;      // lost events that were told of
  uint64_t attached_ns = 0, detached_ns = 0; // CLOCK_MONOTONIC: when all probes were there, and none any more
};

// Runs it from beginning to end. Failures: a probe that cannot be attached or run.
base::Status live(Life& life);
// The same in steps, for several at once. It is attached, and the command runs; false: there is nothing to wait for.
base::Result<bool> start(Life& life);
// It is detached, all records were handed out, end probes ran, and losses were reported.
base::Status finish(Life& life);

// Whether it asks for trace_id or span_id.
inline bool reads_thread_contexts(const ir::Program& program) { return program.thread_contexts != ~0u; }

// Whether there is anything to wait for: a probe that is not begin or end.
bool has_events(const ir::Program& program);

// Hands out all records that have arrived; what happened to processes until then is known before. Returns their number.
size_t take_records(Life& life);

// Reports how many events were lost since the last time.
void report_lost_events(Life& life);

// waits.cc: run interval and signal probes, and hand out records, until something ends each of them; `ended` is called as it does.
using Ended = std::function<void(size_t index, base::Status why)>;
void wait_for_events(std::span<Life* const> lives, const Ended& ended);

} // namespace session
