// The scripts of `acu trace`, in acu's own language: one that tells each call, and one that counts them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trace {

// What a record of the script holds, in this order: also of a call the time when it was sent, and the name of the thread; then what was
// copied, and at last the stack.
enum Field {
  field_number,
  field_result,
  field_duration, // 0 without times; Call::no_time: the call does not return
  field_task,     // the process in the upper half, the thread in the lower one
  field_arguments,
  end_of_fields = field_arguments + 6
};
struct Layout {
  bool times = true;  // when calls began, and how long they took: all are seen twice then
  bool thread = true; // its name
  size_t time() const { return end_of_fields; }
  size_t name() const { return end_of_fields + times; }
  size_t copied() const { return name() + thread; }
};

struct Wanted {
  std::string condition = "1"; // whose calls, in the language
  std::string before;          // probes that the condition needs
  std::string chosen = {};     // which of their calls, as they return: of retval, duration and arg0 to arg5; empty: all
  bool has_command = false;    // acu starts it: its execve begins before the condition holds
  bool all_calls = false;      // also those that have no name; @plan need not be asked
  bool fails_only = false;
  uint64_t least_ns = 0; // shorter calls are not told
  Layout layout = {};
  std::vector<int> begins = {}; // without times: the calls that are seen at their begin (is_seen_at_begin)
  uint32_t copied = 256; // bytes of texts and memory
  bool stacks = false;
  bool tells_signals = false; // and ends of threads
  uint64_t duration_ns = 0;   // 0: until all is over
  bool histograms = false;    // of the counts
  bool names_descriptors = false; // what new ones are
  bool describes_sockets = false; // their protocols and ends
  // Some of the calls have them:
  bool timeouts = true, words = true; // Plan::timeout, Plan::word
  bool sigreturn = true, sets = true; // rt_sigreturn; select and pselect6
  bool vectors = true;        // some of the calls have them (plan.h)
  bool counts_entries = true; // of folders; the kernel has bpf_loop(). Else their number is -1
};

// In place of a call's number: a signal (result: its code, duration: its number), the end of a thread
// (result: its status, as wait(2) tells it).
constexpr size_t most_words = 8; // of an execve that failed

constexpr int signal_record = -1, end_record = -2;
// A socket: result its descriptor, duration its inode, and six words about it in place of arguments.
constexpr int detail_record = -3;
constexpr int unknown_code = INT32_MIN; // of a signal

std::string call_script(const Wanted& wanted);
// Of both: @plan[number] = Plan::pack() must be put there for each call that is wanted.
// @start[thread] = when its call began, of those that have not returned, with the lowest bit set of 32-bit programs. Fills @calls[number] = stats of durations, @errors[number], @times[number] = hist.
std::string count_script(const Wanted& wanted);

} // namespace trace
