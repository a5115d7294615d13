// Attaching a loaded program to an event, and taking it off.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "probe/probe.h"

#include <vector>

namespace probe {

struct AttachOptions {
  int pid = -1;          // profile, software: only this process; -1: all
  int command = -1;      // the process of -c
  std::vector<int> cpus; // online CPUs
};

// Lines that undo what was written to a file of tracefs; written when this ends, or by who takes them.
struct Definitions {
  std::string file;
  std::vector<std::string> undo;
  Definitions() = default;
  Definitions(Definitions&& other) noexcept : file(std::move(other.file)), undo(std::exchange(other.undo, {})) {}
  Definitions& operator=(Definitions&&) = delete;
  ~Definitions() { write(); }
  // By system calls only.
  void write() const;
};

// What keeps a program attached: closing the descriptors detaches it.
struct Attachment {
  Definitions definitions; // of the perf events: taken back when those are closed
  uint32_t probe = 0;                // of the program, by its number
  std::string file;                  // user probes: that they are in
  uint64_t watched = 0;              // watchpoints: the address
  std::vector<std::string> defined;  // functions of the kernel: names of events in tracefs
  std::vector<base::Fd> links;       // raw tracepoint links: closing is quick
  std::vector<base::Fd> slow_links;  // to perf events that are in `perf_events`
  base::Fd iterator;                 // reading it runs the program for the next objects
  std::vector<base::Fd> perf_events; // closing one waits for the kernel's grace period (70 ms): see `disable`
  // Stops the events at once without waiting: links are closed, perf events stop counting but stay open. A
  // perf tracepoint's program runs on until its descriptor is closed (the kernel has no other way).
  void disable();
};

// Attaches the program `program_fd` (of the kind that `context` asks for) to the event. Events of
// Context::none are not attached: acu runs them itself.
base::Result<Attachment> attach(const Event& event, Context context, int program_fd,
                                const AttachOptions& options);

// The kernel's type of a tracepoint's typed arguments (typedef btf_trace_NAME), for programs of
// Context::btf_tracepoint; 0 if there is none.
uint32_t attach_btf_id(Machine& machine, const Event& event);

// Whether watchpoints work: a write of our own to a watched word is seen. Some virtual machines accept watchpoints and raise nothing.
bool raises_accesses();

// CPUs that are online now.
std::vector<int> online_cpus();
// The threads of a process, as /proc has them now.
std::vector<int> threads_of(int pid);

} // namespace probe
