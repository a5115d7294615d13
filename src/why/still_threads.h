// Threads of a process that do not move, from /proc: in the same call at both ends of an interval, without a context switch between. Nothing is stopped for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace why {

struct StillThread {
  uint32_t tid = 0;
  uint32_t own_tid = 0; // as the process itself knows it, in its PID namespace
  char state = 0;       // 'D', 'S', 'T', …
  uint64_t switches = 0;
  int64_t call = -1; // its system call; -1: none
  std::array<uint64_t, 6> arguments = {};
  uint64_t sp = 0, pc = 0;
  double seconds = 0; // since it ran; 0: not known
  bool operator==(const StillThread& o) const {
    return tid == o.tid && state == o.state && switches == o.switches && call == o.call && arguments == o.arguments && sp == o.sp && pc == o.pc;
  }
};

// By thread, of all that sleep or are stopped.
std::map<uint32_t, StillThread> sleeping_threads(int pid);

// Where in the kernel a thread waits, innermost first; without the functions by which every thread gives up its CPU. Empty: it cannot be read.
std::vector<std::string> kernel_functions(int pid, uint32_t tid);

// For a thread in a mutex of glibc (pthread_mutex_t): its address, and the thread that has it, as own_tid; 0: it waits for no mutex.
struct MutexWait {
  uint64_t address = 0;
  uint32_t owner = 0;
};
// False: it cannot be read.
using ReadMemory = std::function<bool(uint64_t address, std::span<std::byte> to)>;
MutexWait mutex_of(const StillThread& thread, const ReadMemory& read);
ReadMemory memory_of_process(int pid);

// Circles among threads each of which waits for at most one other: `next` has it. Each circle once, its smallest thread first.
std::vector<std::vector<uint32_t>> find_circles(const std::map<uint32_t, uint32_t>& next);

} // namespace why
