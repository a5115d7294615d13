// The providers of DTrace and the probes of acu that stand for theirs. Adding a probe is a row here; documentation and `-l` read it.
#pragma once

#include "base/text_table.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace dlang {

// A probe with a fixed name. `condition` and the members of its args[] are expressions of acu's language.
struct FixedProbe {
  std::string_view provider, name;
  std::string_view place;          // acu's probes, separated by spaces
  std::string_view condition = {}; // or empty
  std::string_view arguments = {}; // the translators of args[0], args[1], …, separated by spaces; `-` for those that are not there
};
using FixedProbeTable = base::TextTable<FixedProbe, &FixedProbe::provider, &FixedProbe::name, &FixedProbe::place, &FixedProbe::condition, &FixedProbe::arguments>;

namespace written {
inline constexpr FixedProbe fixed_probes[] = {
    {"dtrace", "BEGIN", "begin"},
    {"dtrace", "END", "end"},
    {"dtrace", "ERROR", {}}, // runs among the clauses of others; see lower_faults.cc

    {"proc", "create", "rawtracepoint:sched_process_fork", "args.child.tgid != args.parent.tgid", "created"},
    {"proc", "exec", "tracepoint:syscalls:sys_enter_execve", {}, "exec_path"},
    {"proc", "exec-success", "tracepoint:sched:sched_process_exec"},
    {"proc", "exec-failure", "tracepoint:syscalls:sys_exit_execve", "(int64)args.ret < 0", "exec_error"},
    {"proc", "start", "kprobe:schedule_tail", "pid == tid"},
    {"proc", "lwp-start", "kprobe:schedule_tail"},
    {"proc", "exit", "tracepoint:sched:sched_process_exit", "pid == tid", "exit_reason"},
    {"proc", "lwp-exit", "tracepoint:sched:sched_process_exit"},
    {"proc", "lwp-create", "rawtracepoint:sched_process_fork", {}, "created created"},
    {"proc", "signal-send", "rawtracepoint:signal_generate", {}, "signal_to signal_to signal_number"},
    {"proc", "signal-handle", "tracepoint:signal:signal_deliver", {}, "signal_number"},

    {"sched", "off-cpu", "rawtracepoint:sched_switch", {}, "switch_next switch_next"},
    {"sched", "on-cpu", "kprobe:finish_task_switch*"},
    {"sched", "sleep", "rawtracepoint:sched_switch", "!args.preempt && (has_field(\"struct task_struct\", \"__state\") ? args.prev.__state : args.prev.state) != 0", "current current"}, // since Linux 5.14
    {"sched", "preempt", "rawtracepoint:sched_switch", "args.preempt"},
    {"sched", "wakeup", "rawtracepoint:sched_waking", {}, "woken woken"},
    {"sched", "enqueue", "rawtracepoint:sched_wakeup", {}, "woken woken chosen_cpu"},

    {"io", "start", "tracepoint:block:block_rq_issue", {}, "bufinfo devinfo fileinfo"},
    {"io", "done", "tracepoint:block:block_rq_complete", {}, "bufinfo devinfo fileinfo"},
    {"io", "wait-start", "kprobe:io_schedule kprobe:io_schedule_timeout"},
    {"io", "wait-done", "kretprobe:io_schedule kretprobe:io_schedule_timeout"},

    {"tcp", "state-change", "tracepoint:sock:inet_sock_set_state", "args.protocol == 6", "- csinfo - tcpsinfo - tcplsinfo"},
    {"tcp", "connect-request", "tracepoint:sock:inet_sock_set_state", "args.protocol == 6 && args.newstate == 2", "- csinfo sent_ip tcpsinfo sent_tcp"},
    {"tcp", "connect-established", "tracepoint:sock:inet_sock_set_state", "args.protocol == 6 && args.oldstate == 2 && args.newstate == 1",
     "- csinfo received_ip tcpsinfo received_tcp"},
    {"tcp", "connect-refused", "tracepoint:sock:inet_sock_set_state", "args.protocol == 6 && args.oldstate == 2 && args.newstate == 7",
     "- csinfo received_ip tcpsinfo received_tcp"},
    {"tcp", "accept-established", "tracepoint:sock:inet_sock_set_state", "args.protocol == 6 && args.oldstate == 3 && args.newstate == 1",
     "- csinfo received_ip tcpsinfo received_tcp"},

    {"lockstat", "adaptive-block", "tracepoint:lock:contention_begin", "(args.flags & 1) == 0"},
    {"lockstat", "spin-spin", "tracepoint:lock:contention_begin", "(args.flags & 1) != 0"},
    {"lockstat", "rw-block", "tracepoint:lock:contention_begin", "(args.flags & 6) != 0"},

    {"sdt", "interrupt-start", "tracepoint:irq:irq_handler_entry"},
    {"sdt", "interrupt-complete", "tracepoint:irq:irq_handler_exit"},

    // arg0 is by how much the counter grows.
    {"sysinfo", "readch", "tracepoint:syscalls:sys_exit_read tracepoint:syscalls:sys_exit_readv tracepoint:syscalls:sys_exit_pread64 tracepoint:syscalls:sys_exit_preadv", "(int64)args.ret > 0", "moved"},
    {"sysinfo", "writech", "tracepoint:syscalls:sys_exit_write tracepoint:syscalls:sys_exit_writev tracepoint:syscalls:sys_exit_pwrite64 tracepoint:syscalls:sys_exit_pwritev", "(int64)args.ret > 0", "moved"},
    {"sysinfo", "sysread", "tracepoint:syscalls:sys_enter_read tracepoint:syscalls:sys_enter_readv tracepoint:syscalls:sys_enter_pread64 tracepoint:syscalls:sys_enter_preadv", {}, "one"},
    {"sysinfo", "syswrite", "tracepoint:syscalls:sys_enter_write tracepoint:syscalls:sys_enter_writev tracepoint:syscalls:sys_enter_pwrite64 tracepoint:syscalls:sys_enter_pwritev", {}, "one"},
    {"sysinfo", "sysexec", "tracepoint:sched:sched_process_exec", {}, "one"},
    {"sysinfo", "sysfork", "rawtracepoint:sched_process_fork", "args.child.tgid != args.parent.tgid", "one"},
    {"sysinfo", "sysvfork", "tracepoint:syscalls:sys_enter_vfork", {}, "one"},
    {"sysinfo", "nthreads", "rawtracepoint:sched_process_fork", "args.child.tgid == args.parent.tgid", "one"},
    {"sysinfo", "pswitch", "rawtracepoint:sched_switch", {}, "one"},
    {"sysinfo", "inv_swtch", "rawtracepoint:sched_switch", "args.preempt", "one"},
    {"sysinfo", "xcalls", "kprobe:smp_call_function_single kprobe:smp_call_function_many_cond*", {}, "one"},

    {"vminfo", "as_fault", "software:page-faults:1", {}, "one"},
    {"vminfo", "maj_fault", "software:major-faults:1", {}, "one"},
    {"vminfo", "pgin", "tracepoint:block:block_rq_issue", "strcontains(args.rwbs, \"R\")", "one"},
    {"vminfo", "pgout", "tracepoint:block:block_rq_issue", "strcontains(args.rwbs, \"W\")", "one"},
    {"vminfo", "pgpgin", "tracepoint:block:block_rq_issue", "strcontains(args.rwbs, \"R\")", "block_pages"},
    {"vminfo", "pgpgout", "tracepoint:block:block_rq_issue", "strcontains(args.rwbs, \"W\")", "block_pages"},
    {"vminfo", "scan", "tracepoint:vmscan:mm_vmscan_lru_isolate", {}, "scanned"},
};
} // namespace written
inline constexpr FixedProbeTable fixed_probes = FixedProbeTable::of<written::fixed_probes>();

// System calls that Solaris names otherwise.
struct RenamedCall {
  std::string_view theirs, name;
};
using RenamedCallTable = base::TextTable<RenamedCall, &RenamedCall::theirs, &RenamedCall::name>;
namespace written {
inline constexpr RenamedCall renamed_calls[] = {
    {"exece", "execve"}, {"rexit", "exit_group"}, {"open64", "open"}, {"creat64", "creat"}, {"pread", "pread64"}, {"pwrite", "pwrite64"}, {"fork1", "fork"}, {"sigaction", "rt_sigaction"},
};
} // namespace written
inline constexpr RenamedCallTable renamed_calls = RenamedCallTable::of<written::renamed_calls>();

// Providers with probes that are made of names, and those that are refused.
struct Provider {
  std::string_view name;
  std::string_view support;      // "yes", "partly", "no"
  std::string_view place = {};   // what stands for it
  std::string_view remark = {};  // what differs; of a refused one the nearest thing
};
using ProviderTable = base::TextTable<Provider, &Provider::name, &Provider::support, &Provider::place, &Provider::remark>;

namespace written {
inline constexpr Provider providers[] = {
    {"dtrace", "yes", "begin, end", "BEGIN, END and ERROR: a clause ends where memory cannot be read, or a divisor is 0; arg3 of ERROR (an offset) is -1"},
    {"syscall", "yes", "tracepoint:raw_syscalls:sys_enter, sys_exit", "names are those of Linux; arg0 and arg1 of `return` are the result, or -1 with errno set"},
    {"profile", "yes", "profile", "`profile-N`: on every CPU; arg0 and arg1 are the addresses in the kernel and in the program"},
    {"tick", "yes", "interval", "`tick-N` is a probe of the provider profile"},
    {"pid", "yes", "uprobe, uretprobe", "entry, return and offsets; every instruction of a function (an empty name) is refused"},
    {"fbt", "partly", "kprobe, kretprobe", "as far as the kernel allows; arg0 of `return` (the place) is not available, arg1 is the result"},
    {"usdt", "yes", "usdt", "`name$target:::probe`; `-` in names is `__` in programs; `python*:::function-entry` without -p and -c: in all programs that run now"},
    {"sdt", "partly", "tracepoint", "`sdt:CATEGORY::EVENT`: the kernel's tracepoints, whose fields are args.NAME; without a category those that have names in DTrace"},
    {"rawtp", "yes", "rawtracepoint", "`rawtp:::EVENT`: arg0 … are what the kernel's code passes at the tracepoint; a category in front is ignored"},
    {"proc", "partly", "sched, signal and exec tracepoints"},
    {"sched", "partly", "sched tracepoints, finish_task_switch"},
    {"io", "partly", "block tracepoints", "requests as the device gets them: fi_pathname is <none>, since several files may be in one request"},
    {"tcp", "partly", "sock:inet_sock_set_state", "state changes and connections; no probe for each segment"},
    {"lockstat", "partly", "lock:contention_begin", "only the beginning of waits, on Linux 5.19 and later"},
    {"vminfo", "partly", "software events, block and vmscan tracepoints", "arg0 is by how much the counter grows; pages that are read and written are those of requests to disks"},
    {"sysinfo", "partly", "syscalls and sched tracepoints", "arg0 is by how much the counter grows; other counters are those of Solaris, and `acu stat` counts the kernel's events"},
    {"udp", "no", {}, "probe fbt::udp_sendmsg:entry and fbt::udp_recvmsg:entry"},
    {"ip", "no", {}, "probe fbt::ip_output:entry and fbt::ip_rcv:entry"},
    {"fpuinfo", "no", {}, "it is for SPARC"},
    {"mib", "no", {}, "its counters are those of Solaris; read /proc/net/snmp"},
    {"plockstat", "no", {}, "`acu flame lock` shows waits for locks of programs"},
    {"cpc", "no", {}, "`hardware:cycles:1000000` in a script of acu's own language samples the CPU's counters"},
    {"nfsv3", "no", {}, "probe the kernel's functions with fbt, or tracepoints with sdt:nfsd::"},
    {"nfsv4", "no", {}, "probe the kernel's functions with fbt, or tracepoints with sdt:nfsd::"},
    {"iscsi", "no", {}, "probe the kernel's tracepoints with sdt:scsi::"},
    {"srp", "no", {}, "probe the kernel's functions with fbt"},
    {"fasttrap", "no", {}, "probe functions with pid"},
    {"vfs", "no", {}, "probe fbt::vfs_read:entry and the like"},
    {"hotspot", "yes", "usdt", "in programs that have the probes"},
};
} // namespace written
inline constexpr ProviderTable providers = ProviderTable::of<written::providers>();

// A member of what args[] or curpsinfo point to: an expression of acu's language.
struct Member {
  std::string_view translator, name;
  char type; // i: int, u: uint64, l: int64, w: uint32, s: text, p: pointer, d, D: the number of a device, printed as its name or path
  std::string_view expression;
};
using MemberTable = base::TextTable<Member, &Member::translator, &Member::name, &Member::expression>;

namespace written {
inline constexpr Member members[] = {
    {"curpsinfo", "pr_pid", 'i', "pid"},
    {"curpsinfo", "pr_ppid", 'i', "ppid"},
    {"curpsinfo", "pr_uid", 'w', "uid"},
    {"curpsinfo", "pr_euid", 'w', "uid"},
    {"curpsinfo", "pr_gid", 'w', "gid"},
    {"curpsinfo", "pr_egid", 'w', "gid"},
    {"curpsinfo", "pr_fname", 's', "leader_comm"},
    {"curpsinfo", "pr_psargs", 's', "d_arguments()"},
    {"curpsinfo", "pr_nlwp", 'i', "curtask.signal.nr_threads"},
    {"curpsinfo", "pr_pgid", 'i', "curtask.signal.pids[2].numbers[0].nr"},
    {"curpsinfo", "pr_sid", 'i', "curtask.signal.pids[3].numbers[0].nr"},
    {"curpsinfo", "pr_zoneid", 'i', "0"},
    {"curpsinfo", "pr_taskid", 'i', "0"},
    {"curpsinfo", "pr_projid", 'i', "0"},
    {"curpsinfo", "pr_poolid", 'i', "0"},
    {"curpsinfo", "pr_dmodel", 'i', "try(curtask.mm.task_size, (uint64)-1) > 0xffffffff ? 2 : 1"}, // PR_MODEL_LP64, PR_MODEL_ILP32
    {"curpsinfo", "pr_addr", 'u', "(uint64)curtask.group_leader"},
    {"curlwpsinfo", "pr_addr", 'u', "(uint64)curtask"},
    {"curlwpsinfo", "pr_lwpid", 'i', "tid"},
    {"curlwpsinfo", "pr_pri", 'i', "curtask.prio"},
    {"curlwpsinfo", "pr_onpro", 'i', "cpu"},
    {"curlwpsinfo", "pr_clname", 's', "curtask.policy == 1 ? \"FF\" : curtask.policy == 2 ? \"RR\" : curtask.policy == 3 ? \"B\" : curtask.policy == 5 ? \"IDL\" : curtask.policy == 6 ? \"DLN\" : \"TS\""}, // as ps prints them
    {"curcpu", "cpu_id", 'i', "cpu"},

    // Of fds[fd].
    {"fds", "fi_name", 's', "d_basename(d_file_path(fd))"},
    {"fds", "fi_dirname", 's', "d_dirname(d_file_path(fd))"},
    {"fds", "fi_pathname", 's', "d_file_path(fd)"},
    {"fds", "fi_offset", 'l', "d_file_offset(fd)"},
    {"fds", "fi_fs", 's', "d_file_system(fd)"},
    {"fds", "fi_mount", 's', "d_file_mount(fd)"},
    {"fds", "fi_oflags", 'i', "d_file_flags(fd)"},

    {"current", "pr_lwpid", 'i', "tid"},
    {"current", "pr_pid", 'i', "pid"},
    {"current", "pr_fname", 's', "comm"},
    {"created", "pr_lwpid", 'i', "args.child.pid"},
    {"created", "pr_pid", 'i', "args.child.tgid"},
    {"created", "pr_fname", 's', "comm"},
    {"created", "pr_ppid", 'i', "args.parent.tgid"},
    {"signal_to", "pr_pid", 'i', "args.task.tgid"},
    {"signal_to", "pr_lwpid", 'i', "args.task.pid"},
    {"signal_to", "pr_fname", 's', "args.task.group_leader.comm"},
    {"switch_next", "pr_lwpid", 'i', "args.next.pid"},
    {"switch_next", "pr_pid", 'i', "args.next.tgid"},
    {"switch_next", "pr_pri", 'i', "args.next.prio"},
    {"switch_next", "pr_fname", 's', "args.next.comm"},
    {"woken", "pr_lwpid", 'i', "args.p.pid"},
    {"woken", "pr_pid", 'i', "args.p.tgid"},
    {"woken", "pr_pri", 'i', "args.p.prio"},
    {"woken", "pr_fname", 's', "args.p.comm"},
    {"chosen_cpu", "cpu_id", 'i', "args.p.wake_cpu"},
    // Of single values the member has no name: args[0] itself.
    {"exec_path", "", 's', "str(args.filename)"},
    {"exec_error", "", 'i', "-(int64)args.ret"},
    {"exit_reason", "", 'i', "(curtask.exit_code & 0x7f) == 0 ? 1 : (curtask.exit_code & 0x80) != 0 ? 3 : 2"},
    {"signal_number", "", 'i', "args.sig"},
    {"one", "", 'l', "1"},
    {"moved", "", 'l', "args.ret"},
    {"block_pages", "", 'l', "(args.nr_sector + 7) / 8"},
    {"scanned", "", 'l', "args.nr_scanned"},

    {"bufinfo", "b_bcount", 'u', "args.nr_sector * 512"},
    {"bufinfo", "b_blkno", 'u', "args.sector"},
    {"bufinfo", "b_lblkno", 'u', "args.sector"},
    {"bufinfo", "b_edev", 'w', "args.dev"},
    {"bufinfo", "b_flags", 'i', "strcontains(args.rwbs, \"R\") ? 64 : strcontains(args.rwbs, \"W\") ? 256 : 0"},
    {"devinfo", "dev_major", 'i', "args.dev >> 20"},
    {"devinfo", "dev_minor", 'i', "args.dev & 0xfffff"},
    {"devinfo", "dev_instance", 'i', "args.dev & 0xfffff"},
    {"devinfo", "dev_statname", 'd', "args.dev"},
    {"devinfo", "dev_pathname", 'D', "args.dev"},
    {"fileinfo", "fi_pathname", 's', "\"<none>\""},
    {"fileinfo", "fi_name", 's', "\"<none>\""},
    {"fileinfo", "fi_dirname", 's', "\"<none>\""},
    {"fileinfo", "fi_fs", 's', "\"<none>\""},
    {"fileinfo", "fi_mount", 's', "\"<none>\""},

    {"tcpsinfo", "tcps_lport", 'i', "args.sport"},
    {"tcpsinfo", "tcps_rport", 'i', "args.dport"},
    {"tcpsinfo", "tcps_laddr", 's', "args.family == 10 ? ntop(args.saddr_v6) : ntop(args.saddr)"},
    {"tcpsinfo", "tcps_raddr", 's', "args.family == 10 ? ntop(args.daddr_v6) : ntop(args.daddr)"},
    {"tcpsinfo", "tcps_state", 'i', "args.newstate"},
    {"tcplsinfo", "tcps_state", 'i', "args.oldstate"},
    // Of a packet that was sent, and of one that was received: its source is the other host.
    {"sent_ip", "ip_saddr", 's', "args.family == 10 ? ntop(args.saddr_v6) : ntop(args.saddr)"},
    {"sent_ip", "ip_daddr", 's', "args.family == 10 ? ntop(args.daddr_v6) : ntop(args.daddr)"},
    {"sent_ip", "ip_ver", 'i', "args.family == 10 ? 6 : 4"},
    {"sent_tcp", "tcp_sport", 'i', "args.sport"},
    {"sent_tcp", "tcp_dport", 'i', "args.dport"},
    {"received_ip", "ip_saddr", 's', "args.family == 10 ? ntop(args.daddr_v6) : ntop(args.daddr)"},
    {"received_ip", "ip_daddr", 's', "args.family == 10 ? ntop(args.saddr_v6) : ntop(args.saddr)"},
    {"received_ip", "ip_ver", 'i', "args.family == 10 ? 6 : 4"},
    {"received_tcp", "tcp_sport", 'i', "args.dport"},
    {"received_tcp", "tcp_dport", 'i', "args.sport"},
    {"csinfo", "cs_pid", 'i', "pid"},
};
} // namespace written
inline constexpr MemberTable members = MemberTable::of<written::members>();

// Builtin variables, as expressions of acu's language. Those that depend on the probe are in lower_names.cc.
namespace written {
inline constexpr Member variables[] = {
    {"", "pid", 'i', "pid"},
    {"", "ppid", 'i', "ppid"},
    {"", "tid", 'i', "tid"},
    {"", "uid", 'w', "uid"},
    {"", "euid", 'w', "uid"},
    {"", "gid", 'w', "gid"},
    {"", "execname", 's', "comm"},
    {"", "execargs", 's', "d_arguments()"},
    {"", "cpu", 'i', "cpu"},
    {"", "timestamp", 'u', "nsecs(monotonic)"},
    {"", "vtimestamp", 'u', "curtask.se.sum_exec_runtime"},
    {"", "walltimestamp", 'u', "nsecs(tai)"},
    {"", "curthread", 'p', "curtask"},
    {"", "cwd", 's', "d_path(curtask.fs.pwd.dentry, curtask.fs.pwd.mnt)"},
    {"", "root", 's', "d_path(curtask.fs.root.dentry, curtask.fs.root.mnt)"},
    {"", "zonename", 's', "\"global\""},
    {"", "stackdepth", 'w', "len(kstack)"},
    {"", "ustackdepth", 'w', "len(ustack)"},
};
} // namespace written
inline constexpr MemberTable variables = MemberTable::of<written::variables>();

// Constants of DTrace's own libraries; those of C headers (SIGKILL, ENOENT, O_CREAT) are in spec/numbers.h.
struct Constant {
  std::string_view name;
  int32_t value;
};
using ConstantTable = base::TextTable<Constant, &Constant::name>;
namespace written {
inline constexpr Constant constants[] = {
    {"B_BUSY", 1},      {"B_DONE", 2},      {"B_ERROR", 4},     {"B_PAGEIO", 16},    {"B_PHYS", 32},      {"B_READ", 64},
    {"B_WRITE", 256},   {"B_ASYNC", 1024},  {"CLD_EXITED", 1},  {"CLD_KILLED", 2},   {"CLD_DUMPED", 3},   {"CLD_TRAPPED", 4},
    {"CLD_STOPPED", 5}, {"CLD_CONTINUED", 6},
    // States of TCP as args[] have them: those of include/net/tcp_states.h.
    {"TCP_STATE_ESTABLISHED", 1}, {"TCP_STATE_SYN_SENT", 2}, {"TCP_STATE_SYN_RECEIVED", 3}, {"TCP_STATE_FIN_WAIT_1", 4}, {"TCP_STATE_FIN_WAIT_2", 5},
    {"TCP_STATE_TIME_WAIT", 6},   {"TCP_STATE_CLOSED", 7},   {"TCP_STATE_CLOSE_WAIT", 8},   {"TCP_STATE_LAST_ACK", 9},   {"TCP_STATE_LISTEN", 10},
    {"TCP_STATE_CLOSING", 11},
};
} // namespace written
inline constexpr ConstantTable constants = ConstantTable::of<written::constants>();

// What of Solaris has no counterpart, and the nearest that has.
struct Missing {
  std::string_view name, nearest;
  bool changes_program = false; // destructive
};
using MissingTable = base::TextTable<Missing, &Missing::name, &Missing::nearest>;
namespace written {
inline constexpr Missing missing_variables[] = {
    {"ipl", "Linux has no interrupt priority levels"},
    {"uregs", "ureg(\"ip\") in acu's own language reads registers"},
};
} // namespace written
inline constexpr MissingTable missing_variables = MissingTable::of<written::missing_variables>();
namespace written {
inline constexpr Missing missing_functions[] = {
    {"copyout", "a script of acu's own language can: write_user(), with --unsafe", true},
    {"copyoutstr", "a script of acu's own language can: write_user(), with --unsafe", true},
    {"panic", "it would crash the system"},
    {"breakpoint", "it would stop the system"},
    {"chill", "the delays would be part of what is measured", true},
    {"msgsize", "it is for STREAMS messages of Solaris"},
    {"msgdsize", "it is for STREAMS messages of Solaris"},
    {"mutex_owned", "it is for locks of Solaris; `acu flame klock` shows waits for locks of the kernel"},
    {"mutex_owner", "it is for locks of Solaris; `acu flame klock` shows waits for locks of the kernel"},
    {"mutex_type_adaptive", "it is for locks of Solaris"},
    {"mutex_type_spin", "it is for locks of Solaris"},
    {"rw_iswriter", "it is for locks of Solaris"},
    {"rw_read_held", "it is for locks of Solaris"},
    {"rw_write_held", "it is for locks of Solaris"},
    {"ddi_pathname", "it is for device trees of Solaris"},
    {"getf", "`acu trace -y` shows the files behind descriptors"},
    {"uregs", "ureg() in acu's own language reads registers"},
};
} // namespace written
inline constexpr MissingTable missing_functions = MissingTable::of<written::missing_functions>();

} // namespace dlang
