// What threads did in an interval, as a graph: the segments of each thread in their order, and the thread that ended each wait. Plain data;
// times are in ns of any one clock. graph_maker.h makes it of a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace waits {

inline constexpr uint32_t nobody = ~uint32_t{0};

inline constexpr size_t most_functions = 3; // that tell activities apart

// What can take time, and could be made faster: code that runs, a wait for something, a wait for a CPU. Threads of one group share it.
struct Activity {
  enum Kind : uint8_t {
    runs,     // `where` runs
    waits,    // for `what`, asked for by `where`; another thread may end it
    runnable, // without a CPU
  } kind = runs;
  bool is_idle = false;           // a wait for work to come: for any of many descriptors, or for a connection
  bool is_whole = false;          // the last of `where` is the outermost function of the program, in which its thread always is
  bool is_lock = false;           // a wait for what one thread has at a time
  bool is_asked = true;           // in a call of Graph::function
  uint32_t group = 0;             // index into Graph::groups
  std::string what;               // "the lock g_lock", "read(5</var/log/x>, …)"; empty: it runs
  std::vector<std::string> where; // the innermost functions of the program itself (most_functions); empty: not known
  std::string place;              // of the first of these in the source: "log.cc:88"; empty: not known, or not looked for
  std::vector<std::string> stack; // all of them, innermost first, as an example
};

// A part of something, 0 to 1, that is one activity's.
struct Share {
  uint32_t activity = 0;
  double part = 0;
};

struct Segment {
  uint64_t begin = 0, end = 0;
  uint32_t thread = 0;
  Activity::Kind kind = Activity::runs;
  uint32_t activity = nobody; // of one that runs: nobody, see `mix`
  uint32_t mix = nobody;      // of one that runs: index into Graph::mixes; nobody: its code is not known
  uint32_t ender = nobody;    // the thread that ended it; nobody: something outside did
  uint32_t after = nobody;    // set by settle(): the segment of the ender that had to end before
  uint64_t ns() const { return end - begin; }
};

// A thread, known from its first segment to its last; there are no gaps.
struct Timeline {
  uint32_t pid = 0, tid = 0;
  uint32_t group = 0;
  std::string name;
  std::vector<uint32_t> segments = {}; // in their order; set by settle()
};

// Threads of one name in one process, or in processes of one name.
struct Group {
  std::string name;
  uint32_t threads = 0;
};

struct Graph {
  std::string function; // whose calls are asked about; empty: all that threads do
  std::vector<Group> groups;
  std::vector<Timeline> threads;
  std::vector<Activity> activities;
  std::vector<std::vector<Share>> mixes;
  // Each comes after those that it depends on: after settle() they are in the order of their ends.
  std::vector<Segment> segments;
  uint64_t begin = 0, end = 0; // of the measurement
  uint32_t cpus = 0;           // that its threads may use; 0: not known

  // Cuts segments that run where they end a wait, brings all into their order, and finds what each comes after.
  void settle();
};

} // namespace waits
