// Builtins about the event, the task and the kernel: where they may be used, and what they give. Which kinds
// of probe have registers, a traced function and so on is told by spec/probes.h.
#include "lang/checker.h"

#include "format/btf.h"
#include "lang/walk.h"
#include "probe/attach.h"
#include "probe/cpu_variable.h"
#include "probe/stopped_program.h"
#include "spec/arch.h"
#include "spec/numbers.h"
#include "spec/probes.h"

#include <algorithm>
#include <map>

namespace lang {

using type::Kind;
using namespace spec;

constexpr uint32_t name_bytes = 64; // of names of probes and functions where none is known

// "kprobe, kretprobe, uprobe"
static std::string kinds_with(uint16_t ability) {
  std::string out;
  for (const ProbeKind& kind : probe_kinds)
    if (kind.abilities & ability) out += (out.empty() ? "" : ", ") + std::string(kind.name);
  return out;
}

bool Checker::require(uint16_t ability, std::string_view name, Range where) {
  std::string word = "`" + std::string(name) + "`";
  if (!probe_) {
    // A function may be called from anywhere; what it says of an event would be anybody's guess.
    error(tag::misplaced, where, word + " can't be used in a function", "pass its value as a parameter");
    return false;
  }
  for (const probe::Event* event : probe_->events) {
    const ProbeKind& kind = probe::kind_of(*event);
    if (kind.abilities & ability) continue;
    error(tag::misplaced, where, word + " can't be used in a `" + std::string(kind.name) + "` probe",
          "it can in these: " + kinds_with(ability));
    return false;
  }
  return true;
}

bool Checker::check_place(const Expr& e, const Builtin& row) {
  if (machine_.stopped && row.subject == Subject::kernel) {
    error(tag::misplaced, e.where,
          "`" + std::string(row.name) + "` is the kernel's, of which " +
              std::string(machine_.stopped->target().title()) + " knows nothing");
    return false;
  }
  if (!machine_.stopped && row.subject == Subject::stopped_memory) {
    error(tag::misplaced, e.where,
          "`" + std::string(row.name) + "` looks at all memory of a stopped program",
          "such scripts run by `acu core FILE` and `acu snap -p PID`");
    return false;
  }
  if (wants_type_only_ && row.ability == has_function) return true; // its type is the same everywhere
  return !row.ability || require(row.ability, row.name, e.where);
}

// argN, sargN
const type::Type* Checker::check_argument_number(Name& e) {
  bool on_stack = e.name.starts_with('s');
  e.arg_number = *argument_number(e.name) + (on_stack ? static_cast<int>(spec::arch.arguments.size()) : 0);
  if (!require(has_arg_numbers, e.name, e.where)) return types_.none();
  probe::Event& event = *probe_->events.front();
  if (on_stack && event.kind != probe::Kind::uprobe && event.kind != probe::Kind::kprobe)
    return mistake(tag::misplaced, e.where,
                   "`" + std::string(e.name) + "` can't be used in a `" +
                       std::string(probe::kind_of(event).name) + "` probe",
                   "arguments are on the stack where a function is entered: uprobe, kprobe");
  const bool is_marked = event.kind == probe::Kind::usdt && event.module; // else a stand-in
  const bool is_counted = event.kind == probe::Kind::rawtracepoint || is_marked;
  const type::Type* args = is_counted ? probe::arguments(machine_, event) : nullptr;
  size_t count = args ? args->fields().size() : is_marked ? 0 : SIZE_MAX;
  if (static_cast<size_t>(e.arg_number) >= count)
    return mistake(tag::unknown_field, e.where, event.name + " has no argument `" + std::string(e.name) + "`",
                   "it has " + std::to_string(count) + "; `acu list -v " + event.name + "` shows them");
  if (is_marked) return check_marked_argument(e, event, args->fields()[static_cast<size_t>(e.arg_number)]);
  return types_.uint64();
}

// argN of a probe that its program's authors marked (USDT): found where its note says.
const type::Type* Checker::check_marked_argument(Name& e, const probe::Event& event, const type::Field& as) {
  const type::Type* type = as.type->is(Kind::floating) ? as.type : types_.uint64();
  if (e.recipe) return type;
  probe::Access access = probe::access(machine_, event, probe::Context::registers, e.name);
  if (!access.reason.empty())
    return mistake(tag::bad_argument, e.where,
                   "`" + std::string(e.name) + "` of " + event.name + " " + access.reason,
                   "`acu list -v " + event.name + "` shows all");
  program_.recipes.push_back(std::make_unique<probe::Recipe>(std::move(access.recipe)));
  e.recipe = program_.recipes.back().get();
  return type;
}

// ctx: where it points depends on the kind of probe.
const type::Type* Checker::context_type() {
  const probe::Event& event = *probe_->events.front();
  const type::Type* to = nullptr;
  // A field of no tracepoint: only the record itself will do.
  std::vector<std::string_view>& fields = probe_->fields;
  if (std::find(fields.begin(), fields.end(), "ctx") == fields.end()) fields.push_back("ctx");
  if (event.kind == probe::Kind::rawtracepoint)
    to = types_.uint64();
  else if (event.kind == probe::Kind::iterator)
    to = probe::arguments(machine_, *probe_->events.front());
  else if ((event.kind >= probe::Kind::profile && event.kind <= probe::Kind::hardware) ||
           event.kind >= probe::Kind::watchpoint)
    to = machine_.kernel_type("struct", "bpf_perf_event_data");
  else if (probe::kind_of(event).abilities & has_registers)
    to = machine_.kernel_type("struct", "pt_regs");
  return types_.pointer(to, type::Space::kernel);
}

bool Checker::is_pointer_to(const type::Type* t, std::string_view name) const {
  return t->is(Kind::pointer) && t->element && t->element->is(Kind::structure) && t->element->name == name;
}

// The task of ppid(task) and pcomm(task).
void Checker::check_task(Expr& argument, std::string_view name) {
  const type::Type* t = argument.type;
  if (t->is(Kind::none) || is_pointer_to(t, "task_struct") || t->is_integer()) return;
  error(tag::bad_argument, argument.where, "`" + std::string(name) + "` takes a task, not " + text(t),
        "cast it: (struct task_struct *)…");
}

// A pointer as the kernel gives it: the verifier knows what it points to, as it does not of what was calculated, cast from a
// number or kept in a map. Of a function's parameters and results nothing is known here.
bool Checker::is_vouched(const Expr& e) {
  auto gives_one = [](const Block* b) { return b && b->value && is_vouched(*b->value); };
  switch (e.kind) {
  case ExprKind::name: return true;
  case ExprKind::variable: return !as<VariableRef>(e).variable || !as<VariableRef>(e).variable->is_calculated;
  case ExprKind::field: return is_vouched(*as<FieldRef>(e).operand);
  case ExprKind::call: return !as<Call>(e).builtin;
  case ExprKind::cast: return as<Cast>(e).operand->type->is(Kind::pointer) && is_vouched(*as<Cast>(e).operand);
  case ExprKind::ternary: {
    const Ternary& t = as<Ternary>(e);
    const Expr& then = t.then ? *t.then : *t.condition;
    // A side that is never reached was not looked at: its parts have no types.
    if (t.condition->constant.kind == Constant::integer) return is_vouched(t.condition->constant.integer_value ? then : *t.otherwise);
    return is_vouched(then) && is_vouched(*t.otherwise);
  }
  case ExprKind::attempt: {
    const Attempt& a = as<Attempt>(e);
    return is_vouched(*a.first) && (!a.otherwise || is_vouched(*a.otherwise));
  }
  case ExprKind::block: return gives_one(as<BlockExpr>(e).block);
  case ExprKind::conditional: {
    const Conditional& c = as<Conditional>(e);
    if (c.condition->constant.kind == Constant::integer) return gives_one(c.condition->constant.integer_value ? c.then : c.otherwise);
    return gives_one(c.then) && gives_one(c.otherwise);
  }
  default: return false;
  }
}

void Checker::check_vouched(const Expr& e, std::string_view name) {
  if (!e.type->is(Kind::none) && !(e.type->is(Kind::pointer) && is_vouched(e)))
    error(tag::bad_argument, e.where, "`" + std::string(name) + "` takes a pointer as the kernel gives it, not a number or a stored pointer",
          "such as an argument of the probe, `curtask`, or a member of what these point to");
}

// A signal by name ("SIGKILL", "KILL") or number; numbers of the script's run are taken as they come.
void Checker::check_signal(Expr& argument) {
  const type::Type* t = argument.type;
  if (argument.constant.kind == Constant::text) {
    std::string name(argument.constant.text_value);
    if (auto n = signal_number(name)) return set_integer(argument, *n), void(argument.type = types_.int64());
    error(tag::bad_argument, argument.where, "there is no signal `" + name + "`",
          "names are SIGTERM, SIGUSR1, … or without SIG; `kill -l` lists them");
  } else if (argument.constant.kind == Constant::integer) {
    int64_t n = argument.constant.integer_value;
    if (n < 1 || n > last_signal)
      error(tag::bad_argument, argument.where,
            "signals have numbers from 1 to " + std::to_string(last_signal) + ", not " + std::to_string(n));
  } else if (!t->is_integer() && !t->is(Kind::none)) {
    error(tag::bad_argument, argument.where, "a signal is a name in quotes or a number, not " + text(t));
  }
}

std::optional<int64_t> Checker::signal_number(std::string_view name) {
  for (int n = 1; n <= last_signal; n++) {
    std::string_view known = spec::signal_name(n);
    if (!known.empty() && (known == name || known.substr(3) == name)) return n;
  }
  return header_constant(name).has_value() && name.starts_with("SIG") ? header_constant(name) : std::nullopt;
}

// path(struct path or a pointer to one [, size])
const type::Type* Checker::check_path(Call& e) {
  List<Expr*> arguments = e.arguments;
  const type::Type* t = arguments[0]->type;
  bool is_path = (t->is(Kind::structure) && t->name == "path") || is_pointer_to(t, "path");
  if (!is_path && !t->is(Kind::none))
    return mistake(tag::bad_argument, arguments[0]->where, "`path` takes a struct path, not " + text(t));
  auto size = static_cast<int64_t>(program_.config.number("max_strlen"));
  if (arguments.size() > 1) {
    if (arguments[1]->constant.kind != Constant::integer || arguments[1]->constant.integer_value < 1)
      return mistake(tag::bad_argument, arguments[1]->where,
                     "the size of a path is a number above 0 that is known when the script is compiled");
    size = std::min(size, arguments[1]->constant.integer_value);
  }
  return types_.string(static_cast<uint32_t>(size) + 1);
}

const type::Type* Checker::check_cpu_variable(Call& e) {
  std::string name(e.arguments[0]->constant.text_value);
  bool is_known = machine_.btf() && machine_.btf()->find(name, format::BtfKind::variable);
  if (!is_known && !probe::cpu_variable(machine_.host(), name))
    return mistake(tag::unresolved, e.arguments[0]->where, "the kernel has no per-CPU variable `" + name + "`",
                   "`grep -w " + name + " /proc/kallsyms` shows whether it is another kind of symbol");
  return types_.pointer(types_.uint64(), type::Space::kernel);
}

// Whether the kernel has a function of this name that programs may call.
uint32_t Checker::find_kfunc(std::string_view name) {
  format::Btf* btf = machine_.btf();
  if (!btf) return 0;
  uint32_t found = btf->find(name, format::BtfKind::function);
  // Kernels since 6.9 mark them.
  bool is_marked = !btf->has_name("bpf_kfunc") || btf->is_tagged(found, "bpf_kfunc");
  return is_marked ? found : 0;
}

void Checker::check_kfunc_exist(Call& e) { set_integer(e, find_kfunc(e.arguments[0]->constant.text_value) != 0); }

void Checker::check_kfunc_allowed(Call& e) {
  uint32_t function = find_kfunc(e.arguments[0]->constant.text_value);
  bool answer = function != 0;
  if (answer) {
    if (!probe_) return error(tag::misplaced, e.where, "`kfunc_allowed` can't be used in a function");
    for (const probe::Event* event : probe_->events)
      answer &= options_.kfunc_allowed && options_.kfunc_allowed(machine_, *event, function);
  }
  set_integer(e, answer);
}

// A function may be called from probes of any kind, and others have no function.
bool Checker::has_function_name() const {
  return probe_ && std::ranges::all_of(probe_->events, [](const probe::Event* e) { return probe::kind_of(*e).abilities & has_function; });
}

// Whether a map has both `func` and what ksym() gives as values, or at the same place of its keys. Then `func` is an
// address, too; otherwise it is text, which can be compared.
bool Checker::mixes_functions_with_symbols() const {
  enum { function = 1, symbol = 2 };
  std::map<std::pair<const Map*, size_t>, int> found;
  bool is_mixed = false;
  auto note = [&](const Map* map, size_t place, const Expr* e) {
    const Name* name = if_a<Name>(e);
    const Call* call = if_a<Call>(e);
    int& kinds = found[{map, place}];
    if ((name && name->name == "func") || (call && call->name == "func")) kinds |= function;
    if (call && call->name == "ksym") kinds |= symbol;
    is_mixed |= kinds == (function | symbol);
  };
  Rewriting look;
  look.expression = [&](Expr& e) -> Expr* {
    const MapRef* m = if_a<MapRef>(&e);
    const Tuple* parts = m ? if_a<Tuple>(m->key) : nullptr;
    if (m && !parts) note(m->map, 1, m->key);
    for (size_t i = 0; parts && i < parts->elements.size(); i++) note(m->map, 1 + i, parts->elements[i]);
    return &e;
  };
  look.statement = [&](Stmt& s) {
    const Assign* a = s.kind == StmtKind::assign ? &as<Assign>(s) : nullptr;
    if (const MapRef* m = a ? if_a<MapRef>(a->target) : nullptr) note(m->map, 0, a->value);
  };
  for (const auto& p : program_.probes) rewrite(p->body, look);
  return is_mixed;
}

// Functions of user code are told apart by what is attached, those of the kernel by their address.
const type::Type* Checker::function_name_type(Expr& e) {
  if (!has_function_name()) return types_.string(name_bytes);
  const probe::Event& event = *probe_->events.front();
  if (event.language) return literal(e, event.function); // those of a block are of one function (split_probes.cc)
  const bool is_kernel_function = probe::is_kernel_function(event.kind);
  if (!function_is_symbol_) function_is_symbol_ = mixes_functions_with_symbols(); // before any `func` is replaced
  if (event.binary.empty() && (!is_kernel_function || *function_is_symbol_)) return types_.simple(Kind::ksym);
  if (probe_->events.size() > 1)
    return probe_as_text_ ? types_.string(longest_probe_name()) : types_.simple(Kind::probe_name);
  return literal(e, probe::shown_function(event, program_.config.flag("cpp_demangle")));
}

// probe
const type::Type* Checker::check_probe_name(Expr& e) {
  if (!probe_ && wants_type_only_) return types_.string(name_bytes);
  if (!probe_) return mistake(tag::misplaced, e.where, "this can't be used in a function");
  if (probe_->events.size() > 1)
    return probe_as_text_ ? types_.string(longest_probe_name()) : types_.simple(Kind::probe_name);
  return literal(e, probe_->events.front()->name);
}

// probetype
const type::Type* Checker::check_probe_type(Expr& e) {
  if (!probe_) return mistake(tag::misplaced, e.where, "this can't be used in a function");
  return literal(e, probe_->events.front()->provider);
}

const type::Type* Checker::check_current_task(Expr&) {
  const type::Type* task = machine_.kernel_type("struct", "task_struct");
  return task ? types_.pointer(task, type::Space::kernel) : nullptr;
}

// locals, target: they mean something with a name behind them only.
const type::Type* Checker::check_without_member(Expr& e, std::string_view name) {
  return mistake(tag::bad_operand, e.where, "`" + std::string(name) + "` needs the name of a variable",
                 std::string(name) + ".NAME");
}

// entry: entry_values.cc has replaced those that are in their place.
const type::Type* Checker::check_misplaced_entry(Expr& e) {
  return mistake(tag::misplaced, e.where, "`entry` can be used in return probes of user functions and at the exit of system calls only",
                 "such as uretprobe:BINARY:FUNCTION or tracepoint:syscalls:sys_exit_NAME");
}

// pid([curr_ns|init]), tid(…)
const type::Type* Checker::check_namespace(Expr& e) {
  List<Expr*> arguments = arguments_of(e);
  const Name* word = arguments.empty() ? nullptr : if_a<Name>(arguments[0]);
  if (word && word->name != "init" && word->name != "curr_ns")
    return mistake(tag::bad_argument, word->where, "unknown namespace `" + std::string(word->name) + "`",
                   "the namespaces are curr_ns (acu's own, the default) and init");
  return nullptr;
}

// reg(name), ureg(name)
const type::Type* Checker::check_register(Call& e) {
  std::string name(e.arguments[0]->constant.text_value);
  if (name == "pc") { // on every machine
    set_text(*e.arguments[0], types_.keep(spec::arch.ip));
    return nullptr;
  }
  if (find_register(name)) return nullptr;
  std::string all;
  for (const Register& r : spec::arch.registers) all += (all.empty() ? "" : ", ") + std::string(r.name);
  return mistake(tag::bad_argument, e.arguments[0]->where,
                 "this machine (" + std::string(spec::arch.name) + ") has no register `" + name + "`",
                 "registers are " + all);
}

const type::Type* Checker::check_socket_cookie(Call& e) {
  const type::Type* t = e.arguments[0]->type;
  bool is_socket = is_pointer_to(t, "sock") || is_pointer_to(t, "sock_common") || is_pointer_to(t, "tcp_sock");
  if (is_socket || t->is(Kind::none)) return check_vouched(*e.arguments[0], "socket_cookie"), nullptr;
  return mistake(tag::bad_argument, e.arguments[0]->where,
                 "`socket_cookie` takes a struct sock *, not " + text(t));
}

const type::Type* Checker::check_skboutput(Call& e) {
  const Expr& packet = *e.arguments[1];
  if (speculation_)
    return mistake(tag::misplaced, e.where, "`speculate` can't hold back packets", "write them outside of the block");
  if (is_pointer_to(packet.type, "sk_buff") || packet.type->is(Kind::none)) return check_vouched(packet, "skboutput"), nullptr;
  return mistake(tag::bad_argument, packet.where, "`skboutput` takes a struct sk_buff * here, not " + text(packet.type));
}

// write_user(to, value), write_user(to, from, length): `from` is a value or a pointer.
const type::Type* Checker::check_write_user(Call& e) {
  const Expr& from = *e.arguments[1];
  const type::Type& t = *from.type;
  if (t.is(Kind::probe_name) || t.is(Kind::floating))
    return mistake(tag::bad_argument, from.where, "`write_user` can't write " + text(&t), std::string(e.builtin->texts().signature));
  if (e.arguments.size() < 3) return nullptr;
  const Expr& length = *e.arguments[2];
  const int64_t n = length.constant.integer_value;
  const uint64_t most = t.is(Kind::pointer) || t.is_integer() ? program_.config.number("max_strlen") : t.is(Kind::buffer) ? t.count : stored_size(from);
  if (length.constant.kind != Constant::integer || n < 0 || static_cast<uint64_t>(n) > most)
    return mistake(tag::bad_argument, length.where,
                   "the length must be a number from 0 to " + std::to_string(most) + " that is known when the script is compiled");
  return nullptr;
}

} // namespace lang
