// The table of duty cycles (budget/duty_cycle.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

// Probes that are attached part of the time if they would exceed a budget (budget/duty_cycle.h).
struct DutyCycle {
  std::string_view probes = {};   // those whose names begin so; empty: none
  double budget = 0;              // of the CPUs that is_of_host means
  bool is_of_host = false;        // all, as everything on the host is slower; else one: a process is
  uint64_t hit_ns = 0;            // what an event costs beside the run of its program; 0: that of an emulated instruction, as at the functions that are called most
  uint64_t attached_first_ns = 0;   // minimum time attached at the start, whatever the cost, so that short recordings are exact
  uint64_t shortest_ns = 5'000'000; // of windows
  uint64_t settle_ns = 0;           // time after attaching in which events are ignored: the program first catches up
};

// The trap of a user probe takes 0.6 us or more; the server whose process it is should not lose more than 2 % of a CPU.
inline constexpr DutyCycle of_allocator = {.probes = "uprobe:", .budget = 0.018, .shortest_ns = 25'000'000, .settle_ns = 5'000'000};

// A system call takes 95 ns more while a tracepoint at the end of system calls is attached, whoever makes it.
inline constexpr DutyCycle of_system_calls = {
    .probes = "rawtracepoint:vmlinux:sys_exit", .budget = 0.008, .is_of_host = true, .hit_ns = 95, .attached_first_ns = 500'000'000};

} // namespace spec
