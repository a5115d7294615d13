// The questions and their table. See features.h.
#include "bpf/features.h"

#include "base/fd.h"
#include "base/privilege.h"
#include "base/text.h"
#include "bpf/emit.h"
#include "bpf/leave_closing.h"
#include "bpf/pieces.h"
#include "bpf/syscall.h"
#include "bpf/trials.h"
#include "format/btf.h"
#include "host/cpus.h"
#include "probe/attach.h"

#include <algorithm>
#include <cerrno>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

namespace bpf {
namespace {

// From what a system call wrapper returned: a descriptor (closed here), 0, or the negative errno.
Answer answer_of(int result) {
  if (result > 2) ::close(result);
  if (result >= 0) return Answer::yes;
  return result == -EPERM ? Answer::refused : Answer::no;
}
Answer answer_of(const base::Fd& fd) { return fd.valid() ? Answer::yes : answer_of(fd.get()); }

constexpr bpf_insn return_zero[] = {
    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
};

base::Fd load_empty(bpf_prog_type type, uint32_t attach_type = 0, uint32_t attach_btf_id = 0) {
  ProgramLoad request;
  request.type = type;
  request.attach_type = attach_type;
  request.attach_btf_id = attach_btf_id;
  request.insns = return_zero;
  request.name = "acu_try";
  return base::Fd(program_load(request));
}

// Does the kernel know the helper in a tracing program? Called without its arguments: a helper that exists
// then complains about those (EACCES), one that does not is EINVAL.
template<int helper, bpf_prog_type type = BPF_PROG_TYPE_RAW_TRACEPOINT, uint32_t attach_type = 0>
Answer try_helper(uint32_t attach_btf_id) {
  constexpr bpf_insn insns[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, helper},
      return_zero[0],
      return_zero[1],
  };
  int result = program_load({.type = type, .attach_type = attach_type, .insns = insns, .name = "acu_try",
                             .attach_btf_id = attach_btf_id});
  return result == -EACCES ? Answer::yes : answer_of(result);
}
template<int helper, bpf_prog_type type = BPF_PROG_TYPE_RAW_TRACEPOINT> Answer try_helper() {
  return try_helper<helper, type, 0>(0);
}

Answer try_ring_buffer() {
  auto page = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE));
  return answer_of(map_create({.type = BPF_MAP_TYPE_RINGBUF,
                               .key_size = 0,
                               .value_size = 0,
                               .max_entries = page,
                               .name = "acu_try"}));
}

Answer try_batch_read() {
  base::Fd map(
      map_create({.type = BPF_MAP_TYPE_PERCPU_HASH, .key_size = 8, .max_entries = 1, .name = "acu_try"}));
  if (!map.valid()) return answer_of(map.get());
  uint64_t key;
  uint32_t next;
  std::vector<uint64_t> values(host::possible_cpus());
  Batch batch{nullptr, &next, &key, values.data(), 1};
  int result = map_lookup_batch(map.get(), batch);
  return result == -ENOENT ? Answer::yes : answer_of(result); // it is empty
}

Answer try_large_keys() {
  return answer_of(
      map_create({.type = BPF_MAP_TYPE_HASH, .key_size = 1024, .max_entries = 1, .name = "acu_try"}));
}

Answer try_cmpxchg() {
  constexpr bpf_insn insns[] = {
      {BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, BPF_REG_1, -8, BPF_CMPXCHG},
      return_zero[0],
      return_zero[1],
  };
  return answer_of(program_load({.insns = insns, .name = "acu_try"}));
}

Answer try_run_program() {
  base::Fd program = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT);
  int32_t result = 0;
  return program.valid() ? answer_of(program_run(program.get(), result)) : answer_of(program);
}

// A link to places in a folder: a kernel that knows such links says that it is no file.
template<probe::UserLink link> Answer try_user_link() {
  base::Fd program = load_empty(BPF_PROG_TYPE_KPROBE, probe::attach_type_of(link));
  if (!program.valid()) return answer_of(program);
  int code = probe::try_user_link(link, program.get(), 0);
  return code == EBADF ? Answer::yes : answer_of(-code);
}

// Kernels that compare threads instead of processes look for the process only after the file.
Answer try_user_link_pid() {
  base::Fd program = load_empty(BPF_PROG_TYPE_KPROBE, probe::attach_type_of(probe::UserLink::multi));
  if (!program.valid()) return answer_of(program);
  int code = probe::try_user_link(probe::UserLink::multi, program.get(), 0);
  if (code != EBADF) return answer_of(-code) == Answer::refused ? Answer::refused : Answer::no;
  return probe::try_user_link(probe::UserLink::multi, program.get(), -1) == EINVAL ? Answer::yes : Answer::no;
}

template<probe::KernelLink link> Answer try_kernel_link() {
  base::Fd program = load_empty(BPF_PROG_TYPE_KPROBE, probe::attach_type_of(link));
  if (!program.valid()) return answer_of(program);
  int code = probe::try_kernel_link(link, program.get());
  return code == EFAULT ? Answer::yes : answer_of(-code);
}

// An event of perf, or a definition in tracefs, on a function that is there as long as there are probes.
Answer try_kprobe() {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (base::is_accessible((std::string(root) + "/kprobe_events").c_str(), W_OK)) return Answer::yes;
  if (!base::is_accessible("/sys/bus/event_source/devices/kprobe/type", R_OK)) return Answer::no;
  return ::geteuid() == 0 ? Answer::yes : Answer::refused;
}

// On an event that is rare: the program is there for a moment.
Answer try_raw_tracepoint() {
  base::Fd program = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT);
  return program.valid() ? answer_of(raw_tracepoint_open("task_newtask", program.get())) : answer_of(program);
}

// Id of one of the kernel's types; 0: not there.
uint32_t find_type(std::string_view name, format::BtfKind kind) {
  auto btf = format::Btf::open(host::kernel_types_path);
  return btf.ok() ? (*btf)->find(name, kind) : 0;
}

Answer try_btf_tracepoint() {
  uint32_t id = find_type("btf_trace_task_newtask", format::BtfKind::typedef_);
  if (!id) return Answer::no;
  base::Fd program = load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, id);
  return program.valid() ? answer_of(raw_tracepoint_open(nullptr, program.get())) : answer_of(program);
}

Answer try_socket_cookie() {
  uint32_t id = find_type("btf_trace_task_newtask", format::BtfKind::typedef_);
  return id ? try_helper<BPF_FUNC_get_socket_cookie, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP>(id) : Answer::no;
}

Answer try_watchpoint() { return probe::raises_accesses() ? Answer::yes : Answer::no; }

// A function that the kernel has for such trials; it runs only when somebody tries programs on it.
Answer try_trampoline() {
  uint32_t id = find_type("bpf_fentry_test1", format::BtfKind::function);
  if (!id) return Answer::no;
  base::Fd program = load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, id);
  return program.valid() ? answer_of(raw_tracepoint_open(nullptr, program.get())) : answer_of(program);
}

Answer try_task_iterator() {
  uint32_t id = find_type("bpf_iter_task", format::BtfKind::function);
  if (!id) return Answer::no;
  base::Fd program = load_empty(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, id);
  return program.valid() ? answer_of(link_create(program.get(), 0, BPF_TRACE_ITER)) : answer_of(program);
}

// Opens an event on the first CPU and gives it the program.
Answer try_event(perf_event_attr attributes, const base::Fd& program) {
  if (!program.valid()) return answer_of(program);
  attributes.size = sizeof attributes;
  attributes.disabled = 1;
  int cpu = probe::online_cpus().front();
  long result = ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (result < 0) return errno == EACCES ? Answer::refused : answer_of(-errno);
  base::Fd event(static_cast<int>(result));
  Answer answer =
      ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program.get()) == 0 ? Answer::yes : answer_of(-errno);
  if (attributes.type == PERF_TYPE_TRACEPOINT) {
    std::vector<base::Fd> events;
    events.push_back(std::move(event));
    leave_closing(std::move(events));
  }
  return answer;
}

Answer try_tracepoint() {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    auto text = base::read_file(std::string(root) + "/events/task/task_newtask/id");
    if (!text.ok()) continue;
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = base::parse_integer(base::trim(*text)).value_or(0);
    return try_event(attributes, load_empty(BPF_PROG_TYPE_TRACEPOINT));
  }
  return ::geteuid() == 0 ? Answer::no : Answer::refused; // tracefs is not mounted, or not readable
}

Answer try_sampling() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 1'000'000'000;
  return try_event(attributes, load_empty(BPF_PROG_TYPE_PERF_EVENT));
}

// Finds the first process, and lets go of it.
Answer try_find_task() {
  auto btf = format::Btf::open(host::kernel_types_path);
  uint32_t find = btf.ok() ? (*btf)->find("bpf_task_from_pid", format::BtfKind::function) : 0;
  uint32_t release = btf.ok() ? (*btf)->find("bpf_task_release", format::BtfKind::function) : 0;
  if (!find || !release) return Answer::no;
  const bpf_insn insns[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(find)},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0},
      {BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(release)},
      return_zero[0],
      return_zero[1],
  };
  return answer_of(program_load(
      {.type = BPF_PROG_TYPE_SYSCALL, .flags = BPF_F_SLEEPABLE, .insns = insns, .name = "acu_try"}));
}

Answer try_kernel_types() { return base::is_accessible(host::kernel_types_path, R_OK) ? Answer::yes : Answer::no; }

constexpr FeatureRow table[] = {
    {.id = Feature::ring_buffer,
     .name = "ring_buffer",
     .since = "5.8",
     .use = "events to acu, in order over all CPUs",
     .substitute = "none: scripts that print from probes are refused",
     .probe = try_ring_buffer},
    {.id = Feature::batch_read,
     .name = "batch_read",
     .since = "5.6",
     .use = "maps are read in batches",
     .substitute = "maps are read key by key, five times slower",
     .probe = try_batch_read},
    {.id = Feature::run_program,
     .name = "run_program",
     .since = "5.10",
     .use = "begin, end, interval and signal probes",
     .substitute = "none: those probes are refused",
     .probe = try_run_program},
    {.id = Feature::raw_tracepoint,
     .name = "raw_tracepoint",
     .since = "4.17",
     .use = "tracepoints at the least cost",
     .substitute = "perf tracepoints",
     .probe = try_raw_tracepoint},
    {.id = Feature::btf_tracepoint,
     .name = "btf_tracepoint",
     .since = "5.5",
     .use = "tracepoints whose arguments are followed as pointers",
     .substitute = "perf tracepoints",
     .probe = try_btf_tracepoint},
    {.id = Feature::tracepoint,
     .name = "tracepoint",
     .since = "4.7",
     .use = "tracepoints whose arguments are only in the record",
     .substitute = "none: such probes are refused",
     .probe = try_tracepoint},
    {.id = Feature::sampling,
     .name = "sampling",
     .since = "4.9",
     .use = "profile and software probes",
     .substitute = "none: those probes are refused",
     .probe = try_sampling},
    {.id = Feature::kernel_types,
     .name = "kernel_types",
     .since = "5.2",
     .use = "structures of the kernel by name, typed arguments",
     .substitute = "none: scripts must define the structures they use",
     .probe = try_kernel_types},
    {.id = Feature::task_storage,
     .name = "task_storage",
     .since = "5.12",
     .use = "maps keyed by tid live in the thread",
     .substitute = "hash maps, at twice the cost",
     .probe = try_helper<BPF_FUNC_task_storage_get>},
    {.id = Feature::task_iterator,
     .name = "task_iterator",
     .since = "5.8",
     .use = "maps in threads are printed and cleared",
     .substitute = "none: needed for task_storage",
     .probe = try_task_iterator},
    {.id = Feature::for_each,
     .name = "for_each",
     .since = "5.13",
     .use = "for loops over maps",
     .substitute = "none: such loops are refused",
     .probe = try_helper<BPF_FUNC_for_each_map_elem>},
    {.id = Feature::loop,
     .name = "loop",
     .since = "5.17",
     .use = "loops of any length",
     .substitute = "short loops, each turn walked by the verifier; stacks without language frames",
     .probe = try_helper<BPF_FUNC_loop>},
    {.id = Feature::lookup_percpu,
     .name = "lookup_percpu",
     .since = "5.19",
     .use = "per-CPU aggregations are read as numbers in probes",
     .substitute = "none: such reads are refused",
     .probe = try_helper<BPF_FUNC_map_lookup_percpu_elem>},
    {.id = Feature::boot_clock,
     .name = "boot_clock",
     .since = "5.8",
     .use = "nsecs(boot), elapsed",
     .substitute = "the monotonic clock",
     .probe = try_helper<BPF_FUNC_ktime_get_boot_ns>},
    {.id = Feature::tai_clock,
     .name = "tai_clock",
     .since = "6.1",
     .use = "nsecs(tai)",
     .substitute = "none: refused",
     .probe = try_helper<BPF_FUNC_ktime_get_tai_ns>},
    {.id = Feature::large_keys,
     .name = "large_keys",
     .since = "5.11",
     .use = "map keys over 512 bytes",
     .substitute = "none: refused; shorter strings in keys do",
     .probe = try_large_keys},
    {.id = Feature::cmpxchg,
     .name = "cmpxchg",
     .since = "5.12",
     .use = "probes that interrupt each other take scratch memory of their own; `limit` and `speculate(key)` are exact on several CPUs",
     .substitute = "a plain claim: such kernels interrupt a probe only by ones that end before it goes on; `limit` may run its block a few times more, and "
                   "threads that print for the same key at the same time may lose output",
     .probe = try_cmpxchg},
    {.id = Feature::task_registers,
     .name = "task_registers",
     .since = "5.15",
     .use = "user stacks are walked by acu's own programs",
     .substitute = "the kernel walks them, at four times the cost",
     .probe = try_helper<BPF_FUNC_task_pt_regs>},
    {.id = Feature::uprobe_multi,
     .name = "uprobe_multi",
     .since = "6.6",
     .use = "all functions of a file are probed by one link",
     .substitute = "an event of tracefs for many functions",
     .probe = try_user_link<probe::UserLink::multi>},
    {.id = Feature::uprobe_multi_pid,
     .name = "uprobe_multi_pid",
     .since = "6.10",
     .use = "only one process is probed",
     .substitute = "others are probed too, and left out by the program",
     .probe = try_user_link_pid},
    {.id = Feature::uprobe_session,
     .name = "uprobe_session",
     .since = "6.13",
     .use = "one link for entry and return of functions",
     .substitute = "two links, at a tenth more cost",
     .probe = try_user_link<probe::UserLink::session>},
    {.id = Feature::attach_cookie,
     .name = "attach_cookie",
     .since = "5.15",
     .use = "func and probe in blocks for several user functions",
     .substitute = "a program for each of the functions",
     .probe = try_helper<BPF_FUNC_get_attach_cookie, BPF_PROG_TYPE_KPROBE>},
    {.id = Feature::trampoline,
     .name = "trampoline",
     .since = "5.5",
     .use = "fentry and fexit; kprobe and kretprobe on one function where no registers are asked for",
     .substitute = "none for fentry and fexit: those probes are refused",
     .probe = try_trampoline},
    {.id = Feature::kprobe,
     .name = "kprobe",
     .since = "4.1",
     .use = "instructions in functions of the kernel, and all kprobes of kernels without kprobe_multi",
     .substitute = "none: those probes are refused",
     .probe = try_kprobe},
    {.id = Feature::kprobe_multi,
     .name = "kprobe_multi",
     .since = "5.18",
     .use = "many functions of the kernel are probed by one link",
     .substitute = "an event of tracefs for all of them",
     .probe = try_kernel_link<probe::KernelLink::multi>},
    {.id = Feature::kprobe_session,
     .name = "kprobe_session",
     .since = "6.10",
     .use = "one link for entry and return of functions of the kernel",
     .substitute = "two links or events",
     .probe = try_kernel_link<probe::KernelLink::session>},
    {.id = Feature::function_address,
     .name = "function_address",
     .since = "5.15",
     .use = "func and probe in blocks for the returns of several functions of the kernel, without kprobe_multi",
     .substitute = "a program for each of the functions",
     .probe = try_helper<BPF_FUNC_get_func_ip, BPF_PROG_TYPE_KPROBE>},
    {.id = Feature::current_task,
     .name = "current_task",
     .since = "5.11",
     .use = "members of curtask are loaded directly",
     .substitute = "they are read as any memory of the kernel",
     .probe = try_helper<BPF_FUNC_get_current_task_btf>},
    {.id = Feature::find_task,
     .name = "find_task",
     .since = "6.2",
     .use = "comm(pid)",
     .substitute = "none: refused",
     .probe = try_find_task},
    {.id = Feature::socket_cookie,
     .name = "socket_cookie",
     .since = "5.12",
     .use = "socket_cookie()",
     .substitute = "none: refused",
     .probe = try_socket_cookie},
    {.id = Feature::watchpoint,
     .name = "watchpoint",
     .since = "4.9",
     .use = "watchpoint and asyncwatchpoint",
     .substitute = "none: refused",
     .probe = try_watchpoint},
};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(table); i++) {
    if (static_cast<size_t>(table[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order());
static_assert(std::size(table) == feature_count);

// Which of the operations and questions that depend on the kernel a program has.
struct Uses {
  bool loop = false, for_each = false, find_cpu = false, boot_clock = false, tai_clock = false,
       scratch = false, exchange = false, user_stack = false, cookie = false, task = false, user_registers = false;
};

// Whether objects of a frame may go to scratch memory: larger ones do, and many small ones.
bool may_use_scratch(const ir::Frame& frame) {
  uint32_t sum = 0;
  for (const ir::Object& object : frame.objects) sum += object.size;
  return sum > 64;
}

Uses find_uses(const ir::Program& program) {
  Uses uses;
  uses.scratch = std::any_of(program.frames.begin(), program.frames.end(), may_use_scratch);
  for (const ir::Function& function : program.functions) {
    for (const ir::Block& block : function.blocks) {
      for (const ir::Inst& inst : block.insts) {
        uses.scratch |= inst.op == ir::Op::stack;
        uses.exchange |= inst.op == ir::Op::exchange || inst.op == ir::Op::hold;
        uses.user_stack |= inst.op == ir::Op::stack && inst.index;
        uses.loop |= inst.op == ir::Op::loop || uses.user_stack;
        uses.for_each |= inst.op == ir::Op::for_each || inst.op == ir::Op::map_size;
        uses.find_cpu |= inst.op == ir::Op::map_find_cpu;
        uses.boot_clock |= inst.op == ir::Op::query && inst.query == ir::Query::ktime_boot;
        uses.cookie |= inst.op == ir::Op::query && inst.query == ir::Query::cookie;
        uses.task |= inst.op == ir::Op::query && inst.query == ir::Query::task;
        uses.user_registers |= inst.op == ir::Op::query && inst.query == ir::Query::user_registers;
        uses.tai_clock |= inst.op == ir::Op::query && inst.query == ir::Query::ktime_tai;
      }
    }
  }
  return uses;
}

} // namespace

std::string_view to_string(Answer answer) {
  switch (answer) {
  case Answer::unasked: return "unknown";
  case Answer::yes: return "yes";
  case Answer::no: return "no";
  case Answer::refused: return "not permitted";
  }
  return {};
}

std::string question_of(const FeatureRow& row) { return "feature." + std::string(row.name); }
std::span<const FeatureRow> feature_table() { return table; }

std::string lack_of(Feature feature) {
  const FeatureRow& row = table[static_cast<size_t>(feature)];
  return "this kernel lacks `" + std::string(row.name) + "` (Linux " + std::string(row.since) + " has it)";
}

Answer Features::ask(Feature feature) const {
  Answer& answer = answers_[static_cast<size_t>(feature)];
  if (answer != Answer::unasked) return answer;
  const FeatureRow& row = table[static_cast<size_t>(feature)];
  auto trial = [&] { return static_cast<int64_t>(row.probe()); };
  const int64_t given = host_->answer(question_of(row), static_cast<int64_t>(Answer::no), trial);
  const bool is_one = given >= static_cast<int64_t>(Answer::yes) && given <= static_cast<int64_t>(Answer::refused);
  return answer = is_one ? static_cast<Answer>(given) : Answer::no;
}

void Features::do_without(std::string_view name) {
  for (const FeatureRow& row : table)
    if (row.name == name) set(row.id, Answer::no);
  if (name == "kprobe_multi") set(Feature::kprobe_session, Answer::no);
  if (name == "uprobe_multi") {
    set(Feature::uprobe_session, Answer::no);
    set(Feature::uprobe_multi_pid, Answer::no);
  }
}

static Features& own_features() {
  static Features of_this_host;
  return of_this_host;
}

const Features& features() { return own_features(); }

void do_without(std::string_view name) { own_features().do_without(name); }

// Whether the code of a probe has an operation, also in functions that it calls.
static bool reaches(const ir::Program& program, const ir::Probe& probe, ir::Op wanted) {
  for (uint32_t f : find_reached(program, probe.function))
    for (const ir::Block& block : program.functions[f].blocks)
      for (const ir::Inst& inst : block.insts)
        if (inst.op == wanted) return true;
  return false;
}

probe::KernelLink kernel_link(const ir::Program& program, const ir::Probe& probe, const Features& features) {
  if (probe.is_session) return probe::KernelLink::session;
  bool is_within = false, is_return = false;
  for (uint32_t e : probe.events) {
    is_within |= program.events[e].offset != 0;
    is_return |= program.events[e].kind == probe::Kind::kretprobe;
  }
  // Such links see whole functions only, and let nothing be overridden.
  if (is_within || reaches(program, probe, ir::Op::override)) return probe::KernelLink::event;
  // How many returns they missed is told by newer kernels only, which have sessions too.
  Feature needed = is_return ? Feature::kprobe_session : Feature::kprobe_multi;
  return features.ask(needed) == Answer::yes ? probe::KernelLink::multi : probe::KernelLink::event;
}

bool tells_events(const Features& features, const probe::Event& event) {
  // Where a kprobe stopped stands in the registers.
  if (event.kind == probe::Kind::kprobe) return true;
  bool by_link = event.kind != probe::Kind::kretprobe || features.ask(Feature::kprobe_session) == Answer::yes;
  return features.ask(by_link ? Feature::attach_cookie : Feature::function_address) != Answer::no;
}

probe::UserLink user_link(const ir::Probe& probe, const Features& features) {
  if (probe.is_session) return probe::UserLink::session;
  // Who may not ask may not attach either: that failure then says what is missing.
  return features.ask(Feature::uprobe_multi) == Answer::no ? probe::UserLink::event : probe::UserLink::multi;
}

EmitOptions options_for(const ir::Program& program, const Features& features, const PieceSizes& pieces) {
  Uses uses = find_uses(program);
  uses.scratch |= has_long_functions(program, pieces) || std::ranges::any_of(program.actions, &ir::Action::overwrites);
  // Who may not ask may not load either: that failure then says what is missing.
  auto may = [&](bool is_used, Feature feature) { return !is_used || features.ask(feature) != Answer::no; };
  EmitOptions options;
  options.pieces = pieces;
  options.possible_cpus = features.host().possible_cpus();
  options.has_loop = may(uses.loop, Feature::loop);
  options.has_for_each = may(uses.for_each, Feature::for_each);
  options.has_lookup_percpu = may(uses.find_cpu, Feature::lookup_percpu);
  options.has_boot_clock = may(uses.boot_clock, Feature::boot_clock);
  options.has_tai_clock = may(uses.tai_clock, Feature::tai_clock);
  for (const ir::Probe& p : program.probes)
    options.by_address.push_back(uses.cookie && p.context == probe::Context::kernel_registers && !p.cookies.empty() &&
                                 kernel_link(program, p, features) == probe::KernelLink::event);
  options.has_cookie = may(uses.cookie, Feature::attach_cookie);
  options.has_cmpxchg = may(uses.scratch || uses.exchange, Feature::cmpxchg);
  // Reading the task's members needs the kernel's types.
  options.has_task_registers = (uses.user_stack || uses.user_registers) && program.task.self_exec_id &&
                               features.has(Feature::task_registers);
  if (options.has_task_registers && uses.user_stack) options.registers_at = find_registers(features.host(), program.task);
  // Where the kernel does not vouch for the registers, what is read through it is read as any memory.
  options.has_current_task = may(uses.task || uses.user_registers, Feature::current_task) &&
                             (!uses.user_registers || options.has_task_registers);
  const bool has_keys = std::any_of(program.maps.begin(), program.maps.end(),
                                    [](const ir::Map& m) { return !ir::is_scalar(m.kind); });
  options.preallocate = !may(has_keys, Feature::tai_clock); // which came with the same kernel
  return options;
}

} // namespace bpf
