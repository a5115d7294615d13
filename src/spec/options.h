// The table of subcommands and their command-line options. The command-line parser, help texts, manual pages and
// completions are made from it. To add an option, add a row here and handle it in session/options.cc.
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
  probe_filter,
  traceable_functions,
  foreign,
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
  lang,
  no_inlines,
  mangled,
  debuginfo,
  debuginfod,
  sysroot,
  no_stop,
  max_pause,
  flame,
  min_duration,
  rules,
  measure,
  causes,
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
  include_acu,
  repeats,
  cpus,
  by_cpu,
  separator,
  csv,
  frames,
  async,
  exact,
  thread,
  container,
  comm,
  filter,
  path,
  depth,
  all_returns,
  clock_times,
  relative_times,
  follow,
  for_host,
  save,
  flight,
  streams,
  when,
  before,
  after,
  cool_down,
  when_pressure,
  when_memory,
  memory,
  files,
  files_size,
  input,
  tables,
  audit,
  verbs,
  read_only,
  clause,
  script_file,
  provider,
  module,
  set_option,
  zero_probes,
  destructive,
  compile_only,
  ignored,
  preprocess,
  undefine,
  flow,
  to,
  target_version,
  support,
  core,
  redact,
  listen,
  store,
  keep,
  max_size,
  token_file,
  spool,
  agents,
  keep_fine,
  sample,
  users,
  add_user,
  role,
  login_time,
  tls_cert,
  tls_key,
  tls_ca,
  push,
  help,
  version,
};

struct Option {
  OptionId id;
  char letter = 0;           // 0: no short form
  std::string_view name;     // empty: no long form
  std::string_view argument; // its name in help; empty: takes none
  bool optional = false;     // the argument may be omitted (then only `--name=ARGUMENT` gives one)
  std::string_view allowed;  // words it accepts, separated by '|'; empty: any text
  bool several = false;      // a list separated by ','
  std::string_view doc;
};

// Rows shared by several commands.
inline constexpr Option script_option = {
    .id = OptionId::execute,
    .letter = 'e',
    .name = "execute",
    .argument = "SCRIPT",
    .doc = "Run SCRIPT instead of a file."};
inline constexpr Option include_dir_option = {
    .id = OptionId::include_dir,
    .letter = 'I',
    .name = "include-dir",
    .argument = "DIR",
    .doc = "Also search DIR for headers."};
inline constexpr Option include_file_option = {
    .id = OptionId::include_file,
    .name = "include",
    .argument = "FILE",
    .doc = "Include FILE before the script."};
inline constexpr Option parameter_option = {
    .id = OptionId::parameter,
    .letter = 'D',
    .name = "define",
    .argument = "NAME=VALUE",
    .doc = "Set a script parameter (#param)."};
inline constexpr Option no_warnings_option = {
    .id = OptionId::no_warnings, .name = "no-warnings",
    .doc = "Don't print warnings."};
inline constexpr Option all_option = {.id = OptionId::all, .letter = 'a', .name = "all", .doc = "Trace all processes."};
inline constexpr Option rounds_option = {
    .id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT",
    .doc = "Stop after COUNT intervals."};
inline constexpr Option rows_option = {.id = OptionId::top, .name = "top", .argument = "N", .doc = "Show only the first N rows of the table."};
inline constexpr Option functions_option = {
    .id = OptionId::top, .name = "top", .argument = "N",
    .doc = "Show N functions (default 20)."};
inline constexpr Option sort_option = {
    .id = OptionId::sort,
    .name = "sort",
    .argument = "BY",
    .allowed = "self|total|name",
    .doc = "Sort functions by self (default), by total (self and callees), or by name."};
inline constexpr Option lines_output = {
    .id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE",
    .doc = "Write to FILE instead of standard error."};
inline constexpr Option sysroot_option = {
    .id = OptionId::sysroot,
    .name = "sysroot",
    .argument = "DIR",
    .doc = "Search DIR first for the program and its libraries: the files of another host or container."};
inline constexpr Option snapshot_flame = {
    .id = OptionId::flame,
    .name = "flame",
    .argument = "FILE",
    .doc = "Write the stacks of all threads to FILE as a flame graph; with `heap`, memory by its owner. The extension selects the "
            "format: .html .svg .folded .pb.gz .json (speedscope)."};
inline constexpr Option snapshot_output = {
    .id = OptionId::output,
    .letter = 'o',
    .name = "output",
    .argument = "FILE",
    .doc = "Write script output to FILE instead of standard output."};
inline constexpr Option snapshot_frames = {
    .id = OptionId::frames, .name = "frames", .argument = "N", .doc = "Without a script: show at most N frames of a stack (default 100), and only the ends of a recursion."};
inline constexpr Option snapshot_async = {
    .id = OptionId::async, .name = "async", .doc = "Instead of threads: show the asyncio tasks of a Python program, what each waits for, and which tasks wait for it."};
inline constexpr Option snapshot_json = {
    .id = OptionId::json,
    .name = "json",
    .doc = "Print JSON: the summary as one object, script output as one object per line."};
inline constexpr Option snapshot_verbose = {
    .id = OptionId::verbose,
    .letter = 'v',
    .name = "verbose",
    .doc = "Report how long each step of the script took."};
inline constexpr Option snapshot_dump = {
    .id = OptionId::dump,
    .letter = 'd',
    .name = "dump",
    .argument = "STAGE",
    .allowed = "ast|ir",
    .several = true,
    .doc = "Print the output of compiler stages (ast, ir) and exit."};
inline constexpr Option for_option = {
    .id = OptionId::for_host,
    .name = "for",
    .argument = "FILE",
    .doc = "Use the kernel of the host saved in FILE (`acu info --save`), not of this one."};
inline constexpr Option probe_filter_option = {
    .id = OptionId::probe_filter,
    .name = "probe-filter",
    .argument = "REGEX",
    .doc = "Attach only the probes whose name matches this regular expression; `begin` and `end` always run."};
inline constexpr Option traceable_functions_option = {
    .id = OptionId::traceable_functions,
    .name = "traceable-functions",
    .argument = "FILE",
    .doc = "Read the kernel functions that can be probed from FILE, a copy of the kernel's available_filter_functions."};
inline constexpr Option usdt_activation_option = {
    .id = OptionId::usdt_file_activation,
    .name = "usdt-file-activation",
    .doc = "Accepted and ignored: USDT semaphores are always raised."};
inline constexpr Option no_feature_option = {
    .id = OptionId::no_feature,
    .name = "no-feature",
    .argument = "FEATURE",
    .allowed = "uprobe_multi|uprobe_multi_pid|uprobe_session|kprobe_multi|kprobe_session|"
               "trampoline|attach_cookie|function_address|task_storage|for_each|loop|lookup_percpu|"
               "boot_clock|tai_clock|cmpxchg|current_task|task_registers",
    .several = true,
    .doc = "Disable a kernel feature, as on kernels that lack it; `acu info` explains each."};
inline constexpr Option debuginfo_option = {
    .id = OptionId::debuginfo,
    .name = "debuginfo",
    .argument = "DIR",
    .doc = "Search DIR for separate debug files before the usual locations; DIR may be a debug file itself. May be repeated."};
inline constexpr Option read_only_option = {
    .id = OptionId::read_only,
    .name = "read-only",
    .doc = "Refuse scripts that write files or messages: flame(), skboutput(), debugf(). For scripts of others, as in `acu mcp`."};
inline constexpr Option help_option = {.id = OptionId::help, .letter = 'h', .name = "help", .doc = "Show this help."};

inline constexpr Option lang_option = {
    .id = OptionId::lang,
    .name = "lang",
    .argument = "FRAMES",
    .allowed = "folded|both|native",
    .doc = "Frames of Python, PHP, Perl, Lua, Ruby, Java and JavaScript: functions of the program (folded, default), also those of the runtime (both), or machine code only (native)."};

inline constexpr Option run_options[] = {
    script_option,
    {.id = OptionId::list,
     .letter = 'l',
     .name = "list",
     .doc = "List the probes that match a pattern, the probes of the script, or kernel types ('struct list_head')."},
    {.id = OptionId::command,
     .letter = 'c',
     .name = "command",
     .argument = "CMD",
     .doc = "Start CMD once the probes are attached, and stop when it exits. `cpid` is its process ID."},
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Trace only this process, and stop when it exits."},
    {.id = OptionId::container,
     .name = "container",
     .argument = "CONTAINER",
     .doc = "Trace only processes of this container, given by name, ID (3 digits or more), pod or pattern, also of those that start later; "
            "files of user probes are those of the container."},
    {.id = OptionId::cgroup,
     .name = "cgroup",
     .argument = "GROUP",
     .doc = "Trace only processes of this control group and those below it, also of those that are made later."},
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write output to FILE instead of standard output."},
    {.id = OptionId::format,
     .letter = 'f',
     .name = "format",
     .argument = "FORMAT",
     .allowed = "text|json",
     .doc = "Output format: text, or json (one object per line)."},
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Don't report that probes are attached."},
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "Report how each probe is attached and how long each step took; with -l, also list arguments."},
    {.id = OptionId::buffering,
     .letter = 'B',
     .name = "buffering",
     .argument = "MODE",
     .allowed = "line|full|none",
     .doc = "Output buffering: line (default), full or none."},
    {.id = OptionId::max_cost,
     .name = "max-cost",
     .argument = "PERCENT",
     .doc = "End the script when its probes take more than PERCENT of the host's CPUs."},
    {.id = OptionId::faults,
     .letter = 'k',
     .name = "faults",
     .doc = "Report where in the script memory reads failed, and which map elements that were read do not exist."},
    {.id = OptionId::unsafe, .name = "unsafe", .doc = "Allow calls that can change the system, such as system(), and return probes that terminate a program when an exception "
            "passes through them."},
    read_only_option,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    {.id = OptionId::dry_run,
     .name = "dry-run",
     .doc = "Compile, load and attach, then exit."},
    {.id = OptionId::test,
     .name = "test",
     .doc = "Run the script's test probes one by one, report failures, then exit."},
    {.id = OptionId::bench,
     .name = "bench",
     .doc = "Run the script's bench probes one by one, report how long each takes, then exit."},
    {.id = OptionId::info, .name = "info", .doc = "Same as `acu info`."},
    {.id = OptionId::notify_attached,
     .name = "notify-attached",
     .argument = "TEXT",
     .doc = "Print TEXT as a line on standard output once all probes are attached."},
    probe_filter_option,
    traceable_functions_option,
    debuginfo_option,
    lang_option,
    {.id = OptionId::dump,
     .letter = 'd',
     .name = "dump",
     .argument = "STAGE",
     .allowed = "ast|ir|bpf|codegen|codegen-opt|dis|libbpf|verifier|all",
     .several = true,
     .doc = "Print the output of compiler stages (ast, ir, bpf, verifier: its log, or all; the other names are bpftrace's) and exit."},
    {.id = OptionId::for_host,
     .name = "for",
     .argument = "FILE",
     .doc = "Compile for the host saved in FILE (`acu info --save`); with --dump or -l."},
    no_feature_option,
    usdt_activation_option,
    {.id = OptionId::engine,
     .name = "engine",
     .argument = "ENGINE",
     .allowed = "kernel|eval",
     .doc = "Where probes run: kernel (default), or eval (in this process, without privileges or events)."},
    {.id = OptionId::help,
     .letter = 'h',
     .name = "help",
     .doc = "Show this help and the script's own parameters."},
    {.id = OptionId::version, .letter = 'V', .name = "version", .doc = "Show the version."},
};

// Those of bpftrace 0.26, for `acu bpftrace` and for a link of that name.
inline constexpr Option bpftrace_options[] = {
    {.id = OptionId::buffering,
     .letter = 'B',
     .argument = "MODE",
     .allowed = "line|full|none",
     .doc = "Output buffering: line (default), full or none."},
    {.id = OptionId::command, .letter = 'c', .argument = "CMD", .doc = "Start CMD once the probes are attached, and stop when it exits."},
    {.id = OptionId::dump,
     .letter = 'd',
     .argument = "STAGE",
     .allowed = "ast|ir|bpf|codegen|codegen-opt|dis|libbpf|verifier|all|d",
     .several = true,
     .doc = "Print the output of compiler stages and exit; -dd is -d all."},
    {.id = OptionId::dry_run, .name = "dry-run", .doc = "Compile, load and attach, then exit."},
    {.id = OptionId::execute, .letter = 'e', .argument = "PROGRAM", .doc = "Run PROGRAM instead of a file."},
    {.id = OptionId::format, .letter = 'f', .argument = "FORMAT", .allowed = "text|json", .doc = "Output format."},
    {.id = OptionId::include_dir, .letter = 'I', .argument = "DIR", .doc = "Also search DIR for headers."},
    {.id = OptionId::include_file, .name = "include", .argument = "FILE", .doc = "Include FILE before the script."},
    {.id = OptionId::info, .name = "info", .doc = "Show what this kernel supports."},
    {.id = OptionId::faults, .letter = 'k', .doc = "Report where memory reads and map lookups failed; -kk is the same."},
    {.id = OptionId::list, .letter = 'l', .doc = "List the probes that match a pattern, those of a script, or kernel types."},
    no_feature_option,
    {.id = OptionId::no_warnings, .name = "no-warnings", .doc = "Don't print warnings."},
    {.id = OptionId::output, .letter = 'o', .argument = "FILE", .doc = "Write output to FILE instead of standard output."},
    {.id = OptionId::pid, .letter = 'p', .argument = "PID", .doc = "Trace only this process, and stop when it exits."},
    probe_filter_option,
    {.id = OptionId::quiet, .letter = 'q', .doc = "Don't report that probes are attached."},
    traceable_functions_option,
    {.id = OptionId::unsafe, .name = "unsafe", .doc = "Allow calls that can change the system."},
    usdt_activation_option,
    {.id = OptionId::verbose, .letter = 'v', .doc = "Report each step; with -l, also list arguments."},
    {.id = OptionId::test, .name = "test", .doc = "Run the script's test probes."},
    {.id = OptionId::bench, .name = "bench", .doc = "Run the script's bench probes."},
    {.id = OptionId::foreign, .name = "aot", .argument = "FILE", .doc = "Refused: acu starts in milliseconds, so scripts are not compiled ahead."},
    {.id = OptionId::foreign, .name = "emit-elf", .argument = "FILE", .doc = "Refused: `-d bpf` prints the instructions."},
    {.id = OptionId::foreign, .name = "emit-llvm", .argument = "FILE", .doc = "Refused: acu has no LLVM; `-d ir` prints its intermediate code."},
    {.id = OptionId::foreign, .name = "fmt", .doc = "Refused: acu does not format scripts."},
    help_option,
    {.id = OptionId::version, .letter = 'V', .name = "version", .doc = "Show the version."},
};

// Those of dtrace(8), for `acu dscript`.
inline constexpr Option dscript_options[] = {
    {.id = OptionId::clause, .letter = 'n', .argument = "CLAUSE", .doc = "Run this text: a probe description, with predicate and actions if wanted. May be repeated."},
    {.id = OptionId::script_file, .letter = 's', .argument = "FILE", .doc = "Run the script in FILE."},
    {.id = OptionId::provider, .letter = 'P', .argument = "PROVIDER", .doc = "Enable the probes of a provider."},
    {.id = OptionId::module, .letter = 'm', .argument = "MODULE", .doc = "Enable probes by module: [PROVIDER:]MODULE."},
    {.id = OptionId::function, .letter = 'f', .argument = "FUNCTION", .doc = "Enable probes by function: [[PROVIDER:]MODULE:]FUNCTION."},
    {.id = OptionId::command, .letter = 'c', .argument = "CMD", .doc = "Start CMD once the probes are attached, and stop when it exits. $target is its process ID."},
    {.id = OptionId::pid, .letter = 'p', .argument = "PID", .doc = "Make $target this process, and stop when it exits."},
    {.id = OptionId::output, .letter = 'o', .argument = "FILE", .doc = "Write output to FILE instead of standard output."},
    {.id = OptionId::quiet, .letter = 'q', .doc = "Print only what the script prints, and not that probes are attached."},
    {.id = OptionId::destructive, .letter = 'w', .doc = "Allow system(). Actions that would change the traced program are always refused."},
    {.id = OptionId::set_option, .letter = 'x', .argument = "NAME[=VALUE]", .doc = "Set an option, as `#pragma D option` does."},
    {.id = OptionId::zero_probes, .letter = 'Z', .doc = "Allow descriptions that match no probe."},
    {.id = OptionId::list, .letter = 'l', .doc = "List the probes of the script, with the numbers that its output shows."},
    {.id = OptionId::tables, .name = "providers", .doc = "List the providers: which are supported, by what, and what differs."},
    {.id = OptionId::compile_only, .letter = 'e', .doc = "Check the script and exit."},
    {.id = OptionId::verbose, .letter = 'v', .doc = "Report how each probe is attached and how long each step took."},
    {.id = OptionId::faults, .letter = 'k', .doc = "Report where in the script memory reads failed."},
    {.id = OptionId::ignored, .letter = 'b', .argument = "SIZE", .doc = "Accepted and ignored: acu chooses the sizes of buffers."},
    {.id = OptionId::foreign, .letter = 'i', .argument = "ID", .doc = "Refused: numbers of probes are those of the script; name the probe with -n."},
    {.id = OptionId::preprocess, .letter = 'C', .doc = "Run the C preprocessor (cpp) over the script first."},
    {.id = OptionId::parameter, .letter = 'D', .argument = "NAME[=VALUE]", .doc = "Define a macro for -C."},
    {.id = OptionId::undefine, .letter = 'U', .argument = "NAME", .doc = "Undefine a macro of -C."},
    {.id = OptionId::include_dir, .letter = 'I', .argument = "DIR", .doc = "Also search DIR for headers, with -C."},
    {.id = OptionId::foreign, .letter = 'A', .doc = "Refused: acu has no anonymous tracing; `acu record --flight` keeps the newest events in memory."},
    {.id = OptionId::foreign, .letter = 'G', .doc = "Refused: programs get their probes from sys/sdt.h."},
    {.id = OptionId::flow, .letter = 'F', .doc = "Indent lines by the depth of calls: between probes `entry` and `return`."},
    {.id = OptionId::notify_attached,
     .name = "notify-attached",
     .argument = "TEXT",
     .doc = "Print TEXT as a line on standard output once all probes are attached."},
    {.id = OptionId::dump, .name = "dump", .argument = "STAGE", .allowed = "ast|ir|bpf", .several = true, .doc = "Print the script in acu's own language (ast) or later stages of the compiler, and exit."},
    {.id = OptionId::engine,
     .name = "engine",
     .argument = "ENGINE",
     .allowed = "kernel|eval",
     .doc = "Where probes run: kernel (default), or eval (in this process, without privileges or events)."},
    no_warnings_option,
    no_feature_option,
    debuginfo_option,
    help_option,
    {.id = OptionId::version, .letter = 'V', .name = "version", .doc = "Show the version."},
};

inline constexpr Option list_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "List user probes only in files that this process has mapped: `acu list -p PID 'uprobe:*'`."},
    {.id = OptionId::container,
     .name = "container",
     .argument = "CONTAINER",
     .doc = "List user probes in the files of this container: `acu list --container web 'uprobe:/usr/sbin/nginx:*'`."},
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "Also list the arguments of each probe."},
    traceable_functions_option,
    debuginfo_option,
    for_option,
    help_option,
};

inline constexpr Option policy_options[] = {
    {.id = OptionId::input, .name = "file", .argument = "FILE", .doc = "Read FILE instead of /etc/acu/policy."},
    {.id = OptionId::user, .letter = 'u', .name = "user", .argument = "USER", .doc = "Show what is permitted to USER (name or number; default: who runs acu)."},
    help_option,
};

inline constexpr Option info_options[] = {
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object."},
    {.id = OptionId::save,
     .name = "save",
     .argument = "FILE",
     .doc = "Write what the compiler needs to know about this host to FILE, for `acu run --for FILE` elsewhere."},
    for_option,
    help_option,
};

inline constexpr Option debuginfod_option = {
    .id = OptionId::debuginfod,
    .name = "debuginfod",
    .doc = "Fetch missing debug files from the servers in DEBUGINFOD_URLS; may take minutes."};

inline constexpr Option sym_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Resolve addresses of this process as it is now."},
    {.id = OptionId::elf_file,
     .letter = 'e',
     .name = "exe",
     .argument = "FILE",
     .doc = "Resolve addresses of this program or library, as in its symbol table."},
    {.id = OptionId::kernel,
     .letter = 'k',
     .name = "kernel",
     .doc = "Resolve kernel addresses. With -p, or without -p, -e and -k, kernel addresses are recognized automatically."},
    {.id = OptionId::standard_input,
     .name = "stdin",
     .doc = "Read addresses from standard input, one per line; each is answered immediately."},
    {.id = OptionId::names, .name = "names", .doc = "Print only functions; don't read debug information."},
    {.id = OptionId::no_inlines,
     .name = "no-inlines",
     .doc = "Omit inlined calls; print only the function that contains the code."},
    {.id = OptionId::mangled, .name = "mangled", .doc = "Print C++ and Rust names mangled."},
    debuginfo_option,
    debuginfod_option,
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per address."},
    help_option,
};

inline constexpr Option modules_options[] = {
    {.id = OptionId::pid,
     .letter = 'p',
     .name = "pid",
     .argument = "PID",
     .doc = "Show the modules that this process has mapped."},
    {.id = OptionId::kernel, .letter = 'k', .name = "kernel", .doc = "Show the running kernel."},
    debuginfo_option,
    debuginfod_option,
    {.id = OptionId::verbose,
     .letter = 'v',
     .name = "verbose",
     .doc = "List every location searched for a debug file."},
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per module."},
    help_option,
};

// The target filter: these options mean the same in all commands.
inline constexpr Option target_pid = {.id = OptionId::pid,
                                     .letter = 'p',
                                     .name = "pid",
                                     .argument = "PIDS",
                                     .several = true,
                                     .doc = "Trace only these processes: 17 or 17,18; stop when the last one exits."};
inline constexpr Option target_thread = {.id = OptionId::thread,
                                        .letter = 't',
                                        .name = "tid",
                                        .argument = "TIDS",
                                        .several = true,
                                        .doc = "Trace only these threads: 17 or 17,19; stop when the last one exits."};
inline constexpr Option target_user = {
    .id = OptionId::user, .letter = 'u', .name = "user", .argument = "USER", .doc = "Trace only processes of this user."};
inline constexpr Option target_cgroup = {.id = OptionId::cgroup,
                                        .name = "cgroup",
                                        .argument = "GROUP",
                                        .doc = "Trace only this control group and those below it, also those that are made later."};
inline constexpr Option target_container = {
    .id = OptionId::container,
    .name = "container",
    .argument = "CONTAINER",
    .doc = "Trace only this container, also its later instances: a name, ID (3 digits or more), pod, pattern, or systemd unit (docker, podman, "
           "containerd, CRI-O, Kubernetes, LXC, nspawn)."};
inline constexpr Option target_acu = {.id = OptionId::include_acu, .name = "include-acu", .doc = "When no process is named: include acu itself."};
inline constexpr Option target_all = {.id = OptionId::all,
                                     .letter = 'a',
                                     .name = "all",
                                     .doc = "Trace all processes (default)."};
inline constexpr Option target_cpus = {
    .id = OptionId::cpus, .letter = 'C', .name = "cpu", .argument = "CPUS", .doc = "Trace only these CPUs: 0-3,7."};
inline constexpr Option target_expression = {
    .id = OptionId::filter,
    .name = "filter",
    .argument = "EXPR",
    .doc = "Trace only events for which this expression is true: 'comm == \"nginx\" && uid != 0'."};

// Shared by `acu flame`, `acu record` and `acu top`.
inline constexpr Option sampled_frequency = {.id = OptionId::frequency,
                                             .letter = 'F',
                                             .name = "frequency",
                                             .argument = "HZ",
                                             .doc = "Samples per second: per CPU (default 99), or, for kinds that sample events, for the whole host (default 1000)."};
inline constexpr Option sampled_kind = {
    .id = OptionId::kind,
    .name = "kind",
    .argument = "KIND",
    .doc = "Select the kind with an option instead of the first word; cpu,offcpu records both as wall-clock time."};
inline constexpr Option sampled_event = {
    .id = OptionId::event,
    .letter = 'e',
    .name = "event",
    .argument = "EVENT",
    .allowed = "cpu-clock|cycles",
    .doc = "Sampling clock: cpu-clock (default), or the cycle counter where there is one."};
inline constexpr Option sampled_duration = {
    .id = OptionId::duration,
    .name = "duration",
    .argument = "TIME",
    .doc = "Stop after this time: 10s, 500ms, 2m (default: on Ctrl-C or when the program exits)."};
inline constexpr Option sampled_weight = {
    .id = OptionId::weight,
    .name = "weight",
    .argument = "EXPR",
    .doc = "With a PROBE: the weight of each event, such as args.ret (default 1)."};
inline constexpr Option sampled_leaks = {
    .id = OptionId::leaks,
    .name = "leaks",
    .doc = "With `alloc`, for one process or a command: memory allocated by malloc and similar functions during the recording, and not freed."};
inline constexpr Option sampled_waker = {
    .id = OptionId::waker,
    .name = "waker",
    .doc = "With `offcpu`: show the waker's stack above the waiter's."};
inline constexpr Option sampled_max_cost = {
    .id = OptionId::max_cost,
    .name = "max-cost",
    .argument = "PERCENT",
    .doc = "Refuse to record if the estimated overhead exceeds PERCENT of a CPU (default: 30 for leaks, otherwise no limit)."};
inline constexpr Option sampled_exact = {
    .id = OptionId::exact,
    .name = "exact",
    .doc = "Take the stack of every event and keep probes attached all the time, whatever the overhead."};
inline constexpr Option sampled_split = {
    .id = OptionId::split,
    .name = "split",
    .argument = "TIME",
    .doc = "Keep time slices of this length (10ms or more): the page shows a heat map, and `acu report --from` selects a range."};
inline constexpr Option from_option = {
    .id = OptionId::from,
    .name = "from",
    .argument = "TIME",
    .doc = "For a recording made with --split: only events from this time after the start (3, 3.5s, 2m)."};
inline constexpr Option until_option = {
    .id = OptionId::until, .name = "until", .argument = "TIME", .doc = "Only events until this time after the start."};
inline constexpr Option quiet_option = {
    .id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Print only errors."};
inline constexpr Option sampled_verbose = {
    .id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Report how long each step takes, and how stacks were unwound."};

inline constexpr Option flame_options[] = {
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    target_all,
    target_acu,
    target_cpus,
    target_expression,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    lang_option,
    sampled_duration,
    sampled_split,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE (default flame.html); the extension selects the format: .html .svg .folded .pb.gz .json (speedscope) "
            ".perf (perf script) .otlp (OpenTelemetry) .acu"},
    {.id = OptionId::top,
     .name = "top",
     .argument = "N",
     .doc = "Also print the top N functions."},
    quiet_option,
    sampled_verbose,
    help_option};

inline constexpr Option flight_option = {.id = OptionId::flight, .name = "flight", .doc = "Keep events in memory and write them when a trigger occurs: `acu help flight` has its options."};

inline constexpr Option flight_options[] = {
    flight_option,
    {.id = OptionId::execute, .letter = 'e', .name = "execute", .argument = "SCRIPT",
     .doc = "Also run the probes of SCRIPT, or of a file: what they print is recorded, and --when sees their maps."},
    {.id = OptionId::streams, .name = "streams", .argument = "STREAMS", .doc = "What to record, of sched, syscalls, cpu, locks, faults, block, network (default sched,syscalls,cpu)."},
    {.id = OptionId::when, .name = "when", .argument = "TRIGGER", .several = true,
     .doc = "Write a file when this probe occurs, with a condition: 'uretprobe:./server:handle /retval == 500/'; or when a condition holds, checked every second: 'p99(@us) > 50000'."},
    {.id = OptionId::when_pressure, .name = "when-pressure", .argument = "RESOURCE:PERCENT", .several = true,
     .doc = "Write a file when threads waited for cpu, memory or io for more than PERCENT of a second (PSI)."},
    {.id = OptionId::when_memory, .name = "when-memory", .argument = "SIZE",
     .doc = "Write a file when the processes of -p, or the command, have more than SIZE bytes of resident memory, K, M or G."},
    {.id = OptionId::before, .name = "before", .argument = "TIME", .doc = "Write events of TIME before the trigger (default 30s), as far as the memory holds them."},
    {.id = OptionId::after, .name = "after", .argument = "TIME", .doc = "Write events of TIME after the trigger (default 1s)."},
    {.id = OptionId::cool_down, .name = "cool-down", .argument = "TIME", .doc = "After a file, only count triggers for TIME (default 10s)."},
    {.id = OptionId::memory, .name = "memory", .argument = "SIZE", .doc = "Keep SIZE bytes of events, K, M or G, divided among the CPUs (default 64M)."},
    {.id = OptionId::files, .name = "files", .argument = "N", .doc = "Keep at most N files, and remove the oldest (default 10)."},
    {.id = OptionId::files_size, .name = "files-size", .argument = "SIZE", .doc = "Keep at most SIZE bytes of files, K, M or G, and remove the oldest; the newest always stays."},
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    target_all,
    target_acu,
    target_expression,
    sampled_duration,
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "The first file (default recording.acu); the next ones are recording.2.acu and so on."},
    quiet_option,
    help_option};

inline constexpr Option dump_options[] = {help_option};

inline constexpr Option record_options[] = {
    flight_option,
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    target_all,
    target_acu,
    target_cpus,
    target_expression,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    lang_option,
    sampled_duration,
    sampled_split,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE (default recording.acu); the extension selects the format, as for `acu flame`."},
    quiet_option,
    sampled_verbose,
    help_option};

inline constexpr Option top_options[] = {
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    target_all,
    target_acu,
    target_cpus,
    target_expression,
    sampled_kind,
    sampled_frequency,
    sampled_event,
    sampled_weight,
    sampled_leaks,
    sampled_waker,
    sampled_max_cost,
    sampled_exact,
    lang_option,
    {.id = OptionId::interval,
     .letter = 'I',
     .name = "interval",
     .argument = "TIME",
     .doc = "Refresh interval, 100ms or more (default 1s)."},
    rounds_option,
    sampled_duration,
    sort_option,
    {.id = OptionId::top, .name = "top", .argument = "N", .doc = "When not on a terminal: print N functions per interval (default 20)."},
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per interval."},
    quiet_option,
    help_option};

inline constexpr Option trace_options[] = {
    target_pid,
    // `-t` means what it does in strace.
    {.id = OptionId::thread, .name = "tid", .argument = "TIDS", .several = true, .doc = target_thread.doc},
    target_user,
    target_cgroup,
    target_container,
    all_option,
    target_cpus,
    {.id = OptionId::filter,
     .name = "filter",
     .argument = "EXPR",
     .doc = "Show only calls for which this expression is true when they return: 'retval < 0 && comm == \"nginx\"'; may use arg0 to "
            "arg5 and duration (ns)."},
    {.id = OptionId::event,
     .letter = 'e',
     .name = "event",
     .argument = "CALLS",
     .doc = "Trace only these system calls, separated by commas: names, with * and ?, /regular expressions/, and groups (%file %desc "
            "%memory %process %signal %ipc %network %creds %clock %pure %stat %lstat %fstat %%stat %statfs %fstatfs %%statfs). A "
            "leading ! excludes them; `?name` ignores a call that does not exist. Also in strace's form: trace=CALLS."},
    {.id = OptionId::counts,
     .letter = 'c',
     .name = "summary",
     .doc = "Print only a table at the end: time, calls and errors per system call."},
    {.id = OptionId::histograms,
     .name = "histogram",
     .doc = "Same, with a histogram of durations per system call."},
    {.id = OptionId::sort,
     .name = "sort",
     .argument = "BY",
     .allowed = "time|calls|errors|name",
     .doc = "Sort the table by time (default), calls, errors or name."},
    rows_option,
    {.id = OptionId::interval, .letter = 'I', .name = "interval", .argument = "TIME", .doc = "Print a table per interval: 1s, 100ms."},
    {.id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT", .doc = "Stop after COUNT calls; with -I, after COUNT intervals."},
    {.id = OptionId::path,
     .letter = 'P',
     .name = "path",
     .argument = "PATH",
     .doc = "Show only calls that use this path or a descriptor opened from it."},
    {.id = OptionId::fails_only, .letter = 'Z', .name = "failed-only", .doc = "Show only failed calls."},
    {.id = OptionId::min_duration, .name = "min-duration", .argument = "TIME", .doc = "Show only calls that took at least TIME: 1ms, 20us."},
    {.id = OptionId::clock_times,
     .letter = 't',
     .name = "absolute-timestamps",
     .doc = "Show the time of day when each call began; -tt adds microseconds, -ttt prints seconds since 1970."},
    {.id = OptionId::relative_times,
     .letter = 'r',
     .name = "relative-timestamps",
     .doc = "Show the seconds since the previous call began."},
    {.id = OptionId::follow, .letter = 'f', .name = "follow-forks", .doc = "Accepted and ignored: child processes are always traced, as with strace -f."},
    {.id = OptionId::times, .letter = 'T', .name = "syscall-times", .doc = "Show the duration of each call."},
    {.id = OptionId::descriptors,
     .letter = 'y',
     .name = "decode-fds",
     .doc = "Show the paths of descriptors; -yy adds socket endpoints and device numbers."},
    {.id = OptionId::stacks, .letter = 'k', .name = "stack-trace", .doc = "Show the stack below each call."},
    lang_option,
    {.id = OptionId::data, .letter = 's', .name = "string-limit", .argument = "BYTES", .doc = "Show at most BYTES bytes of data (default 32)."},
    {.id = OptionId::redact,
     .name = "redact",
     .doc = "Show no text or data of the traced programs, such as paths, arguments of programs, and what they read and write: only its size, `<11 bytes>`."},
    sampled_duration,
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per call or row."},
    lines_output,
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Omit signals, thread exits and the last line about overhead."},
    {.id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Report each step, and measure the overhead of the probes."},
    help_option};

inline constexpr Option slow_options[] = {
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    all_option,
    {.id = OptionId::min_duration, .name = "min-duration", .argument = "TIME", .doc = "Report calls that take at least TIME: 1ms, 200us (default 10ms)."},
    {.id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT", .doc = "Stop after COUNT slow calls."},
    {.id = OptionId::max_cost,
     .name = "max-cost",
     .argument = "PERCENT",
     .doc = "For a FUNCTION: limit the overhead to PERCENT of a CPU (default 2). Above it, only entries are probed; then calls "
            "are found by their waits alone."},
    {.id = OptionId::exact, .name = "exact", .doc = "For a FUNCTION: probe every call, whatever the overhead."},
    lang_option,
    sampled_duration,
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write to FILE instead of standard output."},
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per slow call."},
    quiet_option,
    help_option};

inline constexpr Option waits_options[] = {
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    all_option,
    {.id = OptionId::min_duration,
     .name = "min-duration",
     .argument = "TIME",
     .doc = "Record waits of at least TIME; shorter ones count as running (default 100us)."},
    {.id = OptionId::top, .name = "top", .argument = "N", .doc = "Show N bottlenecks (default 5)."},
    lang_option,
    sampled_duration,
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write to FILE instead of standard output; FILE.html is a page with pictures."},
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object."},
    quiet_option,
    help_option};

inline constexpr Option why_options[] = {
    target_pid,
    {.id = OptionId::container, .name = "container", .argument = "CONTAINER", .doc = "Ask about the busiest process of this container."},
    {.id = OptionId::comm, .letter = 'C', .name = "comm", .argument = "NAME", .doc = "Ask about the busiest process of this name."},
    {.id = OptionId::duration, .name = "duration", .argument = "TIME", .doc = "Answer within TIME (default 15s)."},
    {.id = OptionId::max_cost, .name = "max-cost", .argument = "PERCENT", .doc = "Leave out measurements that take more than PERCENT of a CPU (default 10)."},
    {.id = OptionId::rules, .name = "rules", .argument = "FOLDER", .doc = "Also use the rules in the files *.clp of FOLDER."},
    {.id = OptionId::measure, .name = "measure", .argument = "NAME", .doc = "Take one measurement, and print its facts."},
    {.id = OptionId::causes, .name = "causes", .doc = "List the causes that acu knows, and exit."},
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write to FILE instead of standard output; FILE.html is a page with pictures."},
    {.id = OptionId::format, .letter = 'f', .name = "format", .argument = "FORMAT", .allowed = "text|json", .doc = "Output format."},
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object, or one per fact."},
    quiet_option,
    help_option};

inline constexpr Option graph_options[] = {
    target_pid,
    target_thread,
    target_user,
    target_cgroup,
    target_container,
    all_option,
    {.id = OptionId::depth, .name = "depth", .argument = "N", .doc = "Show only calls with fewer than N traced calls around them."},
    {.id = OptionId::min_duration,
     .name = "min-duration",
     .argument = "TIME",
     .doc = "Show only calls that took at least TIME: 1ms, 20us. The kernel drops the others."},
    {.id = OptionId::counts,
     .letter = 'c',
     .name = "summary",
     .doc = "Print only a table at the end: total, self and off-CPU time, and calls."},
    rows_option,
    {.id = OptionId::all_returns,
     .name = "all-returns",
     .doc = "Probe the returns of all functions, even where exceptions may pass through: lower overhead, but such an exception terminates the program."},
    sampled_duration,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE; .json writes Chrome trace events, for ui.perfetto.dev or chrome://tracing."},
    quiet_option,
    {.id = OptionId::verbose, .letter = 'v', .name = "verbose", .doc = "Report why arguments are not shown."},
    help_option};

inline constexpr Option stat_options[] = {
    target_pid,
    target_thread,
    target_cgroup,
    target_container,
    all_option,
    target_cpus,
    {.id = OptionId::event,
     .letter = 'e',
     .name = "event",
     .argument = "EVENTS",
     .doc = "Count these events, separated by commas: counters by perf's names (cycles, page-faults, sched:sched_switch), and probes "
            "(tracepoint, kprobe, uprobe, usdt), also with * and ?. May be repeated."},
    {.id = OptionId::by_cpu, .letter = 'A', .name = "per-cpu", .doc = "Print counts per CPU."},
    {.id = OptionId::repeats,
     .letter = 'r',
     .name = "repeat",
     .argument = "N",
     .doc = "Run the command N times; print means with their error."},
    {.id = OptionId::interval, .letter = 'I', .name = "interval", .argument = "TIME", .doc = "Print counts per interval: 1s, 100ms."},
    rounds_option,
    sampled_duration,
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object per count."},
    {.id = OptionId::separator,
     .letter = 'x',
     .name = "field-separator",
     .argument = "SEPARATOR",
     .doc = "Print the columns of perf stat -x: value, unit, event, ns counted, percent of time counted, and two empty ones; the "
            "interval's time and the CPU come first, the error of several runs follows the event."},
    {.id = OptionId::csv, .name = "csv", .doc = "Same as -x ,"},
    lines_output,
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Omit the summary line."},
    help_option};

inline constexpr Option report_options[] = {
    sort_option,
    functions_option,
    {.id = OptionId::function,
     .name = "function",
     .argument = "NAME",
     .doc = "Show callers and callees of these functions (* and ? match any text) instead of the top three."},
    from_option,
    until_option,
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Convert the recording to FILE; the extension selects the format: .html .svg .folded .pb.gz .json .perf .otlp .acu; of events also .pftrace (Perfetto), "
            ".json (Chrome) and .ctf (a folder)."},
    {.id = OptionId::json, .name = "json", .doc = "Print the tables as one JSON object."},
    help_option};

inline constexpr Option timeline_options[] = {
    {.id = OptionId::from, .name = "from", .argument = "TIME", .doc = "Only from this time after the start (3, 3.5s, 200ms)."},
    {.id = OptionId::until, .name = "until", .argument = "TIME", .doc = "Only until this time after the start."},
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write a page (.html) or a picture (.svg) to FILE (default: the recording's name with .html)."},
    quiet_option,
    help_option};

inline constexpr Option diff_options[] = {
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write a flame graph of AFTER to FILE (.html): red takes more than before, blue less; stacks that only BEFORE has are included."},
    from_option,
    until_option,
    functions_option,
    {.id = OptionId::json, .name = "json", .doc = "Print the table as one JSON object."},
    help_option};

inline constexpr Option core_options[] = {
    script_option,
    sysroot_option,
    snapshot_flame,
    lang_option,
    debuginfo_option,
    debuginfod_option,
    snapshot_output,
    snapshot_json,
    snapshot_frames,
    snapshot_async,
    snapshot_verbose,
    read_only_option,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    snapshot_dump,
    help_option,
};

inline constexpr Option snap_options[] = {
    {.id = OptionId::pid, .letter = 'p', .name = "pid", .argument = "PID", .doc = "The process to inspect."},
    {.id = OptionId::container, .name = "container", .argument = "CONTAINER", .doc = "The main process of this container, in place of -p."},
    {.id = OptionId::max_pause,
     .name = "max-pause",
     .argument = "TIME",
     .doc = "Longest pause for copying, such as 10ms (default). If that is too short, the process continues and nothing else is reported."},
    {.id = OptionId::no_stop,
     .name = "no-stop",
     .doc = "Don't stop the process: its memory changes while it is read, and registers and stacks are not available."},
    script_option,
    snapshot_flame,
    sysroot_option,
    lang_option,
    debuginfo_option,
    debuginfod_option,
    snapshot_output,
    snapshot_json,
    snapshot_frames,
    snapshot_async,
    snapshot_verbose,
    read_only_option,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    snapshot_dump,
    help_option,
};

inline constexpr Option convert_options[] = {
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "Write the script to FILE instead of standard output."},
    {.id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Don't report how many comments need attention."},
    help_option,
};

inline constexpr Option emit_options[] = {
    {.id = OptionId::to,
     .letter = 't',
     .name = "to",
     .argument = "FRAMEWORK",
     .doc = "The framework to write the script for: `acu emit --support` lists them with what each supports."},
    {.id = OptionId::target_version,
     .name = "target-version",
     .argument = "VERSION",
     .doc = "Write for this version of the framework or a later one: for bpftrace 0.16 to 0.26 (default: the latest). What the version lacks is "
            "rewritten where possible."},
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE",
     .doc = "Write to FILE instead of standard output; for frameworks that need several files, the folder for them."},
    {.id = OptionId::support, .name = "support", .doc = "Print which constructs, probes and builtins each framework supports, as Markdown."},
    {.id = OptionId::execute, .letter = 'e', .name = "execute", .argument = "SCRIPT", .doc = "Use SCRIPT instead of a file."},
    {.id = OptionId::pid, .letter = 'p', .name = "pid", .argument = "PID", .doc = "Look for programs and libraries of user probes in this process."},
    {.id = OptionId::core,
     .name = "core",
     .argument = "FILE",
     .doc = "For scripts with `oneshot`, `thread`, `frame` or `fault`: a core dump of the program, for the types of its variables."},
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    help_option,
};

inline constexpr Option sql_options[] = {
    {.id = OptionId::input,
     .letter = 'i',
     .name = "input",
     .argument = "FILE",
     .doc = "Query a recording of `acu record`, or a core dump, instead of the host."},
    {.id = OptionId::tables, .name = "tables", .doc = "List the tables, or with their names the columns: `acu sql --tables sockets`. Every query can use all of them."},
    {.id = OptionId::format,
     .letter = 'f',
     .name = "format",
     .argument = "FORMAT",
     .allowed = "text|json|csv",
     .doc = "Output format: text (a table), json (one object per line), or csv."},
    {.id = OptionId::json, .name = "json", .doc = "Same as -f json."},
    {.id = OptionId::csv, .name = "csv", .doc = "Same as -f csv."},
    {.id = OptionId::duration, .name = "duration", .argument = "TIME", .doc = "Stop a query after TIME (default 1m)."},
    {.id = OptionId::interval, .letter = 'I', .name = "interval", .argument = "TIME", .doc = "Repeat the query every TIME: 1s, 100ms."},
    {.id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "N", .doc = "With -I: stop after N times."},
    {.id = OptionId::output,
     .letter = 'o',
     .name = "output",
     .argument = "FILE.db",
     .doc = "Write the result to an SQLite database; without a query, all tables that take no arguments."},
    quiet_option,
    help_option,
};

inline constexpr Option tools_options[] = {help_option};

inline constexpr Option tool_options[] = {
    {.id = OptionId::duration, .name = "duration", .argument = "TIME", .doc = "With `test`: run the example for TIME (default 3s)."},
    help_option};

inline constexpr Option audit_option = {
    .id = OptionId::audit, .name = "audit", .argument = "FILE", .doc = "Append a line of JSON for each call to FILE instead of standard error: time, client, verb, arguments, outcome."};
inline constexpr Option verbs_option = {
    .id = OptionId::verbs, .name = "verbs", .argument = "VERBS", .several = true, .doc = "Offer only these verbs: host,sql,why. The others are unknown to clients."};
inline constexpr Option server_cost_option = {
    .id = OptionId::max_cost, .name = "max-cost", .argument = "PERCENT", .doc = "Highest `max_cost` that a call may ask for, in percent of a CPU (default 50)."};
inline constexpr Option server_duration_option = {
    .id = OptionId::duration, .name = "max-duration", .argument = "TIME", .doc = "Longest `duration` that a call may ask for (default 5m)."};
inline constexpr Option list_verbs_option = {.id = OptionId::list, .letter = 'l', .name = "list", .doc = "Print the verbs, their arguments and results as Markdown, and exit."};

inline constexpr Option mcp_options[] = {verbs_option, server_duration_option, server_cost_option, audit_option, list_verbs_option, help_option};
inline constexpr Option api_options[] = {verbs_option, server_duration_option, server_cost_option, audit_option, list_verbs_option, help_option};

inline constexpr Option tls_cert_option = {
    .id = OptionId::tls_cert, .name = "tls-cert", .argument = "FILE", .doc = "Encrypt connections (TLS 1.2 and 1.3) with the certificate in FILE (PEM, followed by those of its issuers). SIGHUP has it read again."};
inline constexpr Option tls_key_option = {
    .id = OptionId::tls_key, .name = "tls-key", .argument = "FILE", .doc = "Private key of the certificate (PEM, without a passphrase). Only its owner may read the file."};

inline constexpr Option serve_options[] = {
    {.id = OptionId::listen, .name = "listen", .argument = "ADDRESS:PORT", .doc = "Address and port to listen on (default 127.0.0.1:7070; port 0: any that is free). Other addresses than those of loopback need --tls-cert."},
    {.id = OptionId::store, .name = "store", .argument = "FILE|URL", .doc = "Where recordings are kept (default: /var/lib/acu/store.db for root, $XDG_STATE_HOME/acu/store.db for others), or the store of a fleet, which is only read: clickhouse://HOST:8123/acu."},
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "Delete what is older: 7d (default), 12h."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "Delete the oldest part of a store that grows beyond SIZE: 1G (default), 300M."},
    {.id = OptionId::read_only, .name = "read-only", .doc = "Refuse to run scripts, tools and measurements; everything else works."},
    {.id = OptionId::token_file, .name = "token-file", .argument = "FILE", .doc = "Also let in programs that send the token in FILE, which is made if it is not there. With --users, they may do what the role `view` may."},
    {.id = OptionId::users, .name = "users", .argument = "FILE", .doc = "Let in the users of FILE, each with a password and a role, by a login page. Only its owner may read the file. SIGHUP has it read again."},
    {.id = OptionId::add_user, .name = "add-user", .argument = "NAME", .doc = "Add a user to the file of --users, or change one, and exit. The password is read from the terminal or standard input."},
    {.id = OptionId::role, .name = "role", .argument = "ROLE", .allowed = "view|measure|admin", .doc = "With --add-user: what the user may do: look at what is stored; also measure; also see the audit and stop what others measure."},
    {.id = OptionId::login_time, .name = "login-time", .argument = "TIME", .doc = "With --users: how long a login lasts (default 12h)."},
    tls_cert_option,
    tls_key_option,
    {.id = OptionId::push, .name = "push", .argument = "FILE", .doc = "Send each minute's stacks and new findings to the servers in FILE, a line each: `otlp URL`, `pyroscope URL`, `parca URL` or `webhook URL`, and header lines below it (docs/serve.md). Only its owner may read the file."},
    server_duration_option,
    server_cost_option,
    {.id = OptionId::audit, .name = "audit", .argument = "FILE", .doc = "Append a line of JSON for each change or measurement to FILE (default: the store's name and .audit)."},
    {.id = OptionId::sample, .name = "sample", .argument = "WHAT", .allowed = "host|cpu|offcpu", .doc = "Only record WHAT into the store, without a server, until a signal or --max-duration."},
    help_option};
inline constexpr Option store_options[] = {
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "With `compact`: delete what is older (default 7d)."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "With `compact`: delete the oldest part beyond SIZE (default 1G)."},
    {.id = OptionId::kind, .name = "kind", .argument = "KIND", .allowed = "cpu|offcpu", .doc = "With `export` and `import`: which stacks (default cpu)."},
    {.id = OptionId::names, .name = "service", .argument = "NAME", .doc = "With `export`: only of this service. With `import`: the service of all threads (default: the names of their processes)."},
    {.id = OptionId::from, .name = "from", .argument = "SECONDS", .doc = "With `export`: from this time on, in seconds since 1970, or 0 and below from now (default -3600)."},
    {.id = OptionId::until, .name = "until", .argument = "SECONDS", .doc = "With `export`: until this time (default 0: now)."},
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "With `export`: an .acu, .html, .svg, .folded, .pb.gz, .json, .perf or .otlp file."},
    {.id = OptionId::json, .name = "json", .doc = "With `sizes`: print JSON."},
    help_option};

inline constexpr Option agent_options[] = {
    {.id = OptionId::to, .letter = 't', .name = "to", .argument = "URL", .doc = "Collector that gets the recordings: https://collector:7071, or http://… without encryption."},
    {.id = OptionId::tls_ca, .name = "tls-ca", .argument = "FILE", .doc = "Certificates (PEM) of which one must have issued the collector's (default: those of this system, in /etc/ssl/certs)."},
    {.id = OptionId::token_file, .name = "token-file", .argument = "FILE", .doc = "The token that names this host to the collector. Only its owner may read the file."},
    {.id = OptionId::spool, .name = "spool", .argument = "FOLDER", .doc = "Where recordings wait until they are stored (default: /var/lib/acu/spool for root, $XDG_STATE_HOME/acu/spool for others)."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "Drop the oldest recordings of a spool that grows beyond SIZE: 256M (default). They are counted."},
    help_option};
inline constexpr Option collect_options[] = {
    {.id = OptionId::store, .name = "store", .argument = "URL", .doc = "ClickHouse and the name of a database, which is made if it is not there: clickhouse://USER@HOST:8123/acu. The password is in CLICKHOUSE_PASSWORD."},
    {.id = OptionId::agents, .name = "agents", .argument = "FILE", .doc = "A line `NAME TOKEN` for each host that may send. It is read again when it changes; only its owner may read it."},
    {.id = OptionId::listen, .name = "listen", .argument = "ADDRESS:PORT", .doc = "Address and port to listen on (default 127.0.0.1:7071; port 0: any that is free)."},
    tls_cert_option,
    tls_key_option,
    {.id = OptionId::keep_fine, .name = "keep-fine", .argument = "TIME", .doc = "Delete slots of 10 s that are older: 7d (default). Those of minutes are kept ten times as long."},
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "Delete everything that is older: 400d (default)."},
    help_option};

inline constexpr Option learn_options[] = {
    {.id = OptionId::list, .letter = 'l', .name = "list", .doc = "List the lessons, and exit."},
    help_option};

inline constexpr Option help_options[] = {
    help_option,
};

struct Subcommand {
  std::string_view name;
  std::string_view usage; // the synopsis after the name
  std::string_view doc;
  std::span<const Option> options;
  std::string_view example; // complete command lines, one per line
};

inline constexpr Subcommand subcommands[] = {
    {"run", "[options] FILE|-|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Run a script (the word `run` may be omitted).", run_options,
     "acu run -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'"},
    {"list", "[-v] [PATTERN…]",
     "List probes, with -v also their arguments; or kernel types: 'struct list_head'.",
     list_options, "acu list -v 'tracepoint:sched:*'"},
    {"bpftrace", "[options] FILE|-|-e PROGRAM [ARG…] [-- --NAME=VALUE…]",
     "Run a script with bpftrace's options, exit statuses and output formats. A link to acu named bpftrace does the same.",
     bpftrace_options, "acu bpftrace -e 'BEGIN { printf(\"hello\\n\"); exit(); }'\nln -s /usr/bin/acu /usr/local/bin/bpftrace"},
    {"dscript", "[options] FILE|-|-n CLAUSE [ARG…]",
     "Run a script in D, the language of DTrace. `acu run FILE.d` and a link to acu named dtrace do the same.",
     dscript_options, "acu dscript -n 'syscall:::entry { @[execname] = count(); }'\nacu dscript -q -s opens.d -p 4711"},
    {"sym", "-p PID|-e FILE|-k [options] ADDR…|--stdin",
     "Resolve addresses to functions, source lines and inlined calls. An address is hexadecimal, or FILE+0xOFFSET.",
     sym_options, "acu sym -e /bin/ls 0x4a30"},
    {"modules", "-p PID|-k|FILE… [options]",
     "Show the modules of a process, where their symbols and debug information are, and what is missing.",
     modules_options, "acu modules -p 1"},
    {"flame", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Draw a flame graph: where CPUs spend time, where threads wait, what allocates memory, what uses disks.\n"
     "KIND is cpu (default), offcpu (waiting), wall (both), offwake (waiting, with the stack of the waker), wakeup (who wakes whom), lock\n"
     "(waiting for a lock), holder (lock holders), gil (waiting for Python's GIL), klock (locks in the kernel), faults (page faults), alloc (memory growth),\n"
     "allocated and freed (bytes allocated and freed with malloc), objects (Python objects created), mapped (memory requested from\n"
     "the kernel), leaks (memory not freed), io (bytes to and from disks), iotime (disk latency), dirty (data written back later), file\n"
     "(bytes to and from files, by path), net (bytes sent and received, by peer). With a PROBE: where it is hit.",
     flame_options,
     "acu flame -p 4711 --duration 10s\nacu flame offcpu -o sort.svg -- sort big.txt\n"
     "acu flame tracepoint:syscalls:sys_exit_read --weight args.ret -u www-data"},
    {"record", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Record stacks to a file, for `acu report` or another tool; kinds and probes as for `acu flame`.", record_options,
     "acu record -a --duration 30s --split 1s\nacu record -o build.pb.gz -- make -j8\nacu record -F 999 -p 4711 -o "
     "app.acu"},
    {"flight", "[SCRIPT] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Record the events before a trigger: keep the newest in memory, and write them to a file when a trigger of --when occurs, when `acu dump` asks for it,\n"
     "on SIGUSR2, or when a signal ends the command. The same as `acu record --flight`.",
     flight_options,
     "acu record --flight --when 'uretprobe:./server:handle /retval == 500/'\nacu flight -p 4711 --streams sched,locks --memory 256M\n"
     "acu flight -e 'uretprobe:./server:handle { @ms = hist(retval) }' --when 'p99(@ms) > 50'"},
    {"dump", "[PID]", "Ask a flight recorder (`acu record --flight`) to write its file now, wait for it, and print its path. PID is the recorder's; it may be omitted if only one runs.",
     dump_options, "acu dump\nacu dump 4711"},
    {"top", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Show the top functions live, refreshed every second; kinds and probes as for `acu flame`.\n"
     "On a terminal: arrows select, Enter shows callers and callees, t threads, / searches, space pauses, s sorts, a accumulates\n"
     "since the start, h shows help, q quits. Elsewhere: tables as text. A wait is counted when it ends.",
     top_options, "acu top\nacu top offcpu -p 4711\nacu top -n 3 -I 5s --top 10 -u postgres"},
    {"report", "FILE [options]",
     "Show what a recording contains: functions, callers and callees, processes, modules.\n"
     "Reads acu's own files, pprof, perf.data (with perf), perf script output and folded stacks.",
     report_options,
     "acu report recording.acu --from 41 --until 43\nacu report app.acu --function 'parse_*'\nperf script | acu report - "
     "-o flame.html"},
    {"timeline", "FILE [options]",
     "Show a recording of events over time: what each CPU ran, what each thread did and waited for, who woke it, calls and counters.\n"
     "The page zooms from minutes to nanoseconds; a selected range has its own flame graph and tables.",
     timeline_options, "acu timeline incident.acu\nacu timeline incident.acu --from 2s --until 2.5s -o incident.svg"},
    {"diff", "BEFORE AFTER [options] | FILE --from TIME --until TIME [options]",
     "Compare two recordings: which functions take more and which less; or compare a time range of one recording with the rest.", diff_options,
     "acu diff before.acu after.acu -o diff.html\nacu diff old.folded new.folded --top 5 --json\n"
     "acu diff spike.acu --from 41 --until 43"},
    {"trace", "[-p PIDS|--tid TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Trace system calls, decoded like strace but without stopping processes: of a command, of processes, or of the whole system.",
     trace_options,
     "acu trace -e %file -y -- find /usr -maxdepth 2"},
    {"slow", "FUNCTION|syscalls|syscall:CALLS|io|PROBE PROBE [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Report slow calls and what happened during them: stacks, waits, lock holders, wakers, and what ran instead.\n"
     "FUNCTION is a function of the program, or FILE:FUNCTION; where probing every call would cost too much, slow calls are found by\n"
     "their waits. CALLS are system call names as in `acu trace -e`, io means disk requests; two PROBEs are the start and the end\n"
     "of an operation.",
     slow_options,
     "acu slow -p 4711 handle_request\nacu slow syscall:fsync,fdatasync -a --min-duration 50ms\n"
     "acu slow --min-duration 1ms -n 5 read_page -- ./load"},
    {"waits", "[-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Report who waits for whom, what causes the waits, and the bottlenecks of a program: code, or waits for disks, timers and peers,\n"
     "with the speedup that the threads would have without each. The longest wait is often not the bottleneck.",
     waits_options, "acu waits -p 4711 --duration 5s\nacu waits --min-duration 20us -- ./load\nacu waits -a --duration 3s --json"},
    {"why", "[slow|growing|stuck|failing] [-p PID | -C NAME | --container CONTAINER] [options]",
     "Find out why a process, or the host, is slow, growing, stuck or failing: measure at low overhead, form hypotheses, take the measurement that\n"
     "distinguishes them, and report the cause with its evidence, its size, what to do, and what would refute it.",
     why_options, "acu why\nacu why -p 4711\nacu why slow -C nginx -o answer.html\nacu why growing -p 4711 --json"},
    {"graph", "[-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] FUNCTION… [-- CMD…]",
     "Show nested calls like ftrace's function_graph: duration and off-CPU time of each, with arguments and results where types are\n"
     "known. Traces a process or the command itself, not its children. FUNCTION, also with * and ?: `main` of the program,\n"
     "`libc:malloc` of a library, `ns::f` by its C++ or Rust name, `k:vfs_read` of the kernel.",
     graph_options,
     "acu graph main 'parse_*' -- ./app input.txt\nacu graph -p 4711 handle_request libc:write k:vfs_write --min-duration 1ms\n"
     "acu graph -p 4711 'cpp:shop::*' --duration 5s -o calls.json"},
    {"stat", "[-p PIDS|-t TIDS|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Count events like perf stat: of a command and its children, a process, a control group, or all processes. With -a and\n"
     "a command, count everything while the command runs.", stat_options,
     "acu stat -- make\nacu stat -r 5 -e task-clock,page-faults -- sort big.txt\nacu stat -a -A -I 1s -e context-switches\n"
     "acu stat -p 4711 -e 'syscalls:sys_enter_*' --duration 10s"},
    {"core",
     "FILE [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | FILE heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Inspect a core dump: signal, stacks with arguments and variables, modules. Or run a script on it, with the probes oneshot,\n"
     "thread, frame(\"FUNCTION\") and fault. Or search the heap of glibc's malloc: blocks in use (heap), unreachable blocks (leaks),\n"
     "pointers to an address (refs), a text (find); `explain` shows what holds a block.",
     core_options, "acu core core.1234 -e 'thread { @[ustack] = count(); }'"},
    {"snap", "-p PID|--container CONTAINER [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | -p PID heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Inspect a live process: stacks, modules; or run a script on its memory, with the probes oneshot, thread and\n"
     "frame(\"FUNCTION\"). The process is stopped only while its memory is copied.",
     snap_options, "acu snap -p 1234 -e 'thread { @[ustack] = count(); }'"},
    {"sql", "[options] [QUERY] | --tables [TABLE…]",
     "Query processes, threads, files, sockets, memory and more as tables, in SQLite's SQL. Without a query, open a prompt on a terminal, and\n"
     "read the query from standard input elsewhere.",
     sql_options,
     "acu sql \"select pid, name, resident from processes order by resident desc limit 5\"\nacu sql --tables sockets\n"
     "acu sql -f csv \"select name, reads, writes from disks\""},
    {"emit", "--to FRAMEWORK [options] FILE|TOOL|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Write a script as source for another framework: bpftrace (also older versions), SystemTap, DTrace and others. Parameters of the script become\n"
     "constants. What the framework lacks is rewritten, or reported with its location and an alternative.",
     emit_options,
     "acu emit --to bpftrace --target-version 0.17 opensnoop\nacu emit --to stap -o runqlat.stp runqlat\nacu emit --support"},
    {"convert", "[options] FILE|-",
     "Convert a SystemTap script to a script of acu, as a starting point. Comments that begin with `convert:` name what to decide or to check. What has no\n"
     "counterpart is an error with its location and an alternative. The result is not checked against this host: `acu run` does that.",
     convert_options, "acu convert iotime.stp\nacu convert -o iotime.bt iotime.stp"},
    {"tools", "[NAME|GROUP]",
     "List the built-in tools, which `acu NAME` runs, or those of a GROUP; with a NAME, explain it like `acu NAME --help`. A link to\n"
     "acu with the name of a tool works, too.",
     tools_options, "acu tools disks\nacu tools execsnoop --help\nacu execsnoop\nacu biolatency -- --seconds=5"},
    {"tool", "[add FILE|FOLDER | remove NAME | new NAME | test FILE|NAME | NAME|GROUP]",
     "Manage tools of your own: `add` checks scripts and installs them, `remove` uninstalls one, `new` writes a skeleton, `test` runs a tool's example and compares\n"
     "what it prints with the columns that its header promises. Without these words, the same as `acu tools`.",
     tool_options, "acu tool new slowlog\nacu tool test ./slowlog.bt\nacu tool add ./slowlog.bt\nacu tool remove slowlog"},
    {"mcp", "[options]",
     "Offer acu to an assistant: a server of the Model Context Protocol on standard input and output. Its verbs only read: they have limits of time,\n"
     "cost and output, check scripts before they run, and refuse those that change the system.",
     mcp_options, "acu mcp\nacu mcp --verbs host,sql,why --audit /var/log/acu-mcp.log"},
    {"api", "[options] [PATH]",
     "Offer the verbs of `acu mcp` to programs: JSON-RPC, one message a line, on a UNIX socket that only its owner can open. PATH is /run/acu.sock for root,\n"
     "$XDG_RUNTIME_DIR/acu.sock for others.",
     api_options, "acu api\nacu api --audit /var/log/acu-api.log /run/acu/api.sock"},
    {"serve", "[options]",
     "Record this host all the time (CPU time, waits, numbers of services) into an embedded store, and serve the console and its HTTP API on loopback. The printed address\n"
     "has a token that opens one session.",
     serve_options, "acu serve\nacu serve --listen 127.0.0.1:8080 --store /var/lib/acu/web1.db --keep 14d --max-size 2G\nacu serve --read-only --token-file /etc/acu/token\nacu serve --users /etc/acu/users --add-user alice --role measure\nacu serve --users /etc/acu/users --listen 10.0.0.5:7070 --tls-cert /etc/acu/cert.pem --tls-key /etc/acu/key.pem"},
    {"store", "FILE sizes|check|compact|export|import [RECORDING]",
     "Look after the store of `acu serve`: show what it holds, check it, delete and merge what is old, export a range as a recording, or import a recording.",
     store_options, "acu store /var/lib/acu/store.db sizes\nacu store /var/lib/acu/store.db export --service nginx.service --from -900 -o nginx.html\nacu store ./incident.db import incident.acu"},
    {"agent", "--to URL --token-file FILE [options]",
     "Record this host all the time, as `acu serve` does, and send it to the collector of a fleet. What cannot be sent waits in a spool on disk.",
     agent_options, "acu agent --to http://collector:7071 --token-file /etc/acu/agent.token\nacu agent --to http://127.0.0.1:7071 --token-file ./token --spool ./spool --max-size 1G"},
    {"collect", "--store URL --agents FILE [options]",
     "Receive the recordings of a fleet's agents and store them in ClickHouse. `acu serve --store URL` shows them.",
     collect_options, "acu collect --store clickhouse://acu@127.0.0.1:8123/acu --agents /etc/acu/agents\nacu collect --listen 10.0.0.5:7071 --store clickhouse://acu@ch1:8123/acu --agents /etc/acu/agents --keep-fine 3d"},
    {"learn", "[--list] [LESSON]",
     "Learn acu in the terminal: twelve lessons, each with a small broken program to examine and a question about it, from `acu top` to `acu why`.",
     learn_options, "acu learn\nacu learn --list\nacu learn 4"},
    {"policy", "check|show [options]",
     "Check the policy of this host, which limits who may trace what, or show what it permits to a user.\n"
     "The file is /etc/acu/policy; `acu --policy FILE COMMAND …` uses another one (for root).",
     policy_options, "acu policy check\nacu policy show --user alice\nacu policy check --file draft.policy"},
    {"info", "[--json] [--for FILE] | --save FILE", "Show what this kernel supports and what this user may do, or save it.", info_options,
     "acu info\nacu info --save web1.host"},
    {"help", "[SUBCOMMAND|reference|man [SUBCOMMAND]|completion bash|zsh|fish]",
     "Explain a subcommand, or print the reference manual, a manual page, or shell completions.",
     help_options, "acu help run\nacu help man trace | man -l -\nsource <(acu help completion bash)"},
};

// The row with this name, or nullptr.
constexpr const Subcommand* find_subcommand(std::string_view name) {
  for (const Subcommand& s : subcommands)
    if (s.name == name) return &s;
  return nullptr;
}

} // namespace spec
