// Probes: from what a script names to events that can be attached. Each kind of probe is one file with the
// sections match, arguments, attach; the table of kinds is spec/probes.h.
#pragma once

#include "base/result.h"
#include "probe/recipe.h"
#include "type/type.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spec {
struct ProbeKind;
}
namespace format {
class Btf;
class Tracefs;
} // namespace format
namespace host {
class Environment;
}
namespace symbol {
class Binaries;
class Binary;
} // namespace symbol

namespace probe {

class KernelFunctions;
class KernelFacts;
class StoppedProgram;
class UserValues;

enum class Kind : uint8_t {
  begin,
  end,
  signal,
  interval,
  test,
  bench, // run by acu itself
  profile,
  software,
  hardware,
  tracepoint,
  rawtracepoint,
  kprobe,
  kretprobe,
  fentry,
  fexit,
  uprobe,
  uretprobe,
  usdt,
  iterator,
  watchpoint,
  async_watchpoint,
  oneshot,
  thread,
  frame,
  fault // of a stopped program: no events (stopped_program.h)
};

constexpr bool is_kernel_function(Kind k) { return k >= Kind::kprobe && k <= Kind::fexit; }
constexpr bool is_stopped(Kind k) { return k >= Kind::oneshot; }

// How the context of a program looks, which decides the kind of kernel program.
enum class Context : uint8_t {
  none,             // begin, end, interval, signal: run by acu itself
  tracepoint,       // the tracepoint's record: loads at the offsets of its format
  raw_tracepoint,   // u64 arguments
  btf_tracepoint,   // u64 arguments that may be followed as pointers (ir::Space::task)
  function,         // the same of a function of the kernel; where it returns, its result is behind them
  perf_event,       // struct bpf_perf_event_data
  registers,        // struct pt_regs of the thread: user probes
  kernel_registers, // struct pt_regs within the kernel: functions of the kernel
  iterator,         // u64 arguments as btf_tracepoint has them, but some may be null
};
// The kernel vouches for pointers among the arguments.
constexpr bool is_typed(Context c) {
  return c == Context::btf_tracepoint || c == Context::function || c == Context::iterator;
}

// A call that a frame was made by, as far as values of the frame depend on it (user_values.h).
struct Caller {
  symbol::Binary* module = nullptr; // of the calling code; lives as long as the Machine, as `values`
  UserValues* values = nullptr;     // of that binary
  uint64_t bias = 0;                // what the loader added to its addresses
  uint64_t address = 0;             // that the call returns to, as the file has it
  uint32_t known = 0;               // a bit for each register of DWARF's numbers that is known there
  // Of a call through a pointer: what the pointer has there; nothing: that is not known any more.
  std::optional<uint64_t> called;
  auto operator<=>(const Caller&) const = default;
};

// A function ends with a jump to another one, which returns in its place: where a thread passes on the way, as
// offsets in the file. A return of the other function is the first one's too only if it came by these.
struct TailCalls {
  std::vector<uint64_t> jumps;   // out of the function
  std::vector<uint64_t> entries; // of the functions that they lead to, directly or from one to the next
  std::vector<uint64_t> onward;  // jumps out of those
};

// One thing that can be attached, after wildcards are resolved.
struct Event {
  Kind kind = Kind::begin;
  std::string name;                 // as the `probe` builtin prints it: "tracepoint:sched:sched_switch"
  std::string provider;             // as `probetype` prints it: "tracepoint", "special" for begin and end
  const type::Type* args = nullptr; // structure of the arguments, or nullptr. Tracepoints: offsets in the
                                    // record. Raw tracepoints: argument i at offset 8*i.
  std::string category;             // tracepoints: "sched"; functions of the kernel: the module, or nothing
  std::string event;          // tracepoints: "sched_switch"; raw tracepoints: its name; signals: "SIGUSR1"
  uint64_t period_ns = 0;     // interval; profile when given as a time
  uint64_t frequency = 0;     // profile in hz
  uint64_t sample_period = 0; // software, hardware: events between two samples
  uint32_t perf_config = 0;   // PERF_COUNT_SW_* or PERF_COUNT_HW_*
  int signal = 0;
  std::string pin;         // iterators: the file that they stay in; empty: they run once
  uint32_t watch_mode = 0; // watchpoints: HW_BREAKPOINT_* bits; `address` and `watch_bytes` tell the memory
  uint32_t watch_bytes = 0;
  int syscall = -1; // syscalls:sys_enter_X, sys_exit_X: the number, where it is known
  bool syscall_exit = false;
  uint32_t tracepoint_id = 0; // tracefs id of the event; read when it is attached
  // User probes.
  std::string binary;               // the file, as acu can open it: absolute, or below /proc/PID/root
  symbol::Binary* module = nullptr; // of `binary`, or what is in that archive; lives as long as the Machine
  std::string function;             // the symbol as the file has it, without version; empty: not known
  uint64_t function_address = 0;    // where it begins; `address` may lie behind it
  uint64_t address = 0;             // of the instruction, as the file has it: before the loader moves it
  uint64_t file_offset = 0;         // of the instruction
  // Return probes at instructions in place of the kernel's trampoline: `address` is a return instruction of the
  // function, or with `tail_calls` of another one that may return in its place.
  bool at_return_instruction = false;
  uint64_t entry_offset = 0; // then: of the instruction for a probe at the function's entry
  std::shared_ptr<const TailCalls> tail_calls;
  uint64_t counter_offset = 0; // of the counter that switches a USDT probe on, in the file; 0: it has none
  std::string operands;        // USDT: where the arguments are, as the file has it
  uint32_t offset = 0;         // functions of the kernel (`function`): of the instruction, from the start
  bool at_entry = false;       // the instruction is the first of the function, or one that stands for it
  bool is_inlined = false; // it is the first of a call of `function` that was inlined; frames: in such a call
  // Of a stopped program: what the loader added to the addresses of `module`.
  std::optional<uint64_t> bias;
  bool has_vectors = false; // of frames: xmm0 … are known, as in no frame that made a call
  // Of frames of a language: the thread, and the place in the words of its language frames (target/stacks.h).
  struct LanguageFrame {
    size_t thread = 0, index = 0;
  };
  std::optional<LanguageFrame> language;
  // Of frames: those above this one, the innermost first, if anything in this one depends on them. Their
  // registers follow this one's, stopped_registers bytes each.
  std::vector<Caller> callers;
};

// The function's name as `func` prints it: `demangles` those of C++ and Rust, in programs.
std::string shown_function(const Event& e, bool demangles);

// Where a value of the arguments is found.
struct Access {
  enum Kind : uint8_t {
    record, // in the context at `offset`
    raw,    // u64 argument `argument` of the context; then each offset of `path` but the last is followed by
            // loading a pointer there; the value stands at the last one. An empty path: the argument is the
            // value.
    computed, // by `recipe`
  } kind = record;
  uint32_t offset = 0;
  uint32_t argument = 0;
  std::vector<uint32_t> path;
  Recipe recipe;
  std::string
      reason; // of `computed` without recipe: why the value cannot be had, "is a floating point number"
};

// What probes need to know of the host: asked for when it is first needed, kept for the whole compilation.
class Machine {
public:
  // pid: of the process that is traced (-p), whose files binaries() finds; -1: none.
  explicit Machine(type::Table& types, int pid = -1); // of this host
  Machine(type::Table& types, host::Environment& host, int pid = -1);
  ~Machine();
  type::Table& types() { return types_; }
  host::Environment& host() { return host_; }
  // The kernel's own types, or nullptr where the kernel has none.
  format::Btf* btf();
  // A number that these types tell (kernel_facts.h); 0 where the kernel has none. Normally nothing is
  // opened.
  uint32_t kernel_number(const std::string& name, const std::function<uint32_t(format::Btf&)>& ask);
  // What is kept of this kernel between runs.
  KernelFacts& facts();
  // Keeps what is new for the next run.
  void store_facts();
  // A kernel structure, union, enum or typedef by name, or one of `program_types`; nullptr if there is none.
  const type::Type* kernel_type(std::string_view keyword, std::string_view name);
  // Types of the traced program, asked for where the kernel has none of the name.
  std::function<const type::Type*(std::string_view keyword, std::string_view name)> program_types;
  // The value of an enumerator of the kernel's types or by `program_enumerators`, with its enumeration.
  std::optional<std::pair<const type::Type*, int64_t>> kernel_enumerator(std::string_view name);
  std::function<std::optional<std::pair<const type::Type*, int64_t>>(std::string_view name)>
      program_enumerators;
  // The kernel's list of trace events, or nullptr; then tracefs_error() tells why.
  format::Tracefs* tracefs();
  const base::Error& tracefs_error() const { return tracefs_error_; }
  // The programs and libraries that user probes are put into.
  symbol::Binaries& binaries();
  // All files that a name in a script means: of the stopped program, else as Binaries::find.
  base::Result<std::vector<symbol::Binary*>> find_binaries(std::string_view name);
  // Whether the kernel carries out nops, which user probes are put on, itself.
  bool emulates_nops();
  // The functions of the kernel (kernel_functions.h); made at the first call.
  KernelFunctions& kernel_functions();
  int pid() const { return pid_; }
  StoppedProgram* stopped = nullptr; // the stopped program, of scripts without events (stopped_program.h); outlives this
  bool may_end_programs = false;  // return probes are put where an exception ends the program (`--unsafe`)
  // Set before anything is asked for: where debug files are looked for first, and the functions of the kernel that
  // can be probed, as available_filter_functions has them (empty: that is read).
  std::vector<std::string> debug_folders;
  std::string traceable_functions;
  bool may_probe_any_file = false; // instructions of files that are no programs (`--unsafe`)
  bool sees_inlined_calls = true; // a uprobe on a function is also put where the function was inlined
  // What the debug information of a binary tells of its values (user_values.h); made at the first call.
  UserValues& user_values(symbol::Binary& binary);
  const type::Type* syscall_result =
      nullptr; // the arguments of events of returns from system calls, once asked for
  // What gives the members of a structure lives as long as the types.
  type::Provider* keep(std::unique_ptr<type::Provider> provider) {
    return providers_.emplace_back(std::move(provider)).get();
  }

private:
  type::Table& types_;
  host::Environment& host_;
  int pid_;
  std::optional<bool> emulates_nops_;
  std::unique_ptr<symbol::Binaries> binaries_;
  std::unique_ptr<KernelFunctions> kernel_functions_;
  std::unordered_map<const symbol::Binary*, std::unique_ptr<UserValues>> user_values_;
  std::unique_ptr<format::Btf> btf_;
  bool tried_ = false;
  std::unique_ptr<KernelFacts> facts_;
  std::unique_ptr<format::Tracefs> tracefs_;
  base::Error tracefs_error_;
  bool tracefs_tried_ = false;
  std::vector<std::unique_ptr<type::Provider>> providers_;
  std::unordered_map<std::string, const type::Type*> kernel_types_;
  std::unordered_map<std::string, std::optional<std::pair<const type::Type*, int64_t>>> kernel_enumerators_;
};

// Where the kernel's types are read from, and whether they are there.
const char* kernel_types_path();
bool has_kernel_types(host::Environment& host);

// A probe that names nothing there is: which kind of mistake, and the nearest name.
struct Mismatch {
  enum Kind : uint8_t { unknown_provider, malformed, missing } kind = missing;
  std::string message;
  std::string hint;
  bool denied = false;               // missing because acu is not allowed to look
  std::vector<std::string> warnings; // to be told although there are events
};

// Resolves one probe of a script, `parts` being its text split at `:` (provider first, any case, long or
// short name). Wildcards (`*`, `?`) give several events, in the order of their names. Nothing found: the
// mismatch tells why.
std::vector<Event> match(Machine& machine, std::span<const std::string_view> parts, Mismatch& mismatch);

// In place of a probe that matches nothing, to ask for the types in its block: its kind and its name, no place and no arguments. Nothing: there is no such kind.
std::optional<Event> stand_in(std::span<const std::string_view> parts);

// The arguments of an event, decoded when a script asks for them (Event::args is set); nullptr if it has
// none.
const type::Type* arguments(Machine& machine, Event& event);

// The same for people, one text each, as the kernel declares them: "const char * filename".
std::vector<std::string> describe_arguments(Machine& machine, Event& event);

// The row of an event's kind in spec/probes.h.
const spec::ProbeKind& kind_of(const Event& event);

// Where struct pt_regs stands in the context of a program, if it does.
std::optional<uint32_t> registers_at(Context context);

// The context an event is best attached with when the program reads these arguments: the cheapest that has
// them all (raw tracepoints; then typed ones, which may follow pointers; then the tracepoint's record).
Context choose_context(Machine& machine, const Event& event, std::span<const std::string_view> fields);

// Where the argument `field` of `event` is found in this context. Only for fields that choose_context was
// told.
Access access(Machine& machine, const Event& event, Context context, std::string_view field);

// All events whose name matches a pattern such as "tracepoint:sched:*" (no pattern: all), sorted, for `acu
// list`.
std::vector<Event> list(Machine& machine, std::string_view pattern);

} // namespace probe
