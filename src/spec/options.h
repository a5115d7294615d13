// The table of subcommands and their command-line options. The parser of the command line, the help texts,
// the manual page and the completions read it; an option is added here and where session/options.cc takes it
// in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace spec {

enum class OptionId : uint8_t {
  execute,
  list,
  command,
  pid,
  output,
  format,
  quiet,
  verbose,
  buffering,
  faults,
  unsafe,
  no_warnings,
  include_dir,
  include_file,
  parameter,
  dry_run,
  test,
  bench,
  info,
  notify_attached,
  dump,
  no_feature,
  usdt_file_activation,
  engine,
  json,
  elf_file,
  kernel,
  standard_input,
  names,
  user,
  cgroup,
  all,
  frequency,
  kind,
  event,
  duration,
  sort,
  top,
  function,
  weight,
  leaks,
  waker,
  max_cost,
  no_inlines,
  mangled,
  debuginfo,
  debuginfod,
  sysroot,
  no_stop,
  max_pause,
  flame,
  least,
  data,
  fails_only,
  times,
  descriptors,
  stacks,
  histograms,
  counts,
  split,
  from,
  until,
  interval,
  rounds,
  own_too,
  repeats,
  cpus,
  by_cpu,
  separator,
  csv,
  frames,
  exact,
  thread,
  container,
  filter,
  path,
  depth,
  all_returns,
  clock_times,
  relative_times,
  follow,
  for_host,
  save,
  help,
  version,
};

struct Option {
  OptionId id;
  char letter = 0;           // 0: no short form
  std::string_view name;     // empty: no long form
  std::string_view argument; // what it is called in help; empty: takes none
  bool optional = false;     // the argument may be left out (then only `--name=ARGUMENT` gives one)
  std::string_view allowed;  // words it accepts, separated by '|'; empty: any text
  bool several = false;      // several of them, separated by ','
  std::string_view doc;
};

// Rows that several commands have.
inline constexpr Option script_option = {
    .id = OptionId::execute,
    .letter = 'e',
    .name = "execute",
    .argument = "SCRIPT",
    .doc = "Run this text instead of a file."};
inline constexpr Option include_dir_option = {
    .id = OptionId::include_dir,
    .letter = 'I',
    .name = "include-dir",
    .argument = "DIR",
    .doc = "Look for headers in DIR too."};
inline constexpr Option include_file_option = {
    .id = OptionId::include_file,
    .name = "include",
    .argument = "FILE",
    .doc = "Read FILE as if the script included it first."};
inline constexpr Option parameter_option = {
    .id = OptionId::parameter,
    .letter = 'D',
    .name = "define",
    .argument = "NAME=VALUE",
    .doc = "Give a parameter of the script (#param) this value."};
inline constexpr Option no_warnings_option = {
    .id = OptionId::no_warnings, .name = "no-warnings",
    .doc = "Don't print warnings."};
inline constexpr Option all_option = {.id = OptionId::all, .letter = 'a', .name = "all", .doc = "All processes."};
inline constexpr Option rounds_option = {
    .id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT",
    .doc = "End after so many intervals."};
inline constexpr Option rows_option = {.id = OptionId::top, .name = "top", .argument = "N", .doc = "N rows of the table."};
inline constexpr Option functions_option = {
    .id = OptionId::top, .name = "top", .argument = "N",
    .doc = "Show N functions (default 20)."};
inline constexpr Option sort_option = {
    .id = OptionId::sort,
    .name = "sort",
    .argument = "BY",
    .allowed = "self|total|name",
    .doc = "Functions by what they took themselves (default), with what they called, or by name."};
inline constexpr Option lines_output = {
    .id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE",
    .doc = "Write to FILE instead of standard error."};
inline constexpr Option sysroot_option = {
    .id = OptionId::sysroot,
    .name = "sysroot",
    .argument = "DIR",
    .doc = "Look for the program and its libraries below DIR first: the files of another machine or "
            "container."};
inline constexpr Option still_flame = {
    .id = OptionId::flame,
    .name = "flame",
    .argument = "FILE",
    .doc = "Write the stacks of all threads to FILE as a flame graph; with `heap` the memory by who holds it. "
            "The ending chooses the format: .html .svg .folded .pb.gz .json (of speedscope)."};
inline constexpr Option still_output = {
    .id = OptionId::output,
    .letter = 'o',
    .name = "output",
    .argument = "FILE",
    .doc = "Write results of the script to FILE instead of standard output."};
inline constexpr Option still_frames = {
    .id = OptionId::frames, .name = "frames", .argument = "N", .doc = "Without a script: of deeper stacks show so many frames (default 100), and of a recursion only its ends."};
inline constexpr Option still_json = {
    .id = OptionId::json,
    .name = "json",
    .doc = "Results as JSON: the summary as one object, of scripts one object a line."};
inline constexpr Option still_verbose = {
    .id = OptionId::verbose,
    .letter = 'v',
    .name = "verbose",
    .doc = "Tell how long each step of the script took."};
inline constexpr Option still_dump = {
    .id = OptionId::dump,
    .letter = 'd',
    .name = "dump",
    .argument = "STAGE",
    .allowed = "ast|ir",
    .several = true,
    .doc = "Print what stages of the compiler made (ast, ir), and run nothing."};
inline constexpr Option for_option = {
    .id = OptionId::for_host,
    .name = "for",
    .argument = "FILE",
    .doc = "The kernel is that of the host saved in FILE (`acu info --save`), not this one."};
inline constexpr Option own_help = {.id = OptionId::help, .letter = 'h', .name = "help", .doc = "Show this text."};

inline constexpr Option run_options[] = {
    script_option,
    {.id = OptionId::list,
     .letter = 'l',
     .name = "list",
     .doc = "List the probes that match a pattern, those of the script, or types of the kernel ('struct "
            "list_head')."},
    {.id = OptionId::command,
     .letter = 'c',
     .name = "command",
     .argument = "CMD",
     .doc = "Start CMD once the probes are attached; its end is the end of the session. `cpid` is its id."},
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Only events of this process; its end is the end of the session."},
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write results to FILE instead of standard output."},
    {.id = OptionId::format,
     .letter = 'f',
     .name = "format",
     .argument = "FORMAT",
     .allowed = "text|json",
     .doc = "Form of the results: text, or json (one object a line)."},
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Don't tell that probes were attached."},
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "Tell what was chosen for each probe and how long each step took; with -l, tell arguments."},
    {.id = OptionId::buffering,
     .letter = 'B',
     .name = "buffering",
     .argument = "MODE",
     .allowed = "line|full|none",
     .doc = "How results are buffered: line (default), full or none."},
    {.id = OptionId::faults,
     .letter = 'k',
     .name = "faults",
     .doc = "Tell where in the script memory could not be read and other calls failed."},
    {.id = OptionId::unsafe, .name = "unsafe", .doc = "Allow what can change the system, such as system(), and return probes with which an exception ends the program."},
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    {.id = OptionId::dry_run,
     .name = "dry-run",
     .doc = "Compile, load and attach, then stop without running."},
    {.id = OptionId::test,
     .name = "test",
     .doc = "Run the script's test probes one after the other and tell which fail; then end."},
    {.id = OptionId::bench,
     .name = "bench",
     .doc = "Measure the script's bench probes one after the other and tell how long each takes; then end."},
    {.id = OptionId::info, .name = "info", .doc = "The same as `acu info`."},
    {.id = OptionId::notify_attached,
     .name = "notify-attached",
     .argument = "TEXT",
     .doc = "Print TEXT as a line on standard output once every probe is attached."},
    {.id = OptionId::dump,
     .letter = 'd',
     .name = "dump",
     .argument = "STAGE",
     .allowed = "ast|ir|bpf|codegen|codegen-opt|dis|libbpf|verifier|all",
     .several = true,
     .doc = "Print what stages of the compiler made (ast, ir, bpf, verifier: its log, or all; the other "
            "names are bpftrace's), and run "
            "nothing."},
    {.id = OptionId::for_host,
     .name = "for",
     .argument = "FILE",
     .doc = "Compile for the host saved in FILE (`acu info --save`); with --dump or -l."},
    {.id = OptionId::no_feature,
     .name = "no-feature",
     .argument = "FEATURE",
     .allowed = "uprobe_multi|uprobe_multi_pid|uprobe_session|kprobe_multi|kprobe_session|"
                "trampoline|attach_cookie|function_address|task_storage|for_each|loop|lookup_percpu|"
                "boot_clock|tai_clock|cmpxchg|current_task|task_registers",
     .several = true,
     .doc = "Do without an ability of the kernel (`acu info` tells what they are for), as on kernels that "
            "lack it."},
    {.id = OptionId::usdt_file_activation,
     .name = "usdt-file-activation",
     .doc = "Accepted and ignored: semaphores of USDT probes are raised in any case."},
    {.id = OptionId::engine,
     .name = "engine",
     .argument = "ENGINE",
     .allowed = "kernel|eval",
     .doc = "Where probes run: kernel (default), or eval: in this process, without privileges or events."},
    {.id = OptionId::help,
     .letter = 'h',
     .name = "help",
     .doc = "Show this text, and the script's own parameters."},
    {.id = OptionId::version, .letter = 'V', .name = "version", .doc = "Show the version."},
};

inline constexpr Option list_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Of user probes those in what this process runs and has mapped: `acu list -p PID 'uprobe:*'`."},
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "Tell the arguments of each probe too."},
    for_option,
    own_help,
};

inline constexpr Option info_options[] = {
    {.id = OptionId::json, .name = "json", .doc = "As one JSON object."},
    {.id = OptionId::save,
     .name = "save",
     .argument = "FILE",
     .doc = "Write what the compiler needs to know of this host to FILE: for `acu run --for FILE` elsewhere."},
    for_option,
    own_help,
};

inline constexpr Option debuginfo_option = {.id = OptionId::debuginfo,
                                            .name = "debuginfo",
                                            .argument = "DIR",
                                            .doc = "Look for separate debug files in DIR (or take DIR if it "
                                                   "is such a file) before the usual places; may be "
                                                   "given several times."};
inline constexpr Option debuginfod_option = {
    .id = OptionId::debuginfod,
    .name = "debuginfod",
    .doc = "Ask the servers of DEBUGINFOD_URLS for debug files that are not here; may take minutes."};

inline constexpr Option sym_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Addresses are those of this process, as it is now."},
    {.id = OptionId::elf_file,
     .letter = 'e',
     .name = "exe",
     .argument = "FILE",
     .doc = "Addresses are those of this program or library, as its symbol table counts them."},
    {.id = OptionId::kernel,
     .letter = 'k',
     .name = "kernel",
     .doc = "Addresses are those of the kernel. With -p, or without any of the three, kernel addresses are "
            "known by "
            "themselves."},
    {.id = OptionId::standard_input,
     .name = "stdin",
     .doc = "Read addresses from standard input, one a line; each is answered as soon as it is there."},
    {.id = OptionId::names, .name = "names", .doc = "Only functions: debug information is not opened."},
    {.id = OptionId::no_inlines,
     .name = "no-inlines",
     .doc = "Leave out calls that were inlined: tell only the function whose code it is."},
    {.id = OptionId::mangled, .name = "mangled", .doc = "Names of C++ and Rust as the files have them."},
    debuginfo_option,
    debuginfod_option,
    {.id = OptionId::json, .name = "json", .doc = "One JSON object for each address, on a line."},
    own_help,
};

inline constexpr Option modules_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "What this process has mapped."},
    {.id = OptionId::kernel, .letter = 'k', .name = "kernel", .doc = "The kernel that runs."},
    debuginfo_option,
    debuginfod_option,
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "Tell every place where a debug file was looked for."},
    {.id = OptionId::json, .name = "json", .doc = "One JSON object for each module, on a line."},
    own_help,
};

// Whose events count, and which of them: these mean the same in all commands.
inline constexpr Option whose_pid = {.id = OptionId::pid,
                                     .letter = 'p',
                                     .name = "pid",
                                     .argument = "PIDS",
                                     .several = true,
                                     .doc = "Only this process, or several: 17,18; the end of the last is the end."};
inline constexpr Option whose_thread = {.id = OptionId::thread,
                                        .letter = 't',
                                        .name = "tid",
                                        .argument = "TIDS",
                                        .several = true,
                                        .doc = "Only this thread, or several: 17,19; the end of the last is the end."};
inline constexpr Option whose_user = {
    .id = OptionId::user, .letter = 'u', .name = "user", .argument = "USER", .doc = "Only processes of this user."};
inline constexpr Option whose_cgroup = {.id = OptionId::cgroup,
                                        .name = "cgroup",
                                        .argument = "GROUP",
                                        .doc = "Only this control group and those below it."};
inline constexpr Option whose_container = {
    .id = OptionId::container,
    .name = "container",
    .argument = "CONTAINER",
    .doc = "Only this container, by its name or the beginning of its id (docker, podman, containerd, Kubernetes, LXC, nspawn)."};
inline constexpr Option whose_own = {.id = OptionId::own_too, .name = "include-acu", .doc = "Where no process is named: what acu itself does, too."};
inline constexpr Option whose_all = {.id = OptionId::all,
                                     .letter = 'a',
                                     .name = "all",
                                     .doc = "All processes; so it is without any of these, too."};
inline constexpr Option which_cpus = {
    .id = OptionId::cpus, .letter = 'C', .name = "cpu", .argument = "CPUS", .doc = "Only on these CPUs: 0-3,7."};
inline constexpr Option which_filter = {
    .id = OptionId::filter,
    .name = "filter",
    .argument = "EXPR",
    .doc = "Only events for which this expression of the language holds: 'comm == \"nginx\" && uid != 0'."};

// What `acu flame`, `acu record` and `acu top` have alike.
inline constexpr Option sampled_frequency = {.id = OptionId::frequency,
                                             .letter = 'F',
                                             .name = "frequency",
                                             .argument = "HZ",
                                             .doc = "Samples a second: on each CPU (default 99); of kinds whose events are sampled, of the host (default 1000)."};
inline constexpr Option sampled_kind = {
    .id = OptionId::kind,
    .name = "kind",
    .argument = "KIND",
    .doc = "The kind, instead of the first word; cpu,offcpu records both, as wall-clock time."};
inline constexpr Option sampled_event = {
    .id = OptionId::event,
    .letter = 'e',
    .name = "event",
    .argument = "EVENT",
    .allowed = "cpu-clock|cycles",
    .doc = "What ticks: cpu-clock (default), or the cycle counter where there is one."};
inline constexpr Option sampled_duration = {
    .id = OptionId::duration,
    .name = "duration",
    .argument = "TIME",
    .doc = "End after this time: 10s, 500ms, 2m (default: Ctrl-C or the end of the program)."};
inline constexpr Option sampled_weight = {
    .id = OptionId::weight,
    .name = "weight",
    .argument = "EXPR",
    .doc = "Of a probe: what each event counts, such as args.ret (default 1)."};
inline constexpr Option sampled_leaks = {
    .id = OptionId::leaks,
    .name = "leaks",
    .doc = "With `alloc`, of one process or a command: what malloc and its like gave out meanwhile, and was not freed."};
inline constexpr Option sampled_waker = {
    .id = OptionId::waker,
    .name = "waker",
    .doc = "With `offcpu`: above the stack of who waits also that of who ended the wait."};
inline constexpr Option sampled_max_cost = {
    .id = OptionId::max_cost,
    .name = "max-cost",
    .argument = "PERCENT",
    .doc = "Refuse if recording is estimated to take more of a CPU than this (default: 30 of leaks, else no limit)."};
inline constexpr Option sampled_exact = {
    .id = OptionId::exact,
    .name = "exact",
    .doc = "Take the stack of every event and keep probes attached all the time, whatever the overhead."};
inline constexpr Option sampled_split = {
    .id = OptionId::split,
    .name = "split",
    .argument = "TIME",
    .doc = "Keep slices of this length, from 10ms on: the page gets a heat map over time, and `acu report --from` chooses."};
inline constexpr Option from_option = {
    .id = OptionId::from,
    .name = "from",
    .argument = "TIME",
    .doc = "Of a recording made with --split: only what happened from this time after the start on (3, 3.5s, 2m)."};
inline constexpr Option until_option = {
    .id = OptionId::until, .name = "until", .argument = "TIME", .doc = "And only until this time after the start."};
inline constexpr Option quiet_option = {
    .id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Tell nothing but mistakes."};
inline constexpr Option sampled_verbose = {
    .id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Tell how long each step takes, and how stacks were walked."};

inline constexpr Option flame_options[] = {
    whose_pid,
    whose_thread,
    whose_user,
    whose_cgroup,
    whose_container,
    whose_all,
    whose_own,
    which_cpus,
    which_filter,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    sampled_duration,
    sampled_split,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc =
         "Write to FILE (default flame.html); its ending chooses the format: .html .svg .folded .pb.gz .json "
         "(speedscope) .perf (perf script) .acu"},
    {.id = OptionId::top,
     .name = "top",
     .argument = "N",
     .doc = "Print the N functions that took most, too."},
    quiet_option,
    sampled_verbose,
    own_help};

inline constexpr Option record_options[] = {
    whose_pid,
    whose_thread,
    whose_user,
    whose_cgroup,
    whose_container,
    whose_all,
    whose_own,
    which_cpus,
    which_filter,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    sampled_duration,
    sampled_split,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE (default recording.acu); other formats by its ending, as `acu flame` has them."},
    quiet_option,
    sampled_verbose,
    own_help};

inline constexpr Option top_options[] = {
    whose_pid,
    whose_thread,
    whose_user,
    whose_cgroup,
    whose_container,
    whose_all,
    whose_own,
    which_cpus,
    which_filter,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    {.id = OptionId::interval,
     .letter = 'I',
     .name = "interval",
     .argument = "TIME",
     .doc = "How often it is told, from 100ms on (default 1s)."},
    rounds_option,
    sampled_duration,
    sort_option,
    {.id = OptionId::top, .name = "top", .argument = "N", .doc = "Not on a terminal: tell N functions each time (default 20)."},
    {.id = OptionId::json, .name = "json", .doc = "One JSON object for each interval, on a line."},
    quiet_option,
    own_help};

inline constexpr Option trace_options[] = {
    whose_pid,
    // `-t` is strace's here.
    {.id = OptionId::thread, .name = "tid", .argument = "TIDS", .several = true, .doc = whose_thread.doc},
    whose_user,
    whose_cgroup,
    whose_container,
    all_option,
    which_cpus,
    {.id = OptionId::filter,
     .name = "filter",
     .argument = "EXPR",
     .doc = "Only calls for which this expression of the language holds when they return: 'retval < 0 && comm == \"nginx\"', also of "
            "arg0 to arg5 and duration (ns)."},
    {.id = OptionId::event,
     .letter = 'e',
     .name = "event",
     .argument = "CALLS",
     .doc = "Only these system calls: names, with * and ?, /regular expressions/, and groups (%file %desc %memory %process %signal "
            "%ipc %network %creds %clock %pure %stat %lstat %fstat %%stat %statfs %fstatfs %%statfs), separated by commas; all but these "
            "behind a !; `?name`: if there is such a call. Also as strace has it: trace=CALLS."},
    {.id = OptionId::counts,
     .letter = 'c',
     .name = "summary",
     .doc = "No lines, but a table at the end: time, calls and errors of each system call."},
    {.id = OptionId::histograms,
     .name = "histogram",
     .doc = "The same, with a histogram of the durations of each system call."},
    {.id = OptionId::sort,
     .name = "sort",
     .argument = "BY",
     .allowed = "time|calls|errors|name",
     .doc = "The table by time (default), calls, errors or names."},
    rows_option,
    {.id = OptionId::interval, .letter = 'I', .name = "interval", .argument = "TIME", .doc = "A table for each interval: 1s, 100ms."},
    {.id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT", .doc = "End after so many calls; with -I after so many intervals."},
    {.id = OptionId::path,
     .letter = 'P',
     .name = "path",
     .argument = "PATH",
     .doc = "Only calls that take this path, or a descriptor that it was opened as."},
    {.id = OptionId::fails_only, .letter = 'Z', .name = "failed-only", .doc = "Only calls that failed."},
    {.id = OptionId::least, .name = "min-duration", .argument = "TIME", .doc = "Only calls that took this long: 1ms, 20us."},
    {.id = OptionId::clock_times,
     .letter = 't',
     .name = "absolute-timestamps",
     .doc = "Show the time of day at which each call began; -tt with microseconds, -ttt as seconds since 1970."},
    {.id = OptionId::relative_times,
     .letter = 'r',
     .name = "relative-timestamps",
     .doc = "Show the seconds from the begin of the call in the line before to that of this one."},
    {.id = OptionId::follow, .letter = 'f', .name = "follow-forks", .doc = "Nothing: what a process starts is always traced too, as strace does with -f."},
    {.id = OptionId::times, .letter = 'T', .name = "syscall-times", .doc = "Show how long each call took."},
    {.id = OptionId::descriptors,
     .letter = 'y',
     .name = "decode-fds",
     .doc = "Show the paths of descriptors; -yy also the ends of sockets, and the numbers of devices."},
    {.id = OptionId::stacks, .letter = 'k', .name = "stack-trace", .doc = "Show the stack of each call, below it."},
    {.id = OptionId::data, .letter = 's', .name = "string-limit", .argument = "BYTES", .doc = "Show so many bytes of data (default 32)."},
    sampled_duration,
    {.id = OptionId::json, .name = "json", .doc = "One JSON object for each call or row, on a line."},
    lines_output,
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "No signals, ends of threads, and last line about what it took."},
    {.id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Tell steps, and measure what the probes take."},
    own_help};

inline constexpr Option slow_options[] = {
    whose_pid,
    whose_thread,
    whose_user,
    whose_cgroup,
    whose_container,
    all_option,
    {.id = OptionId::least, .name = "min-duration", .argument = "TIME", .doc = "What takes this long is slow: 1ms, 200us (default 10ms)."},
    {.id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT", .doc = "End after COUNT slow calls."},
    {.id = OptionId::max_cost,
     .name = "max-cost",
     .argument = "PERCENT",
     .doc = "Of a function: probe each call only while that takes at most so much of a CPU (default 2), then entries alone, then nothing but waits."},
    {.id = OptionId::exact, .name = "exact", .doc = "Of a function: probe each call, whatever it costs."},
    sampled_duration,
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write to FILE instead of standard output."},
    {.id = OptionId::json, .name = "json", .doc = "One JSON object a line for each slow call."},
    quiet_option,
    own_help};

inline constexpr Option graph_options[] = {
    whose_pid,
    whose_thread,
    whose_user,
    whose_cgroup,
    whose_container,
    all_option,
    {.id = OptionId::depth, .name = "depth", .argument = "N", .doc = "Only calls with fewer than N of the followed calls around them."},
    {.id = OptionId::least,
     .name = "min-duration",
     .argument = "TIME",
     .doc = "Only calls that took this long: 1ms, 20us. The kernel leaves the others out."},
    {.id = OptionId::counts,
     .letter = 'c',
     .name = "summary",
     .doc = "No lines, but a table at the end: time in all, in the function itself and off the CPU, and calls."},
    rows_option,
    {.id = OptionId::all_returns,
     .name = "all-returns",
     .doc = "Probe returns of all functions alike, also where exceptions may pass through: it costs less, and an exception that does ends the program."},
    sampled_duration,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE; .json: as Chrome's trace events, for ui.perfetto.dev or chrome://tracing."},
    quiet_option,
    {.id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Report why arguments are not shown."},
    own_help};

inline constexpr Option stat_options[] = {
    whose_pid,
    whose_thread,
    whose_cgroup,
    whose_container,
    all_option,
    which_cpus,
    {.id = OptionId::event,
     .letter = 'e',
     .name = "event",
     .argument = "EVENTS",
     .doc = "Count these events, separated by commas: counters as perf names them (cycles, page-faults, sched:sched_switch), and probes "
            "(tracepoint, kprobe, uprobe, usdt), also with * and ?. May be given several times."},
    {.id = OptionId::by_cpu, .letter = 'A', .name = "per-cpu", .doc = "One count for each CPU."},
    {.id = OptionId::repeats,
     .letter = 'r',
     .name = "repeat",
     .argument = "N",
     .doc = "Run the command N times: means, and how far they may be off."},
    {.id = OptionId::interval, .letter = 'I', .name = "interval", .argument = "TIME", .doc = "Print the counts of each interval: 1s, 100ms."},
    rounds_option,
    sampled_duration,
    {.id = OptionId::json, .name = "json", .doc = "One JSON object for each count, on a line."},
    {.id = OptionId::separator,
     .letter = 'x',
     .name = "field-separator",
     .argument = "SEPARATOR",
     .doc = "The columns of perf stat -x: value, unit, event, ns and percent of the time that it was counted, and two empty ones; before "
            "them the time of an interval and the CPU, behind the event the error of several runs."},
    {.id = OptionId::csv, .name = "csv", .doc = "The same as -x ,"},
    lines_output,
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "No summary line."},
    own_help};

inline constexpr Option report_options[] = {
    sort_option,
    functions_option,
    {.id = OptionId::function,
     .name = "function",
     .argument = "NAME",
     .doc =
         "Show callers and callees of these functions (* and ? match any text) instead of the first three."},
    from_option,
    until_option,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write the recording to FILE in another format, which its ending chooses: .html .svg .folded "
            ".pb.gz .json "
            ".perf .acu"},
    {.id = OptionId::json, .name = "json", .doc = "The tables as one JSON object."},
    own_help};

inline constexpr Option diff_options[] = {
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc =
         "Write a flame graph of the second to FILE (.html): red is what takes more than before, blue less; what only the first has is there, too."},
    from_option,
    until_option,
    functions_option,
    {.id = OptionId::json, .name = "json", .doc = "The table as one JSON object."},
    own_help};

inline constexpr Option core_options[] = {
    script_option,
    sysroot_option,
    still_flame,
    debuginfo_option,
    debuginfod_option,
    still_output,
    still_json,
    still_frames,
    still_verbose,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    still_dump,
    own_help,
};

inline constexpr Option snap_options[] = {
    {.id = OptionId::pid, .letter = 'p', .name = "pid", .argument = "PID", .doc = "The process to look at."},
    {.id = OptionId::max_pause,
     .name = "max-pause",
     .argument = "TIME",
     .doc = "How long it may be stopped to be copied, such as 10ms (default). Where that is not enough it "
            "runs on, and "
            "nothing is told but that."},
    {.id = OptionId::no_stop,
     .name = "no-stop",
     .doc = "Don't stop it: its memory changes while it is read, and registers and stacks are not known."},
    script_option,
    still_flame,
    sysroot_option,
    debuginfo_option,
    debuginfod_option,
    still_output,
    still_json,
    still_frames,
    still_verbose,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    still_dump,
    own_help,
};

inline constexpr Option tools_options[] = {own_help};

inline constexpr Option help_options[] = {
    own_help,
};

struct Subcommand {
  std::string_view name;
  std::string_view usage; // what follows the name
  std::string_view doc;
  std::span<const Option> options;
  std::string_view example; // whole command lines, one a line
};

inline constexpr Subcommand subcommands[] = {
    {"run", "[options] FILE|-|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Run a script (also without the word `run`).", run_options,
     "acu run -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'"},
    {"list", "[-v] [PATTERN…]",
     "List what can be probed; with -v its arguments. Types of the kernel too: 'struct list_head'.",
     list_options, "acu list -v 'tracepoint:sched:*'"},
    {"sym", "-p PID|-e FILE|-k [options] ADDR…|--stdin",
     "Tell which function, line and inlined calls addresses belong to. An address is hexadecimal, or "
     "FILE+0xOFFSET.",
     sym_options, "acu sym -e /bin/ls 0x4a30"},
    {"modules", "-p PID|-k|FILE… [options]",
     "Tell what code a process has mapped, where its symbols and debug information are, and what is missing.",
     modules_options, "acu modules -p 1"},
    {"flame", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Draw a flame graph: where the CPUs spend their time, or where threads wait, memory grows, disks work.\n"
     "KIND is cpu (default), offcpu (what threads wait for), wall (both), offwake (who ended a wait), wakeup (who wakes whom), lock (who waits\n"
     "for which lock), holder (who lets wait), klock (locks of the kernel), faults (page faults), alloc (who makes memory grow),\n"
     "allocated and freed (bytes allocated and freed with malloc), mapped (who asks the kernel for memory), leaks (what is not freed), io (bytes to and from disks), iotime (how long that takes), dirty (what is written later), file\n"
     "(bytes to and from files, by path), net (bytes sent and received, by peer); with a PROBE: where it is hit.",
     flame_options,
     "acu flame -p 4711 --duration 10s\nacu flame offcpu -o sort.svg -- sort big.txt\n"
     "acu flame tracepoint:syscalls:sys_exit_read --weight args.ret -u www-data"},
    {"record", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Record the same to a file, for `acu report` or another tool.", record_options,
     "acu record -a --duration 30s --split 1s\nacu record -o build.pb.gz -- make -j8\nacu record -F 999 -p 4711 -o "
     "app.acu"},
    {"top", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Show live which functions take most, anew each second: kinds and probes as `acu flame` has them.\n"
     "On a terminal: arrows choose, Enter tells callers and callees, t threads, / searches, space holds still, s sorts, a adds up\n"
     "since the start, h helps, q quits. Elsewhere: tables as text. What is waited for counts when the wait ends.",
     top_options, "acu top\nacu top offcpu -p 4711\nacu top -n 3 -I 5s --top 10 -u postgres"},
    {"report", "FILE [options]",
     "Tell what a recording holds: functions, callers and callees, processes, modules.\n"
     "Reads its own files, pprof, text of perf script, and folded stacks.",
     report_options,
     "acu report recording.acu --from 41 --until 43\nacu report app.acu --function 'parse_*'\nperf script | acu report - "
     "-o flame.html"},
    {"diff", "BEFORE AFTER [options] | FILE --from TIME --until TIME [options]",
     "Compare two recordings: which functions take more now, and which less. Or a part of one with the rest of it.", diff_options,
     "acu diff before.acu after.acu -o diff.html\nacu diff old.folded new.folded --top 5 --json\n"
     "acu diff spike.acu --from 41 --until 43"},
    {"trace", "[-p PIDS|--tid TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Show system calls as they return, decoded as strace does, without stopping anything: of a command, processes, or all.",
     trace_options,
     "acu trace -p 4711 -e %file -y\nacu trace -c -- find /usr -maxdepth 2"},
    {"slow", "FUNCTION|syscalls|syscall:CALLS|io|PROBE PROBE [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Wait for what is slow, and tell what happened meanwhile: stacks, what was waited for, who had the lock, who woke, who ran instead.\n"
     "FUNCTION is one of the program, or FILE:FUNCTION; where it would cost too much to probe each call, calls are found by their\n"
     "waits. CALLS are names of system calls as `acu trace -e` takes them, io is that of disks; two PROBEs are where something begins\n"
     "and ends.",
     slow_options,
     "acu slow -p 4711 handle_request\nacu slow syscall:fsync,fdatasync -a --min-duration 50ms\n"
     "acu slow --min-duration 1ms -n 5 read_page -- ./load"},
    {"graph", "[-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] FUNCTION… [-- CMD…]",
     "Show calls within calls as ftrace's function_graph does: how long each took, off the CPU apart, with arguments and results\n"
     "where types are known. Of a process or of the command itself, not of what it starts. FUNCTION, also with * and ?: `main`\n"
     "of the program, `libc:malloc` of a library, `ns::f` by its name in C++ or Rust, `k:vfs_read` of the kernel.",
     graph_options,
     "acu graph main 'parse_*' -- ./app input.txt\nacu graph -p 4711 handle_request libc:write k:vfs_write --min-duration 1ms\n"
     "acu graph -p 4711 'cpp:shop::*' --duration 5s -o calls.json"},
    {"stat", "[-p PIDS|-t TIDS|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Count events as perf stat does: of a command and what it starts, of a process, a control group, or all. With -a\n"
     "and a command, of all while that runs.", stat_options,
     "acu stat -- make\nacu stat -r 5 -e task-clock,page-faults -- sort big.txt\nacu stat -a -A -I 1s -e context-switches\n"
     "acu stat -p 4711 -e 'syscalls:sys_enter_*' --duration 10s"},
    {"core",
     "FILE [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | FILE heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Tell what a core dump holds: signal, stacks with arguments and variables, modules; or run a script "
     "over it, with the "
     "probes oneshot, thread, frame(\"FUNCTION\") and fault; or look into the heap of glibc's malloc: what "
     "is used (heap), what "
     "nothing leads to (leaks), who points to an address (refs), where a text stands (find); `explain` tells "
     "who holds it.",
     core_options, "acu core core.1234 -e 'thread { @[ustack] = count(); }'"},
    {"snap", "-p PID [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | -p PID heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Tell what a live process holds: stacks, modules; or run a script over its memory, with the probes "
     "oneshot, thread and "
     "frame(\"FUNCTION\"). The process is stopped for as long as it takes to copy what is read.",
     snap_options, "acu snap -p 1234 -e 'thread { @[ustack] = count(); }'"},
    {"tools", "[NAME|GROUP]",
     "List the ready tools, which `acu NAME` runs, or those of a GROUP; with a NAME explain it, as `acu NAME --help` does. A link to\n"
     "acu of that name works too.",
     tools_options, "acu tools disks\nacu tools execsnoop --help\nacu execsnoop\nacu biolatency -- --seconds=5"},
    {"info", "[--json] [--for FILE] | --save FILE", "Tell what this kernel and this user can do, or save it.", info_options, "acu info\nacu info --save web1.host"},
    {"help", "[SUBCOMMAND|reference|man [SUBCOMMAND]|completion bash|zsh|fish]",
     "Explain a subcommand, or print the whole reference manual, a manual page, or what a shell needs to complete command lines.",
     help_options, "acu help run\nacu help man trace | man -l -\nsource <(acu help completion bash)"},
};

// The row of a name, or nullptr.
constexpr const Subcommand* find_subcommand(std::string_view name) {
  for (const Subcommand& s : subcommands)
    if (s.name == name) return &s;
  return nullptr;
}

} // namespace spec
