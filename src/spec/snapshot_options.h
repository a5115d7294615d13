// Options of the commands that look at memory, files and tables of this moment.
#pragma once

#include "spec/shared_options.h"

namespace spec {

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
    .doc = "Write to FILE instead of standard output."};
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

} // namespace spec
