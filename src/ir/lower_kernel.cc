// Builtins about the event's context, tasks and the kernel's own data, and effects on what is traced.
#include "base/text.h"
#include "format/btf.h"
#include "host/environment.h"
#include "ir/lowering.h"
#include "lang/walk.h"
#include "probe/cpu_variable.h"
#include "probe/kernel_functions.h"
#include "spec/arch.h"

#include <algorithm>
#include <sys/stat.h>

namespace ir {

using namespace lang;
using spec::id;

// `word`: the namespace of pid() and tid().
Operand Lowering::process_ids(List<Expr*> arguments) {
  const Name* word = arguments.empty() ? nullptr : if_a<Name>(arguments[0]);
  bool is_own = !word || word->name != "init";
  return query(is_own && options_.pid_namespace.inode ? Query::namespace_pid_tgid : Query::pid_tgid);
}

// The offset of a member of a structure; nothing (told) where the kernel has no types.
std::optional<uint32_t> Lowering::kernel_member(std::string_view structure, std::string_view name) {
  const Type* type = machine_.kernel_type("struct", structure);
  auto member = type ? type->find(name) : std::nullopt;
  if (member) return member->offset;
  diagnostics_.error(spec::tag::unresolved, where_,
                     "this needs the kernel's type information (/sys/kernel/btf/vmlinux)");
  return std::nullopt;
}

std::optional<uint32_t> Lowering::task_member(std::string_view name) { return kernel_member("task_struct", name); }

// The address of the last struct upid { int nr; struct pid_namespace *ns; } of the thread, or of the one that leads it: struct pid
// has one for each namespace, the innermost last.
Operand Lowering::innermost_upid(bool of_process) {
  const auto leader = task_member("group_leader"), pid = task_member("thread_pid");
  const auto level = kernel_member("pid", "level"), numbers = kernel_member("pid", "numbers");
  const Type* upid = machine_.kernel_type("struct", "upid");
  if (!leader || !pid || !level || !numbers || !upid) return number(0);
  Place task = {Space::task, query(Query::task), 0};
  if (of_process) task = {Space::kernel, load_word(task.plus(*leader), 8, false), 0};
  const Operand of_thread = load_word(task.plus(*pid), 8, false);
  const Operand index = load_word({Space::kernel, of_thread, *level}, 4, false);
  return emit(Op::add, emit(Op::add, of_thread, number(*numbers)), emit(Op::mul, index, number(upid->size)));
}

// Of acu's own process, where all runs are in it: the numbers that it has anyway.
Operand Lowering::innermost_id(bool of_process) {
  if (options_.own_process) return of_process ? emit(Op::lshr, process_ids({}), number(32)) : emit(Op::zext, process_ids({}), {}, 4);
  const auto nr = kernel_member("upid", "nr");
  return nr ? load_word({Space::kernel, innermost_upid(of_process), *nr}, 4, false) : number(0);
}

Operand Lowering::pid_namespace_number() {
  struct stat own = {};
  if (options_.own_process) return number(::stat("/proc/self/ns/pid", &own) == 0 ? static_cast<int64_t>(own.st_ino) : 0);
  const auto ns = kernel_member("upid", "ns"), common = kernel_member("pid_namespace", "ns"), inum = kernel_member("ns_common", "inum");
  if (!ns || !common || !inum) return number(0);
  const Operand space = load_word({Space::kernel, innermost_upid(true), *ns}, 8, false);
  return load_word({Space::kernel, space, *common + *inum}, 4, false);
}

// The task of ppid(task) and pcomm(task), by default the current one.
Place Lowering::task_place(List<Expr*> arguments) {
  if (arguments.empty()) return {Space::task, query(Query::task), 0};
  Place p = pointee(*arguments[0], 0);
  if (p.space != Space::task) p.space = Space::kernel;
  return p;
}

Operand Lowering::parent_pid(List<Expr*> arguments) {
  if (arguments.empty() && options_.own_process) return number(options_.own_process->parent);
  auto parent = task_member("real_parent"), tgid = task_member("tgid");
  if (!parent || !tgid) return number(0);
  Operand pointer = load_word(task_place(arguments).plus(*parent), 8, false);
  return load_word({Space::kernel, pointer, *tgid}, 4, false);
}

// Of another task: the number of the thread that leads it.
Operand Lowering::leader_tid(List<Expr*> arguments) {
  if (arguments.empty()) return emit(Op::lshr, process_ids({}), number(32));
  auto leader = task_member("group_leader"), pid = task_member("pid");
  if (!leader || !pid) return number(0);
  Operand pointer = load_word(task_place(arguments).plus(*leader), 8, false);
  return load_word({Space::kernel, pointer, *pid}, 4, false);
}

void Lowering::parent_name_into(List<Expr*> arguments, const Place& to) {
  if (arguments.empty() && options_.own_process) return put_text(to, options_.own_process->parent_name, 16);
  task_name_into(arguments, "real_parent", to);
}

void Lowering::leader_name_into(List<Expr*> arguments, const Place& to) {
  if (arguments.empty() && options_.own_process) return put_text(to, options_.own_process->name, 16);
  task_name_into(arguments, "group_leader", to);
}

// The name of the task that a member of a task points to.
void Lowering::task_name_into(List<Expr*> arguments, std::string_view relative, const Place& to) {
  auto member = task_member(relative), name = task_member("comm");
  if (!member || !name) return;
  Operand pointer = load_word(task_place(arguments).plus(*member), 8, false);
  // Not as bytes: before Linux 5.17 those behind the NUL may be of an earlier name.
  read_text(to, 16, emit(Op::add, pointer, number(*name)), Space::kernel, {}, true);
}

uint32_t Lowering::kernel_symbol(std::string_view name, format::BtfKind kind) {
  for (uint32_t i = 0; i < program_.kernel_symbols.size(); i++)
    if (program_.kernel_symbols[i].name == name) return i;
  uint32_t found = machine_.btf() ? machine_.btf()->find(name, kind) : 0;
  program_.kernel_symbols.push_back({std::string(name), found});
  return static_cast<uint32_t>(program_.kernel_symbols.size() - 1);
}

// comm, comm(pid)
void Lowering::thread_name_into(List<Expr*> arguments, const Place& to, const Type& as) {
  if (!arguments.empty()) return other_name_into(*arguments[0], to);
  zero(to, as.size); // Linux 6.1 leaves the bytes behind the NUL as they were
  append({.op = Op::name, .a = address(to)});
}

// comm(pid)
void Lowering::other_name_into(const Expr& pid, const Place& to) {
  uint32_t find = kernel_symbol("bpf_task_from_pid", format::BtfKind::function);
  uint32_t release = kernel_symbol("bpf_task_release", format::BtfKind::function);
  if (machine_.btf() && !program_.kernel_symbols[find].btf_id)
    diagnostics_.error(spec::tag::unresolved, where_,
                       "`comm(pid)` needs a kernel that finds tasks for programs (Linux 6.2)",
                       "`comm` is the name of the current thread");
  auto name = machine_.btf() ? task_member("comm") : std::optional<uint32_t>(0);
  append({.op = Op::task_name,
          .dst = fresh(),
          .a = address(to),
          .b = scalar(pid),
          .imm = release,
          .imm3 = static_cast<int32_t>(name.value_or(0)),
          .index = find});
}

// A register of the traced code by its name.
Operand Lowering::machine_register(std::string_view name) {
  auto base = probe::registers_at(context_);
  auto offset = spec::find_register(name);
  if (!base || !offset) return number(0); // the checker allows it only where there are some
  if (is_at_return_instruction()) {
    // As behind the return.
    constexpr int64_t return_address = spec::arch.return_address_bytes;
    const Operand sp = load_word(context_place(*base + *spec::find_register(spec::arch.sp)), 8, false);
    if (name == spec::arch.sp) return emit(Op::add, sp, number(return_address));
    if (name == spec::arch.ip) return load_word({Space::user, sp}, 8, false);
  }
  return load_word(context_place(static_cast<int64_t>(*base) + *offset), 8, false);
}

bool Lowering::is_at_return_instruction() const {
  return context_ == probe::Context::registers && probe_ && probe_->events.front()->at_return_instruction;
}

Operand Lowering::user_register(std::string_view name) {
  if (!program_.task.stack && !machine_.stopped) program_.task = task_layout(machine_);
  const auto offset = spec::find_register(name);
  return load_word({Space::task, query(Query::user_registers), static_cast<int64_t>(offset.value_or(0))}, 8, false);
}

// What has no registers runs in the kernel, but for probes that acu runs by itself.
Operand Lowering::is_user_mode() {
  if (!probe::registers_at(context_)) return number(probe_ && (probe_->events.front()->kind <= probe::Kind::bench || machine_.stopped));
  constexpr spec::UserMode mode = spec::arch.user_mode;
  return set(Cond::eq, emit(Op::and_, machine_register(mode.reg), number(mode.mask)), number(mode.value));
}

// argN
Operand Lowering::argument_by_number(int n) {
  // Of functions of the kernel: of those whose parameters are one word each.
  if (!probe::registers_at(context_)) return load_word(context_place(8 * static_cast<int64_t>(n)), 8, false);
  auto index = static_cast<size_t>(n);
  if (index < spec::arch.arguments.size()) return machine_register(spec::arch.arguments[index]);
  if (context_ == probe::Context::registers || context_ == probe::Context::kernel_registers)
    return stack_argument(index - spec::arch.arguments.size());
  diagnostics_.error(spec::tag::misplaced, where_,
                     "only " + std::to_string(spec::arch.arguments.size()) + " arguments are in registers",
                     "the others are on the stack, at reg(\"sp\")");
  return number(0);
}

// The n-th argument of those for which there is no register, where the function is entered.
Operand Lowering::stack_argument(size_t n) {
  constexpr int64_t first = spec::arch.return_address_bytes;
  return load_word({stack_space(), machine_register(spec::arch.sp), first + 8 * static_cast<int64_t>(n)}, 8, false);
}

std::string Lowering::name_of_event(const probe::Event& e, bool is_function) const {
  return is_function ? probe::shown_function(e, source_.config.flag("cpp_demangle")) : e.name;
}

// What `probe` or `func` stands for, as a number of Program::probe_names.
Operand Lowering::event_name(bool is_function) {
  const probe::Event& first = *probe_->events.front();
  if (probe_name_.kind != Operand::none) return probe_name_;
  bool has_cookie = context_ == probe::Context::registers || context_ == probe::Context::kernel_registers;
  if (probe_->events.size() == 1 || !has_cookie)
    return number(probe_name(name_of_event(first, is_function)));
  asks_cookie_ = true;
  Operand cookie = query(Query::cookie);
  return is_function ? emit(Op::lshr, cookie, number(32)) : emit(Op::zext, cookie, {}, 4);
}

Operand Lowering::function_name(const Expr& e) {
  if (!e.type->is(Kind::ksym)) return event_name(true);
  return probe::is_kernel_function(probe_->events.front()->kind) ? function_address() : machine_register(spec::arch.ip);
}

// Where the kernel's function begins: of several, by the number of its name, in two halves.
Operand Lowering::function_address() {
  std::vector<std::string_view> names;
  for (const probe::Event* e : probe_->events) names.push_back(e->function);
  const auto addresses = machine_.host().addresses(names);
  if (names.size() == 1) return number(static_cast<int64_t>(addresses.front().value_or(0)));
  std::vector<uint32_t> halves[2];
  for (size_t i = 0; i < names.size(); i++) {
    const uint32_t id = probe_name(names[i]);
    for (std::vector<uint32_t>& half : halves)
      if (half.size() <= id) half.resize(id + 1);
    halves[0][id] = static_cast<uint32_t>(addresses[i].value_or(0));
    halves[1][id] = static_cast<uint32_t>(addresses[i].value_or(0) >> 32);
  }
  const Operand id = event_name(true);
  Reg found[2] = {fresh(), fresh()};
  for (int i : {0, 1}) {
    program_.tables.push_back(std::move(halves[i]));
    append({.op = Op::table, .dst = found[i], .a = id, .index = static_cast<uint32_t>(program_.tables.size() - 1)});
  }
  return emit(Op::or_, emit(Op::shl, Operand::of(found[1]), number(32)), Operand::of(found[0]));
}

// What is told to the program of each of its events, for event_name().
std::vector<uint64_t> Lowering::cookies_of(const std::vector<uint32_t>& events) {
  std::vector<uint64_t> out;
  for (uint32_t e : events) {
    const probe::Event& event = program_.events[e];
    out.push_back(uint64_t{probe_name(name_of_event(event, true))} << 32 | probe_name(event.name));
  }
  return out;
}

// skboutput(path, skb, length, offset): the record is made in memory of the script and sent with the packet.
Operand Lowering::send_packet(const Call& c) {
  const Type* numbers[] = {types_.uint64(), types_.uint64(), types_.uint64()};
  Action a{.kind = ActionKind::packet, .text = std::string(c.arguments[0]->constant.text_value)};
  a.payload = types_.tuple(numbers);
  uint32_t action = add_action(std::move(a));
  uint32_t size = program_.actions[action].record_size();
  Operand skb = scalar(*c.arguments[1]);
  Operand length = scalar(*c.arguments[2]);
  Operand offset = scalar(*c.arguments[3]);
  Place record = scratch_place(size, "packet");
  store(record, number(action), 8);
  store(record.plus(8), query(Query::ktime_boot), 8);
  store(record.plus(16), offset, 8);
  store(record.plus(24), length, 8);
  Reg dst = fresh();
  append({.op = Op::packet, .dst = dst, .a = skb, .b = length, .c = address(record), .imm2 = size, .index = action});
  return Operand::of(dst);
}

// path(p [, size])
void Lowering::path_into(List<Expr*> arguments, const Place& to, const Type& as) {
  const Expr& p = *arguments[0];
  Place at = p.type->is_scalar() ? Place{Space::kernel, scalar(p), 0} : place(p);
  zero(to, as.size);
  Reg length = fresh();
  BlockId after = new_block();
  if (context_ == probe::Context::iterator && at.base.is_reg()) { // what it is in may not be there
    BlockId there = new_block();
    branch(Cond::ne, at.base, number(0), there, after);
    start(there);
  }
  Operand from = address(at);
  append({.op = Op::path, .dst = length, .a = address(to), .b = from, .imm2 = as.size - 1});
  BlockId failed = new_block();
  branch(Cond::slt, Operand::of(length), number(0), failed, after);
  start(failed);
  store(to, number(0), 1);
  jump(after);
  start(after);
}

// Where the kernel's types do not tell of the variable, its address is reckoned; 0 for a CPU that there is not.
Operand Lowering::variable_of_cpu(const probe::CpuVariable& v, Operand cpu) {
  if (cpu.kind == Operand::none) cpu = query(Query::cpu);
  Reg address = fresh();
  assign(address, number(0));
  BlockId there = new_block(), after = new_block();
  branch(Cond::ult, cpu, number(options_.possible_cpus), there, after);
  start(there);
  Operand element = emit(Op::add, emit(Op::shl, cpu, number(3)), number(static_cast<int64_t>(v.offsets)));
  Operand distance = load_word({Space::kernel, element, 0}, 8, false);
  assign(address, emit(Op::add, distance, number(static_cast<int64_t>(v.offset))));
  jump(after);
  start(after);
  return Operand::of(address);
}

// percpu_kaddr(name [, cpu])
Operand Lowering::kernel_variable(const Call& c) {
  Reg dst = fresh();
  Operand cpu = c.arguments.size() > 1 ? scalar(*c.arguments[1]) : Operand();
  std::string_view name = c.arguments[0]->constant.text_value;
  bool is_typed = machine_.btf() && machine_.btf()->find(name, format::BtfKind::variable);
  if (auto found = is_typed ? std::nullopt : probe::cpu_variable(machine_.host(), name)) return variable_of_cpu(*found, cpu);
  uint32_t symbol = kernel_symbol(name, format::BtfKind::variable);
  append({.op = Op::cpu_variable, .dst = dst, .a = cpu, .index = symbol});
  return Operand::of(dst);
}

// signal(), signal_thread()
void Lowering::send_signal(const Call& c, bool is_thread) {
  append({.op = Op::signal, .dst = fresh(), .a = scalar(*c.arguments[0]), .index = is_thread});
}

void Lowering::override_result(const Call& c) {
  append({.op = Op::override, .dst = fresh(), .a = scalar(*c.arguments[0])});
}

// write_user(to, value), write_user(to, from, length): whether it was written.
Operand Lowering::write_user(const Call& c) {
  const Expr& from = *c.arguments[1];
  const bool has_length = c.arguments.size() > 2;
  const uint32_t size = has_length ? static_cast<uint32_t>(c.arguments[2]->constant.integer_value) : std::max(1u, from.type->size);
  Operand to = scalar(*c.arguments[0]);
  if (size == 0) return number(1);
  const Place bytes = has_length ? Place{Space::script, object(bytes_of(from, size)), 0} : temporary(from, *from.type);
  Reg status = fresh();
  append({.op = Op::write_user, .dst = status, .a = to, .b = address(bytes), .imm2 = size});
  return set(Cond::eq, Operand::of(status), number(0));
}

// What `find` makes of a block decides how its events are attached: kernel functions take typed pointers only, and
// may not be called from raw tracepoints.
bool Lowering::wants_typed_context(const lang::Probe& p) const {
  bool found = false;
  auto look = [&](const Expr& e) {
    const Call* call = if_a<Call>(&e);
    if (!call) return;
    found |= is_builtin(e, id("socket_cookie")) || is_builtin(e, id("skboutput")) || is_builtin(e, id("task_kstack"));
    found |= is_builtin(e, id("comm")) && !call->arguments.empty();
  };
  lang::walk(p.predicate, look);
  lang::walk(p.body, look);
  for (const lang::Function* f : source_.functions) lang::walk(f->body, look);
  return found;
}

// What the traced function gives back.
Operand Lowering::function_result(const Type& as) {
  if (context_ != probe::Context::function) return narrow(machine_register(spec::arch.results[0]), as);
  const probe::KernelSignature* s = machine_.kernel_functions().signature(*probe_->events.front());
  return s ? narrow(load_word(context_place(8 * static_cast<int64_t>(s->slots)), 8, false), as) : number(0);
}

// A kprobe or kretprobe whose block asks for nothing that only registers have is the same as fentry or fexit, and
// costs more.
bool Lowering::is_like_trampoline(const lang::Probe& p, const probe::Event& e) {
  if (p.events.size() != 1 || e.offset || !source_.config.flag("prefer_fentry") || !options_.takes_function) return false;
  const probe::KernelSignature* s = nullptr;
  bool is_known = false, is_same = true;
  std::vector<uint32_t> slots; // what is read of the context
  auto signature = [&] {
    if (!is_known) s = machine_.kernel_functions().signature(e);
    is_known = true;
    return s;
  };
  auto look = [&](const Expr& x) {
    const Name* n = if_a<Name>(&x);
    bool is_registers = is_builtin(x, id("reg")) || is_builtin(x, id("usermode")) || is_builtin(x, id("ctx")) ||
                        is_builtin(x, id("override"));
    // The trampoline stands on the stack, on some kernels with more of their own.
    if (is_registers || is_builtin(x, id("kstack"))) is_same = false;
    if (n && n->arg_number >= 0) {
      is_same &= signature() && s->is_plain && static_cast<size_t>(n->arg_number) < s->parameters.size();
      slots.push_back(static_cast<uint32_t>(n->arg_number));
    }
    if (is_builtin(x, id("retval"))) {
      is_same &= signature() && s->is_plain && s->result;
      if (s) slots.push_back(s->slots);
    }
    if (is_builtin(x, id("args")) && signature())
      for (const probe::KernelParameter& parameter : s->parameters)
        if (std::find(p.fields.begin(), p.fields.end(), parameter.name) != p.fields.end()) slots.push_back(parameter.slot);
  };
  lang::walk(p.predicate, look);
  lang::walk(p.body, look);
  return is_same && options_.takes_function(machine_, e, slots);
}

probe::Context Lowering::context_of(const lang::Probe& p, const probe::Event& e) {
  probe::Context c = probe::choose_context(machine_, e, p.fields);
  if (c == probe::Context::kernel_registers && is_like_trampoline(p, e)) return probe::Context::function;
  if (c != probe::Context::raw_tracepoint || !wants_typed_context(p)) return c;
  return probe::attach_btf_id(machine_, e) ? probe::Context::btf_tracepoint : c;
}

// Which programs call functions of the kernel. `calls`: who calls whom; `does`: by function, whether it calls one itself.
void Lowering::mark_kernel_calls(const std::vector<std::pair<uint32_t, uint32_t>>& calls, std::vector<bool> does) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [caller, callee] : calls)
      if (does[callee] && !does[caller]) does[caller] = changed = true;
  }
  for (Probe& p : program_.probes) p.calls_kernel = does[p.function];
}

// kaddr(name)
Operand Lowering::kernel_address(const Call& c) {
  const std::string_view name = c.arguments[0]->constant.text_value;
  if (auto found = machine_.host().addresses({&name, 1}).front()) return number(static_cast<int64_t>(*found));
  diagnostics_.error(spec::tag::unresolved, c.arguments[0]->where, "the kernel has no symbol " + base::quoted(name),
                     "see /proc/kallsyms; all addresses there are 0 without permission");
  return number(0);
}

// cpid: the command of -c, 0 where there is none.
Operand Lowering::command_pid() {
  if (!options_.cpid) count(Fault::cpid_missing);
  return number(options_.cpid);
}

Operand Lowering::query(Query q) {
  Reg dst = fresh();
  append({.op = Op::query, .query = q, .dst = dst});
  return Operand::of(dst);
}

} // namespace ir
