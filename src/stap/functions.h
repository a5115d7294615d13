// Functions of SystemTap's tapsets and what acu has for each. Adding a function is a row here.
#pragma once

#include "base/text_table.h"

#include <cstdint>
#include <string_view>

namespace stap {

// What an expression gives, as far as it decides how it is printed and joined.
enum class Kind : uint8_t {
  unknown,
  number, // 64 bits
  narrow, // a number of at most 32 bits
  truth,  // 0 or 1
  text,
  symbol, // stacks, symbols, times: printed and used as keys, not joined with texts
  nothing,
};

struct FunctionRow {
  std::string_view name;
  std::string_view parameters; // "a b": names in the expression
  Kind kind;
  std::string_view expression; // of acu's language
  std::string_view remark = {};
};
using FunctionTable = base::TextTable<FunctionRow, &FunctionRow::name, &FunctionRow::parameters, &FunctionRow::expression, &FunctionRow::remark>;

namespace written {
inline constexpr FunctionRow functions[] = {
    // Who runs
    {"pid", "", Kind::narrow, "pid"},
    {"tid", "", Kind::narrow, "tid"},
    {"ppid", "", Kind::narrow, "ppid"},
    {"uid", "", Kind::narrow, "uid"},
    {"euid", "", Kind::narrow, "uid", "euid() became uid: acu reads the real user ID"},
    {"gid", "", Kind::narrow, "gid"},
    {"egid", "", Kind::narrow, "gid", "egid() became gid: acu reads the real group ID"},
    {"cpu", "", Kind::narrow, "cpu"},
    {"cpuid", "", Kind::narrow, "cpu"},
    {"execname", "", Kind::text, "comm"},
    {"pexecname", "", Kind::text, "pcomm"},
    {"cmdline_str", "", Kind::text, "str(uptr(curtask.mm.arg_start))", "only the first word of the command line is read"},
    {"ns_pid", "", Kind::narrow, "nspid"},
    {"ns_tid", "", Kind::narrow, "nstid"},
    {"target_set_pid", "a", Kind::truth, "a == cpid", "target_set_pid() became a comparison with cpid: children of the process are not in it"},
    {"pgrp", "", Kind::narrow, "curtask.signal.pids[2].numbers[0].nr"},
    {"sid", "", Kind::narrow, "curtask.signal.pids[3].numbers[0].nr"},
    {"user_mode", "", Kind::truth, "usermode"},
    {"target", "", Kind::narrow, "cpid", "target() became cpid, the process of `-c CMD`; for a running process use `-p PID` and leave the comparison out"},
    {"task_current", "", Kind::number, "curtask"},
    {"pid2execname", "a", Kind::text, "pcomm", "acu knows names of the current process and its parent only: pid2execname() became pcomm"},
    // Tasks
    {"task_pid", "a", Kind::narrow, "((struct task_struct *)a).tgid"},
    {"task_tid", "a", Kind::narrow, "((struct task_struct *)a).pid"},
    {"task_ppid", "a", Kind::narrow, "((struct task_struct *)a).real_parent.tgid"},
    {"task_parent", "a", Kind::number, "((struct task_struct *)a).real_parent"},
    {"task_execname", "a", Kind::text, "((struct task_struct *)a).comm"},
    {"task_prio", "a", Kind::narrow, "((struct task_struct *)a).prio"},
    {"task_state", "a", Kind::narrow, "((struct task_struct *)a).__state"},
    {"task_cpu", "a", Kind::narrow, "((struct task_struct *)a).thread_info.cpu"},
    {"task_uid", "a", Kind::narrow, "((struct task_struct *)a).cred.uid.val"},
    {"task_gid", "a", Kind::narrow, "((struct task_struct *)a).cred.gid.val"},
    {"task_utime", "", Kind::number, "curtask.utime"},
    {"task_stime", "", Kind::number, "curtask.stime"},
    {"usymfileline", "a", Kind::symbol, "usym(a)", "usymfileline() became the symbol"},
    {"symfileline", "a", Kind::symbol, "ksym(a)", "symfileline() became the symbol"},
    // Time
    {"gettimeofday_ns", "", Kind::number, "nsecs(tai)"},
    {"gettimeofday_us", "", Kind::number, "nsecs(tai) / 1000"},
    {"gettimeofday_ms", "", Kind::number, "nsecs(tai) / 1000000"},
    {"gettimeofday_s", "", Kind::number, "nsecs(tai) / 1000000000"},
    {"ktime_get_ns", "", Kind::number, "nsecs"},
    {"local_clock_ns", "", Kind::number, "nsecs"},
    {"local_clock_us", "", Kind::number, "nsecs / 1000"},
    {"local_clock_ms", "", Kind::number, "nsecs / 1000000"},
    {"local_clock_s", "", Kind::number, "nsecs / 1000000000"},
    {"cpu_clock_ns", "a", Kind::number, "nsecs"},
    {"cpu_clock_us", "a", Kind::number, "nsecs / 1000"},
    {"cpu_clock_ms", "a", Kind::number, "nsecs / 1000000"},
    {"get_cycles", "", Kind::number, "nsecs", "get_cycles() became nanoseconds"},
    {"jiffies", "", Kind::number, "jiffies"},
    // `0 * nsecs(tai)` says which clock the time is of; that clock is known to nanoseconds, and half a second keeps the second.
    {"ctime", "a", Kind::symbol, "strftime(\"%a %b %e %H:%M:%S %Y\", a * 1000000000 + 500000000 + 0 * nsecs(tai))"},
    {"tz_ctime", "a", Kind::symbol, "strftime(\"%a %b %e %H:%M:%S %Y\", a * 1000000000 + 500000000 + 0 * nsecs(tai))"},
    // Memory
    {"user_string", "a", Kind::text, "str(uptr(a))"},
    {"user_string_n", "a b", Kind::text, "str(uptr(a), b + 1)"},
    {"user_string_quoted", "a", Kind::text, "str(uptr(a))", "the text has no quotes around it"},
    {"user_string2", "a b", Kind::text, "try(str(uptr(a)), b)"},
    {"user_string_warn", "a", Kind::text, "str(uptr(a))"},
    {"user_string_nofault", "a", Kind::text, "str(uptr(a))"},
    {"user_string2_warn", "a b", Kind::text, "try(str(uptr(a)), b)"},
    {"user_string_n_warn", "a b", Kind::text, "str(uptr(a), b + 1)"},
    {"user_string_n2", "a b c", Kind::text, "try(str(uptr(a), b + 1), c)"},
    {"user_string_n_quoted", "a b", Kind::text, "str(uptr(a), b + 1)", "the text has no quotes around it"},
    {"kernel_string2", "a b", Kind::text, "try(str(kptr(a)), b)"},
    {"kernel_string", "a", Kind::text, "str(kptr(a))"},
    {"kernel_string_n", "a b", Kind::text, "str(kptr(a), b + 1)"},
    {"kernel_string_quoted", "a", Kind::text, "str(kptr(a))", "the text has no quotes around it"},
    {"user_char", "a", Kind::narrow, "*(int8 *)uptr(a)"},
    {"user_short", "a", Kind::narrow, "*(int16 *)uptr(a)"},
    {"user_ushort", "a", Kind::narrow, "*(uint16 *)uptr(a)"},
    {"user_int", "a", Kind::narrow, "*(int32 *)uptr(a)"},
    {"user_uint", "a", Kind::narrow, "*(uint32 *)uptr(a)"},
    {"user_long", "a", Kind::number, "*(int64 *)uptr(a)"},
    {"user_ulong", "a", Kind::number, "*(uint64 *)uptr(a)"},
    {"user_int8", "a", Kind::narrow, "*(int8 *)uptr(a)"},
    {"user_uint8", "a", Kind::narrow, "*(uint8 *)uptr(a)"},
    {"user_int16", "a", Kind::narrow, "*(int16 *)uptr(a)"},
    {"user_uint16", "a", Kind::narrow, "*(uint16 *)uptr(a)"},
    {"user_int32", "a", Kind::narrow, "*(int32 *)uptr(a)"},
    {"user_uint32", "a", Kind::narrow, "*(uint32 *)uptr(a)"},
    {"user_int64", "a", Kind::number, "*(int64 *)uptr(a)"},
    {"user_uint64", "a", Kind::number, "*(uint64 *)uptr(a)"},
    {"kernel_char", "a", Kind::narrow, "*(int8 *)kptr(a)"},
    {"kernel_short", "a", Kind::narrow, "*(int16 *)kptr(a)"},
    {"kernel_int", "a", Kind::narrow, "*(int32 *)kptr(a)"},
    {"kernel_uint", "a", Kind::narrow, "*(uint32 *)kptr(a)"},
    {"kernel_long", "a", Kind::number, "*(int64 *)kptr(a)"},
    {"kernel_ulong", "a", Kind::number, "*(uint64 *)kptr(a)"},
    {"kernel_pointer", "a", Kind::number, "*(uint64 *)kptr(a)"},
    // Texts
    {"strlen", "a", Kind::narrow, "strlen(a)"},
    {"substr", "a b c", Kind::text, "substr(a, b, c)"},
    {"isinstr", "a b", Kind::truth, "strcontains(a, b)"},
    {"isdigit", "a", Kind::truth, "a[0] >= 48 && a[0] <= 57"},
    {"strpos", "a b", Kind::narrow, "strstr(a, b)"},
    {"stringat", "a b", Kind::narrow, "a[b]"},
    {"text_str", "a", Kind::text, "a", "text_str() gives the text as it is, also characters that are not printable"},
    {"text_strn", "a b c", Kind::text, "substr(a, 0, b)", "text_strn() gives the text as it is, without quotes"},
    {"errno_str", "a", Kind::text, "strerror(a)"},
    {"return_str", "a b", Kind::number, "b", "return_str() became the number"},
    {"returnstr", "a", Kind::number, "retval", "returnstr() became the number"},
    {"syscall_name", "a", Kind::text, "syscall_name(a)"},
    {"signal_str", "a", Kind::text, "signal_name(a)"},
    {"sprint_loadavg", "", Kind::text, "\"\"", "the load average is not available: `acu sql` and /proc/loadavg have it"},
    // Stacks and symbols
    {"symname", "a", Kind::symbol, "ksym(a)"},
    {"symdata", "a", Kind::symbol, "ksym(a)"},
    {"usymname", "a", Kind::symbol, "usym(a)"},
    {"usymdata", "a", Kind::symbol, "usym(a)"},
    {"umodname", "a", Kind::symbol, "usym(a)", "umodname() became the symbol"},
    {"backtrace", "", Kind::symbol, "kstack"},
    {"sprint_backtrace", "", Kind::symbol, "kstack"},
    {"task_backtrace", "a", Kind::symbol, "kstack", "the stack is that of the current task"},
    {"ubacktrace", "", Kind::symbol, "ustack"},
    {"sprint_ubacktrace", "", Kind::symbol, "ustack"},
    {"sprint_stack", "a", Kind::symbol, "a"},
    {"sprint_ustack", "a", Kind::symbol, "a"},
    {"sprint_syms", "a", Kind::symbol, "a"},
    {"sprint_usyms", "a", Kind::symbol, "a"},
    {"sprint_ubacktrace_brief", "", Kind::symbol, "ustack"},
    {"caller", "", Kind::symbol, "kstack(2)", "caller() became the last two frames"},
    {"ucaller", "", Kind::symbol, "ustack(2)", "ucaller() became the last two frames"},
    {"addr", "", Kind::number, "reg(\"ip\")"},
    {"uaddr", "", Kind::number, "ureg(\"ip\")"},
    {"register", "a", Kind::number, "reg(a)", "names of registers are those of acu: `ip`, `sp`, `di`, …"},
    {"u_register", "a", Kind::number, "reg(a)", "names of registers are those of acu: `ip`, `sp`, `di`, …"},
    // The probe
    {"pn", "", Kind::text, "probe"},
    {"pp", "", Kind::text, "probe"},
    {"ppfunc", "", Kind::text, "func"},
    {"probefunc", "", Kind::text, "func"},
    {"returnval", "", Kind::number, "(int64)retval"},
    // Network
    {"ip_ntop", "a", Kind::symbol, "ntop(a)"},
    {"format_ipaddr", "a b", Kind::symbol, "ntop(b, a)"},
    {"ntohs", "a", Kind::narrow, "bswap((uint16)a)"},
    {"htons", "a", Kind::narrow, "bswap((uint16)a)"},
    {"ntohll", "a", Kind::number, "bswap((uint64)a)"},
    {"htonll", "a", Kind::number, "bswap((uint64)a)"},
    {"ntohl", "a", Kind::narrow, "bswap((uint32)a)"},
    {"htonl", "a", Kind::narrow, "bswap((uint32)a)"},
    // Others
    {"randint", "a", Kind::narrow, "rand % a"},
    {"MKDEV", "a b", Kind::number, "(a << 20) | b"},
    {"MAJOR", "a", Kind::number, "a >> 20"},
    {"MINOR", "a", Kind::number, "a & 1048575"},
    // Effects
    {"exit", "", Kind::nothing, "exit()"},
    {"abort", "", Kind::nothing, "exit()"},
    {"system", "a", Kind::nothing, "system(a)", "run it with --unsafe: system() starts a program"},
    {"print_backtrace", "", Kind::nothing, "print(kstack)"},
    {"print_ubacktrace", "", Kind::nothing, "print(ustack)"},
    {"print_ubacktrace_brief", "", Kind::nothing, "print(ustack)"},
    {"dump_stack", "", Kind::nothing, "print(kstack)"},
    {"print_backtrace_fileline", "", Kind::nothing, "print(kstack)"},
    {"print_ubacktrace_fileline", "", Kind::nothing, "print(ustack)"},
    {"print_stack", "a", Kind::nothing, "print(a)"},
    {"print_ustack", "a", Kind::nothing, "print(a)"},
    {"print_syms", "a", Kind::nothing, "print(a)"},
    {"print_usyms", "a", Kind::nothing, "print(a)"},
    // They write to the terminal.
    {"ansi_clear_screen", "", Kind::nothing, "printf(\"\\033[1;1H\\033[J\")"},
    {"ansi_new_line", "", Kind::nothing, "printf(\"\\n\")"},
    {"ansi_cursor_move", "a b", Kind::nothing, "printf(\"\\033[%d;%dH\", b, a)"},
    {"ansi_cursor_hide", "", Kind::nothing, "printf(\"\\033[?25l\")"},
    {"ansi_cursor_show", "", Kind::nothing, "printf(\"\\033[?25h\")"},
    {"ansi_cursor_save", "", Kind::nothing, "printf(\"\\033[s\")"},
    {"ansi_cursor_restore", "", Kind::nothing, "printf(\"\\033[u\")"},
    {"ansi_set_color", "a", Kind::nothing, "printf(\"\\033[%dm\", a)"},
    {"ansi_set_color2", "a b", Kind::nothing, "printf(\"\\033[%d;%dm\", a, b)"},
    {"ansi_set_color3", "a b c", Kind::nothing, "printf(\"\\033[%d;%d;%dm\", a, b, c)"},
    {"ansi_reset_color", "", Kind::nothing, "printf(\"\\033[0;0m\")"},
    {"panic", "a", Kind::nothing, "exit()", "panic() became exit()"},
};
} // namespace written
inline constexpr FunctionTable functions = FunctionTable::of<written::functions>();

// What has no counterpart, and what to do instead.
struct MissingFunction {
  std::string_view name, instead;
};
using MissingFunctionTable = base::TextTable<MissingFunction, &MissingFunction::name, &MissingFunction::instead>;
namespace written {
inline constexpr MissingFunction missing_functions[] = {
    {"matched", "compare with match(), which gives no parts"},
    {"text_replace", "print the parts, with substr()"},
    {"print_regs", "print registers by name: reg(\"ip\")"},
    {"stp_pid", "leave acu out with `comm != \"acu\"`"},
    {"set_user_string", "write_user() changes memory of a program, with --unsafe"},
    {"set_kernel_string", "acu never writes memory of the kernel"},
    {"set_kernel_int", "acu never writes memory of the kernel"},
    {"set_kernel_long", "acu never writes memory of the kernel"},
    {"raise", "signal() sends a signal, with --unsafe"},
    {"ftrace", "printf() writes to standard output"},
    {"d_path", "path() reads the path of a struct path in fentry probes"},
    {"d_name", "read the member: str(d.d_name.name)"},
    {"task_dentry_path", "path() reads the path of a struct path in fentry probes"},
    {"uid2name", "the builtin username is the name of the current user"},
    {"env_var", "`acu getenvs` shows what programs look for"},
    {"cmdline_arg", "acu reads the first word: str(uptr(curtask.mm.arg_start))"},
    {"cmdline_args", "acu reads the first word: str(uptr(curtask.mm.arg_start))"},
    {"speculate", "write `speculate { … }` around the output, and commit() or discard()"},
    {"speculation", "write `speculate { … }` around the output, and commit() or discard()"},
    {"qs_wait", "keep times in maps"},
    {"qsq_start", "keep times in maps"},
};
} // namespace written
inline constexpr MissingFunctionTable missing_functions = MissingFunctionTable::of<written::missing_functions>();

} // namespace stap
