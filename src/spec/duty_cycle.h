// The table of duty cycles (session/duty_cycle.h), and what the scripts of their kinds need for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

// Probes that are attached part of the time if they would exceed a budget (session/duty_cycle.h).
struct DutyCycle {
  std::string_view probes = {};   // those whose names begin so; empty: none
  double budget = 0;              // of the CPUs that is_of_host means
  bool is_of_host = false;        // all, as everything on the host is slower; else one: a process is
  uint64_t hit_ns = 0;            // what an event costs beside the run of its program; 0: that is measured for user probes
  uint64_t attached_first_ns = 0;   // minimum time attached at the start, whatever the cost, so that short recordings are exact
  uint64_t shortest_ns = 5'000'000; // of windows
  uint64_t settle_ns = 0;           // time after attaching in which events are ignored: the program first catches up
};

// The trap of a user probe takes 0.6 us or more; the server whose process it is should not lose more than 2 % of a CPU.
inline constexpr DutyCycle of_allocator = {.probes = "uprobe:", .budget = 0.018, .shortest_ns = 25'000'000, .settle_ns = 5'000'000};

// A system call takes 95 ns more while a tracepoint at the end of system calls is attached, whoever makes it.
inline constexpr DutyCycle of_system_calls = {
    .probes = "rawtracepoint:vmlinux:sys_exit", .budget = 0.008, .is_of_host = true, .hit_ns = 95, .attached_first_ns = 500'000'000};

// With a duty cycle events count while @each is not 0, and stand for @each / 1024 of their like. @opened is the number of the
// window, 0 as long as there was no gap.
inline constexpr std::string_view duty_cycle_functions = R"(
begin { @each = (uint64)1024; @opened = (uint64)0 }
fn scaled($weight : uint64) : uint64 {
  $each = @each;
  return $each == 1024 ? $weight : ($weight * $each + ((uint64)rand & 1023)) >> 10;
}
)";
inline constexpr std::string_view no_gaps = "fn call_of_known_thread() : uint64 { return (uint64)0; }\n";

// The kernel counts what each thread reads and writes in gaps of a duty cycle (task_io_accounting; files, pipes and sockets alike).
// Of threads that were seen in an earlier window, by process: @gaps is what they read and wrote until the first call of a window,
// @within from there to its last, @files what of the latter went through files, and @guessed what @seen has of all of that. As they
// end, what they did since their last call that was seen was in a gap; @ended has the processes. A call: 0 of another thread, or
// before there were gaps; 1 the first in its window; 2 a later one.
inline constexpr std::string_view count_io_in_gaps = R"(
fn call_of_known_thread() : uint64 {
  $call = (uint64)0;
  if (has_field("struct task_io_accounting", "rchar")) {
    $thread = (uint32)curtask.pid;
    $counted = (uint64)(curtask.ioac.rchar + curtask.ioac.wchar);
    $is_known = false;
    $started = (uint64)curtask.start_time;
    $io = @io[$thread];
    if ($io.3 == $started && $counted >= $io.1) {
      $passed = $counted - $io.1;
      if ($io.0 != @opened) {
        $call = 1;
        $is_known = true;
        @gaps[pid] = sum($passed);
      } else if ($io.2) {
        $call = 2;
        $is_known = true;
        @within[pid] = sum($passed);
      }
    }
    @io[$thread] = (@opened, $counted, $is_known, $started);
  }
  return $call;
}
rawtracepoint:sched_process_exit {
  if (has_field("struct task_io_accounting", "rchar")) {
    $thread = (uint32)curtask.pid;
    $counted = (uint64)(curtask.ioac.rchar + curtask.ioac.wchar);
    $io = @io[$thread];
    if ($io.3 && $io.3 == (uint64)curtask.start_time && $counted >= $io.1) {
      @gaps[pid] = sum($counted - $io.1);
      if (pid == tid) { @ended[pid] = sum((uint64)1) }
    }
  }
}
)";

} // namespace spec
