// The table of what `acu slow` can wait for, and the probes that see it: in acu's own language, made into one script
// with those that follow waits (slow_waits).
//
// What has begun and not ended stands in @call, by the kernel's number of its thread (read_open_call of session/slow_records.h): when
// it began, the stack pointer then (of a function), how long it was off the CPU until now, and how much of that it was runnable.
// Records are told apart by their first number (SlowRecord). In the texts FILTER is replaced by the condition for the processes asked
// for, LEAST by the time in ns from which on something is slow, PART by that of a wait that is noted within a call, LEAST_OF by the
// one or the other as $thread is in a call or not, BEGIN and END by probes, COUNT_AWAY, TELL_DUE and TELL_ASKED by the pieces below.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

enum class SlowRecord : uint32_t { wait, wake, call, on_cpu, ran, io, turn, next };

struct SlowKind {
  std::string_view name;
  std::string_view asked_by; // words of the command line
  std::string_view script;
  bool has_waits = true;    // its thread waits itself
  bool is_dear = false;     // each call is probed by traps
  bool has_samples = false; // where it is on the CPU is sampled
};

// What a call costs whose entry and return are probed, by one link for both (0.8 us) or two (1 us); and whose entry alone is.
inline constexpr uint64_t slow_call_ns = 900, slow_entry_ns = 700;

// Waits of threads: from `left` until `back`. The lowest bits of @left: 1 preempted, 2 the user stack is in @user, as it is no
// system call that the thread waits in. A wait that is long enough is told when its thread goes on: as its system call ends, as it
// leaves again, gets a signal that ends it, or returns from the call that is slow; then its user stack is as it was. @owner: who has the mutex of glibc
// (nptl/pthread_mutex_t, behind its futex and count) when the wait for it begins. @ran: of each CPU the last 32 threads that had it for
// a quarter of a millisecond or more, so that who was runnable can be told who ran instead.
inline constexpr std::string_view slow_waits = R"(
rawtracepoint:sched_waking {
  $thread = (uint32)args.p.pid;
  $left = @left[$thread];
  if ($left) {
    $now = (uint64)nsecs;
    @woken[$thread] = $now;
    if ($now - $left >= LEAST_OF) {
      print(((uint32)1, $thread, $now, (uint32)pid, (uint32)tid, comm, kstack, ustack));
    }
  }
}
rawtracepoint:sched_switch {
  $now = (uint64)nsecs & 0xfffffffffffffff0;
  $ran = (uint64)curtask.se.sum_exec_runtime - (uint64)curtask.se.prev_sum_exec_runtime;
  if ($ran >= 250000 && curtask.pid) {
    $turn = @turn[(uint32)cpu];
    @turn[(uint32)cpu] = $turn + 1;
    @ran[(uint32)cpu * 32 + $turn % 32] = ($now, $ran, (uint32)pid, (uint32)tid, comm);
  }
  $thread = (uint32)args.next.pid;
  if ($thread) {
    $left = @left[$thread];
    if ($left) {
      $runnable = $left & 1 ? $left : @woken[$thread];
      $queued = $runnable >= $left && $runnable < $now ? $now - $runnable : (uint64)0;
      COUNT_AWAY
      if ($now - $left >= $least) {
        if ($queued >= 250000) {
          for ($i : 0..32) {
            $r = @ran[(uint32)cpu * 32 + (uint32)$i];
            if ($r.0 > $runnable) { print(((uint32)4, $thread, $r.2, $r.3, $r.4, $r.0, $r.1)) }
          }
        }
        @due[$thread] = ($left, $now, task_kstack(args.next), (uint32)pid, (uint32)tid, comm, $ran, (uint32)cpu, $start, $away, $in_queue);
        @expected++;
      }
      @left[$thread] = (uint64)0;
    }
  }
  if (FILTER) {
    $thread = (uint32)curtask.pid;
    if ($thread) {
      TELL_DUE
      if (TASK_STATE & 128) {
        delete(@left, $thread);
      } else {
        $left = $now | (uint64)(args.preempt || TASK_STATE == 0);
        if ((uint64)curtask.mm) {
          if (IN_SYSTEM_CALL) {
            if (ureg("orig_ax") == 202) {
              $op = ureg("si") & 127;
              if (WAITS) { @owner[$thread] = try(*(uint32*)uptr(ureg("di") + 8), (uint32)0) }
            }
          } else {
            @user[$thread] = ustack;
            $left = $left | 2;
          }
        }
        @left[$thread] = $left;
      }
    }
  }
}
rawtracepoint:sys_exit /@expected && (FILTER)/ {
  $thread = (uint32)curtask.pid;
  TELL_DUE
}
rawtracepoint:signal_deliver /@expected && (FILTER)/ {
  $thread = (uint32)curtask.pid;
  TELL_DUE
}
)";

// Within a call $thread gets the CPU again. Waits for one that are not told with a wait are told by themselves (SlowRecord::turn),
// so that who had it is known of all but the shortest.
inline constexpr std::string_view slow_count_away = R"(
      $call = @call[$thread];
      $start = $call.0;
      $away = $call.2 + ($now - $left);
      $in_queue = $call.3 + $queued;
      $least = (uint64)($start ? PART : LEAST);
      if ($start) {
        @call[$thread] = ($start, $call.1, $away, $in_queue);
        if ($queued >= 50000 && $now - $left < $least) {
          print(((uint32)6, $thread, $now, $queued, (uint32)pid, (uint32)tid, comm, $ran, (uint32)cpu));
        }
      }
)";

// The same where no call is followed.
inline constexpr std::string_view slow_no_calls = R"(
      $least = (uint64)LEAST;
      $start = (uint64)0;
      $away = (uint64)0;
      $in_queue = (uint64)0;
)";

inline constexpr std::string_view slow_tell_due = R"(
  if (has_key(@due, $thread)) {
    $due = @due[$thread];
    $number = IN_SYSTEM_CALL ? (int64)ureg("orig_ax") : (int64)-1;
    if ($due.0 & 2) {
      print(((uint32)0, $thread, (uint32)pid, (uint32)tid, comm, $due.0, @woken[$thread], $due.1, $number, ureg("di"), ureg("si"), ureg("dx"),
             ureg("r10"), ureg("r8"), ureg("r9"), @owner[$thread], $due.3, $due.4, $due.5, $due.6, $due.7, $due.8, $due.9, $due.10, $due.2, @user[$thread]));
    } else {
      print(((uint32)0, $thread, (uint32)pid, (uint32)tid, comm, $due.0, @woken[$thread], $due.1, $number, ureg("di"), ureg("si"), ureg("dx"),
             ureg("r10"), ureg("r8"), ureg("r9"), @owner[$thread], $due.3, $due.4, $due.5, $due.6, $due.7, $due.8, $due.9, $due.10, $due.2, ustack));
    }
    delete(@due, $thread);
    @expected--;
  }
)";

// With @looks threads that are in no call that is known are sampled too, one after so many ns.
inline constexpr std::string_view slow_samples = R"(
profile:hz:999 /FILTER/ {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  $now = (uint64)nsecs;
  $is_due = $call.0 ? $now - $call.0 >= PART : @looks && $now - @looked[$thread] >= @looks;
  if ($is_due) {
    if (@looks) { @looked[$thread] = $now }
    print(((uint32)3, $thread, (uint32)pid, (uint32)tid, comm, $now, $call.0, $call.2, $call.3, ustack));
  }
}
)";

// A thread ends in a call: in place of the number of a system call stands slow_ended.
inline constexpr int slow_ended = -2;
// Likewise where the function was left by an exception or longjmp.
inline constexpr int slow_left_by_exception = -3, slow_left_by_jump = -4;
inline constexpr std::string_view slow_landing = R"(
PROBES /FILTER/ {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  if ($call.0 && !@by_entries) {TARGET
    if ($sp > $call.1) {
      $now = (uint64)nsecs;
      @call[$thread] = ((uint64)0, (uint64)0, (uint64)0, (uint64)0);
      if ($now - $call.0 >= LEAST) {
        TELL_DUE
        print(((uint32)2, $thread, (uint32)pid, (uint32)tid, comm, $call.0, $now, $call.2, $call.3, (int64)HOW, (int64)0, (uint64)0, (uint64)0,
               (uint64)0, (uint64)0, (uint64)0, (uint64)0, ustack));
      }
    }
  }
}
)";
inline constexpr std::string_view slow_ends = R"(
rawtracepoint:sched_process_exit {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  if ($call.0) {
    $now = (uint64)nsecs;
    delete(@call, $thread);
    if ($now - $call.0 >= LEAST) {
      print(((uint32)2, $thread, (uint32)pid, (uint32)tid, comm, $call.0, $now, $call.2, $call.3, (int64)ENDED, (int64)0, (uint64)0, (uint64)0, (uint64)0,
             (uint64)0, (uint64)0, (uint64)0, ustack));
    }
  }
}
)";

// A piece of disk I/O has ended. $issued: when its device got it; 0: not known.
inline constexpr std::string_view slow_tell_asked = R"(
    if (has_key(@asked, $id)) {
      $a = @asked[$id];
      $now = (uint64)nsecs;
      delete(@asked, $id);
      if ($now - $a.0 >= LEAST) { print(((uint32)5, $a.1, $a.2, $a.3, $a.4, $a.0, $issued, $now, $a.5, $a.6, $a.7, $a.8, $a.9, $a.10)) }
    }
)";

inline constexpr SlowKind slow_kinds[] = {
    // Of calls within calls of the same function the outermost counts: its stack pointer is the highest. One that was left by an
    // exception or longjmp ends as that lands (slow_landing); where that is not seen it is forgotten when the next is made from above
    // it. With @by_entries returns are not probed, and the
    // last call is the one that is known: as the next is made, the one before is over (SlowRecord::next); with @looks also one that
    // began before entries were probed.
    {.name = "function",
     .asked_by = "[FILE:]FUNCTION",
     .script = R"(
BEGIN /FILTER/ {
  $thread = (uint32)curtask.pid;
  $sp = (uint64)reg("sp");
  @calls++;
  $call = @call[$thread];
  if ($sp >= $call.1 || @by_entries) {
    $now = (uint64)nsecs;
    if (@by_entries && ($call.0 ? $now - $call.0 >= LEAST : @looks != 0)) { print(((uint32)7, $thread, $call.0 ? $call.0 : $now)) }
    @call[$thread] = ($now, $sp, (uint64)0, (uint64)0);
  }
}
END {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  if ($call.0 && (uint64)reg("sp") > $call.1) {
    $now = (uint64)nsecs;
    @call[$thread] = ((uint64)0, (uint64)0, (uint64)0, (uint64)0);
    if ($now - $call.0 >= LEAST) {
      TELL_DUE
      print(((uint32)2, $thread, (uint32)pid, (uint32)tid, comm, $call.0, $now, $call.2, $call.3, (int64)-1, (int64)0, (uint64)0, (uint64)0, (uint64)0,
             (uint64)0, (uint64)0, (uint64)0, ustack));
    }
  }
}
)",
     .is_dear = true,
     .has_samples = true},
    {.name = "between",
     .asked_by = "PROBE PROBE",
     .script = R"(
BEGIN /FILTER/ {
  @calls++;
  @call[(uint32)curtask.pid] = ((uint64)nsecs, (uint64)0, (uint64)0, (uint64)0);
}
END {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  if ($call.0) {
    $now = (uint64)nsecs;
    @call[$thread] = ((uint64)0, (uint64)0, (uint64)0, (uint64)0);
    if ($now - $call.0 >= LEAST) {
      TELL_DUE
      print(((uint32)2, $thread, (uint32)pid, (uint32)tid, comm, $call.0, $now, $call.2, $call.3, (int64)-1, (int64)0, (uint64)0, (uint64)0, (uint64)0,
             (uint64)0, (uint64)0, (uint64)0, ustack));
    }
  }
}
)",
     .has_samples = true},
    {.name = "syscall",
     .asked_by = "syscalls|syscall:NAME[,NAME…]",
     .script = R"(
rawtracepoint:sys_enter /IS_WANTED && (FILTER)/ {
  @calls++;
  @call[(uint32)curtask.pid] = ((uint64)nsecs, (uint64)0, (uint64)0, (uint64)0);
}
rawtracepoint:sys_exit {
  $thread = (uint32)curtask.pid;
  $call = @call[$thread];
  if ($call.0) {
    $now = (uint64)nsecs;
    @call[$thread] = ((uint64)0, (uint64)0, (uint64)0, (uint64)0);
    if ($now - $call.0 >= LEAST) {
      $r = args.regs;
      print(((uint32)2, $thread, (uint32)pid, (uint32)tid, comm, $call.0, $now, $call.2, $call.3, (int64)$r->orig_ax, (int64)args.ret, (uint64)$r->di,
             (uint64)$r->si, (uint64)$r->dx, (uint64)$r->r10, (uint64)$r->r8, (uint64)$r->r9, ustack));
    }
  }
}
)"},
    // Pieces end one by one (bio), or with the request that they were put into, which then still has them all. Before 5.12 it is not
    // known of which device a piece is.
    {.name = "io",
     .asked_by = "io",
     .script = R"(
rawtracepoint:block_bio_queue /FILTER/ {
  $device = (uint32)0;
  if (has_field("struct bio", "bi_bdev")) { $device = (uint32)args.bio.bi_bdev.bd_dev }
  @calls++;
  @asked[(uint64)args.bio] = ((uint64)nsecs, (uint32)curtask.pid, (uint32)pid, (uint32)tid, comm, (uint32)args.bio.bi_opf & 255, $device,
                              (uint64)args.bio.bi_iter.bi_sector, (uint32)args.bio.bi_iter.bi_size, kstack, ustack);
}
rawtracepoint:block_rq_issue { @issued[(uint64)args.rq] = (uint64)nsecs }
rawtracepoint:block_rq_complete {
  $bio = args.rq.bio;
  $issued = @issued[(uint64)args.rq];
  delete(@issued, (uint64)args.rq);
  for ($piece : 0..256) {
    if ((uint64)$bio == 0) { break; }
    $id = (uint64)$bio;
    $bio = $bio.bi_next;
    TELL_ASKED
  }
}
rawtracepoint:block_bio_complete {
  $id = (uint64)args.bio;
  $issued = (uint64)0;
  TELL_ASKED
}
)",
     .has_waits = false},
};

constexpr const SlowKind* find_slow_kind(std::string_view name) {
  for (const SlowKind& k : slow_kinds)
    if (k.name == name) return &k;
  return nullptr;
}

} // namespace spec
