// A recording as rows over time.
#pragma once

#include "recording/events.h"
#include "timeline/states.h"

#include <cstdint>
#include <string>
#include <vector>

namespace timeline {

// Segment i lasts from begins[i] to begins[i + 1], the last one to the end of the timeline. All columns are as long as `begins`, but `refs` and `values`
// exclude each other.
struct Segments {
  std::vector<uint64_t> begins;  // ns since the begin of the timeline, growing
  std::vector<uint8_t> classes;  // by kind of track
  std::vector<uint32_t> refs;    // by kind of track
  std::vector<int64_t> values;   // of counters

  size_t size() const { return begins.size(); }
  uint64_t end_of(size_t i, uint64_t end) const { return i + 1 < begins.size() ? begins[i + 1] : end; }
  // From `begin` on, until the next one is added; replaces one that would have no length.
  void add(uint64_t begin, uint8_t of_class, uint32_t ref);
};

// Classes of tracks other than a thread's, whose classes are State.
enum CpuClass : uint8_t { CPU_IDLE, CPU_BUSY, CPU_UNKNOWN };
enum CallClass : uint8_t { CALL_NONE, CALL_FUNCTION, CALL_SYSCALL, CALL_OTHER };

struct Track {
  // cpu: `owner` is its number, refs are the threads that run.
  // thread: `owner` is the thread; refs: the CPU while it runs, the waker + 1 while it waits for a CPU (thread 0: an interrupt; 0: it was preempted, or its waker is not known), the stack while it waits.
  // calls: of the thread `owner`, nested `depth` deep; refs are names (texts).
  // counter: `owner` is its name.
  enum Kind : uint8_t { cpu, thread, calls, counter } kind = cpu;
  uint32_t owner = 0, depth = 0;
  Segments segments;
};

struct Sample {
  uint64_t time = 0, weight = 0; // ns
  uint32_t thread = 0, stack = 0;
};

// What triggered the recording, or a line that a script printed.
struct Mark {
  uint64_t time = 0;
  std::string text;
  bool is_line = false;
};

struct Timeline {
  recording::About about;
  recording::Names names;
  uint64_t length = 0;             // ns; times are from 0 to this
  uint64_t from = 0;               // ns of the recording before the timeline's begin (--from)
  uint64_t events = 0, lost = 0;   // of the whole recording
  std::vector<Track> tracks;       // in the order of the page: CPUs, counters, then processes and their threads: those that the recording is about, and that ran longest, first
  std::vector<Sample> samples;     // by time
  std::vector<Mark> marks;         // by time
  uint64_t calls_left_out = 0;     // deeper than max_call_depth
  uint64_t out_of_step = 0;        // switches that do not fit what was known of their CPU: others before them were not recorded
  bool is_of_some = false;         // of some processes: their threads have tracks, others are seen on CPUs only
};

inline constexpr uint32_t max_call_depth = 24;

// Only what is between two times since the timeline's begin.
void keep_part(Timeline& timeline, uint64_t from, uint64_t until);
// Time of all threads in each state.
std::array<uint64_t, state_rows.size()> sum_states(const Timeline& timeline);

} // namespace timeline
