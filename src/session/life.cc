#include "session/life.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/privilege.h"
#include "base/service_manager.h"
#include "session/losses.h"
#include "session/signals.h"
#include "session/trials.h"

#include <csignal>
#include <poll.h>

namespace session {

using probe::Kind;

namespace {

bool is_special(Kind k) { return k == Kind::begin || k == Kind::end; }

// Whether there is nothing to wait for.
bool ends_by_itself(Kind k) { return is_special(k) || k == Kind::iterator || probe::is_stopped(k); }

bool has_kind(const ir::Program& program, const ir::Probe& p, Kind kind) {
  for (uint32_t e : p.events)
    if (program.events[e].kind == kind) return true;
  return false;
}

// Runs the begin or the end probes in their order. An exit() ends only its own probe: those behind it run
// too, but what they send comes behind the exit() and is not printed.
base::Status run_special(Life& life, Kind kind) {
  for (uint32_t i = 0; i < life.program.probes.size(); i++) {
    if (!has_kind(life.program, life.program.probes[i], kind)) continue;
    ACU_CHECK(life.backend.engine().run(i));
    take_records(life);
  }
  return {};
}

// How many of the script's probes are served, and whether anything but begin and end may run.
struct Attached {
  size_t probes = 0;
  bool is_any = false;
};

base::Result<Attached> attach_one(Life& life, uint32_t index) {
  size_t missing = 0;
  ACU_CHECK(life.backend.attach(index, [&](base::Error why) -> base::Status {
    if (!life.refused && !life.missing_may_be) return why;
    missing++;
    if (life.refused) return life.refused(std::move(why));
    if (life.report_missing && life.options.warnings) life.output.message("WARNING: " + why.message + "\n");
    return {};
  }));
  const ir::Probe& probe = life.program.probes[index];
  if (missing >= probe.events.size()) return Attached{};
  return Attached{probe.stands_for - missing, true};
}

// Whether it stays after acu exits.
bool stays(const ir::Program& program, uint32_t probe) {
  for (uint32_t e : program.probes[probe].events)
    if (!program.events[e].pin.empty()) return true;
  return false;
}

bool is_cancelled(const Life& life) { return life.cancelled && life.cancelled->load(); }

// The kernel runs programs at one place of code in the order in which they were attached or, most of them, in the
// opposite one: new ones go to the head of the list. Returns of its own functions are kept on a stack meanwhile.
bool runs_newest_first(const ir::Program& program, const ir::Probe& p) {
  const Kind kind = program.events[p.events.front()].kind;
  return p.context == probe::Context::registers || p.context == probe::Context::function ||
         (p.context == probe::Context::kernel_registers && kind != Kind::kretprobe);
}

// So that blocks on one event run in the order of the script.
std::vector<uint32_t> order_of_attachment(const ir::Program& program) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (!runs_newest_first(program, program.probes[i])) out.push_back(i);
  for (auto i = static_cast<uint32_t>(program.probes.size()); i-- > 0;)
    if (runs_newest_first(program, program.probes[i])) out.push_back(i);
  return out;
}

bool is_attached_by_kernel(const Life& life, uint32_t probe) {
  const ir::Probe& p = life.program.probes[probe];
  return !probe::is_stopped(life.program.events[p.events.front()].kind) && p.context != probe::Context::none &&
         !(life.options.dry_run && stays(life.program, probe));
}

// Probes that the kernel runs are attached; the others are begin, end and those that the session's loop runs.
base::Result<Attached> attach_all(Life& life) {
  uint64_t start = base::clock_ns();
  Attached all;
  for (uint32_t i : order_of_attachment(life.program)) {
    if (is_cancelled(life)) break;
    const Kind kind = life.program.events[life.program.probes[i].events.front()].kind;
    Attached one{life.program.probes[i].stands_for, !is_special(kind)};
    if (is_attached_by_kernel(life, i)) {
      ACU_TRY(one, attach_one(life, i));
    }
    all.probes += one.probes;
    all.is_any |= one.is_any;
  }
  if (life.options.verbose) life.output.message("attach " + base::in_ms(base::clock_ns() - start) + "\n");
  return all;
}

// Runs iterators one after the other; output is printed as they progress. exit() ends the one that calls it.
base::Status run_iterators(Life& life) {
  pollfd interrupted = {signals::fd(), POLLIN, 0};
  const bool others_follow = has_events(life.program);
  for (uint32_t i = 0; i < life.program.probes.size(); i++) {
    if (life.program.probes[i].context != probe::Context::iterator) continue;
    if (!others_follow) life.effects.reopen();
    for (bool more = true; more && !life.effects.ended() && !life.output.broken();) {
      ACU_TRY(more, life.backend.step(i));
      take_records(life);
      if (::poll(&interrupted, 1, 0) > 0) return {};
    }
  }
  return {};
}

base::Status run_stopped(Life& life) {
  pollfd interrupted = {signals::fd(), POLLIN, 0};
  return life.backend.run_stopped([&] {
    take_records(life);
    return !life.effects.ended() && !life.output.broken() && ::poll(&interrupted, 1, 0) == 0;
  });
}

// Reports where pinned iterators are.
void report_pinned(Life& life) {
  if (life.options.quiet || life.options.dry_run) return;
  for (const probe::Event& e : life.program.events)
    if (!e.pin.empty()) life.output.message("Program pinned to " + e.pin + "\n");
}

size_t count_special(const ir::Program& program) {
  size_t events = 0;
  for (const ir::Probe& p : program.probes)
    for (uint32_t e : p.events) events += is_special(program.events[e].kind);
  return events;
}

// Reports the number of probes, then prints the output of the begin probes.
void report_attached(Life& life, size_t events) {
  life.output.pass();
  if (!life.options.quiet && life.reports_attached && !life.options.stopped) {
    life.printer.attached(events);
    life.output.message(life.attached.empty() ? "Attached " + base::counted(events, "probe") + "\n" : life.attached);
  }
  life.output.release();
  life.output.settle();
}

void notify(Life& life) {
  if (!life.options.notifies) return;
  life.output.flush();
  write_all(STDOUT_FILENO, life.options.notify_attached + "\n");
}

// Reads the symbols of a process that acu started while it is still running.
void look_at(Life& life, pid_t pid) { life.printer.process_seen(static_cast<uint32_t>(pid)); }

std::vector<int> signals_of(const Life& life) {
  std::vector<int> out;
  for (const probe::Event& e : life.program.events)
    if (e.kind == Kind::signal) out.push_back(e.signal);
  for (const Regular* r : life.regulars)
    if (r->input) out.push_back(SIGWINCH);
  return out;
}

void report_dropped(Life& life) {
  const uint64_t dropped = life.effects.dropped();
  if (!dropped) return;
  if (life.options.json) life.printer.lost(dropped);
  life.output.message("WARNING: dropped " + base::counted(dropped, "queued event") +
                      ": acu was interrupted, and printing them or running their commands took too long.\n");
}

void report_losses(Life& life) {
  ir::Counters counters = life.backend.engine().counters();
  report_lost_events(life);
  report_dropped(life);
  counters.lost_events = 0;
  LossOptions options = {.warnings = life.options.warnings, .report_faults = life.options.report_faults,
                         .is_of_tool = !life.options.tool.name.empty(),
                         .counts_failed_reads = life.options.counts_failed_reads};
  std::string text = describe_losses(life.program, counters, life.source, options);
  if (life.watch && life.watch->lost() && life.options.warnings)
    text += "WARNING: lost " + base::counted(life.watch->lost(), "process event") +
            ": some code may have no name, or the name of another program.\n";
  if (life.files && life.options.warnings) text += life.files->describe();
  if (life.unwinding && life.options.verbose) text += life.unwinding->describe() + "\n";
  if (life.contexts && life.options.verbose) text += life.contexts->describe() + "\n";
  if (life.watch && life.options.verbose) text += life.watch->describe() + "\n";
  if (!text.empty()) life.output.message(text);
}

} // namespace

bool has_events(const ir::Program& program) {
  for (const probe::Event& e : program.events)
    if (!ends_by_itself(e.kind)) return true;
  return false;
}

size_t take_records(Life& life) {
  if (life.watch) life.watch->drain();
  return life.effects.drain();
}

void report_lost_events(Life& life) {
  ir::Counters fresh;
  fresh.lost_events = life.backend.engine().counters().lost_events - life.lost_told;
  if (!fresh.lost_events) return;
  life.lost_told += fresh.lost_events;
  if (life.options.json) life.printer.lost(fresh.lost_events);
  life.output.message(describe_losses(life.program, fresh, life.source, {}));
}

base::Result<bool> start(Life& life) {
  // Signals are noted from here on: none ends the process without its results.
  ACU_CHECK(signals::install(signals_of(life)));

  // The begin probes have run; maps are as they left them. What they printed is kept back, so that the number
  // of probes is the first that a reader gets, as bpftrace's readers are used to.
  life.output.hold();
  if (!life.options.dry_run) ACU_CHECK(run_special(life, Kind::begin));
  if (life.effects.ended()) {
    // exit() was called: nothing is attached.
    report_attached(life, count_special(life.program));
    return false;
  }

  // Every probe is attached, and whoever waits for that knows.
  if (life.files && !life.options.dry_run) life.files->start();
  ACU_TRY(const Attached attached, attach_all(life));
  life.attached_ns = base::clock_ns();
  if (is_cancelled(life)) return false;
  if (!attached.is_any && has_events(life.program))
    return base::Error{base::Failure::runtime, "no probe could be attached: there is nothing to trace"};
  base::keep_session_capabilities();
  report_attached(life, attached.probes);
  notify(life);
  if (life.options.dry_run) return false;

  // The command of -c runs.
  if (life.child) {
    std::function<void()> look;
    bool is_followed = life.watch && life.watch->wait_fd() >= 0;
    if (life.program.uses_user_symbols && !is_followed) look = [&] { look_at(life, life.child->pid()); };
    ACU_CHECK(life.child->release(look));
  }
  if (life.options.pid >= 0 && life.program.uses_user_symbols) look_at(life, life.options.pid);

  // Iterators have gone through all objects that there are.
  report_pinned(life);
  ACU_CHECK(run_iterators(life));

  // For a stopped program, all threads and calls have been visited.
  ACU_CHECK(run_stopped(life));

  if (life.options.test || life.options.bench) {
    ACU_CHECK(life.options.test ? run_tests(life) : run_benches(life));
    return false;
  }
  return has_events(life.program) || life.child;
}

base::Status finish(Life& life) {
  if (life.options.dry_run && life.attached_ns) return {};

  // Nothing is attached any more; every record that was sent has been seen.
  life.detached_ns = base::clock_ns();
  life.backend.detach();
  while (take_records(life)) {
  }
  if (life.detached) life.detached();

  // The end probes have run.
  signals::lift_limit();
  life.effects.reopen();
  ACU_CHECK(run_special(life, Kind::end));

  // Losses are reported, and non-empty maps are printed.
  life.output.settle();
  report_losses(life);
  bool is_trial = life.options.test || life.options.bench;
  // Two blank lines end the output of bpftrace, whether maps follow or not.
  const bool ends_with_blanks = life.options.as_bpftrace && !life.options.json && !is_trial;
  if (ends_with_blanks) life.output.out("\n\n");
  if (life.print_maps_on_exit && !is_trial) life.effects.print_maps(!life.options.json && !ends_with_blanks);
  life.output.flush();
  return {};
}

base::Status live(Life& life) {
  ACU_TRY(bool has_more, start(life));
  base::tell_service_manager("READY=1\nSTATUS=Processing events");
  if (has_more) {
    base::Status status;
    Life* const one[] = {&life};
    wait_for_events(one, [&](size_t, base::Status why) { status = std::move(why); });
    ACU_CHECK(std::move(status));
  }
  base::tell_service_manager("STOPPING=1\nSTATUS=Shutting down");
  return finish(life);
}

} // namespace session
