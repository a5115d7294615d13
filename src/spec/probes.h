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
  bool stopped = false;                         // of a stopped program
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
     .doc = "When acu itself receives this signal.",
     .example = "self:signal:SIGUSR1"},
    {.name = "interval",
     .aliases = {"i"},
     .form = "interval:s|ms|us|hz:COUNT or interval:DURATION",
     .doc = "Periodically, on one CPU.",
     .example = "interval:s:1"},
    {.name = "profile",
     .aliases = {"p"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "profile:hz|s|ms|us:COUNT or profile:DURATION",
     .doc = "Periodically, on every CPU, interrupting what runs there.",
     .example = "profile:hz:99"},
    {.name = "software",
     .aliases = {"s"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "software:EVENT[:COUNT]",
     .doc = "Every COUNT-th software event of the kernel: page faults, context switches, …",
     .example = "software:page-faults:100"},
    {.name = "tracepoint",
     .aliases = {"t"},
     .abilities = has_context | in_task | can_write_user,
     .form = "tracepoint:CATEGORY:EVENT",
     .doc = "A kernel tracepoint; `args` has its fields.",
     .example = "tracepoint:sched:sched_switch"},
    {.name = "rawtracepoint",
     .aliases = {"rt"},
     .abilities = has_arg_numbers | has_context | in_task | can_write_user | vouches,
     .form = "rawtracepoint:[MODULE:]EVENT",
     .doc = "A kernel tracepoint; `args` has the arguments that the kernel code passes.",
     .example = "rawtracepoint:sched_switch"},
    {.name = "kprobe",
     .aliases = {"k"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_arg_numbers |
                  can_override,
     .form = "kprobe:[MODULE:]FUNCTION[+OFFSET]",
     .doc = "When a kernel function is entered, or an instruction in it is reached. `args` has its arguments if the "
            "kernel's types describe them; `arg0`, `arg1`, … are the registers. A block on one function that uses no "
            "registers and no kernel stack is attached as fentry, which costs less (`prefer_fentry`; -v shows it). MODULE "
            "and FUNCTION may have wildcards.",
     .example = "kprobe:vfs_read"},
    {.name = "kretprobe",
     .aliases = {"kr"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_result,
     .form = "kretprobe:[MODULE:]FUNCTION",
     .doc = "When a kernel function returns, with its result. Returns that the kernel missed are counted.",
     .example = "kretprobe:vfs_read"},
    {.name = "fentry",
     .aliases = {"f", "kfunc"},
     .abilities = has_function | in_task | can_write_user | sees_paths | vouches,
     .form = "fentry:[MODULE:]FUNCTION",
     .doc = "When a kernel function is entered, with typed arguments: `args`. The kernel must have type information.",
     .example = "fentry:vfs_read"},
    {.name = "fexit",
     .aliases = {"fr", "kretfunc"},
     .abilities = has_function | has_result | in_task | can_write_user | sees_paths | vouches,
     .form = "fexit:[MODULE:]FUNCTION",
     .doc = "When a kernel function returns, with its arguments and result.",
     .example = "fexit:vfs_read"},
    {.name = "uprobe",
     .aliases = {"u"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_arg_numbers,
     .form = "uprobe:BINARY:FUNCTION[+OFFSET] or uprobe:BINARY@FILE:LINE[:COLUMN]",
     .doc = "When a function of a program or library is entered, or an instruction in it is reached. BINARY is a path, a "
            "program in PATH, a library as the loader finds it (`libc`, `libssl.so.3`; with -p, one that the process has "
            "mapped), or a library stored in a zip archive (`app.zip!/lib/libx.so`). `container=NAME:` before it means a file of that container "
            "(`uprobe:container=web:/usr/sbin/nginx:main`). FUNCTION is a name of the symbol "
            "table (`memcpy@GLIBC_2.14` for one of several versions), `cpp:ns::f` for all C++ or Rust functions of that "
            "name, `cpp:\"ns::f(int)\"` for one of them, or an address. A name that is not in the symbol table is treated "
            "as a C++ or Rust name. Functions of a stripped file can be named as in stacks, `func_0x4012a0`. BINARY and "
            "FUNCTION may have wildcards. For a line, each copy of its code is probed.",
     .example = "uprobe:libc:malloc"},
    {.name = "uretprobe",
     .aliases = {"ur"},
     .abilities = has_registers | has_function | has_context | in_task | can_write_user | has_result,
     .form = "uretprobe:BINARY:FUNCTION",
     .doc = "When a function of a program or library returns. If no exception can pass through it, the kernel replaces "
            "the return address; otherwise the return instructions are probed, which takes longer. Functions of Go, "
            "functions that switch stacks, and functions with unknown return instructions are refused; the last are "
            "probed with `--unsafe`, but then an exception ends the program.",
     .example = "uretprobe:libc:malloc"},
    {.name = "usdt",
     .aliases = {"U"},
     .abilities = has_registers | has_context | in_task | can_write_user | has_arg_numbers,
     .form = "usdt:BINARY:[NAMESPACE:]PROBE",
     .doc = "A probe that the authors of a program built into it.",
     .example = "usdt:libstdc++:throw"},
    {.name = "hardware",
     .aliases = {"h"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "hardware:EVENT[:COUNT]",
     .doc = "Every COUNT-th event of a CPU counter: cycles, cache misses, …",
     .example = "hardware:cache-misses:1000000"},
    {.name = "watchpoint",
     .aliases = {"w"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "watchpoint:ADDRESS:LENGTH:MODE",
     .doc = "When memory is read (r), written (w) or executed (x). With -p or -c, ADDRESS is in that process; otherwise "
            "it is a kernel address or the name of a kernel symbol. A CPU watches few addresses at a time (four on "
            "x86-64).",
     .example = "watchpoint:0x10000000:8:rw"},
    {.name = "asyncwatchpoint",
     .aliases = {"aw"},
     .abilities = has_registers | has_context | in_task | can_write_user,
     .form = "asyncwatchpoint:ADDRESS:LENGTH:MODE",
     .doc = "The same, but nothing is stopped while the watchpoint is set.",
     .example = "asyncwatchpoint:0x10000000:8:rw"},
    {.name = "iter",
     .aliases = {"it"},
     .abilities = has_context | sees_paths | vouches,
     .form = "iter:KIND[:PIN]",
     .doc = "Once for each kernel object of one kind: tasks, files, mappings, sockets. `ctx` has its members. With a PIN, "
            "the name of a file in the BPF file system, the program stays there after acu exits and runs whenever the "
            "file is read; its printf output is the content of the file.",
     .example = "iter:task"},
    {.name = "bench",
     .form = "bench:NAME",
     .doc = "Runs many times and is timed, with --bench.",
     .example = "bench:one"},
    {.name = "test", .form = "test:NAME", .doc = "Runs once and is checked, with --test.", .example = "test:one"},
    {.name = "oneshot",
     .stopped = true,
     .form = "oneshot",
     .doc = "For core dumps and snapshots (`acu core`, `acu snap`): runs once. `target.NAME` gives access to the data of "
            "the program.",
     .example = "oneshot"},
    {.name = "thread",
     .abilities = has_registers,
     .stopped = true,
     .form = "thread",
     .doc = "For core dumps and snapshots: once for each thread, with its registers, stack and thread-local variables.",
     .example = "thread"},
    {.name = "frame",
     .abilities = has_registers | has_function,
     .stopped = true,
     .form = "frame(\"FUNCTION\")",
     .doc = "For core dumps and snapshots: once for each call of a function on the stack of a thread, including inlined "
            "calls, with its `args` and `locals`. FUNCTION may have wildcards; C++ names as `ns::f`. `frame(\"py:NAME\")` is each call of a "
            "Python function, by plain or qualified name: `args.NAME` and `locals.NAME` are texts as of `repr()` (of a `str`, its "
            "characters), and `ustack` begins at that call.",
     .example = "frame(\"main\")"},
    {.name = "fault",
     .abilities = has_registers | has_function,
     .stopped = true,
     .form = "fault",
     .doc = "For core dumps: the thread that crashed, with `args` and `locals` of the function that it crashed in.",
     .example = "fault"},
};

// Index of a row, at compile time.
consteval size_t probe_kind(std::string_view name) {
  for (size_t i = 0; i < std::size(probe_kinds); i++)
    if (probe_kinds[i].name == name) return i;
  base::wrong_constant("no such kind of probe");
}

} // namespace spec
