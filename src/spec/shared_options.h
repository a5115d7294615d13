// Options that commands of several kinds have.
#pragma once

#include "spec/options.h"

namespace spec {

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

inline constexpr Option rounds_option = {
    .id = OptionId::rounds, .letter = 'n', .name = "count", .argument = "COUNT",
    .doc = "Stop after COUNT intervals."};

inline constexpr Option for_option = {
    .id = OptionId::for_host,
    .name = "for",
    .argument = "FILE",
    .doc = "Use the kernel of the host saved in FILE (`acu info --save`), not of this one."};

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

inline constexpr Option target_cpus = {
    .id = OptionId::cpus, .letter = 'C', .name = "cpu", .argument = "CPUS", .doc = "Trace only these CPUs: 0-3,7."};

inline constexpr Option sampled_duration = {
    .id = OptionId::duration,
    .name = "duration",
    .argument = "TIME",
    .doc = "Stop after this time: 10s, 500ms, 2m (default: on Ctrl-C or when the program exits)."};

inline constexpr Option quiet_option = {
    .id = OptionId::quiet, .letter = 'q', .name = "quiet", .doc = "Print only errors."};

} // namespace spec
