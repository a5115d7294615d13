// The table of facts: what measurements can find out. Rules see each row as a template with the slots below and `by`, the measurement.
//
// Shares are parts of 1. Unless its text says otherwise, a share of a process is of the time of its threads that is not idle: they run, wait for a CPU, or
// wait for something that is not the next request. `low` and `high` are the 95% interval of the share before them.
#pragma once

#include "why/fact.h"

namespace why {

namespace slots {

using enum SlotType;

inline constexpr SlotKind pid = {"pid", integer, "", "process"};
inline constexpr SlotKind share = {"share", number, "1", "part of the process's time"};
inline constexpr SlotKind low = {"low", number, "1", "lower end of the interval of `share`"};
inline constexpr SlotKind high = {"high", number, "1", "upper end of the interval of `share`"};
inline constexpr SlotKind function = {"function", text, "", "function of the program"};
inline constexpr SlotKind file = {"file", text, "", "its source file; empty: not known"};
inline constexpr SlotKind line = {"line", integer, "", "line in it; 0: not known"};

inline constexpr SlotKind request[] = {
    {"kind", text, "", "slow, growing, stuck, failing or any"},
    {"pid", integer, "", "the process that is asked about; -1: the host"},
    {"name", text, "", "its name"},
};
inline constexpr SlotKind measured[] = {
    {"pid", integer, "", "a process that it covered; -1: the host"},
    {"seconds", number, "s", "how long it took"},
    {"samples", integer, "", "what it rests on; 0: it counts everything"},
};
inline constexpr SlotKind host_cpu[] = {
    {"cpus", integer, "", "CPUs"},
    {"busy", number, "1", "part of all CPU time that is used"},
    {"busiest", number, "1", "the same of the busiest CPU"},
    {"least", number, "1", "the same of the least busy CPU"},
    {"system", number, "1", "part of all CPU time that the kernel uses"},
    {"interrupts", number, "1", "part of all CPU time in hardware interrupts"},
    {"softirq", number, "1", "part of all CPU time in soft interrupts"},
    {"busiest_softirq", number, "1", "part of one CPU's time in soft interrupts, where it is largest"},
    {"steal", number, "1", "part of all CPU time that the hypervisor gave to others"},
    {"iowait", number, "1", "part of all CPU time that is idle while a disk is waited for"},
    {"waiting", number, "", "mean number of threads that wait for a CPU"},
    {"switches", number, "1/s", "context switches"},
    {"forks", number, "1/s", "new processes and threads"},
};
inline constexpr SlotKind interrupt_load[] = {
    {"source", text, "", "net_rx, timer, block, … or a device"},
    {"cpu", integer, "", "the CPU that serves most of it"},
    {"share", number, "1", "part of that CPU's time"},
    {"low", number, "1", "lower end of its interval"},
    {"high", number, "1", "upper end of its interval"},
    {"rate", number, "1/s", "interrupts"},
};
inline constexpr SlotKind pressure[] = {
    {"resource", text, "", "cpu, memory or io"},
    {"cgroup", text, "", "whose tasks; empty: the host's"},
    {"some", number, "1", "part of the time in which at least one task waits for it"},
    {"full", number, "1", "part of the time in which all tasks wait for it"},
};
inline constexpr SlotKind process[] = {
    pid,
    {"name", text, "", "its name"},
    {"parent", integer, "", "the process that started it; 0: not known"},
    {"cgroup", text, "", "its control group"},
    {"language", text, "", "language runtime in it: java, go, python, …; empty: none"},
    {"cpu", number, "", "CPUs that it uses"},
    {"user", number, "1", "part of its CPU time outside the kernel"},
    {"busiest", number, "1", "part of its time that the busiest thread runs, or waits for a CPU to run on"},
    {"threads", integer, "", "threads"},
    {"runnable", number, "", "mean number of its threads that run or wait for a CPU"},
    {"run_delay", number, "1", "part of the time of its runnable threads that they wait for a CPU"},
    {"voluntary", number, "1/s", "waits"},
    {"involuntary", number, "1/s", "preemptions"},
    {"minor_faults", number, "1/s", "page faults without a read from disk"},
    {"major_faults", number, "1/s", "page faults with a read from disk"},
    {"descriptors", integer, "", "open file descriptors"},
    {"descriptor_limit", integer, "", "how many it may have"},
    {"rss", integer, "bytes", "resident memory"},
    {"rss_growth", number, "bytes/s", "growth of its anonymous memory"},
    {"blocked", number, "", "mean number of its threads in state D"},
    {"uptime", number, "s", "since it started"},
};
inline constexpr SlotKind process_time[] = {
    pid,
    {"running", number, "1", "part of its time on a CPU"},
    {"runnable", number, "1", "part of its time waiting for a CPU"},
    {"waiting", number, "1", "part of its time waiting for something else"},
};
inline constexpr SlotKind cgroup[] = {
    {"name", text, "", "path below the root; \"/\": the host"},
    {"cpu", number, "", "CPUs that it uses"},
    {"quota", number, "", "CPUs that it may use; 0: no limit"},
    {"throttled", number, "1", "part of the time in which its threads were not allowed to run"},
    {"memory", integer, "bytes", "memory in use"},
    {"memory_limit", integer, "bytes", "memory that it may use; 0: no limit"},
    {"high_events", number, "1/s", "allocations slowed down by memory.high"},
    {"max_events", number, "1/s", "allocations that met the limit"},
    {"oom_kills", integer, "", "processes killed for lack of memory, so far"},
};
inline constexpr SlotKind memory[] = {
    {"total", integer, "bytes", "memory of the host"},
    {"available", integer, "bytes", "memory that can be had without swapping"},
    {"swap_in", number, "bytes/s", "read from swap"},
    {"swap_out", number, "bytes/s", "written to swap"},
    {"direct_reclaim", number, "pages/s", "pages scanned by tasks that need memory"},
    {"kswapd", number, "1", "part of a CPU that reclaims in the background"},
    {"refaults", number, "bytes/s", "file pages read again soon after they were dropped"},
    {"compaction_stalls", number, "1/s", "allocations that waited for memory to be moved together"},
    {"cache", integer, "bytes", "page cache"},
    {"cache_growth", number, "bytes/s", "growth of the page cache"},
    {"slab", integer, "bytes", "kernel objects"},
    {"slab_growth", number, "bytes/s", "growth of kernel objects"},
    {"dirty", integer, "bytes", "page cache to be written"},
};
inline constexpr SlotKind disk[] = {
    {"device", text, "", "vda, nvme0n1, …"},
    {"utilisation", number, "1", "part of the time with a request in it"},
    {"reads", number, "1/s", "reads"},
    {"writes", number, "1/s", "writes"},
    {"flushes", number, "1/s", "flushes"},
    {"bytes", number, "bytes/s", "read and written"},
    {"latency", number, "ns", "mean time of a request, with its wait in the queue"},
    {"flush_latency", number, "ns", "mean time of a flush"},
    {"queue", number, "", "mean number of requests in it"},
};
inline constexpr SlotKind disk_latency[] = {
    {"device", text, "", "vda, nvme0n1, …"},
    {"service", number, "ns", "median time in the device alone"},
    {"tail", number, "ns", "99th percentile of it"},
    {"queued", number, "ns", "median time in the kernel's queue"},
    {"parallel", number, "", "mean number of requests that the device works on"},
};
inline constexpr SlotKind disk_user[] = {
    {"device", text, "", "vda, nvme0n1, …"},
    pid,
    {"name", text, "", "its name"},
    {"bytes", number, "bytes/s", "read and written"},
    {"share", number, "1", "part of the device's busy time"},
    {"low", number, "1", "lower end of its interval"},
    {"high", number, "1", "upper end of its interval"},
};
inline constexpr SlotKind network[] = {
    {"segments", number, "1/s", "TCP segments sent"},
    {"retransmits", number, "1", "part of them sent again"},
    {"listen_overflows", number, "1/s", "connections dropped as a listen queue was full"},
    {"receive_drops", number, "1/s", "packets dropped by devices and the kernel"},
    {"connect_failures", number, "1/s", "failed attempts to connect"},
    {"conntrack", number, "1", "part of the connection tracking table in use"},
    {"ports", number, "1", "part of the local ports in use towards one peer, where it is largest"},
};
inline constexpr SlotKind listen_queue[] = {
    pid,
    {"name", text, "", "its name"},
    {"port", integer, "", "port"},
    {"length", number, "", "mean number of connections to be accepted"},
    {"limit", integer, "", "how many it holds"},
    {"overflows", number, "1/s", "connections that did not fit"},
    {"accepts", number, "1/s", "connections that were accepted"},
};
inline constexpr SlotKind peer[] = {
    pid,
    {"address", text, "", "address and port"},
    {"connects", number, "1/s", "attempts to connect"},
    {"failures", number, "1", "part of them that fail"},
    {"reason", text, "", "of most failures: refused, timed out, unreachable, no port"},
    {"connect_latency", number, "ns", "mean time of a connect"},
    {"latency", number, "ns", "mean time from a request to its answer"},
    {"round_trip", number, "ns", "time that the network needs for both ways"},
    {"retransmits", number, "1", "part of the segments sent again"},
    share, low, high,
};
inline constexpr SlotKind ports[] = {
    pid,
    {"peer", text, "", "address and port"},
    {"used", number, "1", "part of the local ports in use towards it"},
    {"closing", number, "1", "part of these in TIME_WAIT"},
    {"connects", number, "1/s", "new connections"},
};
inline constexpr SlotKind delayed_acks[] = {
    pid,
    {"peer", text, "", "address and port"},
    {"stall", number, "ns", "mean time that a small segment is held back until the one before it is acknowledged"},
    {"rate", number, "1/s", "such stalls"},
    {"where", text, "", "function of the program that writes"},
    share, low, high,
};
inline constexpr SlotKind syscall[] = {
    pid,
    {"call", text, "", "its name"},
    {"rate", number, "1/s", "calls"},
    {"time", number, "1", "part of the process's CPU and wait time in it"},
    {"failed", number, "1", "part of the calls that fail"},
    {"error", text, "", "most frequent error: ENOENT, …"},
    {"path", text, "", "one of the files that it failed for"},
    {"empty", number, "1", "part of the calls that return at once without a result"},
};
inline constexpr SlotKind births[] = {
    {"parent", integer, "", "process that starts them"},
    {"name", text, "", "its name"},
    {"program", text, "", "program that most of them are"},
    {"rate", number, "1/s", "new processes"},
    {"cpu", number, "", "CPUs that they use"},
    {"lifetime", number, "ns", "median lifetime"},
};
inline constexpr SlotKind wait[] = {
    pid,
    {"group", text, "", "name of the threads"},
    {"reason", text, "", "lock, condition, disk, flush, network, sleep, memory, cpu, child, pipe or other"},
    {"what", text, "", "what is waited for"},
    function, file, line,
    share, low, high,
    {"longest", number, "ns", "longest wait"},
};
inline constexpr SlotKind run_queue[] = {
    pid,
    share, low, high,
    {"delay", number, "ns", "mean wait for a CPU"},
    {"ahead_cgroup", text, "", "control group whose processes ran most of this time"},
    {"cgroup_share", number, "1", "part of the waits in which they ran"},
    {"ahead", text, "", "program of that group that ran most"},
    {"ahead_pid", integer, "", "one of its processes"},
    {"ahead_share", number, "1", "part of the waits in which it ran"},
};
inline constexpr SlotKind lock[] = {
    pid,
    {"name", text, "", "its variable or address"},
    {"holder", text, "", "function that holds it while others wait"},
    file, line,
    {"waiters", number, "", "mean number of threads that wait"},
    {"hold", number, "ns", "mean time held while others wait"},
    {"handoffs", number, "1/s", "times that a waiter gets it"},
    {"meanwhile", text, "", "what its holder does most of that time: runs, spins, disk, flush, network, sleep, lock, cpu"},
    {"meanwhile_share", number, "1", "part of that time"},
    {"meanwhile_where", text, "", "function that does it"},
    share, low, high,
};
inline constexpr SlotKind lock_cycle[] = {
    pid,
    {"threads", text, "", "thread -> thread -> thread"},
    {"count", integer, "", "how many they are; 1: it waits for itself"},
    {"locks", text, "", "locks that they wait for"},
    function, file, line,
    {"seconds", number, "s", "since when none of them ran"},
};
inline constexpr SlotKind late_wakeup[] = {
    pid,
    {"what", text, "", "condition or queue"},
    {"waker", text, "", "function that wakes the waiter"},
    file, line,
    {"late", number, "ns", "mean time from the change that is waited for to the wakeup"},
    {"meanwhile", text, "", "what the waker does in this time"},
    share, low, high,
};
inline constexpr SlotKind pool[] = {
    pid,
    {"name", text, "", "name of its threads, or of what it holds"},
    {"size", integer, "", "members"},
    {"busy", number, "", "mean number of busy members"},
    {"queued", number, "", "mean number of requests that wait for a member"},
    {"members_do", text, "", "what members spend most of the time with"},
    {"members_share", number, "1", "part of it"},
    share, low, high,
};
inline constexpr SlotKind interpreter[] = {
    pid,
    {"language", text, "", "python, ruby, …"},
    {"threads", number, "", "mean number of threads that wait for its lock"},
    {"holder", text, "", "function that holds it longest"},
    share, low, high,
};
inline constexpr SlotKind collector[] = {
    pid,
    {"language", text, "", "java, go, python, …"},
    {"rate", number, "1/s", "collections"},
    {"pause", number, "ns", "mean pause"},
    {"longest", number, "ns", "longest pause"},
    {"allocates", text, "", "function that allocates most"},
    share, low, high,
};
inline constexpr SlotKind hot_function[] = {
    pid,
    {"name", text, "", "function"},
    {"module", text, "", "executable, library or script"},
    file, line,
    {"kind", text, "", "native, kernel, python, java, …"},
    {"class", text, "", "what it is for, if known: regex, serialization, spin, poll, path, copy, hash, allocation, unwind"},
    {"caller", text, "", "function of the program that calls it"},
    {"share", number, "1", "part of the process's CPU time, with what it calls if it has a class"},
    low, high,
};
inline constexpr SlotKind function_change[] = {
    pid,
    {"name", text, "", "function"},
    {"module", text, "", "executable, library or script"},
    {"before", number, "1", "part of the process's CPU time in the earlier recording"},
    {"share", number, "1", "the same in the later one; both with what it calls"},
    low, high,
    {"growth", number, "CPUs", "CPU time in a second more than before; below 0: less"},
};
inline constexpr SlotKind bottleneck[] = {
    pid,
    {"activity", text, "", "runs, waits or runnable"},
    {"what", text, "", "what is waited for; empty: it runs"},
    function, file, line,
    {"speedup", number, "", "how much faster the program would be without it: 2 is twice as fast"},
    share, low, high,
};
inline constexpr SlotKind page_faults[] = {
    pid,
    {"what", text, "", "new memory, file, swap, copy or other"},
    function, file, line,
    {"rate", number, "1/s", "page faults"},
    share, low, high,
};
inline constexpr SlotKind allocation[] = {
    pid,
    function, file, line,
    {"kept", number, "bytes/s", "growth of the process's private memory"},
    {"share", number, "1", "part of the process's growth"},
    low, high,
};
inline constexpr SlotKind kept_blocks[] = {
    pid,
    function, file, line,
    {"rate", number, "bytes/s", "allocated and not freed at the end"},
    {"kept", number, "bytes/s", "part of it that is in place of no older block"},
    {"blocks", number, "1/s", "such blocks"},
    {"share", number, "1", "part of all such blocks, by their size"},
    low, high,
};
inline constexpr SlotKind file_write[] = {
    pid,
    {"path", text, "", "file"},
    {"rate", number, "bytes/s", "written"},
    {"writes", number, "1/s", "write calls"},
    {"is_log", integer, "", "1: its name and way of writing are those of a log"},
    {"sample", text, "", "one of the lines"},
    {"repeated", number, "1", "part of the lines that equal another one but for numbers"},
    function, file, line,
    share, low, high,
};
inline constexpr SlotKind file_read[] = {
    pid,
    {"path", text, "", "file"},
    {"rate", number, "bytes/s", "read from disk"},
    {"again", number, "1", "part of it that was read before, and dropped"},
    {"size", integer, "bytes", "of the file"},
    share, low, high,
};
inline constexpr SlotKind file_sync[] = {
    pid,
    {"path", text, "", "file"},
    {"rate", number, "1/s", "fsync, fdatasync and synchronous writes"},
    {"latency", number, "ns", "mean time"},
    {"bytes", number, "bytes", "mean size of what each makes durable"},
    function, file, line,
    share, low, high,
};
inline constexpr SlotKind exceptions[] = {
    pid,
    {"type", text, "", "class of the exception"},
    {"rate", number, "1/s", "thrown"},
    function, file, line,
    {"share", number, "1", "part of the process's CPU time that throws and unwinds"},
    low, high,
};
inline constexpr SlotKind timers[] = {
    pid,
    {"rate", number, "1/s", "wakeups by its timers"},
    {"idle", number, "1", "part of them after which it goes to sleep again with nothing done"},
    function, file, line,
    share, low, high,
};
inline constexpr SlotKind cache_growth[] = {
    {"what", text, "", "page cache, or the slab"},
    {"name", text, "", "who makes it grow"},
    pid,
    {"path", text, "", "file or directory"},
    {"rate", number, "bytes/s", "growth"},
    {"share", number, "1", "part of the host's growth"},
    low, high,
};
inline constexpr SlotKind oom_kill[] = {
    {"victim", integer, "", "process that was killed"},
    {"name", text, "", "its name"},
    {"cgroup", text, "", "whose limit was met; \"/\": the host's memory"},
    {"limit", integer, "bytes", "that limit"},
    {"rss", integer, "bytes", "its memory"},
    {"largest", text, "", "process with most memory at that time"},
    {"largest_pid", integer, "", "its number"},
    {"largest_rss", integer, "bytes", "its memory"},
};
inline constexpr SlotKind crash_report[] = {
    pid,
    {"name", text, "", "its name"},
    {"parent", integer, "", "the process that started it; 0: not known"},
    {"signal", text, "", "SIGSEGV, …"},
    {"reason", text, "", "null pointer, freed memory, stack overflow, abort, …"},
    {"detail", text, "", "address, or the message of an abort"},
    function, file, line,
};
inline constexpr SlotKind stuck_thread[] = {
    pid,
    {"thread", integer, "", "thread"},
    {"state", text, "", "its state: D, T, t, or frozen"},
    {"seconds", number, "s", "since when"},
    {"kernel_function", text, "", "where in the kernel"},
    {"what", text, "", "device, file or server that it waits for"},
    function, file, line,
};

} // namespace slots

// Read when acu is built; fact_kinds() has the same rows.
inline constexpr FactKind all_fact_kinds[] = {
    {"request", "What is asked; there is always one.", slots::request},
    {"measured", "A measurement ended: what it did not find was not there.", slots::measured},
    {"host-cpu", "What the CPUs of the host do.", slots::host_cpu},
    {"interrupt-load", "What a source of interrupts costs.", slots::interrupt_load},
    {"pressure", "How long tasks wait for a resource (pressure stall information).", slots::pressure},
    {"process", "A process.", slots::process},
    {"process-time", "How the threads of a process spend their time.", slots::process_time},
    {"cgroup", "A control group.", slots::cgroup},
    {"memory", "The memory of the host.", slots::memory},
    {"disk", "A block device, from its counters.", slots::disk},
    {"disk-latency", "A block device, request by request.", slots::disk_latency},
    {"disk-user", "A process that uses a block device.", slots::disk_user},
    {"network", "The network of the host.", slots::network},
    {"listen-queue", "A socket that takes connections.", slots::listen_queue},
    {"peer", "A peer that a process connects to.", slots::peer},
    {"ports", "Local ports towards a peer.", slots::ports},
    {"delayed-acks", "Small segments that wait for an acknowledgement (Nagle's algorithm).", slots::delayed_acks},
    {"syscall", "A system call of a process.", slots::syscall},
    {"births", "Processes that a process starts.", slots::births},
    {"wait", "Waits of a process for one reason at one location.", slots::wait},
    {"run-queue", "How long a process waits for a CPU, and who runs meanwhile.", slots::run_queue},
    {"lock", "A lock that is waited for.", slots::lock},
    {"lock-cycle", "Threads that wait for each other in a circle.", slots::lock_cycle},
    {"late-wakeup", "Wakeups that come long after their reason.", slots::late_wakeup},
    {"pool", "A fixed number of threads or connections that requests share.", slots::pool},
    {"interpreter", "The lock of an interpreter.", slots::interpreter},
    {"collector", "Pauses of a garbage collector.", slots::collector},
    {"hot-function", "A function that uses CPU time.", slots::hot_function},
    {"function-change", "A function that takes more or less of the CPU time than in an earlier recording.", slots::function_change},
    {"bottleneck", "A bottleneck of a program, from the graph of its waits.", slots::bottleneck},
    {"page-faults", "Page faults at one location.", slots::page_faults},
    {"allocation", "Memory by which a function makes a process grow.", slots::allocation},
    {"kept-blocks", "Blocks of the heap that a function allocates and nothing frees.", slots::kept_blocks},
    {"file-write", "A file that a process writes.", slots::file_write},
    {"file-read", "A file that a process reads from disk.", slots::file_read},
    {"file-sync", "A file that a process makes durable.", slots::file_sync},
    {"exceptions", "Exceptions that a function throws.", slots::exceptions},
    {"timers", "Timers of a process.", slots::timers},
    {"cache-growth", "Who makes the kernel's memory grow.", slots::cache_growth},
    {"oom-kill", "A process killed for lack of memory.", slots::oom_kill},
    {"crash-report", "A process ended by a signal.", slots::crash_report},
    {"stuck-thread", "A thread that has not run for long.", slots::stuck_thread},
};

} // namespace why
