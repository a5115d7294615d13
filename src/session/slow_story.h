// Something slow in words: names instead of addresses and numbers. Text and JSON (slow_text.h) are made of it.
#pragma once

#include "report/names.h"
#include "session/descriptors.h"
#include "session/slow_notes.h"
#include "session/slow_stacks.h"

#include <optional>
#include <string>
#include <vector>

namespace session {

using RanFor = std::vector<std::pair<SlowThread, uint64_t>>; // who had a CPU meanwhile, and for how long

struct ToldStack {
  std::vector<std::string> kernel; // innermost first, without the entry of the system call
  std::vector<std::string> user;
  std::string end; // why there are no more; empty: they are all there
  bool operator==(const ToldStack&) const = default;
};

struct ToldWait {
  std::string what; // "the lock g_cache_lock"
  uint64_t ns = 0;        // until it was woken
  uint64_t queued_ns = 0; // and from then on for a CPU
  bool is_preempted = false; // only that
  ToldStack stack;           // within what is slow

  std::optional<SlowThread> waker;
  std::string interrupt; // instead: what in an interrupt woke it
  ToldStack waker_stack;
  std::optional<SlowThread> holder; // of a lock when the wait began
  bool waker_held = false;          // it was a lock: the waker gave it up
  std::optional<SlowThread> busy;   // whose own wait this is: the holder's, meanwhile
  std::string busy_with;
  uint64_t busy_ns = 0;
  ToldStack busy_stack;

  RanFor ran;
  uint32_t cpu = 0;
};

// Waits for the same at the same place: the longest is told, the others are counted.
struct ToldWaits {
  ToldWait longest;
  uint64_t number = 0, ns = 0, queued_ns = 0;
  RanFor ran; // of all
};

// Waits for a CPU that are not told by themselves.
struct ToldTurns {
  uint64_t number = 0, queued_ns = 0;
  uint64_t longest_ns = 0;
  RanFor ran; // that which had it longest comes first
};

// The function that a thread was in on the CPU, by samples.
struct ToldHot {
  std::string name; // empty: what is slow itself
  uint64_t on_cpu_ns = 0;
  ToldStack stack; // within what is slow: the most frequent
};

struct ToldCallee {
  std::string name; // empty: what is slow itself
  uint64_t waiting_ns = 0, on_cpu_ns = 0;
};

struct SlowStory {
  std::string what;
  SlowThread thread;
  uint64_t start = 0, ns = 0;
  bool is_whole = true, has_ended = true;
  LeftBy left_by = LeftBy::none;
  bool is_counted = true; // all its time off the CPU is
  bool is_cut = false; // its first waits are not known
  uint64_t waiting_ns = 0, queued_ns = 0; // all of it, where is_counted
  bool is_io = false; // waiting: until its device got it, …
  uint64_t device_ns = 0; // … and from then on
  ToldStack stack; // from what is slow outward; user[0] is the function where `marks`
  bool marks = false;
  std::vector<ToldWaits> waits;     // in the order of the first of each
  ToldTurns turns;
  std::vector<ToldHot> hot; // those that took a tenth of the time or more; that which took most comes first
  std::vector<ToldCallee> callees; // that which took most comes first

  uint64_t on_cpu_ns() const { return ns > waiting_ns + queued_ns ? ns - waiting_ns - queued_ns : 0; }
};

class SlowTeller {
public:
  // `function`: what is asked for, as a pattern; empty: it is no function, but is called `what`.
  SlowTeller(SlowNotes& notes, SlowStacks& stacks, report::SystemNames& names, std::string function, std::string what)
      : notes_(notes), stacks_(stacks), names_(names), function_(std::move(function)), what_(std::move(what)) {
    descriptors_.keep(false);
  }

  // Whether the function is in this stack: then the thread was in a call of it.
  bool is_within(const StackId& user);
  // The same of calls that were not inlined; unknown: the stack is not complete.
  enum class Within : uint8_t { no, yes, unknown };
  Within where_is(const StackId& user);
  SlowStory tell(const Outlier& outlier);
  SlowStory tell(const SlowIo& io);

private:
  ToldStack told(const StackId& kernel, const StackId& user);
  ToldWait told(const Wait& wait);
  void tell_ender(const Wait& wait, ToldWait& out);
  void tell_holder(const Wait& wait, ToldWait& out);
  std::string variable(uint32_t pid, uint64_t address);
  std::string what(const Wait& wait, const ToldStack& stack);
  std::string call_text(const SlowThread& thread, int call, const std::array<uint64_t, 6>& arguments, const int64_t* result);
  // Of user frames, innermost first: the outermost call of the function, or npos.
  size_t place_of_function(const std::vector<std::string>& user) const;
  bool is_function(std::string_view frame) const;

  SlowNotes& notes_;
  SlowStacks& stacks_;
  report::SystemNames& names_;
  SeenDescriptors descriptors_;
  std::string function_, what_;
};

} // namespace session
