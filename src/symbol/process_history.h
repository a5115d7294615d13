// What code stood where in which process, at which time. Built from two sources: events of mappings, forks,
// execs and exits (process_events.h), which tell when, and looks at /proc/PID/maps, which tell what is mapped
// now and since an unknown time. The kernel does not tell of mappings that go away; where ranges overlap the
// newest counts.
//
// The code of a process from its begin or an exec to the next exec is a Space. A child begins with the space
// of its parent as it was at the fork; nothing is copied for it. Of processes that have ended a number are
// kept, those that somebody asked for longer than others.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace symbol {

struct CodeRange {
  static constexpr uint32_t no_file = ~uint32_t{0};
  uint64_t begin = 0, end = 0; // addresses
  uint64_t offset = 0;         // of `begin` in the file
  uint32_t file = no_file;     // whatever the user of the history takes for one
  uint64_t since = 0;          // when it was mapped; 0: before anything was known of the process
  uint64_t looked = 0;         // when /proc told of it; 0: an event did
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

class ProcessHistory {
public:
  static constexpr uint64_t any_time = ~uint64_t{0};

  // Events, in the order of time. Times are those of one clock, in ns.
  void fork(uint32_t parent, uint32_t child, uint64_t time);
  void exec(uint32_t pid, uint64_t time);
  void map(uint32_t pid, const CodeRange& range); // range.since: when
  void exit(uint32_t pid, uint64_t time);
  void events_lost() { losses_++; }
  // All that the process has mapped at this time, as /proc tells.
  void look(uint32_t pid, std::span<const CodeRange> ranges, uint64_t time);

  // Whether all code of the process is known, as far as events were not lost.
  bool is_whole(uint32_t pid) const;
  bool is_known(uint32_t pid) const { return processes_.contains(pid); }
  bool has_ended(uint32_t pid) const;
  uint64_t looked(uint32_t pid) const; // when it was looked at for the last time; 0: never
  // Somebody will ask for it, also after its end.
  void want(uint32_t pid);

  // What stood at the address at that time; any_time: at last. The pointer is good until the next event.
  const CodeRange* find(uint32_t pid, uint64_t address, uint64_t time = any_time) const;
  // All ranges of the process that may be there now, the parents' included.
  std::vector<CodeRange> ranges(uint32_t pid) const;
  uint64_t forgotten() const { return forgotten_; } // ranges and spaces of processes that had too many
  size_t size() const { return processes_.size(); }

private:
  struct Space {
    uint64_t begin = 0;
    std::vector<CodeRange> ranges;
    std::shared_ptr<const Space> parent; // of a fork: what was there until then
    uint64_t forked = 0;
    uint32_t depth = 0;  // how many parents are behind each other
    uint32_t losses = 0; // when its code was last known wholly
    bool is_whole = false;
  };
  struct Process {
    std::vector<std::shared_ptr<Space>> spaces; // the newest last
    uint64_t ended = 0;
    uint64_t looked = 0;
    bool is_wanted = false;
  };
  struct Ended {
    uint32_t pid;
    uint64_t time;
  };

  Space& current(uint32_t pid);
  void begin_space(Process& p, std::shared_ptr<Space> space);
  void forget(const Ended& ended);
  static const CodeRange* find_in(const Space& space, uint64_t address, uint64_t time);
  static void collect(const Space& space, uint64_t until, std::vector<CodeRange>& out);

  std::unordered_map<uint32_t, Process> processes_;
  std::deque<Ended> ended_, ended_wanted_;
  uint32_t losses_ = 0;
  uint64_t forgotten_ = 0;
};

} // namespace symbol
