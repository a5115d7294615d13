// The table of what `acu flame`, `acu record` and `acu report` can record: a script, and what its weights are.
//
// A script fills the map @ with stacks. Its key is (pid, tid, process name, thread name, kernel stack, user stack), and
// where `leaves` is not empty, at last a note that stands on top of the stack: the number of one of `leaves`, or a text or
// the address of a variable for the % in it. Its value is a count, a sum of weights, or stats of weights. In the text
// FILTER is replaced by the condition for the processes asked for, RATE by samples a second, WAITS by futex_waits.
#pragma once

#include <string_view>

namespace spec {

struct ProfileKind {
  std::string_view name;
  std::string_view title;
  std::string_view unit; // of weights: "samples", "ns", "bytes", or what is counted
  std::string_view doc;
  std::string_view script;
  std::string_view leaves = {}; // notes by number, separated by '|'
  bool is_of_thread = false;    // what counts happens to a thread that is on its CPU: no key is met on two CPUs at a time
};

// Whether $op, a call of futex(2), waits: FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI, _LOCK_PI2 of linux/futex.h.
inline constexpr std::string_view futex_waits = "$op == 0 || $op == 6 || $op == 9 || $op == 11 || $op == 13";

inline constexpr ProfileKind profile_kinds[] = {
    {.name = "cpu",
     .title = "CPU",
     .unit = "samples",
     .doc = "where the processors are, sampled by their clock",
     .script = "profile:hz:RATE /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n",
     .is_of_thread = true},
    {.name = "cycles",
     .title = "CPU cycles",
     .unit = "samples",
     .doc = "the same, sampled by the processor's cycle counter",
     .script = "hardware:cycles:RATE /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n",
     .is_of_thread = true},
    // The stack is taken when a thread leaves its CPU, its time is known when it is back; in between it may have been woken.
    // Who never comes back is counted at the end.
    {.name = "offcpu",
     .title = "Waiting",
     .unit = "ns",
     .doc = "what threads wait for, and for how long: [waiting], then in the [run queue]; or [preempted]",
     .script = R"(
rawtracepoint:sched_switch {
  $next = (uint32)args.next.pid;
  if (has_key(@out, $next)) {
    $out = @out[$next];
    $now = nsecs;
    $woken = @woken[$next];
    if ($woken > $out.0) {
      @[$out.1, $next, $out.2, $out.3, $out.4, $out.5, $out.6] = stats($woken - $out.0);
      @[$out.1, $next, $out.2, $out.3, $out.4, $out.5, (uint32)1] = stats($now - $woken);
    } else {
      @[$out.1, $next, $out.2, $out.3, $out.4, $out.5, $out.6] = stats($now - $out.0);
    }
    delete(@out, $next);
  }
  if (FILTER) {
    if (curtask.pid) {
      $state = args.preempt || curtask.__state == 0 ? (uint32)2 : (uint32)0;
      @out[(uint32)curtask.pid] = (nsecs, pid, pcomm, comm, kstack, ustack, $state);
    }
  }
}
rawtracepoint:sched_wakeup { if (has_key(@out, (uint32)args.p.pid)) { @woken[(uint32)args.p.pid] = nsecs } }
end {
  for ($kv : @out) {
    $out = $kv.1;
    @[$out.1, $kv.0, $out.2, $out.3, $out.4, $out.5, $out.6] = stats(nsecs - $out.0);
  }
}
)",
     .leaves = "[waiting]|[run queue]|[preempted]"},
    {.name = "wakeup",
     .title = "Wake-ups",
     .unit = "wake-ups",
     .doc = "who wakes whom: the stack of the waker, and on top the thread that is woken",
     .script = "rawtracepoint:sched_wakeup /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack, str(args.p.comm)] = count() }\n",
     .leaves = "[wakes %]"},
    // Mutexes, condition variables, semaphores and joins all wait by futex(2). Who still waits is counted at the end.
    {.name = "lock",
     .title = "Waiting for locks",
     .unit = "ns",
     .doc = "who waits for which lock or condition, and for how long: on top the variable that was waited for",
     .script = R"(
tracepoint:syscalls:sys_enter_futex /FILTER/ {
  $op = args.op & 127;
  if (WAITS) {
    @wait[(uint32)curtask.pid] = (nsecs, pid, pcomm, comm, kstack, ustack, usym((uint64)args.uaddr));
  }
}
tracepoint:syscalls:sys_exit_futex {
  $thread = (uint32)curtask.pid;
  if (has_key(@wait, $thread)) {
    $w = @wait[$thread];
    @[$w.1, $thread, $w.2, $w.3, $w.4, $w.5, $w.6] = stats(nsecs - $w.0);
    delete(@wait, $thread);
  }
}
end {
  for ($kv : @wait) {
    $w = $kv.1;
    @[$w.1, $kv.0, $w.2, $w.3, $w.4, $w.5, $w.6] = stats(nsecs - $w.0);
  }
}
)",
     .leaves = "[waits for %]"},
    // Who wakes waiters had the lock until then, and is charged with the time that there were any since it was last given up.
    {.name = "holder",
     .title = "Holding locks",
     .unit = "ns",
     .doc = "who lets others wait: the stack that gave up a lock or rang a condition, and how long it was waited for",
     .script = R"(
tracepoint:syscalls:sys_enter_futex /FILTER/ {
  $op = args.op & 127;
  $lock = (pid, (uint64)args.uaddr);
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
    {.name = "faults",
     .title = "Page faults",
     .unit = "faults",
     .doc = "who touches memory for the first time",
     .script = "software:page-faults:1 /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n",
     .is_of_thread = true},
    {.name = "io",
     .title = "Disk I/O",
     .unit = "bytes",
     .doc = "bytes asked of disks, by the stack that submits them",
     .script = "tracepoint:block:block_bio_queue /FILTER/ "
               "{ @[pid, tid, pcomm, comm, kstack, ustack] = stats((uint64)args.nr_sector * 512) }\n"},
};

constexpr const ProfileKind* find_profile_kind(std::string_view name) {
  for (const ProfileKind& k : profile_kinds)
    if (k.name == name) return &k;
  return nullptr;
}

} // namespace spec
