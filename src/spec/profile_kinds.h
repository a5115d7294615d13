// The table of what `acu flame`, `acu record` and `acu report` can record: a script, and what its weights are.
//
// A script fills the map @ with stacks. Its key is (pid, tid, process name, thread name, kernel stack, user stack), and
// where `leaves` is not empty, at last a note that stands on top of the stack: the number of one of `leaves`, or a text or
// the address of a variable or of a peer for the % in it, with the number behind that where there are several. With `paths` the
// % is the path of a file: @PATHS has for each file and folder the one above it and its name. With `has_waker` the name of a
// thread is followed by its kernel stack, its user stack and its process, which are shown above the note, innermost
// first. Its value is a count, a sum of weights, or stats of weights. In the text FILTER is replaced by the condition
// for the processes asked for, TASK_STATE by the state of the current task, CLOCK by the time when the scheduler ran last,
// RATE by samples a second, WAITS by futex_waits.
// With `follows_allocations` the blocks of allocation_functions.h stand before the script.
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
  std::string_view notes = {};  // lines that are told if their first number, that of the map in {}, is not 0
  bool follows_allocations = false;
  std::string_view paths = {}; // the map of names of files
  bool has_waker = false;
  std::string_view needs = {}, since = {}; // a tracepoint, and the first kernel that has it where not all do
};

// Whether $op, a call of futex(2), waits: FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI, _LOCK_PI2 of linux/futex.h.
inline constexpr std::string_view futex_waits = "$op == 0 || $op == 6 || $op == 9 || $op == 11 || $op == 13";

// A wait of a thread that was followed by its times alone gets its stack. $queued: as the kernel counts it now.
inline constexpr std::string_view count_due = R"(
    $due = @due[$thread];
    $queued = $queued - $due.1;
    if ($due.3) { $queued = 0 }
    if ($queued > $due.0) { $queued = (uint64)$due.0 }
    $times = $due.0 < 1000000 ? (uint64)1000000 : $due.0;
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
    // How often a thread leaves its CPU decides what is done then. Of one that seldom does the stack is taken, and
    // kept in @out. Of one that was away less than a millisecond ago only the time is written to @left. When it is back and
    // was away for a millisecond or more, it is a sample; of the shorter waits one is, at a random place in each millisecond
    // of their sum (@waited, until @goal), and stands for that. Its kernel stack is had from outside, its user stack is as it
    // was when the system call ends or the thread leaves again: so this is not for who was away out of user code.
    //   The lowest bits of @left: 1 preempted, 2 in @out, 4 is back and to be counted (from @out and @back, or @due), 8 is
    // back. What it waited for the CPU, the kernel has counted by then. Who never comes back is counted at the end.
    {.name = "offcpu",
     .title = "Waiting",
     .unit = "ns",
     .doc = "what threads wait for, and for how long: [waiting], then in the [run queue]; or [preempted]",
     .script = R"(
let @left = hash(131072);
begin { @goal = (uint64)rand % 1000000 }
rawtracepoint:sched_switch {
  $now = CLOCK & 0xfffffffffffffff0;
  $next = (uint32)args.next.pid;
  $left = @left[$next];
  if ($left && ($left & 12) == 0) {
    $away = $now - $left;
    $is_sample = $away >= 1000000;
    if ($left & 2) {
      @back[$next] = $now;
      @left[$next] = $left | 4;
    } else {
      if (!$is_sample) {
        @waits++;
        @waited += $away;
        if (@waited > @goal) {
          $is_sample = true;
          @stands++;
          @goal = @stands * 1000000 + (uint64)rand % 1000000;
        }
      }
      @left[$next] = $left | 8;
    }
    if ($is_sample && ($left & 2) == 0) {
      @due[$next] = ($away, (uint64)args.next.sched_info.run_delay, task_kstack(args.next), (uint32)($left & 1) * 2);
      @expected++;
      @left[$next] = $left | 4;
    }
  }
  if (FILTER) {
    $thread = (uint32)curtask.pid;
    if ($thread) {
      $left = @left[$thread];
      $state = TASK_STATE;
      $preempted = (uint64)(args.preempt || $state == 0);
      $in_call = ($state & 3) == 1 && !$preempted || (uint64)curtask.mm == 0 || IN_SYSTEM_CALL;
      if ($in_call && ($left & 4) == 0 && $now - $left < 1000000 && ($state & 128) == 0) {
        @left[$thread] = $now | $preempted;
      } else {
        if ($left & 4) {
          $queued = (uint64)curtask.sched_info.run_delay;
          if ($left & 2) {
            $out = @out[$thread];
            $away = @back[$thread] - $out.0;
            $queued = $queued - $out.1;
            if ($out.6) { $queued = 0 }
            if ($queued > $away) { $queued = (uint64)$away }
            @[pid, $thread, $out.2, $out.3, $out.4, $out.5, $out.6] = stats($away - $queued);
            if ($queued) { @[pid, $thread, $out.2, $out.3, $out.4, $out.5, (uint32)1] = stats($queued) }
          } else { COUNT_DUE }
        }
        if ($state & 128) {
          if ($left) { delete(@left, $thread) }
        } else if ($in_call && $now - $left < 1000000) {
          @left[$thread] = $now | $preempted;
        } else {
          @out[$thread] = ($now, (uint64)curtask.sched_info.run_delay, pcomm, comm, kstack, ustack, (uint32)$preempted * 2, pid);
          @left[$thread] = $now | $preempted | 2;
        }
      }
    }
  }
}
rawtracepoint:sys_exit /@expected && (FILTER)/ {
  $thread = (uint32)curtask.pid;
  if (has_key(@due, $thread)) {
    $queued = (uint64)curtask.sched_info.run_delay;
    COUNT_DUE
    @left[$thread] = (@left[$thread] & 0xfffffffffffffffb) | 8;
  }
}
end {
  $now = CLOCK;
  for ($kv : @left) {
    $left = $kv.1;
    if ($left & 2) {
      $out = @out[$kv.0];
      $until = $left & 4 ? @back[$kv.0] : $now;
      if ($until > $out.0) { @[$out.7, $kv.0, $out.2, $out.3, $out.4, $out.5, $out.6] = stats($until - $out.0) }
    } else if (($left & 12) == 0 && $now > $left) {
      @unended++;
      @unended_ms += ($now - $left) / 1000000;
    }
  }
}
)",
     .leaves = "[waiting]|[run queue]|[preempted]",
     .notes = "{waits} waits shorter than a millisecond, of threads that wait often: {stands} have stacks, one in each "
              "millisecond of their sum\n"
              "{unended} threads that wait often were waiting at the end: {unended_ms} ms of that have no stacks, and are "
              "not counted\n"},
    {.name = "wakeup",
     .title = "Wake-ups",
     .unit = "wake-ups",
     .doc = "who wakes whom: the stack of the waker, and on top the thread that is woken",
     .script = "rawtracepoint:sched_wakeup /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack, str(args.p.comm)] = count() }\n",
     .leaves = "[wakes %]"},
    // Whether a wait is a sample is settled as it ends: all from a millisecond on, of the shorter ones one in each millisecond of
    // their sum, which stands for that. The waker then has its own stacks and the kernel stack of the waiter. The waiter's user
    // stack is as it was when the system call ends or the thread leaves again; of who waits in no system call it is taken as the
    // wait begins (@user). The lowest bits of @left: 1 is woken, 2 in @user.
    {.name = "offwake",
     .title = "Waiting, and who ended it",
     .unit = "ns",
     .doc = "what threads wait for, until they are woken, and above that the stack of who woke them; `offcpu --waker` too",
     .script = R"(
let @left = hash(131072);
begin { @goal = (uint64)rand % 1000000 }
rawtracepoint:sched_waking {
  $thread = (uint32)args.p.pid;
  $left = @left[$thread];
  if ($left && ($left & 1) == 0) {
    $away = (nsecs & 0xfffffffffffffff0) - $left;
    $is_sample = $away >= 1000000;
    $stands_for = $away;
    if (!$is_sample) {
      @waits++;
      @waited += $away;
      if (@waited > @goal) {
        $is_sample = true;
        $stands_for = (uint64)1000000;
        @stands++;
        @goal = @stands * 1000000 + (uint64)rand % 1000000;
      }
    }
    if ($is_sample) {
      @woken[$thread] = ($stands_for, task_kstack(args.p), comm, kstack, ustack, pid);
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
      if ((uint64)curtask.mm && !(IN_SYSTEM_CALL)) {
        @user[$thread] = ustack;
        $left = $left | 2;
      }
      @left[$thread] = $left;
    }
  }
}
rawtracepoint:sys_exit /@expected && (FILTER)/ {
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
     .notes = "{waits} waits shorter than a millisecond: {stands} have stacks, one in each millisecond of their sum\n"
              "{unended} threads were waiting at the end, and nobody had woken them: {unended_ms} ms of that are not counted\n",
     .has_waker = true},
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
     .needs = "lock:contention_begin",
     .since = "5.19"},
    {.name = "faults",
     .title = "Page faults",
     .unit = "faults",
     .doc = "who touches memory for the first time",
     .script = "software:page-faults:1 /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack]++ }\n"},
    // Of the resident set private and shared memory count, the pages of files do not. brk() tells where the heap ends now.
    {.name = "alloc",
     .title = "Memory growth",
     .unit = "bytes",
     .doc = "who makes memory grow: what is [asked of brk] and [asked of mmap], and once more when it is [touched]",
     .script = R"(
tracepoint:kmem:rss_stat /args.curr && (args.member == 1 || args.member == 3) && (FILTER)/ {
  $size = (uint64)args.size;
  $last = @size[args.mm_id, args.member];
  @size[args.mm_id, args.member] = $size;
  if ($last && $size > $last) { @[pid, tid, pcomm, comm, kstack, ustack, (uint32)2] = stats($size - $last) }
}
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
     .leaves = "[asked of brk]|[asked of mmap]|[touched]"},
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
     .follows_allocations = true},
    {.name = "io",
     .title = "Disk I/O",
     .unit = "bytes",
     .doc = "bytes asked of disks, by the stack that submits them",
     .script = "tracepoint:block:block_bio_queue /FILTER/ "
               "{ @[pid, tid, pcomm, comm, kstack, ustack] = stats((uint64)args.nr_sector * 512) }\n"},
    // Pieces of I/O end one by one (bio), or with the request that they were put into, which then still has them all.
    {.name = "iotime",
     .title = "Time of disk I/O",
     .unit = "ns",
     .doc = "how long disks take for what they are asked, from asking to the end, by the stack that asks",
     .script = R"(
rawtracepoint:block_bio_queue /FILTER/ {
  $operation = (uint32)args.bio.bi_opf & 255;
  if ($operation > 2) { $operation = 2 }
  @asked[(uint64)args.bio] = (nsecs, pid, tid, pcomm, comm, kstack, ustack, $operation);
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
     .leaves = "[reads from disk]|[writes to disk]|[flushes or discards]"},
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
  @[pid, tid, pcomm, comm, kstack, ustack] = stats((uint64)4096 << $order);
}
)",
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
rawtracepoint:sys_exit /args.ret > 0 && args.regs.cs == 51 && (FILTER)/ {
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
    @[pid, tid, pcomm, comm, (uint64)0, ustack, $leaf, (uint32)$writes] = stats((uint64)args.ret);
  }
}
)",
     .leaves = "[reads %]|[writes %]",
     .notes = "{others} reads and writes are told as of [other files]: there is room for 16384 names of files and folders\n",
     .paths = "name"},
    // What goes through sockets of IPv4 and IPv6 (families 2 and 10), by any call; not what is only looked at (MSG_PEEK).
    {.name = "net",
     .title = "Network",
     .unit = "bytes",
     .doc = "bytes sent to and received from peers: on top the peer's address; from Linux 6.3 on",
     .script = R"(
tracepoint:sock:sock_send_length /args.ret > 0 && (args.family == 2 || args.family == 10) && (FILTER)/ {
  if (args.family == 2) {
    $peer = ntop(((struct sock *)args.sk).__sk_common.skc_daddr);
    @[pid, tid, pcomm, comm, kstack, ustack, $peer, (uint32)0] = stats((uint64)args.ret);
  } else {
    $peer6 = ntop(((struct sock *)args.sk).__sk_common.skc_v6_daddr.in6_u.u6_addr8);
    @[pid, tid, pcomm, comm, kstack, ustack, $peer6, (uint32)0] = stats((uint64)args.ret);
  }
}
tracepoint:sock:sock_recv_length
    /args.ret > 0 && !(args.flags & 2) && (args.family == 2 || args.family == 10) && (FILTER)/ {
  if (args.family == 2) {
    $peer = ntop(((struct sock *)args.sk).__sk_common.skc_daddr);
    @[pid, tid, pcomm, comm, kstack, ustack, $peer, (uint32)1] = stats((uint64)args.ret);
  } else {
    $peer6 = ntop(((struct sock *)args.sk).__sk_common.skc_v6_daddr.in6_u.u6_addr8);
    @[pid, tid, pcomm, comm, kstack, ustack, $peer6, (uint32)1] = stats((uint64)args.ret);
  }
}
)",
     .leaves = "[sends to %]|[receives from %]",
     .needs = "sock:sock_send_length",
     .since = "6.3"},
};

constexpr const ProfileKind* find_profile_kind(std::string_view name) {
  for (const ProfileKind& k : profile_kinds)
    if (k.name == name) return &k;
  return nullptr;
}

} // namespace spec
