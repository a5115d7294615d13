// The table of what `acu flame`, `acu record` and `acu report` can record: a script, and what its weights are.
//
// A script fills the map @ with stacks. The key is (pid, tid, process name, thread name, kernel stack, user stack). If
// `leaves` is not empty, the last part of the key is a note shown on top of the stack: the number of one of `leaves`, or a
// text or the address of a variable or a peer for its %, followed by the number if there are several. With `paths`, the % is
// a file's path: @PATHS maps each file and directory to its parent and name. With `has_waker`, a thread's name is followed
// by its kernel stack, user stack and process, which are shown above the note, innermost first. The value is a count, a sum
// of weights, or stats of weights.
// With `allocator` the script imports what is generated for the functions of a process (flame/allocations.h); with `duty_cycle` weights go through scaled().
#pragma once

#include "spec/duty_cycle.h"

#include <cstdint>
#include <string_view>

namespace spec {

// Which allocator calls are recorded: blocks not freed (every call is followed), or bytes allocated or freed, or Python objects created
// (function entries only, so they can be sampled).
enum class AllocatorCalls : uint8_t { none, live, allocated, freed, objects };

struct ProfileKind {
  std::string_view name;
  std::string_view script; // scripts/SCRIPT.bt
  std::string_view title;
  std::string_view unit; // of weights: "samples", "ns", "bytes", or what is counted
  std::string_view doc;
  std::string_view leaves = {}; // notes by number, separated by '|'
  std::string_view notes = {};  // lines printed if their first number, from the map in {}, is not 0
  bool is_state = false;        // `end` fills @ with the state at that time
  AllocatorCalls allocator = AllocatorCalls::none;
  std::string_view paths = {}; // the map of names of files
  bool has_waker = false;
  bool follows_threads = false; // an event may begin on one CPU and end on another
  bool is_sampled = false;  // by flame_sampled.bt
  uint64_t min_period = 1; // of these: an event of this weight is always a sample; a power of two
  bool has_ticks = false;   // also clock samples (TICKS)
  bool has_links = false;   // the trace and the span that the thread works on may follow in the key (LINKS)
  bool waits_for_interpreter = false; // the script needs to know where in a process the lock of its interpreter is (@gil_begin, @gil_end)
  bool shows_threads_only = false; // of a Go program there is more to see: goroutines
  bool is_of_goroutines = false; // the script imports what is generated for Go programs (flame/goroutines.h), as are further `leaves`
  std::string_view needs = {}, since = {}; // a tracepoint, and the first kernel that has it where not all do
  DutyCycle duty_cycle = {};
};

// By the number that kind_of_io gives.
inline constexpr std::string_view io_kinds =
    "[reads from disk]|[writes to disk]|[flushes]|[discards]|[writes zeroes]|[other operations]";

inline constexpr std::string_view waits_notes =
    "threads still waiting at the end: {unended}; {unended_ms} ms of their waits have no stacks and are not counted\n";

inline constexpr ProfileKind profile_kinds[] = {
    {.name = "cpu",
     .script = "flame_cpu",
     .title = "CPU",
     .unit = "samples",
     .doc = "where CPUs spend time, sampled by a clock",
     .has_links = true},
    {.name = "cycles",
     .script = "flame_cycles",
     .title = "CPU cycles",
     .unit = "samples",
     .doc = "the same, sampled by the CPU's cycle counter",
     .has_links = true},
    {.name = "offcpu",
     .script = "flame_offcpu",
     .title = "Waiting",
     .unit = "ns",
     .doc = "what threads wait for, and how long: [waiting], then in the [run queue]; or [preempted]",
     .leaves = "[waiting]|[run queue]|[preempted]",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .min_period = 1 << 20,
     .shows_threads_only = true},
    {.name = "wall",
     .script = "flame_offcpu",
     .title = "Wall-clock time",
     .unit = "ns",
     .doc = "where threads spend time, on and off the CPU; also `cpu,offcpu`",
     .leaves = "[waiting]|[run queue]|[preempted]|",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .min_period = 1 << 20,
     .has_ticks = true,
     .shows_threads_only = true},
    {.name = "wakeup",
     .script = "flame_wakeup",
     .title = "Wake-ups",
     .unit = "wake-ups",
     .doc = "who wakes whom: the stack of the waker, with the woken thread on top",
     .leaves = "[wakes %]"},
    {.name = "offwake",
     .script = "flame_offwake",
     .title = "Waiting and wakers",
     .unit = "ns",
     .doc = "what threads wait for until they are woken, with the stack of the waker on top; also `offcpu --waker`",
     .leaves = "[woken by %]",
     .notes = "threads still waiting at the end: {unended}; {unended_ms} ms of their waits have no waker and are not counted\n",
     .has_waker = true,
     .follows_threads = true,
     .is_sampled = true,
     .min_period = 1 << 20,
     .shows_threads_only = true},
    {.name = "lock",
     .script = "flame_lock",
     .title = "Waiting for locks",
     .unit = "ns",
     .doc = "which lock or condition threads wait for, and how long: the variable is on top",
     .leaves = "[waits for %]",
     .notes = waits_notes,
     .is_sampled = true,
     .min_period = 1 << 20,
     .shows_threads_only = true},
    {.name = "gil",
     .script = "flame_gil",
     .title = "Waiting for Python's GIL",
     .unit = "ns",
     .doc = "how long threads wait for the global interpreter lock of Python, with the stack of the thread that released it on top",
     .leaves = "[waits for the GIL, released by %]",
     .has_waker = true,
     .follows_threads = true,
     .is_sampled = true,
     .min_period = 1 << 20,
     .waits_for_interpreter = true},
    {.name = "goroutines",
     .script = "flame_goroutines",
     .title = "Waiting goroutines",
     .unit = "ns",
     .doc = "what goroutines of Go programs wait for, and how long: the reason of Go's runtime is on top, such as [chan receive]; or [system call]",
     .leaves = "[system call]",
     .follows_threads = true,
     .is_sampled = true,
     .min_period = 1 << 20,
     .is_of_goroutines = true},
    {.name = "holder",
     .script = "flame_holder",
     .title = "Lock holders",
     .unit = "ns",
     .doc = "lock holders: the stack that released a lock or signaled a condition, and how long others waited for it",
     .leaves = "[unblocks waiters of %]"},
    {.name = "klock",
     .script = "flame_klock",
     .title = "Waiting for kernel locks",
     .unit = "ns",
     .doc = "which kernel locks threads wait for, and how long: the kind of lock is on top; Linux 5.19 or newer",
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
     .doc = "code that touches memory for the first time",
     .is_sampled = true,
     .needs = "exceptions:page_fault_user"},
    {.name = "alloc",
     .script = "flame_alloc",
     .title = "Memory growth",
     .unit = "bytes",
     .doc = "code that makes private memory grow, as it is touched: growth of RssAnon, by stack",
     .is_state = true},
    {.name = "mapped",
     .script = "flame_mapped",
     .title = "Memory requested from the kernel",
     .unit = "bytes",
     .doc = "code that requests private memory from the kernel with brk() and mmap(), whether touched later or not",
     .leaves = "[requested with brk]|[requested with mmap]"},
    {.name = "leaks",
     .script = "flame_leaks",
     .title = "Memory not freed",
     .unit = "bytes",
     .doc = "memory allocated during the recording and not freed; for one process or a command; also `alloc --leaks`",
     .is_state = true,
     .allocator = AllocatorCalls::live},
    {.name = "allocated",
     .script = "flame_allocated",
     .title = "Memory allocated",
     .unit = "bytes",
     .doc = "bytes requested from malloc and similar functions, whether freed later or not; for one process or a command",
     .allocator = AllocatorCalls::allocated,
     .is_sampled = true,
     .min_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "freed",
     .script = "flame_allocated",
     .title = "Memory freed",
     .unit = "bytes",
     .doc = "bytes freed, by the stack that frees them (with glibc the usable size of blocks); for one process or a command",
     .allocator = AllocatorCalls::freed,
     .is_sampled = true,
     .min_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "objects",
     .script = "flame_objects",
     .title = "Python objects created",
     .unit = "bytes",
     .doc = "bytes of objects that Python creates, freed later or not: the type is on top; for one process or a command",
     .leaves = "[new %]",
     .allocator = AllocatorCalls::objects,
     .is_sampled = true,
     .min_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "io",
     .script = "flame_io",
     .title = "Disk I/O",
     .unit = "bytes",
     .doc = "bytes to and from disks, by the stack that submits the request",
     .leaves = io_kinds,
     .is_sampled = true},
    {.name = "iotime",
     .script = "flame_iotime",
     .title = "Disk I/O latency",
     .unit = "ns",
     .doc = "latency of disk requests, from submission to completion, by the stack that submits them",
     .leaves = io_kinds},
    {.name = "dirty",
     .script = "flame_dirty",
     .title = "Dirtied file pages",
     .unit = "bytes",
     .doc = "code that writes data written back later: file pages that become dirty; Linux 5.18 or newer",
     .is_sampled = true,
     .needs = "writeback:writeback_dirty_folio",
     .since = "5.18"},
    {.name = "file",
     .script = "flame_file",
     .title = "File I/O",
     .unit = "bytes",
     .doc = "bytes read from and written to files by system calls, cached or not: the path of the file is on top",
     .leaves = "[reads %]|[writes %]",
     .notes = "{others} reads and writes are counted under [other files]: up to 16384 names of files and directories are stored\n",
     .paths = "name",
     .is_sampled = true,
     .duty_cycle = of_system_calls},
    {.name = "net",
     .script = "flame_net",
     .title = "Network",
     .unit = "bytes",
     .doc = "bytes sent to and received from peers: the address of the peer is on top; Linux 6.3 or newer",
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
