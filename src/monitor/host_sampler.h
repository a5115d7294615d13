// Counters of the host and of all processes at one time, and what two of these readings make.
#pragma once

#include "monitor/sampler.h"
#include "monitor/service_names.h"
#include "proc/host_counters.h"

#include <map>
#include <optional>

namespace monitor {

struct ProcessCounters {
  std::string name;
  int parent = 0;
  bool is_kernel_thread = false;
  uint64_t start = 0; // clock ticks after the system's start: a number may be used again
  uint64_t cpu_ticks = 0, faults = 0, memory = 0, read = 0, written = 0;
  std::optional<uint64_t> run_delay_ns; // of all threads; nothing: not read, as it used no CPU
};

struct Reading {
  uint64_t time_ns = 0; // CLOCK_MONOTONIC
  proc::HostCounters host;
  std::map<int, ProcessCounters> processes;
};

class HostReader {
public:
  // `family`: the process that, with its children, is acu itself.
  explicit HostReader(int family) : family_(family) {}
  Reading read(const Reading* before);
  // Means over the time between.
  std::vector<store::Point> points(const Reading& before, const Reading& after);

private:
  std::optional<ProcessCounters> read_process(int pid, const ProcessCounters* before);
  void add_services(const Reading& before, const Reading& after, double seconds, std::vector<store::Point>& to);

  int family_;
  ServiceNames services_;
};

} // namespace monitor
