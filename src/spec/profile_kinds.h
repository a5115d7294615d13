// The table of what `acu flame`, `acu record` and `acu report` can record: a script, and what its weights are.
//
// A script fills the map @ with stacks. Its key is (pid, tid, process name, thread name, kernel stack, user stack), and
// where `leaves` is not empty, at last a note that stands on top of the stack: the number of one of `leaves`, or a text or
// the address of a variable or of a peer for the % in it, with the number behind that where there are several. With `paths` the
// % is the path of a file: @PATHS has for each file and folder the one above it and its name. With `has_waker` the name of a
// thread is followed by its kernel stack, its user stack and its process, which are shown above the note, innermost
// first. Its value is a count, a sum of weights, or stats of weights. In the text FILTER is replaced by the condition
// for the processes asked for, TASK_STATE by the state of the current task, CLOCK by the time when the scheduler ran last,
// RATE by samples a second, WAITS by futex_waits, RETURN by the probe that sees threads go back to their programs after they were off
// the CPU, and IS_SEEN(task) by whether it sees that task's.
// With `allocator` the blocks of allocation_functions.h stand before the script. With `duty_cycle` weights go through scaled().
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
  std::string_view title;
  std::string_view unit; // of weights: "samples", "ns", "bytes", or what is counted
  std::string_view doc;
  std::string_view script;
  std::string_view leaves = {}; // notes by number, separated by '|'
  std::string_view notes = {};  // lines that are told if their first number, that of the map in {}, is not 0
  bool is_state = false;        // @ is made by `end`: what there is then
  AllocatorCalls allocator = AllocatorCalls::none;
  std::string_view paths = {}; // the map of names of files
  bool has_waker = false;
  bool follows_threads = false; // what begins on one CPU may end on another
  bool is_sampled = false;  // by sampling_functions
  uint64_t least_period = 1; // of these: what an event must weigh to be a sample in any case; a power of two
  std::string_view ticks = {}; // of a kind that also samples by the clock: the probe for that
  std::string_view needs = {}, since = {}; // a tracepoint, and the first kernel that has it where not all do
  DutyCycle duty_cycle = {};
};

// Whether $op, a call of futex(2), waits: FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI, _LOCK_PI2 of linux/futex.h.
inline constexpr std::string_view futex_waits = "$op == 0 || $op == 6 || $op == 9 || $op == 11 || $op == 13";

// Events that weigh little are sampled: one of weight w is a sample with probability w / @period and then stands for @period; one
// of at least @period always is a sample. So sums are unbiased whatever @period is. It is a power of two (0: all events are
// samples), doubled and halved so that 64 samples come in about @window ns, but never below @least. Where the weight is not known as
// the choice is made, one event of one_of() is a sample; it is expected to weigh some milliseconds. @seen counts and adds up
// all weights, to which those of the samples are scaled at the end (session/sampling.cc); the sum of weights of samples that were
// chosen but have no stacks yet is @pending.
inline constexpr std::string_view sampling_functions = R"(
fn note_sample() : void {
  @taken++;
  if ((@taken & 63) == 0) {
    $took = (uint64)nsecs - @since;
    @since = (uint64)nsecs;
    if ($took < @window - (@window >> 2)) {
      if (@period && @period < 0x40000000) { @period = @period << 1 }
    } else if ($took > 3 * @window && @period > @least) { @period = @period >> 1 }
  }
}
fn stands_for($weight : uint64) : uint64 {
  @seen = stats($weight);
  $stands = (uint64)0;
  if ($weight >= @period) {
    $stands = $weight;
  } else if (((uint64)rand & (@period - 1)) < $weight) {
    $stands = @period;
  }
  if ($stands) { note_sample() }
  return $stands;
}
fn one_of() : uint64 { return @period > 0x400000 ? @period >> 22 : 1; }
)";

// futex, futex_waitv and futex_wait of x86-64 may wait for a lock; operations of block I/O are those of linux/blk_types.h.
inline constexpr std::string_view kind_functions = R"(
fn may_wait_for_lock($call : int64) : bool { return $call == 202 || $call == 449 || $call == 455; }
fn kind_of_io($operation : uint32) : uint32 {
  if ($operation < 3) { return $operation; }
  if ($operation == 3 || $operation == 5) { return 3; }
  return $operation == 9 ? 4 : 5;
}
)";

// A wait of a thread that was followed by its times alone gets its stack. $queued: as the kernel counts it now.
inline constexpr std::string_view count_due = R"(
    $due = @due[$thread];
    $queued = $queued - $due.1;
    if ($due.3) { $queued = 0 }
    if ($queued > $due.0) { $queued = (uint64)$due.0 }
    $times = $due.4;
    $queued = (uint64)($queued * $times / $due.0);
    $user = ustack;
    @[pid, $thread, pcomm, comm, $due.2, $user, $due.3] = stats($times - $queued);
    if ($queued) { @[pid, $thread, pcomm, comm, $due.2, $user, (uint32)1] = stats($queued) }
    delete(@due, $thread);
    @expected--;
)";

// A wait that has ended gets the user stack of the waiter.
inline constexpr std::string_view count_woken = R"(
    if (has_key(@woken, $thread)) {
      $w = @woken[$thread];
      if (@left[$thread] & 2) {
        @[pid, $thread, pcomm, comm, $w.1, @user[$thread], $w.2, $w.3, $w.4, $w.5] = stats($w.0);
      } else {
        @[pid, $thread, pcomm, comm, $w.1, ustack, $w.2, $w.3, $w.4, $w.5] = stats($w.0);
      }
      delete(@woken, $thread);
      @expected--;
    }
)";

// A piece of disk I/O has ended.
inline constexpr std::string_view count_asked = R"(
    if (has_key(@asked, $id)) {
      $a = @asked[$id];
      delete(@asked, $id);
      @[$a.1, $a.2, $a.3, $a.4, $a.5, $a.6, $a.7] = stats(nsecs - $a.0);
    }
)";

// A process grew past the levels from $levels to $n: of those that end below the last size, `end` has the stacks. A kernel that
// cannot go through maps at the end counts how far each process has ever grown.
inline constexpr std::string_view keep_levels = R"(
        $stack = (tid, pcomm, comm, ustack);
        for ($i : 0..64) {
          if ($levels + $i >= $n) { break; }
          @level[pid, $levels + $i] = $stack;
        }
)";
inline constexpr std::string_view count_levels = R"(
        if ($n > @highest[pid]) {
          $from = @highest[pid] > $levels ? @highest[pid] : $levels;
          @highest[pid] = $n;
          @[pid, tid, pcomm, comm, (uint64)0, ustack] = stats(($n - $from) << ($n < 4096 ? (uint64)16 : 15 + $n / 2048));
        }
)";

// By the number that kind_of_io gives.
inline constexpr std::string_view io_kinds =
    "[reads from disk]|[writes to disk]|[flushes]|[discards]|[writes zeroes]|[other operations]";

inline constexpr std::string_view waits_notes =
    "threads that wait often and were still waiting at the end: {unended}; {unended_ms} ms of their waits have no stacks and are not counted\n";

// How often a thread leaves its CPU decides what is done then. If it seldom does, its stack is taken at once and kept in @out.
// If it was away less than @period ago, only the time is written to @left, and whether the wait is a sample is decided when
// it ends. Its kernel stack is then taken from outside, its user stack on the way back to the program or as the thread leaves again. That
// is too late for a thread that was away out of user code, or whose way back is not seen: there the choice is made as it leaves.
//   The lowest bits of @left: 1 preempted, 2 in @out, 4 is back and to be counted (from @out and @back, or @due), 8 is
// back, 16 is away and no sample. What it waited for the CPU, the kernel has counted by then. Waits that have not ended are
// counted at the end.
inline constexpr std::string_view waits_script = R"(
let @left = hash(131072);
rawtracepoint:sched_switch {
  $now = CLOCK & 0xffffffffffffffe0;
  $next = (uint32)args.next.pid;
  $left = @left[$next];
  if ($left && ($left & 12) == 0) {
    if ($left & 2) {
      @back[$next] = $now;
      @left[$next] = $left | 4;
    } else if ($left & 16) {
      @seen = stats((uint64)($now - $left));
      @left[$next] = $left | 8;
    } else {
      $away = (uint64)($now - $left);
      $times = stands_for($away);
      if ($times && $away) {
        @due[$next] = ($away, (uint64)args.next.sched_info.run_delay, task_kstack(args.next), (uint32)($left & 1) * 2, $times);
        @expected++;
        @left[$next] = $left | 4;
      } else {
        @left[$next] = $left | 8;
      }
    }
  }
  if (FILTER) {
    $thread = (uint32)curtask.pid;
    if ($thread) {
      $left = @left[$thread];
      $state = TASK_STATE;
      $preempted = (uint64)(args.preempt || $state == 0);
      $in_call = (uint64)curtask.mm == 0 || IS_SEEN(curtask) && (($state & 3) == 1 && !$preempted || IN_SYSTEM_CALL);
      $often = (uint64)($now - $left) < @period;
      if ($in_call && ($left & 4) == 0 && $often && ($state & 128) == 0) {
        @left[$thread] = $now | $preempted;
      } else {
        if ($left & 4) {
          $queued = (uint64)curtask.sched_info.run_delay;
          if ($left & 2) {
            $out = @out[$thread];
            $away = (uint64)(@back[$thread] - $out.0);
            @seen = stats($away);
            $queued = $queued - $out.1;
            if ($out.6) { $queued = 0 }
            if ($queued > $away) { $queued = (uint64)$away }
            @[pid, $thread, $out.2, $out.3, $out.4, $out.5, $out.6] = stats(($away - $queued) * $out.8);
            if ($queued) { @[pid, $thread, $out.2, $out.3, $out.4, $out.5, (uint32)1] = stats($queued * $out.8) }
          } else { COUNT_DUE }
        }
        $each = (uint64)1;
        if (!$in_call) { $each = one_of() }
        if ($state & 128) {
          if ($left) { delete(@left, $thread) }
        } else if ($in_call && $often) {
          @left[$thread] = $now | $preempted;
        } else if ((uint64)rand & ($each - 1)) {
          @left[$thread] = $now | $preempted | 16;
        } else {
          @out[$thread] = ($now, (uint64)curtask.sched_info.run_delay, pcomm, comm, kstack, ustack, (uint32)$preempted * 2, pid, $each);
          note_sample();
          @left[$thread] = $now | $preempted | 2;
        }
      }
    }
  }
}
RETURN /@expected && (FILTER)/ {
  $thread = (uint32)curtask.pid;
  if (has_key(@due, $thread)) {
    $queued = (uint64)curtask.sched_info.run_delay;
    COUNT_DUE
    @left[$thread] = (@left[$thread] & 0xfffffffffffffffb) | 8;
  }
}
end {
  $now = CLOCK;
  for ($kv : @due) { @pending += $kv.1.0 }
  for ($kv : @left) {
    $left = $kv.1;
    if ($left & 2) {
      $out = @out[$kv.0];
      $until = $left & 4 ? @back[$kv.0] : $now;
      if ($until > $out.0) {
        @seen = stats((uint64)($until - $out.0));
        @[$out.7, $kv.0, $out.2, $out.3, $out.4, $out.5, $out.6] = stats(($until - $out.0) * $out.8);
      }
    } else if (($left & 12) == 0 && $now > $left) {
      @unended++;
      @unended_ms += ($now - $left) / 1000000;
    }
  }
}
)";

inline constexpr ProfileKind profile_kinds[] = {
    {.name = "cpu",
     .title = "CPU",
     .unit = "samples",
     .doc = "where the processors are, sampled by their clock",
     .script = "profile:hz:RATE /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n"},
    {.name = "cycles",
     .title = "CPU cycles",
     .unit = "samples",
     .doc = "the same, sampled by the processor's cycle counter",
     .script = "hardware:cycles:RATE /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n"},
    {.name = "offcpu",
     .title = "Waiting",
     .unit = "ns",
     .doc = "what threads wait for, and for how long: [waiting], then in the [run queue]; or [preempted]",
     .script = waits_script,
     .leaves = "[waiting]|[run queue]|[preempted]",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20},
    // Both in one picture, in time: what the clock samples stands for the time between two of its ticks.
    {.name = "wall",
     .title = "Wall-clock time",
     .unit = "ns",
     .doc = "where threads spend their time, on the CPU and off it; `cpu,offcpu` too",
     .script = waits_script,
     .leaves = "[waiting]|[run queue]|[preempted]|",
     .notes = waits_notes,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20,
     .ticks = R"(
profile:hz:RATE /FILTER/ {
  $times = (uint64)(1000000000 / RATE);
  @seen = stats($times);
  @[pid, tid, pcomm, comm, kstack, ustack, (uint32)3] = stats($times);
}
)"},
    {.name = "wakeup",
     .title = "Wake-ups",
     .unit = "wake-ups",
     .doc = "who wakes whom: the stack of the waker, and on top the thread that is woken",
     .script = "rawtracepoint:sched_wakeup /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack, str(args.p.comm)] = count() }\n",
     .leaves = "[wakes %]"},
    // Whether a wait is a sample is decided as it ends. The waker then has its own stacks and the kernel stack of the waiter. The
    // waiter's user stack is taken on its way back to the program or as it leaves again; of a thread that waits in no system
    // call, or whose way back is not seen, it is taken as the wait begins (@user). The lowest bits of @left: 1 is woken, 2 in @user.
    {.name = "offwake",
     .title = "Waiting, and who ended it",
     .unit = "ns",
     .doc = "what threads wait for, until they are woken, and above that the stack of who woke them; `offcpu --waker` too",
     .script = R"(
let @left = hash(131072);
rawtracepoint:sched_waking {
  $thread = (uint32)args.p.pid;
  $left = @left[$thread];
  if ($left && ($left & 1) == 0) {
    $times = stands_for((uint64)((nsecs & 0xfffffffffffffff0) - $left));
    if ($times) {
      @woken[$thread] = ($times, task_kstack(args.p), comm, kstack, ustack, pid);
      @expected++;
    }
    @left[$thread] = $left | 1;
  }
}
rawtracepoint:sched_switch /FILTER/ {
  $thread = (uint32)curtask.pid;
  if ($thread) {
    COUNT_WOKEN
    if (args.preempt || TASK_STATE == 0 || TASK_STATE & 128) {
      @left[$thread] = (uint64)0;
    } else {
      $left = (uint64)nsecs & 0xfffffffffffffff0;
      if ((uint64)curtask.mm && !(IS_SEEN(curtask) && IN_SYSTEM_CALL)) {
        @user[$thread] = ustack;
        $left = $left | 2;
      }
      @left[$thread] = $left;
    }
  }
}
RETURN /@expected && (FILTER)/ {
  $thread = (uint32)curtask.pid;
  COUNT_WOKEN
}
end {
  $now = (uint64)nsecs;
  for ($kv : @left) {
    if ($kv.1 && ($kv.1 & 1) == 0) {
      @unended++;
      @unended_ms += ($now - $kv.1) / 1000000;
    }
  }
}
)",
     .leaves = "[woken by %]",
     .notes = "threads that waited at the end, and nobody had woken them: {unended}; {unended_ms} ms of their waits are not counted\n",
     .has_waker = true,
     .follows_threads = true,
     .is_sampled = true,
     .least_period = 1 << 20},
    // Mutexes, condition variables, semaphores and joins all wait by futex(2), and give up the CPU for it. A thread that seldom
    // waits has its stack taken as its wait begins (@out), one that often does on the way back to the program. Of threads whose way
    // back is not seen one wait of $each has its stack as it begins, and ends as the thread has a CPU again. A wait that is
    // interrupted and goes on is one wait. The lowest bits of @left: 1 is back, 2 in @out, 4 is no sample. What has not ended is
    // counted at the end.
    {.name = "lock",
     .title = "Waiting for locks",
     .unit = "ns",
     .doc = "who waits for which lock or condition, and for how long: on top the variable that was waited for",
     .script = R"(
let @left = hash(131072);
let @out = hash(16384);
fn has_waited($thread : uint32, $left : uint64) : uint64 {
  $now = (uint64)nsecs & 0xfffffffffffffff8;
  $waited = (uint64)($now - ($left & 0xfffffffffffffff8));
  @left[$thread] = $now | 1;
  if ($left & 6) { @seen = stats($waited) }
  if ($left & 2) {
    $o = @out[$thread];
    @[$o.1, $thread, $o.2, $o.3, (uint64)0, $o.4, $o.5] = stats($waited * $o.6);
  }
  return $waited;
}
rawtracepoint:sched_switch {
  if (!IS_SEEN(args.next)) {
    $next = (uint32)args.next.pid;
    $left = @left[$next];
    if ($left && ($left & 1) == 0) { has_waited($next, $left) }
  }
  if (!args.preempt && (TASK_STATE & 3) == 1 && IN_SYSTEM_CALL && (FILTER)) {
    if (may_wait_for_lock((int64)ureg("orig_ax"))) {
      $thread = (uint32)curtask.pid;
      $now = (uint64)nsecs & 0xfffffffffffffff8;
      $left = @left[$thread];
      if ($left == 0 || ($left & 1)) {
        $is_seen = IS_SEEN(curtask);
        $each = $is_seen ? (uint64)1 : one_of();
        if ($is_seen && (uint64)($now - $left) < @period) {
          @left[$thread] = $now;
        } else if ((uint64)rand & ($each - 1)) {
          @left[$thread] = $now | 4;
        } else {
          @out[$thread] = ($now, pid, pcomm, comm, ustack, usym((uint64)ureg("di")), $each);
          note_sample();
          @left[$thread] = $now | 2;
        }
      }
    }
  }
}
RETURN /FILTER/ {
  if (may_wait_for_lock((int64)ureg("orig_ax"))) {
    $thread = (uint32)curtask.pid;
    $left = @left[$thread];
    if ($left && ($left & 1) == 0) {
      $waited = has_waited($thread, $left);
      if (($left & 6) == 0) {
        $times = stands_for($waited);
        if ($times) { @[pid, $thread, pcomm, comm, (uint64)0, ustack, usym((uint64)ureg("di"))] = stats($times) }
      }
    }
  }
}
end {
  $now = (uint64)nsecs;
  for ($kv : @left) {
    $left = $kv.1;
    if ($left & 2) {
      has_waited($kv.0, $left);
    } else if ($left && ($left & 1) == 0) {
      @unended++;
      @unended_ms += ($now - $left) / 1000000;
    }
  }
}
)",
     .leaves = "[waits for %]",
     .notes = waits_notes,
     .is_sampled = true,
     .least_period = 1 << 20},
    // Who wakes waiters had the lock until then, and is charged with the time that there were any since it was last given up.
    // Locks between processes (without FUTEX_PRIVATE_FLAG, 128) are taken to lie at the same address in all of them.
    {.name = "holder",
     .title = "Holding locks",
     .unit = "ns",
     .doc = "who lets others wait: the stack that gave up a lock or rang a condition, and how long it was waited for",
     .script = R"(
tracepoint:syscalls:sys_enter_futex /FILTER/ {
  $op = args.op & 127;
  $lock = (args.op & 128 ? pid : 0, (uint64)args.uaddr);
  if (WAITS) {
    if (@waiters[$lock] == 0) { @since[$lock] = nsecs }
    @waiters[$lock]++;
    @at[(uint32)curtask.pid] = $lock;
  } else if (@waiters[$lock] > 0) {
    @[pid, tid, pcomm, comm, kstack, ustack, usym((uint64)args.uaddr)] = stats(nsecs - @since[$lock]);
    @since[$lock] = nsecs;
  }
}
tracepoint:syscalls:sys_exit_futex {
  $thread = (uint32)curtask.pid;
  if (has_key(@at, $thread)) {
    $lock = @at[$thread];
    @waiters[$lock]--;
    if (@waiters[$lock] == 0) { delete(@waiters, $lock) }
    delete(@at, $thread);
  }
}
)",
     .leaves = "[lets wait for %]"},
    // A mutex is waited for twice: by spinning, and then asleep; that is one wait. A lock of an interrupt may be waited for while
    // its thread waits for another. The flags: LCB_F_SPIN 1, READ 2, WRITE 4, RT 8, PERCPU 16, MUTEX 32 of trace/events/lock.h.
    {.name = "klock",
     .title = "Waiting for locks of the kernel",
     .unit = "ns",
     .doc = "who waits for locks of the kernel, and for how long: on top the kind of lock; from Linux 5.19 on",
     .script = R"(
rawtracepoint:contention_begin /FILTER/ {
  $wait = ((uint64)curtask, (uint64)args.lock);
  if (args.flags & 1 || !(args.flags & 32) || !has_key(@wait, $wait)) {
    @wait[$wait] = (nsecs, kstack, ustack, (uint32)args.flags);
  }
}
rawtracepoint:contention_end /FILTER/ {
  $wait = ((uint64)curtask, (uint64)args.lock);
  if (has_key(@wait, $wait)) {
    $w = @wait[$wait];
    delete(@wait, $wait);
    $writes = $w.3 & 4 ? (uint32)1 : (uint32)0;
    $kind = $w.3 & 6 ? 5 + $writes : (uint32)7;
    if ($w.3 & 1) { $kind = $w.3 & 6 ? 3 + $writes : (uint32)1 }
    if ($w.3 & 8) { $kind = 2 }
    if ($w.3 & 32) { $kind = 0 }
    @[pid, tid, pcomm, comm, $w.1, $w.2, $kind] = stats(nsecs - $w.0);
  }
}
)",
     .leaves = "[waits for a mutex]|[waits for a spin lock]|[waits for an rt_mutex]|[waits for a rwlock, to read]|"
               "[waits for a rwlock, to write]|[waits for a rw_semaphore, to read]|[waits for a rw_semaphore, to write]|"
               "[waits for a semaphore]",
     .follows_threads = true,
     .needs = "lock:contention_begin",
     .since = "5.19"},
    // The kernel's faults count where it copies for the program; those of probes that read memory do not (pagefault_disabled).
    {.name = "faults",
     .title = "Page faults",
     .unit = "faults",
     .doc = "who touches memory for the first time",
     .script = R"(
rawtracepoint:page_fault_user /FILTER/ {
  $times = stands_for(1);
  if ($times) { @[pid, tid, pcomm, comm, kstack, ustack] = stats($times) }
}
rawtracepoint:page_fault_kernel /(uint64)curtask.pagefault_disabled == 0 && (FILTER)/ {
  $times = stands_for(1);
  if ($times) { @[pid, tid, pcomm, comm, kstack, ustack] = stats($times) }
}
)",
     .is_sampled = true,
     .needs = "exceptions:page_fault_user"},
    // Growth of the counter RssAnon, page by page: what was given back is not growth. Each 64 KiB of growth (a 2,048th of it from
    // 256 MiB on) is a level, at a random place in which the stack is taken that makes the process grow past it. When memory
    // is given back and grows again, the level belongs to whoever touched it last. `end` counts the levels below the last size.
    // A process that executes another program begins anew. What belongs to no current process is a new one's, as it is made.
    {.name = "alloc",
     .title = "Memory growth",
     .unit = "bytes",
     .doc = "who makes private memory grow, as it is touched: RssAnon at the end less that at the beginning, by stack",
     .script = R"(
let @level = hash(131072);
tracepoint:kmem:rss_stat /args.member == 1 && (FILTER)/ {
  $size = (uint64)args.size;
  if (!args.curr) {
    @made[args.mm_id] = $size;
  } else {
    if (!has_key(@since, pid) || @since[pid].0 != args.mm_id) {
      $start = $size > 4096 ? $size - 4096 : (uint64)0;
      $before = has_key(@made, args.mm_id) ? @made[args.mm_id] : @begun[pid];
      if (($before || has_key(@made, args.mm_id)) && $before < $size && $size - $before <= 2097152) { $start = $before }
      @since[pid] = (args.mm_id, $start);
      @levels[pid] = (uint64)0;
    }
    $start = @since[pid].1;
    $grown = $size > $start ? $size - $start : (uint64)0;
    $shift = (uint64)16;
    for ($octave : 0..24) {
      if ($grown >> ($shift + 12) == 0) { break; }
      $shift++;
    }
    $n = ($shift - 16) * 2048 + ($grown >> $shift);
    $place = ($n * 0x9e3779b97f4a7c15) >> (64 - $shift);
    if (($grown & (((uint64)1 << $shift) - 1)) >= $place) { $n++ }
    $levels = @levels[pid];
    if ($n != $levels) {
      @levels[pid] = $n;
      if ($n > $levels) { COUNT_LEVELS }
    }
  }
}
end {
  for ($kv : @level) {
    $n = $kv.0.1;
    if ($n < @levels[$kv.0.0]) {
      $l = $kv.1;
      $shift = $n < 4096 ? (uint64)16 : 15 + $n / 2048;
      @[$kv.0.0, $l.0, $l.1, $l.2, (uint64)0, $l.3] = stats((uint64)1 << $shift);
    }
  }
}
)",
     .is_state = true},
    // brk() tells where the heap ends now.
    {.name = "mapped",
     .title = "Memory asked of the kernel",
     .unit = "bytes",
     .doc = "who asks the kernel for private memory by brk() and mmap(), whether it is touched later or not",
     .script = R"(
tracepoint:syscalls:sys_enter_brk /args.brk && (FILTER)/ { @end[tid] = (uint64)curtask.mm.brk }
tracepoint:syscalls:sys_exit_brk {
  if (has_key(@end, tid)) {
    $end = @end[tid];
    delete(@end, tid);
    if ((uint64)args.ret > $end) { @[pid, tid, pcomm, comm, kstack, ustack, (uint32)0] = stats((uint64)args.ret - $end) }
  }
}
tracepoint:syscalls:sys_enter_mmap /(args.prot & 2) && (args.flags & 32) && (FILTER)/ { @length[tid] = (uint64)args.len }
tracepoint:syscalls:sys_exit_mmap {
  if (has_key(@length, tid)) {
    $length = @length[tid];
    delete(@length, tid);
    if (args.ret > 0) { @[pid, tid, pcomm, comm, kstack, ustack, (uint32)1] = stats($length) }
  }
}
)",
     .leaves = "[asked of brk]|[asked of mmap]"},
    // What was not given back is weighed at the end; another program that the process executes has none of it.
    {.name = "leaks",
     .title = "Memory not freed",
     .unit = "bytes",
     .doc = "what is allocated while the recording lasts, and not freed; of one process or a command, as `alloc --leaks` too",
     .script = R"(
tracepoint:sched:sched_process_exec /FILTER/ {
  for ($kv : @live) { if ($kv.0.0 == pid) { delete(@live, $kv.0) } }
}
end {
  for ($kv : @live) {
    $l = $kv.1;
    @[$kv.0.0, $l.0, $l.1, $l.2, (uint64)0, $l.3] = stats($l.4);
  }
}
)",
     .is_state = true,
     .allocator = AllocatorCalls::live},
    {.name = "allocated",
     .title = "Memory allocated",
     .unit = "bytes",
     .doc = "bytes requested from malloc and similar functions, whether freed later or not; for one process or a command",
     .script = "",
     .allocator = AllocatorCalls::allocated,
     .is_sampled = true,
     .least_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "freed",
     .title = "Memory freed",
     .unit = "bytes",
     .doc = "bytes freed, by the stack that frees them (with glibc the usable size of blocks); for one process or a command",
     .script = "",
     .allocator = AllocatorCalls::freed,
     .is_sampled = true,
     .least_period = 1 << 12,
     .duty_cycle = of_allocator},
    {.name = "io",
     .title = "Disk I/O",
     .unit = "bytes",
     .doc = "bytes asked of disks, by the stack that submits them",
     .script = R"(
rawtracepoint:block_bio_queue /FILTER/ {
  $times = stands_for((uint64)args.bio.bi_iter.bi_size);
  if ($times) { @[pid, tid, pcomm, comm, kstack, ustack, kind_of_io((uint32)args.bio.bi_opf & 255)] = stats($times) }
}
)",
     .leaves = io_kinds,
     .is_sampled = true},
    // Pieces of I/O end one by one (bio), or with the request that they were put into, which then still has them all.
    {.name = "iotime",
     .title = "Time of disk I/O",
     .unit = "ns",
     .doc = "how long disks take for what they are asked, from asking to the end, by the stack that asks",
     .script = R"(
rawtracepoint:block_bio_queue /FILTER/ {
  @asked[(uint64)args.bio] = (nsecs, pid, tid, pcomm, comm, kstack, ustack, kind_of_io((uint32)args.bio.bi_opf & 255));
}
rawtracepoint:block_rq_complete {
  $bio = args.rq.bio;
  for ($piece : 0..256) {
    if ((uint64)$bio == 0) { break; }
    $id = (uint64)$bio;
    $bio = $bio.bi_next;
    COUNT_ASKED
  }
}
rawtracepoint:block_bio_complete {
  $id = (uint64)args.bio;
  COUNT_ASKED
}
)",
     .leaves = io_kinds},
    // A folio of several pages becomes dirty as a whole; that it has several, PG_head tells, and their number stands in its second page.
    {.name = "dirty",
     .title = "File pages made dirty",
     .unit = "bytes",
     .doc = "who writes what goes to disk later: pages of files that become dirty; from Linux 5.18 on",
     .script = R"(
rawtracepoint:writeback_dirty_folio /FILTER/ {
  $order = (uint64)0;
  if (*(uint64*)kptr((uint64)args.folio) & ((uint64)1 << PG_head)) {
    if (has_field("struct folio", "_folio_order")) {
      $order = (uint64)args.folio._folio_order;
    } else {
      $order = (uint64)args.folio._flags_1 & 255;
    }
  }
  $times = stands_for((uint64)4096 << $order);
  if ($times) { @[pid, tid, pcomm, comm, kstack, ustack] = stats($times) }
}
)",
     .is_sampled = true,
     .needs = "writeback:writeback_dirty_folio",
     .since = "5.18"},
    // Calls that read and write, by their numbers on x86-64: read pread64 readv preadv preadv2, write pwrite64 writev pwritev
    // pwritev2, sendfile splice copy_file_range. What has a path counts: regular files and devices (i_mode). A name is known
    // by its dentry in a mount and by its hash, as dentries are used again; names are followed up to the root of the
    // namespace, once for each file. 0 stands for the files that there was no room for.
    {.name = "file",
     .title = "File I/O",
     .unit = "bytes",
     .doc = "bytes read from and written to files by system calls, cached or not: on top the file's path",
     .script = R"(
let @name = hash(20480);
let @io = lruhash(32768);
rawtracepoint:sys_exit
    /@each && (args.regs.orig_ax < 2 || args.regs.orig_ax > 16 && args.regs.orig_ax < 21 || args.regs.orig_ax == 40 ||
      args.regs.orig_ax > 274 && args.regs.orig_ax < 329) && args.ret > 0 && args.regs.cs == 51 && (FILTER)/ {
  $known = call_of_known_thread();
  $call = args.regs.orig_ax;
  $from = (int64)-1;
  $to = (int64)-1;
  if ($call == 0 || $call == 17 || $call == 19 || $call == 275 || $call == 295 || $call == 326 || $call == 327) {
    $from = (int64)args.regs.di;
  }
  if ($call == 40) { $from = (int64)args.regs.si }
  if ($call == 1 || $call == 18 || $call == 20 || $call == 296 || $call == 328) { $to = (int64)args.regs.di }
  if ($call == 40) { $to = (int64)args.regs.di }
  if ($call == 275 || $call == 326) { $to = (int64)args.regs.dx }
  for ($writes : 0..2) {
    $descriptor = $writes ? $to : $from;
    if ($descriptor < 0) { continue; }
    $file = *(curtask.files.fdt.fd + $descriptor);
    $type = $file.f_inode.i_mode & 0xf000;
    if ($type != 0x8000 && $type != 0x6000 && $type != 0x2000) { continue; }
    if ($known) { @guessed[pid] = sum(scaled((uint64)args.ret)) }
    if ($known == 2) { @files[pid] = sum((uint64)args.ret) }
    $times = stands_for(scaled((uint64)args.ret));
    if (!$times) { continue; }
    $dentry = $file.f_path.dentry;
    $mount = container_of($file.f_path.mnt, struct mount, mnt);
    $id = (uint64)$dentry * 31 + (uint64)$mount * 17 + $dentry.d_name.hash_len;
    $leaf = $id;
    if (!has_key(@name, $id)) {
      if (@names >= 16384) {
        $leaf = 0;
        @others++;
      } else {
        for ($level : 0..48) {
          $is_root = (uint64)$dentry == (uint64)$mount.mnt.mnt_root;
          if ($is_root && (uint64)$mount == (uint64)$mount.mnt_parent) { break; }
          $name = $is_root ? "" : str($dentry.d_name.name, 255);
          $dentry = $is_root ? $mount.mnt_mountpoint : $dentry.d_parent;
          if ($is_root) { $mount = $mount.mnt_parent }
          $above = (uint64)$dentry * 31 + (uint64)$mount * 17 + $dentry.d_name.hash_len;
          @name[$id] = ($above, $name);
          @names++;
          if (has_key(@name, $above)) { break; }
          $id = $above;
        }
      }
    }
    @[pid, tid, pcomm, comm, (uint64)0, ustack, $leaf, (uint32)$writes] = stats($times);
  }
}
)",
     .leaves = "[reads %]|[writes %]",
     .notes = "{others} reads and writes are told as of [other files]: there is room for 16384 names of files and folders\n",
     .paths = "name",
     .is_sampled = true,
     .duty_cycle = of_system_calls},
    // What goes through sockets of IPv4 and IPv6 (families 2 and 10), by any call; not what is only looked at (MSG_PEEK).
    {.name = "net",
     .title = "Network",
     .unit = "bytes",
     .doc = "bytes sent to and received from peers: on top the peer's address; from Linux 6.3 on",
     .script = R"(
rawtracepoint:sock_send_length,rawtracepoint:sock_recv_length /args.ret > 0 && !(args.flags & 2) && (FILTER)/ {
  $family = args.sk.__sk_common.skc_family;
  $times = $family == 2 || $family == 10 ? stands_for((uint64)args.ret) : 0;
  if ($times) {
    $receives = (uint32)(probe == "rawtracepoint:vmlinux:sock_recv_length");
    if ($family == 2) {
      $peer = ntop(args.sk.__sk_common.skc_daddr);
      @[pid, tid, pcomm, comm, kstack, ustack, $peer, $receives] = stats($times);
    } else {
      $peer6 = ntop(args.sk.__sk_common.skc_v6_daddr.in6_u.u6_addr8);
      @[pid, tid, pcomm, comm, kstack, ustack, $peer6, $receives] = stats($times);
    }
  }
}
)",
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
