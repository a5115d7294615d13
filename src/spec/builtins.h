// The table of builtins: every name of the language that is not a keyword, variable or map. Parser, checker,
// lowering, manual, completion and tests read it. Each row has a row of the same name in lang/check_builtins.cc (its
// check) and in ir/lower_builtins.cc (its lowering): a missing one does not compile.
//
// `signature` names the parameters for people; `params` says what the checker accepts. Where the type of the result
// depends on the arguments, `gives` is `special` and the check works it out.
#pragma once

#include "base/constant.h"
#include "base/inline_text.h"
#include "base/text_table.h"
#include "spec/abilities.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace spec {

// What a parameter accepts.
enum class Takes : uint8_t {
  nothing, // no such parameter
  any,
  integer,
  integer_or_pointer,
  string,          // string, or something that reads as one
  pointer,         // pointer or integer address
  string_or_pointer,
  map,             // the map itself
  key,             // a key of the map before it
  literal_string,  // constant text
  literal_integer, // constant number
  word,            // a bare word such as a clock
  stack_option,    // a stack mode (a bare word) or a depth
  rest,            // any number of further values (format arguments)
  type_or_value,   // sizeof
  variable,        // an assignable scratch variable
};

enum class Gives : uint8_t { nothing, boolean, u8, u32, u64, i64, comm, special };

enum class Form : uint8_t { value, call, both };

// What a builtin is for; groups of the manual.
enum class Group : uint8_t { context, time, memory, text, map, aggregation, output, symbol, network, control, compile };

struct Param {
  Takes takes = Takes::nothing;
  bool optional = false;
};

// What a builtin looks at; decides where it is known.
enum class Subject : uint8_t {
  any,
  kernel,         // not in a core dump or snapshot
  stopped_memory, // all memory of a program: only in a core dump or snapshot
};

// A builtin as its row in the table below says it.
struct BuiltinRow {
  std::string_view name;
  Form form;
  Group group;
  std::array<Param, 5> params = {};
  Gives gives = Gives::nothing;
  bool async = false; // its effect happens outside the probe, in order
  bool unsafe = false;
  bool writes = false; // to a file, or where others read it
  uint16_t ability = 0; // bits of Ability: what each event of its block must have
  Subject subject = Subject::any;
  std::string_view signature;
  std::string_view doc;
  std::string_view example; // a whole script that can be run as it is, or empty
  std::string_view needs;   // what of the kernel it needs beyond what every script needs, or empty
};

// What only messages and the manual need of it.
struct BuiltinTexts {
  std::string_view signature, doc, example, needs;
};
using BuiltinTextTable = base::TextTable<BuiltinTexts, &BuiltinTexts::signature, &BuiltinTexts::doc, &BuiltinTexts::example, &BuiltinTexts::needs>;

// The rest, for which nothing has to be relocated when acu starts.
struct Builtin {
  base::InlineText<23> name;
  Form form;
  Group group;
  std::array<Param, 5> params;
  Gives gives;
  bool async, unsafe, writes;
  uint16_t ability;
  Subject subject;

  BuiltinTexts texts() const;
};

inline constexpr Param opt(Takes t) { return {t, true}; }
inline constexpr Param req(Takes t) { return {t, false}; }

namespace written {
inline constexpr BuiltinRow builtins[] = {
    // The event and who caused it.
    {.name = "args", .form = Form::value, .group = Group::context, .gives = Gives::special, .signature = "args",
     .doc = "Arguments of the traced event as a structure; `acu list -v PROBE` shows its members.",
     .example = "tracepoint:sched:sched_process_exec { printf(\"%d\\n\", args.pid); }"},
    {.name = "ctx", .form = Form::value, .group = Group::context, .gives = Gives::special,
     .ability = has_context, .signature = "T *ctx",
     .doc = "The raw context of the probe: registers and sample of profile, software and hardware probes (`ctx.regs.ip`), "
            "the record of a tracepoint, the arguments of a raw tracepoint.",
     .example = "profile:hz:99 { @[ksym(ctx.regs.ip)] = count(); }"},
    {.name = "retval", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .ability = has_result, .signature = "T retval",
     .doc = "The return value of the traced function, with its type from debug information, otherwise as a uint64."},
    {.name = "locals", .form = Form::value, .group = Group::context, .gives = Gives::special, .signature = "locals.NAME",
     .doc = "A local variable or parameter of the traced function at the probe, from debug information; inner blocks "
            "first, including inlined calls."},
    {.name = "target", .form = Form::both, .group = Group::context, .params = {opt(Takes::literal_string)},
     .gives = Gives::special, .signature = "target[(string binary)].NAME",
     .doc = "A global, static or thread-local variable of the traced program or library, or of another one in the same "
            "process. If several have the name: `target.file.c::NAME`, `target.function::NAME`, `target.ns::NAME`."},
    {.name = "entry", .form = Form::call, .group = Group::context, .params = {req(Takes::any)}, .gives = Gives::special,
     .signature = "T entry(T value)",
     .doc = "In a return probe of a user function, or at the exit of a system call (tracepoint:syscalls:sys_exit_NAME): the value at the "
            "entry of the function or call. A probe at the entry records it, so it cannot "
            "contain variables of this block. Returns of calls that were entered before the probes were attached do not "
            "run the block."},
    {.name = "func", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .ability = has_function, .signature = "string func", .doc = "Name of the traced function; of C++ and Rust as in the source, `ns::add(int, int)` (the configuration key cpp_demangle)."},
    {.name = "probe", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .signature = "string probe", .doc = "Full name of the probe that fired.", .example = "begin { print(probe); }"},
    {.name = "probetype", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .signature = "string probetype", .doc = "Kind of the probe that fired.", .example = "begin { print(probetype); }"},
    {.name = "pid", .form = Form::both, .group = Group::context, .params = {opt(Takes::word)}, .gives = Gives::u32,
     .signature = "uint32 pid([curr_ns|init])",
     .doc = "Process id in acu's own pid namespace by default; 0 for processes outside it.",
     .example = "begin { print(pid == pid(curr_ns)); }"},
    {.name = "tid", .form = Form::both, .group = Group::context, .params = {opt(Takes::word)}, .gives = Gives::u32,
     .signature = "uint32 tid([curr_ns|init])", .doc = "Thread id, in the namespaces of `pid`.",
     .example = "begin { print(tid == pid); }"},
    {.name = "ppid", .form = Form::both, .group = Group::context, .params = {opt(Takes::pointer)}, .gives = Gives::u32,
     .signature = "uint32 ppid([struct task_struct *task])", .doc = "Process id of the parent of the current task or another task.",
     .example = "begin { print(ppid > 0); }"},
    {.name = "leader_tid", .form = Form::both, .group = Group::context, .params = {opt(Takes::pointer)}, .gives = Gives::u32,
     .signature = "uint32 leader_tid([struct task_struct *task])",
     .doc = "Thread id of the main thread of the current task or another task; it equals the process id.",
     .example = "begin { print(leader_tid == pid); }"},
    {.name = "comm", .form = Form::both, .group = Group::context, .params = {opt(Takes::integer)}, .gives = Gives::comm,
     .signature = "string comm([uint32 pid])",
     .doc = "Name of the current thread, at most 15 bytes; with a number, of that process, or empty if it does not exist "
            "(Linux 6.2).",
     .example = "begin { print(comm); }"},
    {.name = "pcomm", .form = Form::both, .group = Group::context, .params = {opt(Takes::pointer)}, .gives = Gives::comm,
     .signature = "string pcomm([struct task_struct *task])",
     .doc = "Name of the parent process of the current task or another task.",
     .example = "begin { print(pcomm != \"\"); }"},
    {.name = "leader_comm", .form = Form::both, .group = Group::context, .params = {opt(Takes::pointer)}, .gives = Gives::comm,
     .signature = "string leader_comm([struct task_struct *task])",
     .doc = "Name of the main thread of the current task or another task.",
     .example = "begin { print(leader_comm == comm); }"},
    {.name = "uid", .form = Form::both, .group = Group::context, .gives = Gives::u64, .signature = "uint64 uid",
     .doc = "User id.", .example = "begin { print(uid); }"},
    {.name = "gid", .form = Form::both, .group = Group::context, .gives = Gives::u64, .signature = "uint64 gid",
     .doc = "Group id.", .example = "begin { print(gid); }"},
    {.name = "username", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .signature = "string username", .doc = "Name of the current user.", .example = "begin { print(username); }"},
    {.name = "cpu", .form = Form::both, .group = Group::context, .gives = Gives::u32,
     .subject = Subject::kernel, .signature = "uint32 cpu",
     .doc = "Number of the current CPU.", .example = "begin { print(cpu < ncpus); }"},
    {.name = "ncpus", .form = Form::both, .group = Group::context, .gives = Gives::u64, .signature = "uint64 ncpus",
     .doc = "Number of possible CPUs.", .example = "begin { print(ncpus > 0); }"},
    {.name = "numaid", .form = Form::both, .group = Group::context, .gives = Gives::u32,
     .subject = Subject::kernel, .signature = "uint32 numaid",
     .doc = "NUMA node of the current CPU.", .example = "begin { print(numaid); }"},
    {.name = "cpid", .form = Form::both, .group = Group::context, .gives = Gives::u32, .signature = "uint32 cpid",
     .doc = "Process id of the command started with -c.", .example = "begin { if (has_cpid) { print(cpid); } }"},
    {.name = "has_cpid", .form = Form::both, .group = Group::context, .gives = Gives::boolean,
     .signature = "bool has_cpid", .doc = "Whether a command was started with -c.",
     .example = "begin { print(has_cpid); }"},
    {.name = "curtask", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .subject = Subject::kernel, .signature = "struct task_struct *curtask", .doc = "The current task.",
     .example = "begin { print(curtask.tgid == pid); }"},
    {.name = "cgroup", .form = Form::both, .group = Group::context, .gives = Gives::u64,
     .subject = Subject::kernel, .signature = "uint64 cgroup",
     .doc = "Id of the current cgroup (version 2).", .example = "begin { print(cgroup >= 0); }"},
    {.name = "container", .form = Form::both, .group = Group::context, .params = {opt(Takes::integer)}, .gives = Gives::special,
     .subject = Subject::kernel, .signature = "cgroup_path_t container([uint64 id])",
     .doc = "Name of the container of the current cgroup or of another one, when printed: of docker, podman, containerd, CRI-O, LXC or "
            "nspawn; NAMESPACE/POD/NAME in Kubernetes; 12 digits of the ID without a name. Outside of containers, the systemd unit, the "
            "path of the cgroup, or `host`. `==` and `!=` take a string literal: a name, an ID (3 digits or more), a pod, or a pattern "
            "with `*` and `?`; containers that start later count too.",
     .example = "begin { print(container); print(container == \"web*\"); }"},
    {.name = "in_cgroup", .form = Form::call, .group = Group::context, .params = {req(Takes::literal_string)}, .gives = Gives::boolean,
     .subject = Subject::kernel, .signature = "bool in_cgroup(string path)",
     .doc = "Whether the current cgroup (version 2) has this path or is below it; those that are made later count too.",
     .example = "begin { print(in_cgroup(\"/system.slice\")); }"},
    {.name = "pid_ns", .form = Form::both, .group = Group::context, .gives = Gives::u32,
     .subject = Subject::kernel, .signature = "uint32 pid_ns",
     .doc = "Number of the current process's pid namespace, as `ls -l /proc/PID/ns/pid` shows it.",
     .example = "begin { print(pid_ns > 0); }"},
    {.name = "nspid", .form = Form::both, .group = Group::context, .gives = Gives::u32,
     .subject = Subject::kernel, .signature = "uint32 nspid",
     .doc = "Process id as the process itself sees it: in its own pid namespace, the innermost.",
     .example = "begin { print(nspid == pid); }"},
    {.name = "nstid", .form = Form::both, .group = Group::context, .gives = Gives::u32,
     .subject = Subject::kernel, .signature = "uint32 nstid", .doc = "Thread id, in the namespace of `nspid`.",
     .example = "begin { print(nstid == tid); }"},
    {.name = "trace_id", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .subject = Subject::kernel, .signature = "string trace_id",
     .doc = "Trace that the current thread works on, as 32 hexadecimal digits, where its process publishes it by OpenTelemetry's convention for thread "
            "context (`otel_thread_ctx_v1`); otherwise empty.",
     .example = "profile:hz:99 /trace_id != \"\"/ { @[trace_id] = count(); }"},
    {.name = "span_id", .form = Form::both, .group = Group::context, .gives = Gives::special,
     .subject = Subject::kernel, .signature = "string span_id",
     .doc = "Span that the current thread works on, as 16 hexadecimal digits; see `trace_id`.",
     .example = "profile:hz:99 /span_id != \"\"/ { @[comm, span_id] = count(); }"},
    {.name = "usermode", .form = Form::both, .group = Group::context, .gives = Gives::u8, .signature = "uint8 usermode",
     .doc = "1 if the CPU was in user mode when the probe interrupted it, else 0; where the probe has no registers, 1 in probes "
            "of user code and of acu itself and 0 in those of the kernel.",
     .example = "profile:hz:99 { @[usermode] = count(); }"},
    {.name = "rand", .form = Form::both, .group = Group::context, .gives = Gives::u32, .signature = "uint32 rand",
     .doc = "A random number.", .example = "begin { @ = hist(rand % 10); clear(@); }"},
    {.name = "reg", .form = Form::call, .group = Group::context, .params = {req(Takes::literal_string)},
     .gives = Gives::u64, .ability = has_registers, .signature = "uint64 reg(string name)",
     .doc = "A register of the traced code, by the kernel's name for it: ip, sp, ax, di, …",
     .example = "profile:hz:99 /!usermode/ { @[ksym(reg(\"ip\"))] = count(); }"},
    {.name = "ureg", .form = Form::call, .group = Group::context, .params = {req(Takes::literal_string)},
     .gives = Gives::u64, .ability = in_task, .signature = "uint64 ureg(string name)",
     .doc = "A register at the time when the current thread last left user mode: by the system call, fault or interrupt "
            "that it is in. orig_ax is the system call number, or negative. Kernel threads have none.",
     .example = "tracepoint:sched:sched_switch { @[comm, syscall_name(ureg(\"orig_ax\"))] = count(); }"},

    // Time.
    {.name = "nsecs", .form = Form::both, .group = Group::time, .params = {opt(Takes::word)}, .gives = Gives::u64,
     .signature = "uint64 nsecs([boot|monotonic|tai|sw_tai])",
     .doc = "Nanoseconds of the given clock; read once per run of a probe.", .example = "begin { print(nsecs > 0); }"},
    {.name = "elapsed", .form = Form::both, .group = Group::time, .gives = Gives::u64, .signature = "uint64 elapsed",
     .doc = "Nanoseconds since acu attached its probes.", .example = "begin { print(elapsed >= 0); }"},
    {.name = "jiffies", .form = Form::both, .group = Group::time, .gives = Gives::u64, .signature = "uint64 jiffies",
     .doc = "The kernel's tick counter.", .example = "begin { print(jiffies > 0); }"},
    {.name = "time", .form = Form::call, .group = Group::time, .params = {opt(Takes::literal_string)}, .async = true,
     .signature = "void time([string format])", .doc = "Prints the wall time, by default as %H:%M:%S and a newline.",
     .example = "begin { time(\"%Y\\n\"); }"},
    {.name = "strftime", .form = Form::call, .group = Group::time,
     .params = {req(Takes::literal_string), req(Takes::integer)}, .gives = Gives::special, .async = true,
     .signature = "timestamp strftime(string format, uint64 nsecs)",
     .doc = "A time in `nsecs`, of any of its clocks, as text. Formats are those of strftime(3), plus %f for "
            "microseconds.", .example = "begin { print(strftime(\"%Y\", nsecs)); }"},

    // Memory.
    {.name = "str", .form = Form::call, .group = Group::memory,
     .params = {req(Takes::string_or_pointer), opt(Takes::integer)}, .gives = Gives::special,
     .signature = "string str(char *data [, uint32 length])",
     .doc = "The string at an address, in an array or in a buffer, up to its NUL, at most max_strlen bytes; what is cut there is "
            "marked. With a length, at most so many bytes of a value, and of memory one less: the NUL counts.",
     .example = "begin { print(str(\"abc\")); }"},
    {.name = "buf", .form = Form::call, .group = Group::memory, .params = {req(Takes::any), opt(Takes::integer)},
     .gives = Gives::special, .signature = "buffer buf(void *data [, uint64 length])",
     .doc = "Bytes at an address, at most max_strlen; an array needs no length. %r prints them as text with escapes, "
            "%rx as escapes only, %rh in hex with spaces.", .example = "begin { print(buf(\"abc\", 3)); }"},
    {.name = "try", .form = Form::call, .group = Group::memory, .params = {req(Takes::any), req(Takes::any)},
     .gives = Gives::special, .signature = "T try(T expression, T instead)",
     .doc = "The value of the expression; if memory that it reads cannot be read, `instead`, and no failed read is "
            "counted. Reads in functions of the script that it calls are not covered.",
     .example = "begin { print(try(*(uint64 *)uptr(8), 42)); }"},
    {.name = "valid", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::boolean,
     .signature = "bool valid(void *p)",
     .doc = "Whether at least one byte can be read at the address.",
     .example = "begin { print(valid(uptr(8))); }"},
    {.name = "next_chunk", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::u64,
     .subject = Subject::stopped_memory, .signature = "uint64 next_chunk(uint64 address)",
     .doc = "For core dumps and snapshots: the first block in use (of glibc's malloc) after an address; 0 if there is "
            "none. `for ($c = next_chunk(0); $c; $c = next_chunk($c))` iterates over all blocks."},
    {.name = "chunk", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::u64,
     .subject = Subject::stopped_memory, .signature = "uint64 chunk(uint64 address)",
     .doc = "Likewise: the address that malloc() returned for the block in use that contains an address; 0 if none does."},
    {.name = "chunk_size", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::u64,
     .subject = Subject::stopped_memory, .signature = "uint64 chunk_size(uint64 address)",
     .doc = "Likewise: the usable bytes of the block that contains an address."},
    {.name = "next_area", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::u64,
     .subject = Subject::stopped_memory, .signature = "uint64 next_area(uint64 address)",
     .doc = "For core dumps and snapshots: the start of the first area of global variables, of the program or a library, "
            "that ends after an address; 0 if there is none."},
    {.name = "area_end", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::u64,
    
     .subject = Subject::stopped_memory, .signature = "uint64 area_end(uint64 address)", .doc = "Likewise: the end of the area of global variables that contains an address; 0 if none does."},
    {.name = "kptr", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)},
     .gives = Gives::special, .signature = "T *kptr(T *p)", .doc = "The pointer, as a kernel pointer.",
     .example = "begin { print(is_ptr(kptr(curtask))); }"},
    {.name = "uptr", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)},
     .gives = Gives::special, .signature = "T *uptr(T *p)", .doc = "The pointer, as a user-space pointer.",
     .example = "begin { print(is_ptr(uptr(4096))); }"},
    {.name = "kaddr", .form = Form::call, .group = Group::memory, .params = {req(Takes::literal_string)},
     .gives = Gives::u64,
     .subject = Subject::kernel, .signature = "uint64 kaddr(string symbol)", .doc = "Address of a kernel symbol.",
     .example = "begin { print(kaddr(\"do_exit\") > 0); }"},
    {.name = "percpu_kaddr", .form = Form::call, .group = Group::memory,
     .params = {req(Takes::literal_string), opt(Takes::integer)}, .gives = Gives::special,
     .subject = Subject::kernel, .signature = "uint64 *percpu_kaddr(string symbol [, uint32 cpu])",
     .doc = "Address of a per-CPU variable of the kernel, on the current CPU or another; 0 if there is no such CPU. Cast "
            "it to its type."},
    {.name = "uaddr", .form = Form::call, .group = Group::memory, .params = {req(Takes::literal_string)},
     .gives = Gives::u64, .signature = "T *uaddr(string symbol)",
     .doc = "Address of a symbol of the traced program or library, in user probes: a pointer to an unsigned number of the "
            "symbol's size (1, 2, 4 or 8 bytes). It is right wherever the program is loaded, and needs no debug "
            "information."},
    {.name = "path", .form = Form::call, .group = Group::memory, .params = {req(Takes::any), opt(Takes::integer)},
     .gives = Gives::special, .ability = sees_paths, .signature = "string path(struct path *p [, int32 size])",
     .doc = "The full path of a kernel `struct path`. Only in functions where the kernel allows it."},
    {.name = "memcmp", .form = Form::call, .group = Group::memory,
     .params = {req(Takes::any), req(Takes::any), req(Takes::integer)}, .gives = Gives::i64,
     .signature = "int64 memcmp(left, right, uint64 count)",
     .doc = "Compares the first `count` bytes: 0 if they are equal, otherwise negative or positive, as the first "
            "different byte is smaller or larger in `left`.",
     .example = "begin { print(memcmp(\"abc\", \"abd\", 3)); }"},
    {.name = "container_of", .form = Form::call, .group = Group::memory, .params = {req(Takes::any), req(Takes::any)},
     .gives = Gives::special, .signature = "T *container_of(p, struct T, member)",
     .doc = "The address of the structure whose member `member` (a path such as `a.b[1]`) is at p.",
     .example = "struct pair { int a; int b; } begin { $p = (int32 *)4; print(container_of($p, struct pair, b) == 0); }"},
    {.name = "is_err", .form = Form::call, .group = Group::memory, .params = {req(Takes::pointer)}, .gives = Gives::boolean,
     .signature = "bool is_err(void *p)", .doc = "Whether a kernel pointer is an error number (-1 to -4095).",
     .example = "begin { print((is_err(-2), is_err(2))); }"},

    // Text.
    {.name = "strncmp", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::string), req(Takes::integer)}, .gives = Gives::i64,
     .signature = "int64 strncmp(string a, string b, int64 n)", .doc = "0 if the first n bytes are equal.",
     .example = "begin { print(strncmp(\"abc\", \"abd\", 2)); }"},
    {.name = "strlen", .form = Form::call, .group = Group::text, .params = {req(Takes::string)}, .gives = Gives::u64,
     .signature = "uint64 strlen(string s)", .doc = "Bytes before the NUL, also of character arrays and `char *`.", .example = "begin { print(strlen(\"abc\")); }"},
    {.name = "strcontains", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::string)}, .gives = Gives::boolean,
     .signature = "bool strcontains(string haystack, string needle)", .doc = "Whether the haystack contains the needle.",
     .example = "begin { print(strcontains(\"abc\", \"bc\")); }"},
    {.name = "strstr", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::string)}, .gives = Gives::i64,
     .signature = "int64 strstr(string haystack, string needle)", .doc = "Offset of the needle in the haystack, or -1.",
     .example = "begin { print(strstr(\"abc\", \"bc\")); }"},
    {.name = "str_concat", .form = Form::call, .group = Group::text, .params = {req(Takes::string), req(Takes::string)},
     .gives = Gives::special, .signature = "string str_concat(string a, string b)", .doc = "Both texts as one.",
     .example = "begin { print(str_concat(comm, \"!\")); }"},
    {.name = "strrstr", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::literal_string)}, .gives = Gives::i64,
     .signature = "int64 strrstr(string haystack, string needle)", .doc = "Offset of the last needle in the haystack, or -1.",
     .example = "begin { print(strrstr(\"/usr/lib/x\", \"/\")); }"},
    {.name = "substr", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::integer), opt(Takes::integer)}, .gives = Gives::special,
     .signature = "string substr(string s, int64 offset [, int64 length])",
     .doc = "The part of a string that begins at an offset, up to its end or at most `length` bytes. A negative offset counts from the end; one "
            "before the start is the start. A negative length counts as 0.",
     .example = "begin { print(substr(\"abcdef\", 2, 3)); }"},
    {.name = "strcap", .form = Form::call, .group = Group::text, .params = {req(Takes::any)}, .gives = Gives::i64,
     .signature = "int64 strcap(string s)",
     .doc = "Capacity of a string or array in bytes, or max_strlen for a `char *`.",
     .example = "begin { print(strcap((int8[8])0)); }"},
    {.name = "default_str_length", .form = Form::both, .group = Group::text, .gives = Gives::i64,
     .signature = "int64 default_str_length()", .doc = "The number of bytes that str() reads without a length: max_strlen.",
     .example = "begin { print(default_str_length()); }"},
    {.name = "assert_str", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)},
     .signature = "void assert_str(value)", .doc = "Stops compilation unless the value is a string or can be read as one.",
     .example = "begin { assert_str(\"abc\"); }"},
    {.name = "globmatch", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::string)}, .gives = Gives::boolean,
     .signature = "bool globmatch(string s, string pattern)",
     .doc = "Whether all of `s` matches a pattern: `*` matches any text, `?` one character, `[a-z]` one of a set, "
            "`[!a-z]` one outside it.",
     .example = "begin { print(globmatch(\"file.txt\", \"*.t[a-z]t\")); }"},
    {.name = "match", .form = Form::call, .group = Group::text,
     .params = {req(Takes::string), req(Takes::literal_string)}, .gives = Gives::boolean,
     .signature = "bool match(string s, string pattern)",
     .doc = "Whether a part of `s` matches a regular expression; `^` and `$` tie it to the begin and the end. The syntax is that of POSIX "
            "extended expressions: `.` `[a-z]` `[^a-z]` `[[:digit:]]` `*` `+` `?` `{m,n}` `|` `(...)` `^` `$`, and `\\d` `\\w` `\\s` `\\D` "
            "`\\W` `\\S` `\\xHH` `(?:...)`; `(?i)` in front ignores case. Patterns match bytes, not characters. The pattern is compiled to a "
            "table when the script is: a match takes one step for each byte, whatever the pattern. Text that was cut ends there.",
     .example = "begin { print(match(\"GET /index.html\", \"^(GET|HEAD) /[a-z]+\\\\.html?$\")); }"},
    {.name = "strerror", .form = Form::call, .group = Group::text, .params = {req(Takes::integer)},
     .gives = Gives::special, .signature = "string strerror(int error)",
     .doc = "Text of an error number, as from strerror(3) in the C locale.", .example = "begin { print(strerror(2)); }"},
    {.name = "signal_name", .form = Form::call, .group = Group::text, .params = {req(Takes::integer)},
     .gives = Gives::special, .signature = "string signal_name(int signal)",
     .doc = "Text of a signal, such as `Killed`, as from strsignal(3) in the C locale.", .example = "begin { print(signal_name(9)); }"},
    {.name = "syscall_name", .form = Form::call, .group = Group::text, .params = {req(Takes::integer)},
     .gives = Gives::special, .signature = "string syscall_name(int number)",
     .doc = "Name of a system call of this architecture, such as read; `unknown` if there is none.",
     .example = "begin { print(syscall_name(0)); }"},
    {.name = "bswap", .form = Form::call, .group = Group::text, .params = {req(Takes::integer)}, .gives = Gives::special,
     .signature = "uintN bswap(uintN n)", .doc = "The value with its bytes reversed.", .example = "begin { print(bswap((uint16)0x1234)); }"},

    // Maps.
    {.name = "delete", .form = Form::call, .group = Group::map, .params = {req(Takes::map), opt(Takes::key)},
     .gives = Gives::boolean, .signature = "bool delete(map m, mapkey k)", .doc = "Removes a key.",
     .example = "begin { @a[1] = 1; delete(@a, 1); }"},
    {.name = "has_key", .form = Form::call, .group = Group::map, .params = {req(Takes::map), req(Takes::key)},
     .gives = Gives::boolean, .signature = "bool has_key(map m, mapkey k)", .doc = "Whether the map has the key.",
     .example = "begin { @a[1] = 1; print(has_key(@a, 1)); }"},
    {.name = "find", .form = Form::call, .group = Group::map,
     .params = {req(Takes::map), req(Takes::key), req(Takes::variable)}, .gives = Gives::boolean,
     .signature = "bool find(map m, mapkey k, $value)", .doc = "Looks up a key; sets the variable if it exists.",
     .example = "begin { @a[1] = 7; let $v = 0; if (find(@a, 1, $v)) { print($v); } }"},
    {.name = "len", .form = Form::call, .group = Group::map, .params = {req(Takes::any)}, .gives = Gives::i64,
     .signature = "int64 len(map m | stack)", .doc = "Number of keys of a map, or of frames of a stack. The first user stacks of a new process are unwound in user "
            "space: for the current stack, frame pointers give the number; for a stack in a variable or map it is 0.",
     .example = "begin { @a[1] = 1; print(len(@a)); }"},
    // Percentiles.
    {.name = "p50", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .gives = Gives::i64,
     .signature = "int64 p50(hist_t @h | @h[key])", .doc = "The median of a histogram: see `percentile`.",
     .example = "begin { @ = hist(1000); print(p50(@)); clear(@); }"},
    {.name = "p90", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .gives = Gives::i64,
     .signature = "int64 p90(hist_t @h | @h[key])", .doc = "The value that 90% of the numbers in a histogram do not exceed: see `percentile`.",
     .example = "begin { @ = hist(1000); print(p90(@)); clear(@); }"},
    {.name = "p95", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .gives = Gives::i64,
     .signature = "int64 p95(hist_t @h | @h[key])", .doc = "The value that 95% of the numbers in a histogram do not exceed: see `percentile`.",
     .example = "begin { @ = hist(1000); print(p95(@)); clear(@); }"},
    {.name = "p99", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .gives = Gives::i64,
     .signature = "int64 p99(hist_t @h | @h[key])", .doc = "The value that 99% of the numbers in a histogram do not exceed: see `percentile`.",
     .example = "begin { @ = hist(1000); print(p99(@)); clear(@); }"},
    {.name = "p999", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .gives = Gives::i64,
     .signature = "int64 p999(hist_t @h | @h[key])", .doc = "The value that 99.9% of the numbers in a histogram do not exceed: see `percentile`.",
     .example = "begin { @ = hist(1000); print(p999(@)); clear(@); }"},
    {.name = "percentile", .form = Form::call, .group = Group::map, .params = {req(Takes::map), req(Takes::any)}, .gives = Gives::i64,
     .signature = "int64 percentile(hist_t @h | @h[key], percentage)",
     .doc = "The value that this percentage of the numbers in a histogram do not exceed; 0 if there are none. It is exact to the width of "
            "the bucket, inside which numbers are taken to be evenly spread: hist(n) may be off by a factor of 2, hist(n, 5) by 3%, lhist() by its "
            "step. Below and above all other buckets the result is -1 or min - 1, and max.",
     .example = "begin { @ = hist(1000, 5); print(percentile(@, 99.9)); clear(@); }",
     .needs = "Linux 5.19 to add up CPUs"},

    {.name = "clear", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .async = true,
     .signature = "void clear(map m)",
     .doc = "Removes all keys. `print(@m); clear(@m);` loses nothing that is counted between the two, if the script only adds to the map.", .example = "begin { @a[1] = 1; clear(@a); }"},
    {.name = "zero", .form = Form::call, .group = Group::map, .params = {req(Takes::map)}, .async = true,
     .signature = "void zero(map m)", .doc = "Sets all values to zero.", .example = "begin { @a[1] = 1; zero(@a); }"},

    // Aggregations: only as the value assigned to a map.
    {.name = "count", .form = Form::call, .group = Group::aggregation, .gives = Gives::special,
     .signature = "count_t count()", .doc = "Counts events.", .example = "begin { @ = count(); }"},
    {.name = "sum", .form = Form::call, .group = Group::aggregation, .params = {req(Takes::integer_or_pointer)},
     .gives = Gives::special, .signature = "sum_t sum(int64 n)", .doc = "Adds up values.", .example = "begin { @ = sum(5); }"},
    {.name = "min", .form = Form::call, .group = Group::aggregation, .params = {req(Takes::integer_or_pointer)},
     .gives = Gives::special, .signature = "min_t min(int64 n)", .doc = "Keeps the smallest value.", .example = "begin { @ = min(5); }"},
    {.name = "max", .form = Form::call, .group = Group::aggregation, .params = {req(Takes::integer_or_pointer)},
     .gives = Gives::special, .signature = "max_t max(int64 n)", .doc = "Keeps the largest value.", .example = "begin { @ = max(5); }"},
    {.name = "avg", .form = Form::call, .group = Group::aggregation, .params = {req(Takes::integer_or_pointer)},
     .gives = Gives::special, .signature = "avg_t avg(int64 n)", .doc = "Mean.", .example = "begin { @ = avg(5); }"},
    {.name = "stats", .form = Form::call, .group = Group::aggregation, .params = {req(Takes::integer_or_pointer)},
     .gives = Gives::special, .signature = "stats_t stats(int64 n)", .doc = "Count, mean and total.",
     .example = "begin { @ = stats(5); }"},
    {.name = "hist", .form = Form::call, .group = Group::aggregation,
     .params = {req(Takes::integer_or_pointer), opt(Takes::literal_integer)}, .gives = Gives::special,
     .signature = "hist_t hist(int64 n [, int bits])",
     .doc = "Histogram with power-of-two buckets, each divided into 2^bits buckets (0 to 5).", .example = "begin { @ = hist(5); }"},
    {.name = "lhist", .form = Form::call, .group = Group::aggregation,
     .params = {req(Takes::integer_or_pointer), req(Takes::literal_integer), req(Takes::literal_integer),
                req(Takes::literal_integer)},
     .gives = Gives::special, .signature = "lhist_t lhist(int64 n, int64 min, int64 max, int64 step)",
     .doc = "Histogram with buckets of equal size.", .example = "begin { @ = lhist(5, 0, 10, 1); }"},
    {.name = "tseries", .form = Form::call, .group = Group::aggregation,
     .params = {req(Takes::integer_or_pointer), req(Takes::literal_integer), req(Takes::literal_integer),
                opt(Takes::literal_string)},
     .gives = Gives::special,
     .signature = "tseries_t tseries(int64 n, uint64 interval, uint64 count [, string agg])",
     .doc = "A value for each of the latest `count` intervals of the given number of nanoseconds: the last one, or the "
            "avg, max, min or sum in the interval.",
     .example = "begin { @ = tseries(5, 1s, 10, \"max\"); clear(@); }"},

    // Output, in the order of the events.
    {.name = "printf", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true,
     .signature = "void printf(string format, ...)",
     .doc = "Prints formatted values. As in C: %d %i %u %x %X %o %c %s %p %f %e %g %a, with flags, width, precision and the "
            "lengths hh h l ll j z t L; without a length a number prints its low 32 bits. %s also prints what has a text of its own: stacks, "
            "symbols, addresses, enumerators, tuples. %r %rx %rh print buffers, %gr the flags of a kernel allocation.",
     .example = "begin { printf(\"%d %s\\n\", 1, \"a\"); }"},
    {.name = "errorf", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true,
     .signature = "void errorf(string format, ...)", .doc = "Prints a message as an error with its source location, to stderr.",
     .example = "begin { if (ncpus == 0) { errorf(\"%d CPUs\", ncpus); } }"},
    {.name = "warnf", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true,
     .signature = "void warnf(string format, ...)", .doc = "Prints a message as a warning with its source location, to stderr.",
     .example = "begin { warnf(\"running as %s\", username); }"},
    {.name = "debugf", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true, .writes = true,
     .signature = "void debugf(string format, ...)",
     .doc = "Writes a message to the kernel's trace (/sys/kernel/tracing/trace_pipe), among those of the kernel's own tracers.",
     .example = "begin { debugf(\"%d CPUs\", ncpus); }"},
    {.name = "print", .form = Form::call, .group = Group::output,
     .params = {req(Takes::any), opt(Takes::literal_integer), opt(Takes::literal_integer)}, .async = true,
     .signature = "void print(value | map [, top [, div]])", .doc = "Prints a value or a whole map.",
     .example = "begin { print((1, \"a\")); }"},
    {.name = "flame", .form = Form::call, .group = Group::output,
     .params = {req(Takes::map), req(Takes::literal_string), opt(Takes::literal_string)}, .async = true, .writes = true,
     .signature = "void flame(map m, string title [, string unit])",
     .doc = "Writes a map whose keys have stacks and whose values are numbers (or count, sum, avg, stats) to a file as a "
            "flame graph: \"Bytes read\" to bytes-read.html. Other parts of the keys separate stacks as processes do. "
            "Amounts in the units `ns`, `bytes` and `samples` are printed in readable form. A title that ends like a "
            "format of `acu flame` is the file name.",
     .example = "profile:hz:99 { @[comm, kstack, ustack] = count(); } interval:s:1 { flame(@, \"CPU\", \"samples\"); clear(@); exit(); }"},
    {.name = "cat", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true,
     .signature = "void cat(string format, ...)",
     .doc = "Prints the file whose name the format gives, at most max_cat_bytes of it.", .example = "begin { cat(\"/proc/version\"); }"},
    {.name = "join", .form = Form::call, .group = Group::output,
     .params = {req(Takes::pointer), opt(Takes::literal_string)}, .async = true,
     .signature = "void join(char *list[] [, string separator])", .doc = "Prints a list of strings such as argv, at most 16 of them, separated by the separator (a space).",
     .example = "tracepoint:syscalls:sys_enter_execve { join(args.argv); }"},
    {.name = "system", .form = Form::call, .group = Group::output,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .async = true, .unsafe = true,
     .signature = "void system(string format, ...)", .doc = "Runs a shell command and prints its output.",
     .example = "begin { system(\"echo %d\", 1 + 1); }"},
    {.name = "exit", .form = Form::call, .group = Group::control, .params = {opt(Takes::integer)}, .async = true,
     .signature = "void exit([int status])", .doc = "Ends this probe, then the script.", .example = "begin { exit(0); }"},

    {.name = "carry", .form = Form::call, .group = Group::map, .params = {req(Takes::any)}, .signature = "void carry(key)",
     .doc = "Detaches the context of the request (`ctx NAME = …`) from this thread, and keeps it under the key until `resume`.",
     .example = "begin { ctx id = 7; carry(\"queue\"); resume(\"queue\"); print(ctx.id); }"},
    {.name = "resume", .form = Form::call, .group = Group::map, .params = {req(Takes::any)}, .signature = "void resume(key)",
     .doc = "Attaches the context that `carry` keeps under the key to this thread, in place of its own. Without such a context the thread has none.",
     .example = "begin { ctx id = 7; carry(1); resume(1); print(ctx.id); }"},
    {.name = "commit", .form = Form::call, .group = Group::output, .params = {opt(Takes::integer_or_pointer)}, .async = true,
     .signature = "void commit([uint64 key])",
     .doc = "Prints what `speculate { … }` blocks in this thread held back, or `speculate(key) { … }` blocks with this key.",
     .example = "begin { speculate { printf(\"detail\\n\"); } commit(); }"},
    {.name = "discard", .form = Form::call, .group = Group::output, .params = {opt(Takes::integer_or_pointer)},
     .signature = "void discard([uint64 key])", .doc = "Drops what `speculate` blocks held back.",
     .example = "begin { speculate { printf(\"detail\\n\"); } discard(); }"},

    // Names for numbers.
    {.name = "kstack", .form = Form::both, .group = Group::symbol, .params = {opt(Takes::stack_option), opt(Takes::stack_option)},
     .gives = Gives::special, .subject = Subject::kernel, .signature = "kstack_t kstack([mode,] [depth])",
     .doc = "The kernel stack, innermost frame first. Modes are bpftrace, perf (with addresses), raw (addresses only) and build_id "
            "(the build id of the kernel, and the offset from its first byte of code).",
     .example = "profile:hz:99 { @[kstack(perf, 5)] = count(); }"},
    {.name = "task_kstack", .form = Form::call, .group = Group::symbol, .params = {req(Takes::pointer)},
     .gives = Gives::special, .ability = vouches, .signature = "kstack_t task_kstack(struct task_struct *task)",
     .doc = "The kernel stack of a thread that is not on a CPU, such as a thread that the probe has as an argument.",
     .example = "rawtracepoint:sched_switch { @[task_kstack(args.next)] = count(); }"},
    {.name = "ustack", .form = Form::both, .group = Group::symbol, .params = {opt(Takes::stack_option), opt(Takes::stack_option), opt(Takes::stack_option)},
     .gives = Gives::special, .signature = "ustack_t ustack([mode,] [fp,] [depth])",
     .doc = "The user stack, complete to its outermost frame, however the program was built: acu unwinds it with the "
            "tables that programs have for exceptions, and uses frame pointers only for code without tables. If a stack "
            "ends early, its last line gives the reason, such as `[code without unwind tables]`. Modes are bpftrace, perf "
            "(with addresses and files), raw (addresses only) and build_id (the build id of the file, and the offset in it). With `fp`, only frame pointers are used: stacks of "
            "programs built without them are broken.",
     .example = "profile:hz:99 { @[ustack(5), comm] = count(); }"},
    {.name = "dw_ustack", .form = Form::both, .group = Group::symbol, .params = {opt(Takes::stack_option), opt(Takes::stack_option)},
     .gives = Gives::special, .signature = "ustack_t dw_ustack([mode,] [depth])",
     .doc = "The same as ustack, which unwinds without frame pointers.",
     .example = "profile:hz:99 { @[dw_ustack(5)] = count(); }"},
    {.name = "stack", .form = Form::both, .group = Group::symbol, .params = {opt(Takes::stack_option), opt(Takes::stack_option)},
     .gives = Gives::special, .signature = "stack_t stack([mode,] [depth])",
     .doc = "The kernel stack followed by the user stack, as one: kstack and ustack, each with at most `depth` frames.",
     .example = "profile:hz:99 { @[stack] = count(); }"},
    {.name = "ksym", .form = Form::call, .group = Group::symbol, .params = {req(Takes::pointer)},
     .gives = Gives::special, .async = true,
     .subject = Subject::kernel, .signature = "ksym_t ksym(uint64 address)", .doc = "Name of a kernel address.",
     .example = "begin { print(ksym(kaddr(\"do_exit\"))); }"},
    {.name = "usym", .form = Form::call, .group = Group::symbol, .params = {req(Takes::pointer)},
     .gives = Gives::special, .async = true, .signature = "usym_t usym(uint64 address)",
     .doc = "Name of an address of the current process; symbolized when it is printed.", .example = "begin { print(usym(16)); }"},
    {.name = "cgroup_path", .form = Form::both, .group = Group::symbol,
     .params = {opt(Takes::integer), opt(Takes::literal_string)}, .gives = Gives::special, .async = true,
     .signature = "cgroup_path_t cgroup_path([uint64 id [, string filter]])",
     .doc = "Path of the current cgroup or another one, in each mounted hierarchy whose name matches the filter; the name of version 2 is "
            "`unified`. `==` and `!=` compare the path in version 2 with a string literal, which may have `*` and `?`.",
     .example = "begin { print(cgroup_path); print(cgroup_path(cgroup)); }"},

    // Network.
    {.name = "ntop", .form = Form::call, .group = Group::network, .params = {req(Takes::any), opt(Takes::any)},
     .gives = Gives::special, .signature = "inet ntop([int64 family,] address)", .doc = "An IP address as text.",
     .example = "begin { print(ntop(0x0100007f)); }"},
    {.name = "pton", .form = Form::call, .group = Group::network, .params = {req(Takes::literal_string)},
     .gives = Gives::special, .signature = "uint8[] pton(string address)",
     .doc = "The 4 or 16 bytes of an IP address, in network order.", .example = "begin { print(pton(\"127.0.0.1\")); }"},
    {.name = "macaddr", .form = Form::call, .group = Group::network, .params = {req(Takes::any)},
     .gives = Gives::special, .signature = "macaddr_t macaddr(uint8[6] address)",
     .doc = "A hardware address as text: six bytes, or a pointer to them.",
     .example = "begin { print(macaddr((uint8[6])0x554433221100)); }"},
    {.name = "skboutput", .form = Form::call, .group = Group::network,
     .params = {req(Takes::literal_string), req(Takes::any), req(Takes::integer), req(Takes::integer)},
     .gives = Gives::u32, .async = true, .writes = true,
     .ability = vouches, .signature = "uint32 skboutput(string path, struct sk_buff *skb, uint64 length, uint64 offset)",
     .doc = "Appends `length` bytes of a packet, after its first `offset` bytes, to a capture file of raw IP (pcap). "
            "Returns 0 or a negative error.",
     .example = "rawtracepoint:net_dev_queue { $r = skboutput(\"/dev/null\", args.skb, args.skb.len, 14); @[$r] = count(); }"},
    {.name = "socket_cookie", .form = Form::call, .group = Group::network, .params = {req(Takes::pointer)},
     .gives = Gives::u64, .ability = vouches, .signature = "uint64 socket_cookie(struct sock *sk)",
     .doc = "The kernel's number for a socket, valid for its lifetime; 0 if there is none.",
     .example = "rawtracepoint:inet_sock_set_state { @[socket_cookie(args.sk)] = count(); }"},

    // Effects on the traced program: need --unsafe.
    {.name = "signal", .form = Form::call, .group = Group::control, .params = {req(Takes::any)}, .unsafe = true,
     .ability = in_task, .signature = "void signal(string|uint32 signal)",
     .doc = "Sends a signal, by name (`SIGSTOP`, `STOP`) or number, to the current process: to any of its threads.",
     .example = "tracepoint:syscalls:sys_enter_execve /comm == \"forbidden\"/ { signal(\"KILL\"); }"},
    {.name = "signal_thread", .form = Form::call, .group = Group::control, .params = {req(Takes::any)}, .unsafe = true,
     .ability = in_task, .signature = "void signal_thread(string|uint32 signal)", .doc = "Sends a signal to the current thread.",
     .example = "tracepoint:syscalls:sys_enter_execve /comm == \"forbidden\"/ { signal_thread(15); }"},
    {.name = "override", .form = Form::call, .group = Group::control, .params = {req(Takes::integer)}, .unsafe = true,
     .ability = can_override, .signature = "void override(uint64 value)",
     .doc = "Skips the traced kernel function and makes it return this value; for functions that the kernel marks for "
            "error injection."},
    {.name = "write_user", .form = Form::call, .group = Group::control,
     .params = {req(Takes::pointer), req(Takes::any), opt(Takes::integer)}, .gives = Gives::boolean,
     .unsafe = true, .ability = can_write_user, .signature = "bool write_user(void *to, from [, uint32 length])",
     .doc = "Writes the bytes of a value, or with a length those that a pointer points to, into the memory of the current process; "
            "whether that was possible. Kernels in lockdown refuse it."},
    {.name = "unwatch", .form = Form::call, .group = Group::control, .params = {req(Takes::pointer)}, .async = true,
     .signature = "void unwatch(void *p)",
     .doc = "Removes the watchpoints of an address, with a short delay: accesses before acu reads this record are still "
            "reported.",
     .example = "begin { unwatch(uptr(0x10000000)); }"},

    // Decided when the script is compiled.
    {.name = "sizeof", .form = Form::call, .group = Group::compile, .params = {req(Takes::type_or_value)},
     .gives = Gives::u64, .signature = "uint64 sizeof(type | value)", .doc = "Size in bytes.",
     .example = "begin { print(sizeof(uint32)); }"},
    {.name = "typeof", .form = Form::call, .group = Group::compile, .params = {req(Takes::type_or_value)},
     .signature = "typeof(type | value)",
     .doc = "The type of a value, where a type is written: in a cast, a declaration, sizeof, offsetof and typeinfo, and to pass a "
            "type to a macro.",
     .example = "begin { let $x : typeof(pid) = 1; print(sizeof($x)); }"},
    {.name = "typeinfo", .form = Form::call, .group = Group::compile, .params = {req(Takes::type_or_value)},
     .signature = "record typeinfo(type | value)",
     .doc = "What is known of a type: `.base_ty` is its kind (`int`, `string`, `pointer`, …), `.full_ty` its full name (`uint64`, "
            "`string[16]`); `.btf_id` is 0.",
     .example = "begin { print(typeinfo(pid).full_ty); }"},
    {.name = "config", .form = Form::both, .group = Group::compile, .gives = Gives::special, .signature = "record config",
     .doc = "The configuration in force, as a record with a member for each key.",
     .example = "begin { print(config.max_strlen); }"},
    {.name = "offsetof", .form = Form::call, .group = Group::compile,
     .params = {req(Takes::type_or_value), req(Takes::word)}, .gives = Gives::u64,
     .signature = "uint64 offsetof(struct T, member)", .doc = "Offset of a member in bytes.",
     .example = "struct pair { int a; int b; }; begin { print(offsetof(struct pair, b)); }"},
    {.name = "cgroupid", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::u64, .signature = "uint64 cgroupid(string path)", .doc = "Id of the cgroup at a path.",
     .example = "begin { print(cgroupid(\"/sys/fs/cgroup\") > 0); }"},
    {.name = "kfunc_exist", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::boolean, .signature = "bool kfunc_exist(string name)",
     .doc = "Whether the kernel provides this function to programs (kfunc).",
     .example = "begin { print(kfunc_exist(\"no_such_function\")); }"},
    {.name = "kfunc_allowed", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::boolean, .signature = "bool kfunc_allowed(string name)",
     .doc = "Whether programs of this kind of probe may call the kernel's function (kfunc).",
     .example = "begin { print(kfunc_allowed(\"no_such_function\")); }"},
    {.name = "getopt", .form = Form::call, .group = Group::compile,
     .params = {req(Takes::literal_string), opt(Takes::any), opt(Takes::literal_string)}, .gives = Gives::special,
     .signature = "T getopt(string name [, T default [, string help]])", .doc = "A named parameter: `-- --name=value`.",
     .example = "begin { print(getopt(\"size\", 4096)); }"},
    {.name = "fail", .form = Form::call, .group = Group::compile,
     .params = {req(Takes::literal_string), opt(Takes::rest)}, .signature = "void fail(string format, ...)",
     .doc = "Stops compilation with this message if it is reached.",
     .example = "begin { if (sizeof(uint64) != 8) { fail(\"not a 64-bit system\"); } }"},
    {.name = "static_assert", .form = Form::call, .group = Group::compile,
     .params = {req(Takes::any), req(Takes::literal_string)}, .signature = "void static_assert(bool condition, string message)",
     .doc = "Stops compilation with this message unless the condition holds.",
     .example = "begin { static_assert(1 == 1, \"no\"); }"},
    {.name = "assert", .form = Form::call, .group = Group::control,
     .params = {req(Takes::integer_or_pointer), req(Takes::literal_string)}, .async = true,
     .signature = "void assert(bool condition, string message)",
     .doc = "Prints the message as an error and exits with 1 unless the condition holds.",
     .example = "begin { assert(1 == 1, \"no\"); }"},
    {.name = "is_ptr", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_ptr(value)", .doc = "Whether the value is a pointer.", .example = "begin { print(is_ptr(1)); }"},
    {.name = "is_str", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_str(value)", .doc = "Whether the value is a string.", .example = "begin { print(is_str(\"a\")); }"},
    {.name = "is_integer", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_integer(value)", .doc = "Whether the value is a number.", .example = "begin { print(is_integer(1)); }"},
    {.name = "is_unsigned_integer", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)},
     .gives = Gives::boolean, .signature = "bool is_unsigned_integer(value)", .doc = "Whether the value is an unsigned number.",
     .example = "begin { print(is_unsigned_integer(pid)); }"},
    {.name = "is_array", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_array(value)", .doc = "Whether the value is an array.",
     .example = "begin { print(is_array((uint8[4])1)); }"},
    {.name = "is_scalar", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_scalar(map | value)", .doc = "Whether a map has no keys; whether a value is a number or a pointer.",
     .example = "begin { @a = 1; print(is_scalar(@a)); }"},
    {.name = "is_literal", .form = Form::call, .group = Group::compile, .params = {req(Takes::any)}, .gives = Gives::boolean,
     .signature = "bool is_literal(value)", .doc = "Whether the value is a literal.", .example = "begin { print(is_literal(1)); }"},
    {.name = "has_type", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::boolean, .signature = "bool has_type(string type)",
     .doc = "Whether the type exists: in the script, in the traced program (in its user probes) or in the kernel. "
            "Branches that are not taken are not checked, so one script can fit several versions.",
     .example = "begin { print(has_type(\"struct no_such_type\")); }"},
    {.name = "has_field", .form = Form::call, .group = Group::compile,
     .params = {req(Takes::literal_string), req(Takes::literal_string)}, .gives = Gives::boolean,
     .signature = "bool has_field(string type, string path)",
     .doc = "Whether the type has this member; `a.b` for a member of a member.",
     .example = "begin { if (has_field(\"struct no_such_type\", \"a.b\")) { print(1); } else { print(0); } }"},
    {.name = "has_func", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::boolean, .signature = "bool has_func(string name)",
     .doc = "Whether the traced program has this function; outside of user probes, whether any program that the script "
            "probes, or the kernel, has it.",
     .example = "begin { print(has_func(\"no_such_function\")); }"},
    {.name = "has_var", .form = Form::call, .group = Group::compile, .params = {req(Takes::literal_string)},
     .gives = Gives::boolean, .signature = "bool has_var(string name)",
     .doc = "Whether the traced program has this global or static variable; outside of user probes, whether any program "
            "that the script probes, or the kernel, has it. For core dumps and snapshots (acu core, acu snap), libraries "
            "are searched as well, here and in `target.NAME`, `has_func`, `has_type` and type names.",
     .example = "begin { print(has_var(\"no_such_variable\")); }"},
};
} // namespace written

inline constexpr size_t builtin_count = std::size(written::builtins);
inline constexpr auto builtins = [] {
  std::array<Builtin, builtin_count> out;
  for (size_t i = 0; i < builtin_count; i++) {
    const BuiltinRow& r = written::builtins[i];
    out[i] = {base::InlineText<23>(r.name), r.form, r.group, r.params, r.gives, r.async, r.unsafe, r.writes, r.ability, r.subject};
  }
  return out;
}();

// Index of a row, at compile time: `case spec::id("pid"):`. A name that is not in the table does not compile.
using BuiltinId = uint16_t;
consteval BuiltinId id(std::string_view name) {
  for (size_t i = 0; i < builtin_count; i++)
    if (builtins[i].name == name) return static_cast<BuiltinId>(i);
  base::wrong_constant("no such builtin");
}

// Another spelling of each builtin that no macro of the script hides.
inline constexpr std::string_view builtin_prefix = "__builtin_";
constexpr std::string_view without_builtin_prefix(std::string_view name) {
  return name.starts_with(builtin_prefix) ? name.substr(builtin_prefix.size()) : name;
}

// The row of a name, or nullptr. `arg0` … `arg9` and `sarg0` … are not in the table: the parser makes them calls.
const Builtin* find_builtin(std::string_view name);
constexpr BuiltinId id_of(const Builtin& row) { return static_cast<BuiltinId>(&row - builtins.data()); }

} // namespace spec
