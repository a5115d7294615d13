// Options of the commands that record, and show what was recorded.
#pragma once

#include "spec/shared_options.h"

namespace spec {

inline constexpr Option functions_option = {
    .id = OptionId::top, .name = "top", .argument = "N",
    .doc = "Show N functions (default 20)."};
inline constexpr Option sort_option = {
    .id = OptionId::sort,
    .name = "sort",
    .argument = "BY",
    .allowed = "self|total|name",
    .doc = "Sort functions by self (default), by total (self and callees), or by name."};

inline constexpr Option target_acu = {.id = OptionId::include_acu, .name = "include-acu", .doc = "When no process is named: include acu itself."};
inline constexpr Option target_all = {.id = OptionId::all,
                                     .letter = 'a',
                                     .name = "all",
                                     .doc = "Trace all processes (default)."};

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
    .doc = "Refuse to record if the estimated overhead exceeds PERCENT of a CPU (default: 30 for leaks and goroutines, otherwise no limit)."};
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

} // namespace spec
