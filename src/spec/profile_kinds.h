// The table of what `acu flame`, `acu record` and `acu report` can record: a script, and what its weights are.
//
// A script fills the map @ with stacks. Its key is (pid, tid, process name, thread name, kernel stack, user stack), and
// where `leaves` is not empty, at last a note that stands on top of the stack: the number of one of `leaves`, or a text or
// the address of a variable or of a peer for the % in it, with the number behind that where there are several. With `paths` the
// % is the path of a file: @PATHS has for each file and folder the one above it and its name. With `has_waker` the name of a
// thread is followed by its kernel stack, its user stack and its process, which are shown above the note, innermost
// first. Its value is a count, a sum of weights, or stats of weights.
// With `allocator` the script imports allocator_functions.bt, with `duty_cycle` weights go through scaled().
#pragma once

#include "spec/duty_cycle.h"

#include <cstdint>
#include <string_view>

namespace spec {

// Which allocator calls are recorded: blocks not freed (every call is followed), or bytes allocated or freed (function entries only, so
// they can be sampled).
enum class AllocatorCalls : uint8_t { none, live, allocated, freed };

struct ProfileKind {
  std::string_view name;
  std::string_view script; // scripts/SCRIPT.bt
  std::string_view title;
  std::string_view unit; // of weights: "samples", "ns", "bytes", or what is counted
  std::string_view doc;
  std::string_view leaves = {}; // notes by number, separated by '|'
  std::string_view notes = {};  // lines that are told if their first number, that of the map in {}, is not 0
  bool is_state = false;        // @ is made by `end`: what there is then
  AllocatorCalls allocator = AllocatorCalls::none;
  std::string_view paths = {}; // the map of names of files
  bool has_waker = false;
  bool follows_threads = false; // what begins on one CPU may end on another
  bool is_sampled = false;  // by flame_sampled.bt
  uint64_t least_period = 1; // of these: what an event must weigh to be a sample in any case; a power of two
  bool has_ticks = false;   // samples by the clock, too (TICKS)
  std::string_view needs = {}, since = {}; // a tracepoint, and the first kernel that has it where not all do
  DutyCycle duty_cycle = {};
};

// By the number that kind_of_io gives.
inline constexpr std::string_view io_kinds =
    "[reads from disk]|[writes to disk]|[flushes]|[discards]|[writes zeroes]|[other operations]";

inline constexpr std::string_view waits_notes =
    "threads that wait often and were still waiting at the end: {unended}; {unended_ms} ms of their waits have no stacks and are not counted\n";

inline constexpr ProfileKind profile_kinds[] = {
    {.name = "cpu",
     .script = "flame_cpu",
     .title = "CPU",
     .unit = "samples",
     .doc = "where the processors are, sampled by their clock"},
    {.name = "cycles",
     .script = "flame_cycles",
     .title = "CPU cycles",
     .unit = "samples",
     .doc = "the same, sampled by the processor's cycle counter"},
    {.name = "offcpu",
     .script = "flame_offcpu",
     .title = "Waiting",
     .unit = "ns",
     .doc = "what threads wait for, and for how long: [waiting], then in the [run queue]; or [preempted]",
     .leaves = "[waiting]|[run queue]|[preempted]",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20},
    {.name = "wall",
     .script = "flame_offcpu",
     .title = "Wall-clock time",
     .unit = "ns",
     .doc = "where threads spend their time, on the CPU and off it; `cpu,offcpu` too",
     .leaves = "[waiting]|[run queue]|[preempted]|",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20,
     .has_ticks = true},
    {.name = "wakeup",
     .script = "flame_wakeup",
     .title = "Wake-ups",
     .unit = "wake-ups",
     .doc = "who wakes whom: the stack of the waker, and on top the thread that is woken",
     .leaves = "[wakes %]"},
    {.name = "offwake",
     .script = "flame_offwake",
     .title = "Waiting, and who ended it",
     .unit = "ns",
     .doc = "what threads wait for, until they are woken, and above that the stack of who woke them; `offcpu --waker` too",
     .leaves = "[woken by %]",
     .notes = "threads that waited at the end, and nobody had woken them: {unended}; {unended_ms} ms of their waits are not counted\n",
     .has_waker = true,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20},
    {.name = "lock",
     .script = "flame_lock",
     .title = "Waiting for locks",
     .unit = "ns",
     .doc = "who waits for which lock or condition, and for how long: on top the variable that was waited for",
     .leaves = "[waits for %]",
     .notes = waits_notes,
     .is_sampled = true,
     .least_period = 1 << 20},
    {.name = "holder",
     .script = "flame_holder",
     .title = "Holding locks",
     .unit = "ns",
     .doc = "who lets others wait: the stack that gave up a lock or rang a condition, and how long it was waited for",
     .leaves = "[lets wait for %]"},
    {.name = "klock",
     .script = "flame_klock",
     .title = "Waiting for locks of the kernel",
     .unit = "ns",
     .doc = "who waits for locks of the kernel, and for how long: on top the kind of lock; from Linux 5.19 on",
     .leaves = "[waits for a mutex]|[waits for a spin lock]|[waits for an rt_mutex]|[waits for a rwlock, to read]|"
               "[waits for a rwlock, to write]|[waits for a rw_semaphore, to read]|[waits for a rw_semaphore, to write]|"
               "[waits for a semaphore]",
     .follows_threads = true,
     .needs = "lock:contention_begin",
     .since = "5.19"},
    {.name = "faults",
     .script = "flame_faults",
     .title = "Page faults",
     .unit = "faults",
     .doc = "who touches memory for the first time",
     .is_sampled = true,
     .needs = "exceptions:page_fault_user"},
    {.name = "alloc",
     .script = "flame_alloc",
     .title = "Memory growth",
     .unit = "bytes",
     .doc = "who makes private memory grow, as it is touched: RssAnon at the end less that at the beginning, by stack",
     .is_state = true},
    {.name = "mapped",
     .script = "flame_mapped",
     .title = "Memory asked of the kernel",
     .unit = "bytes",
     .doc = "who asks the kernel for private memory by brk() and mmap(), whether it is touched later or not",
     .leaves = "[asked of brk]|[asked of mmap]"},
    {.name = "leaks",
     .script = "flame_leaks",
     .title = "Memory not freed",
     .unit = "bytes",
     .doc = "what is allocated while the recording lasts, and not freed; of one process or a command, as `alloc --leaks` too",
     .is_state = true,
     .allocator = AllocatorCalls::live},
    {.name = "allocated",
     .script = "flame_allocated",
     .title = "Memory allocated",
     .unit = "bytes",
     .doc = "bytes requested from malloc and similar functions, whether freed later or not; for one process or a command",
     .allocator = AllocatorCalls::allocated,
     .is_sampled = true,
     .least_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "freed",
     .script = "flame_allocated",
     .title = "Memory freed",
     .unit = "bytes",
     .doc = "bytes freed, by the stack that frees them (with glibc the usable size of blocks); for one process or a command",
     .allocator = AllocatorCalls::freed,
     .is_sampled = true,
     .least_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "io",
     .script = "flame_io",
     .title = "Disk I/O",
     .unit = "bytes",
     .doc = "bytes asked of disks, by the stack that submits them",
     .leaves = io_kinds,
     .is_sampled = true},
    {.name = "iotime",
     .script = "flame_iotime",
     .title = "Time of disk I/O",
     .unit = "ns",
     .doc = "how long disks take for what they are asked, from asking to the end, by the stack that asks",
     .leaves = io_kinds},
    {.name = "dirty",
     .script = "flame_dirty",
     .title = "File pages made dirty",
     .unit = "bytes",
     .doc = "who writes what goes to disk later: pages of files that become dirty; from Linux 5.18 on",
     .is_sampled = true,
     .needs = "writeback:writeback_dirty_folio",
     .since = "5.18"},
    {.name = "file",
     .script = "flame_file",
     .title = "File I/O",
     .unit = "bytes",
     .doc = "bytes read from and written to files by system calls, cached or not: on top the file's path",
     .leaves = "[reads %]|[writes %]",
     .notes = "{others} reads and writes are told as of [other files]: there is room for 16384 names of files and folders\n",
     .paths = "name",
     .is_sampled = true,
     .duty_cycle = of_system_calls},
    {.name = "net",
     .script = "flame_net",
     .title = "Network",
     .unit = "bytes",
     .doc = "bytes sent to and received from peers: on top the peer's address; from Linux 6.3 on",
     .leaves = "[sends to %]|[receives from %]",
     .is_sampled = true,
     .needs = "sock:sock_send_length",
     .since = "6.3"},
};

constexpr const ProfileKind* find_profile_kind(std::string_view name) {
  for (const ProfileKind& k : profile_kinds)
    if (k.name == name) return &k;
  return nullptr;
}

} // namespace spec
