// The graph of a measurement, from its records (scripts/wait_graph.bt). Records are named and made small as they come.
//
// A thread is known from its first record to its last. What is between its waits it runs; which code that is, samples tell: segments of one
// kind (what they come after, and what they end with) run the same code.
#pragma once

#include "symbol/source_names.h"
#include "waits/graph.h"
#include "waits/records.h"
#include "waits/wait_names.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace waits {

class GraphMaker {
public:
  static constexpr size_t most_waits = 1'000'000; // of 64 bytes

  // `function`: whose calls are asked about, as symbol::SourceName has it; empty: all that threads do. The others outlive this.
  GraphMaker(Stacks& stacks, WaitNames& names, const std::string& function = {});

  void take(const Note& note);
  // Begin and end of the measurement, as the records count.
  Graph make(uint64_t begin, uint64_t end);
  // Finds the source location of an activity of the graph.
  void locate(Graph& graph, uint32_t activity);
  uint64_t dropped() const { return dropped_; } // waits beyond most_waits

private:
  struct Waited {
    uint64_t left = 0, woken = 0, back = 0;
    uint32_t thread = 0, activity = nobody, waker = nobody, before = nobody;
  };
  struct Sample {
    uint64_t at = 0;
    uint32_t thread = 0, activity = 0;
  };
  using Key = std::array<uint64_t, 5>;

  void take_wait(const Wait& wait);
  void take_sample(const OnCpu& sample);
  uint32_t thread_of(const waits::Thread& thread);
  uint32_t activity_of(const Wait& wait);
  uint32_t activity_of(uint32_t group, const StackId& user);
  uint32_t keep(Activity activity, const StackId& user = {});
  void place(Activity& activity, const StackId& user);
  void add_segments();
  void mix();

  Stacks& stacks_;
  WaitNames& names_;
  std::optional<symbol::SourceName> asked_; // none: everything is
  Graph graph_;
  std::vector<Waited> waits_;
  std::vector<Sample> samples_;
  std::vector<std::pair<uint64_t, uint64_t>> known_;   // by thread: the first and the last time that it was seen
  std::unordered_map<uint32_t, Wake> wakes_;           // of waits that go on, by Thread::task
  std::unordered_map<uint32_t, uint32_t> threads_;     // by Thread::tid
  std::map<std::string, uint32_t> groups_;
  std::map<Key, uint32_t> activities_;                 // as they were recorded
  std::map<std::tuple<uint32_t, Activity::Kind, std::string, std::vector<std::string>, bool>, uint32_t> kept_; // by group, kind, what, where and is_asked
  std::vector<StackId> stacks_of_; // by activity
  uint64_t dropped_ = 0;
};

} // namespace waits
