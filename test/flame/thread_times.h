// What the programs of these tests measure of themselves: clocks, and what the kernel counts of the calling thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

inline uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

struct Scheduled {
  uint64_t on_cpu = 0, queued = 0; // ns
};

inline Scheduled scheduled() {
  Scheduled out;
  if (FILE* file = fopen("/proc/thread-self/schedstat", "r")) {
    if (fscanf(file, "%lu %lu", &out.on_cpu, &out.queued) != 2) exit(1);
    fclose(file);
  }
  return out;
}

inline uint64_t on_cpu() { return scheduled().on_cpu; }
