// The table of probe kinds: how each is named and written. Matching, the manual and completion read it. What a kind does
// is in src/probe, one file each; probe/match.cc has a row of the same name for each, and a missing one does not compile.
#pragma once

#include "base/constant.h"
#include "spec/abilities.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace spec {

struct ProbeKind {
  std::string_view name;                        // canonical, as the `probe` builtin prints it
  std::array<std::string_view, 2> aliases = {}; // short and older names
  uint16_t abilities = 0;                       // bits of Ability
  bool still = false;                           // of a program that stands still
  bool anywhere = false;                        // of both
  std::string_view form;                        // how it is written
  std::string_view doc;
  std::string_view example; // a whole probe, as in a script
};

inline constexpr ProbeKind probe_kinds[] = {
    {.name = "begin",
     .anywhere = true,
     .form = "begin",
     .doc = "Once, before the other probes are attached.",
     .example = "begin"},
    {.name = "end",
     .anywhere = true,
     .form = "end",
     .doc = "Once, after the other probes are detached.",
     .example = "end"},
    {.name = "self",
     .form = "self:signal:NAME",
     .doc = "When acu itself gets this signal.",
     .example = "self:signal:SIGUSR1"},
    {.name = "interval",
     .aliases = {"i"},
     .form = "interval:s|ms|us|hz:COUNT or interval:DURATION",
     .doc = "Regularly, on one CPU.",
     .example = "interval:s:1"},
    {.name = "profile",
     .aliases = {"p"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "profile:hz|s|ms|us:COUNT or profile:DURATION",
     .doc = "Regularly, on every CPU, interrupting what runs there.",
     .example = "profile:hz:99"},
    {.name = "software",
     .aliases = {"s"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "software:EVENT[:COUNT]",
     .doc = "Each COUNT-th software event of the kernel: page faults, context switches, …",
     .example = "software:page-faults:100"},
    {.name = "tracepoint",
     .aliases = {"t"},
     .abilities = has_context | in_task | can_write_user,
     .form = "tracepoint:CATEGORY:EVENT",
     .doc = "A tracepoint of the kernel; `args` holds its fields.",
     .example = "tracepoint:sched:sched_switch"},
    {.name = "rawtracepoint",
     .aliases = {"rt"},
     .abilities = has_arg_numbers | has_context | in_task | can_write_user | vouches,
     .form = "rawtracepoint:[MODULE:]EVENT",
     .doc = "A tracepoint of the kernel; `args` holds the arguments its code passes.",
     .example = "rawtracepoint:sched_switch"},
    {.name = "kprobe",
     .aliases = {"k"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_arg_numbers |
                  can_override,
     .form = "kprobe:[MODULE:]FUNCTION[+OFFSET]",
     .doc = "When a function of the kernel is entered, or an instruction in it is reached. `args` holds its "
            "arguments where "
            "the kernel's types describe it, `arg0`, `arg1`, … are the registers. A block on one function "
            "that asks for "
            "no registers and no kernel stack is attached as fentry is, which costs less (`prefer_fentry`; "
            "-v tells). "
            "MODULE and FUNCTION may have wildcards.",
     .example = "kprobe:vfs_read"},
    {.name = "kretprobe",
     .aliases = {"kr"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_result,
     .form = "kretprobe:[MODULE:]FUNCTION",
     .doc = "When a function of the kernel returns, with its result. Returns that the kernel did not tell "
            "are counted.",
     .example = "kretprobe:vfs_read"},
    {.name = "fentry",
     .aliases = {"f", "kfunc"},
     .abilities = has_function | in_task | can_write_user | sees_paths | vouches,
     .form = "fentry:[MODULE:]FUNCTION",
     .doc = "When a function of the kernel is entered, with typed arguments: `args`. The kernel must have "
            "type information.",
     .example = "fentry:vfs_read"},
    {.name = "fexit",
     .aliases = {"fr", "kretfunc"},
     .abilities = has_function | has_result | in_task | can_write_user | sees_paths | vouches,
     .form = "fexit:[MODULE:]FUNCTION",
     .doc = "When a function of the kernel returns, with its arguments and result.",
     .example = "fexit:vfs_read"},
    {.name = "uprobe",
     .aliases = {"u"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_arg_numbers,
     .form = "uprobe:BINARY:FUNCTION[+OFFSET] or uprobe:BINARY@FILE:LINE[:COLUMN]",
     .doc = "When a function of a program or library is entered, or an instruction in it is reached. BINARY "
            "is a path, "
            "a program of PATH, a library as the loader finds it (`libc`, `libssl.so.3`; with -p one that "
            "the process "
            "has mapped), or a library stored in a zip archive (`app.zip!/lib/libx.so`). FUNCTION is a name "
            "of the "
            "symbol table (`memcpy@GLIBC_2.14` for one of several versions), `cpp:ns::f` for all functions "
            "of that "
            "name in C++ or Rust, `cpp:\"ns::f(int)\"` for one of them, or an address. A name that the symbol "
            "table does not have is taken as one of C++ or Rust. A function of a "
            "stripped file "
            "may be called as stacks show it, `func_0x4012a0`. BINARY and FUNCTION may have "
            "wildcards. Of a "
            "line each copy of its code is probed.",
     .example = "uprobe:libc:malloc"},
    {.name = "uretprobe",
     .aliases = {"ur"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_result,
     .form = "uretprobe:BINARY:FUNCTION",
     .doc =
         "When a function of a program or library returns. Where no exception can pass through it, the kernel puts an address of "
         "its own in the place of the return address; else the return instructions are probed; that takes longer. "
         "Functions of Go, those that change stacks, and those whose return instructions are not known are "
         "refused; the last are probed with `--unsafe`, and an exception then ends the program.",
     .example = "uretprobe:libc:malloc"},
    {.name = "usdt",
     .aliases = {"U"},
     .abilities = has_registers | has_context | in_task | can_write_user | has_arg_numbers,
     .form = "usdt:BINARY:[NAMESPACE:]PROBE",
     .doc = "A probe that the authors of a program put into it.",
     .example = "usdt:libstdc++:throw"},
    {.name = "hardware",
     .aliases = {"h"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "hardware:EVENT[:COUNT]",
     .doc = "Each COUNT-th event of the processor's counters: cycles, cache misses, …",
     .example = "hardware:cache-misses:1000000"},
    {.name = "watchpoint",
     .aliases = {"w"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "watchpoint:ADDRESS:LENGTH:MODE",
     .doc = "When memory is read (r), written (w) or executed (x). With -p or -c ADDRESS is one of that "
            "process; else one "
            "of the kernel, or the name of a symbol. The processor watches few places at a time (four on "
            "x86-64).",
     .example = "watchpoint:0x10000000:8:rw"},
    {.name = "asyncwatchpoint",
     .aliases = {"aw"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "asyncwatchpoint:ADDRESS:LENGTH:MODE",
     .doc = "The same: nothing is stopped while the watch is set.",
     .example = "asyncwatchpoint:0x10000000:8:rw"},
    {.name = "iter",
     .aliases = {"it"},
     .abilities = has_context | sees_paths | vouches,
     .form = "iter:KIND[:PIN]",
     .doc = "Once for each object of the kernel of one kind: tasks, files, mappings, sockets. `ctx` holds "
            "its members. With a "
            "PIN, the name of a file in the BPF file system, the program stays there when acu ends, and runs "
            "whenever the "
            "file is read: what it prints, by printf, is the file's text.",
     .example = "iter:task"},
    {.name = "bench",
     .form = "bench:NAME",
     .doc = "Run many times and timed, with --bench.",
     .example = "bench:one"},
    {.name = "test", .form = "test:NAME", .doc = "Run once and judged, with --test.", .example = "test:one"},
    {.name = "oneshot",
     .still = true,
     .form = "oneshot",
     .doc = "Of a program that stands still (`acu core`, `acu snap`): once, then done. `target.NAME` leads "
            "into its data.",
     .example = "oneshot"},
    {.name = "thread",
     .abilities = has_registers,
     .still = true,
     .form = "thread",
     .doc =
         "Of a program that stands still: once for each thread, with its registers, stack and thread-locals.",
     .example = "thread"},
    {.name = "frame",
     .abilities = has_registers | has_function,
     .still = true,
     .form = "frame(\"FUNCTION\")",
     .doc = "Of a program that stands still: once for each call of a function that a thread is in, also "
            "inlined ones, with "
            "`args` and `locals` as they are there. FUNCTION may have wildcards; C++ names as `ns::f`.",
     .example = "frame(\"main\")"},
    {.name = "fault",
     .abilities = has_registers | has_function,
     .still = true,
     .form = "fault",
     .doc =
         "Of a core dump: the thread that crashed, with `args` and `locals` of the function in which it did.",
     .example = "fault"},
};

// Index of a row, at compile time.
consteval size_t probe_kind(std::string_view name) {
  for (size_t i = 0; i < std::size(probe_kinds); i++)
    if (probe_kinds[i].name == name) return i;
  base::wrong_constant("no such kind of probe");
}

} // namespace spec
