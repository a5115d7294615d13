// A slow call in words: names instead of addresses and numbers. Text and JSON (text.h) are made from it.
#pragma once

#include "report/names.h"
#include "slow/notes.h"
#include "waits/wait_names.h"

#include <optional>
#include <string>
#include <vector>

namespace slow {

using RanFor = std::vector<std::pair<Thread, uint64_t>>; // who had a CPU meanwhile, and for how long

struct NamedWait {
  std::string what; // "the lock g_cache_lock"
  uint64_t ns = 0;        // until it was woken
  uint64_t queued_ns = 0; // and from then on for a CPU
  bool is_preempted = false; // only that
  NamedStack stack;           // within what is slow

  std::optional<Thread> waker;
  std::string interrupt; // instead: what in an interrupt woke it
  NamedStack waker_stack;
  std::optional<Thread> holder; // of a lock when the wait began
  bool waker_held = false;          // it was a lock: the waker gave it up
  std::optional<Thread> busy;   // whose own wait this is: the holder's, meanwhile
  std::string busy_with;
  uint64_t busy_ns = 0;
  NamedStack busy_stack;

  RanFor ran;
  uint32_t cpu = 0;
};

// Waits for the same thing at the same location: the longest is reported, the others are counted.
struct NamedWaits {
  NamedWait longest;
  uint64_t number = 0, ns = 0, queued_ns = 0;
  RanFor ran; // of all
};

// Waits for a CPU that are not reported individually.
struct NamedTurns {
  uint64_t number = 0, queued_ns = 0;
  uint64_t longest_ns = 0;
  RanFor ran; // that which had it longest comes first
};

// The function that a thread ran, by samples.
struct NamedHot {
  std::string name; // empty: what is slow itself
  uint64_t on_cpu_ns = 0;
  NamedStack stack; // within what is slow: the most frequent
};

struct NamedCallee {
  std::string name; // empty: what is slow itself
  uint64_t waiting_ns = 0, on_cpu_ns = 0;
};

struct Story {
  std::string what;
  Thread thread;
  uint64_t start = 0, ns = 0;
  bool is_whole = true, has_ended = true;
  LeftBy left_by = LeftBy::none;
  bool is_counted = true; // all its time off the CPU is
  bool is_cut = false; // its first waits are not known
  uint64_t waiting_ns = 0, queued_ns = 0; // all of it, where is_counted
  bool is_io = false; // waiting: until its device got it, …
  uint64_t device_ns = 0; // … and from then on
  NamedStack stack; // from what is slow outward; user[0] is the function where `marks`
  bool marks = false;
  std::vector<NamedWaits> waits;     // in the order of the first of each
  NamedTurns turns;
  std::vector<NamedHot> hot; // those that took a tenth of the time or more; that which took most comes first
  std::vector<NamedCallee> callees; // that which took most comes first

  uint64_t on_cpu_ns() const { return ns > waiting_ns + queued_ns ? ns - waiting_ns - queued_ns : 0; }
};

class StoryWriter {
public:
  // `function`: the requested function, as a pattern; empty: not a function, but shown as `what`.
  StoryWriter(Notes& notes, Stacks& stacks, report::SystemNames& names, const InterpreterLocks& locks, std::string function, std::string what)
      : notes_(notes), stacks_(stacks), waits_(stacks, names, locks), function_(std::move(function)), what_(std::move(what)) {}

  // Whether the function is in this stack: then the thread was in a call of it.
  bool is_within(const StackId& user);
  // The same for calls that were not inlined; unknown: the stack is not complete.
  enum class Within : uint8_t { no, yes, unknown };
  Within where_is(const StackId& user);
  Story tell(const Outlier& outlier);
  Story tell(const Io& io);

private:
  NamedWait told(const Wait& wait);
  void tell_ender(const Wait& wait, NamedWait& out);
  void tell_holder(const Wait& wait, NamedWait& out);
  // Of user frames, innermost first: the outermost call of the function, or npos.
  size_t place_of_function(const std::vector<std::string>& user) const;
  bool is_function(std::string_view frame) const;

  Notes& notes_;
  Stacks& stacks_;
  WaitNames waits_;
  std::string function_, what_;
};

} // namespace slow
