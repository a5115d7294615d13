// What threads did in an interval, as a graph: the stretches of each thread in their order, and the thread that ended each wait. Plain data;
// times are in ns of any one clock. graph_maker.h makes it of a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace waits {

inline constexpr uint32_t nobody = ~uint32_t{0};

// What can take time, and could be made faster: code that runs, a wait for something outside, a wait for a CPU. Threads of one name share it.
struct Activity {
  enum Kind : uint8_t {
    runs,     // `where` runs
    waits,    // for `what`, asked for by `where`; what it comes to is known if another thread ended it
    runnable, // no CPU
  } kind = runs;
  uint32_t group = 0;              // index into Graph::groups
  std::string what;                // "the lock g_lock", "read(5</var/log/x>, …)"; empty: it runs
  std::string where;               // function of the program, with file and line if known; empty: not known
  std::vector<std::string> stack;  // innermost first, as an example
  bool operator==(const Activity& o) const { return kind == o.kind && group == o.group && what == o.what && where == o.where; }
};

// Code that runs in a stretch, and how much of it that is (0 to 1).
struct Share {
  uint32_t activity = 0;
  double part = 0;
};

struct Stretch {
  uint64_t begin = 0, end = 0;
  uint32_t thread = 0;
  Activity::Kind kind = Activity::runs;
  uint32_t activity = nobody; // of a wait; of one that runs: see `mix`
  uint32_t mix = nobody;      // index into Graph::mixes; nobody: its code is not known
  uint32_t ender = nobody;    // thread, one of whose stretches ends at the same time; nobody: something outside ended it
  uint64_t ns() const { return end - begin; }
};

// A thread is known from its first stretch on; there are no gaps.
struct Thread {
  uint32_t pid = 0, tid = 0;
  uint32_t group = 0;
  std::string name;
  std::vector<uint32_t> stretches; // in their order
};

// Threads of one name and program.
struct Group {
  std::string name;
  uint32_t threads = 0;
};

struct Graph {
  std::vector<Group> groups;
  std::vector<Thread> threads;
  std::vector<Activity> activities;
  std::vector<std::vector<Share>> mixes;
  // By their ends; of two that end at the same time, the one that the other depends on comes first.
  std::vector<Stretch> stretches;
  uint64_t begin = 0, end = 0; // of the measurement

  // Puts stretches in that order, cuts those that run where they end a wait, and fills Thread::stretches.
  void settle();
};

} // namespace waits
