// One block, many events: they share one program as long as all that the block asks of them is found in the
// same way. Where it is not (other fields of a record, an argument of another type or in another register),
// each group of equal events gets a copy of the block.
//
// Thousands of functions may be probed by one block, so that what is compared is only what the block reads:
// of user probes each value's type and recipe.
#include "lang/checker.h"

#include "lang/walk.h"
#include "probe/stopped_program.h"
#include "probe/user_values.h"
#include "type/number_names.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace lang {

using namespace spec;
using type::Kind;

namespace {

// Where values are told apart by their types and recipes.
bool has_key(const probe::Event& e) { return e.module || probe::is_kernel_function(e.kind); }
bool is_user_probe(const probe::Event& e) { return e.module && e.kind >= probe::Kind::uprobe; }

// What a block asks of its events.
struct Wants {
  bool arguments = false; // of what is no user probe: any
  bool names = false;     // which event it is
  bool event = false;     // the same, or its function
  bool types = false;     // types of the program
  bool all_parameters = false, result = false, follows_result = false;
  std::set<std::string_view> parameters, locals;
  std::set<int> numbers; // of argN

  // Whether debug information has to be asked.
  bool values() const { return all_parameters || follows_result || !parameters.empty() || !locals.empty(); }
  void look(const Expr& e);
  void look_in_type(const TypeName* t) { types |= t && !t->of && !type::is_number_name(t->name); }
};

void Wants::look(const Expr& e) {
  if (const FieldRef* f = if_a<FieldRef>(&e)) {
    const Name* of = if_a<Name>(f->operand);
    if (of && of->name == "args") parameters.insert(f->name);
    if (of && of->name == "locals") locals.insert(f->name);
    if (of && of->name == "retval") follows_result = true;
    if (is_target(*f->operand)) types = true;
    return;
  }
  const Name* name = if_a<Name>(&e);
  const Call* call = if_a<Call>(&e);
  const Unary* u = if_a<Unary>(&e);
  const Index* x = if_a<Index>(&e);
  const Expr* followed = u && u->op == UnaryOp::dereference ? u->operand : x ? x->operand : nullptr;
  if (const Name* of = if_a<Name>(followed)) follows_result |= of->name == "retval";
  if (const Cast* c = if_a<Cast>(&e)) look_in_type(c->target);
  if (const SizeOf* s = if_a<SizeOf>(&e)) look_in_type(s->target);
  if (const OffsetOf* o = if_a<OffsetOf>(&e)) look_in_type(o->target);
  if (const TypeText* t = if_a<TypeText>(&e)) look_in_type(t->target);
  std::string_view word = name ? name->name : call ? call->name : std::string_view();
  const std::optional<int> number = word.starts_with('a') ? argument_number(word) : std::nullopt;
  if (number) numbers.insert(*number);
  arguments |= word == "args" || word == "ctx" || number;
  names |= word == "probe" || word == "probetype";
  event |= word == "probe" || word == "func";
  result |= word == "retval";
  types |= word.starts_with("has_") || word == "target" || word == "uaddr";
}

// Everything that tells apart two events of user probes, as text.
class UserKeys {
public:
  UserKeys(probe::Machine& machine, const Wants& wants) : machine_(machine), wants_(wants) {}

  std::string of(const probe::Event& e) {
    out_.clear();
    number(static_cast<uint64_t>(e.kind));
    number(e.at_entry);
    number(e.at_return_instruction);
    if (probe::is_kernel_function(e.kind)) return add_kernel(e), out_;
    if (e.language) return add_language(e), out_;
    if (wants_.types) number(reinterpret_cast<uint64_t>(e.module));
    if (e.kind == probe::Kind::usdt) add_marked(e);
    bool is_marked = e.kind == probe::Kind::usdt;
    if (!wants_.values() || (is_marked && wants_.locals.empty())) return out_;
    probe::UserValues& values = machine_.user_values(*e.module);
    for (std::string_view name : wants_.locals) value(values.local(e, name));
    if (is_marked) return out_;
    if (wants_.all_parameters) {
      number(reinterpret_cast<uint64_t>(values.parameters(e)));
      for (size_t i = 0, n = values.parameter_count(e); i < n; i++) value(values.parameter(e, i));
    }
    for (std::string_view name : wants_.parameters) value(values.parameter(e, name));
    if (wants_.follows_result && e.kind == probe::Kind::uretprobe) value(values.result(e));
    return out_;
  }
  // Then each has a program of its own.
  void add_event(const probe::Event& e) { out_ += e.name; }
  void add_globals(const probe::Event& e, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      probe::UserValues& values = machine_.user_values(*e.module);
      probe::UserValue v = values.global(nullptr, name); // of a program: the same for all its functions
      value(v ? v : values.global(&e, name));
    }
  }
  void add_symbols(const probe::Event& e, type::Table& table, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      probe::UserValue v = probe::UserValues::symbol(*e.module, table, nullptr, name);
      value(v ? v : probe::UserValues::symbol(*e.module, table, &e, name));
    }
  }
  const std::string& text() const { return out_; }

private:
  // Values of a stopped program are texts of the block that reads them.
  void add_language(const probe::Event& e) {
    const auto add = [&](std::string_view name, bool is_argument) {
      const runtime::Variable* v = machine_.stopped->variable(*e.language, name, is_argument);
      number(v ? v->text.size() : ~uint64_t{0});
      if (v) out_ += v->text;
    };
    out_ += "language " + (wants_.event ? e.function : "") + '\0';
    for (const std::string_view name : wants_.locals) add(name, false);
    for (const std::string_view name : wants_.parameters) add(name, true);
  }
  // A trampoline is of one function; registers are the same for all.
  void add_kernel(const probe::Event& e) {
    if (e.kind == probe::Kind::fentry || e.kind == probe::Kind::fexit) {
      out_ += e.category + ":" + e.function;
      return;
    }
    if (wants_.parameters.empty() && !wants_.all_parameters) return;
    probe::Event copy = e;
    const type::Type* args = probe::arguments(machine_, copy);
    number(args != nullptr);
    if (!args) return;
    for (const type::Field& f : args->fields()) {
      if (!wants_.all_parameters && !wants_.parameters.contains(f.name)) continue;
      out_ += f.name;
      number(reinterpret_cast<uint64_t>(f.type));
      recipe(probe::access(machine_, copy, probe::Context::kernel_registers, f.name).recipe);
    }
  }
  // Of the arguments of a probe that the program's authors marked (USDT): each place has its own.
  void add_marked(const probe::Event& e) {
    probe::Event copy = e;
    const type::Type* args = wants_.arguments ? probe::arguments(machine_, copy) : nullptr;
    if (!args) return;
    for (const type::Field& f : args->fields()) {
      bool is_read = wants_.all_parameters || wants_.parameters.contains(f.name);
      for (int n : wants_.numbers) is_read |= f.name == "arg" + std::to_string(n);
      if (!is_read) continue;
      number(reinterpret_cast<uint64_t>(f.type));
      recipe(probe::access(machine_, copy, probe::Context::registers, f.name).recipe);
    }
    number(args->fields().size());
  }
  void number(uint64_t n) { out_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void steps(const std::vector<probe::Step>& all) {
    number(all.size());
    for (const probe::Step& s : all) {
      number(static_cast<uint64_t>(s.op) << 16 | static_cast<uint64_t>(s.size) << 8 | s.is_signed);
      number(static_cast<uint64_t>(s.value));
    }
  }
  void recipe(const probe::Recipe& r) {
    number(r.kind);
    steps(r.steps);
    number(r.pieces_of.size());
    for (const probe::Piece& p : r.pieces_of) {
      number(static_cast<uint64_t>(p.bytes) << 1 | p.is_address);
      steps(p.steps);
    }
  }
  void value(const probe::UserValue& v) {
    number(v.kind);
    number(reinterpret_cast<uint64_t>(v.type));
    recipe(v.recipe);
  }

  probe::Machine& machine_;
  const Wants& wants_;
  std::string out_;
};

// Functions that give values of different types: where nothing follows it, `retval` is then the number in the
// register.
bool results_differ(probe::Machine& machine, const std::vector<probe::Event*>& events) {
  std::optional<const type::Type*> first;
  for (const probe::Event* e : events) {
    if (!is_user_probe(*e) || e->kind != probe::Kind::uretprobe) continue;
    probe::UserValue v = machine.user_values(*e->module).result(*e);
    const type::Type* t = v ? v.type : nullptr;
    if (events.size() > 1 && !t && v.kind == probe::UserValue::without_value) return true;
    if (first && *first != t) return true;
    first = t;
  }
  return false;
}

// Of a frame of a language, a variable that it does not have.
std::string lost_variable(probe::StoppedProgram& stopped, const Wants& wants, const probe::Event::LanguageFrame& frame) {
  for (const std::string_view name : wants.parameters)
    if (!stopped.variable(frame, name, true)) return "args." + std::string(name);
  for (const std::string_view name : wants.locals)
    if (!stopped.variable(frame, name, false)) return "locals." + std::string(name);
  return {};
}

// The first of the values that a block asks for which is gone where a call was inlined; empty: all are there.
std::string lost_value(probe::Machine& machine, const Wants& wants, const probe::Event& e) {
  if (e.language) return lost_variable(*machine.stopped, wants, *e.language);
  probe::UserValues& values = machine.user_values(*e.module);
  auto is_gone = [](const probe::UserValue& v) { return v.kind == probe::UserValue::without_value; };
  for (std::string_view name : wants.parameters)
    if (is_gone(values.parameter(e, name))) return "args." + std::string(name);
  for (std::string_view name : wants.locals)
    if (is_gone(values.local(e, name))) return "locals." + std::string(name);
  return {};
}

// Inlined calls where a value is gone are not probed, as long as other places have it.
struct LeftOut {
  std::string value; // of the first of them
  size_t events = 0;
};
LeftOut leave_out_inlined(probe::Machine& machine, const Wants& wants, std::vector<probe::Event*>& events) {
  LeftOut out;
  if (wants.parameters.empty() && wants.locals.empty()) return out;
  std::vector<probe::Event*> kept;
  for (probe::Event* e : events) {
    std::string lost =
        e->is_inlined || e->kind == probe::Kind::frame ? lost_value(machine, wants, *e) : std::string();
    if (lost.empty()) kept.push_back(e);
    if (out.value.empty()) out.value = lost;
  }
  if (kept.empty()) return {}; // which is told where the value is asked for
  out.events = events.size() - kept.size();
  events = std::move(kept);
  return out;
}

} // namespace

// Events that one program serves. An event that is named twice runs its block twice; one program sees each
// system call once.
std::vector<std::vector<probe::Event*>> Checker::group_events(Probe& p) {
  Wants wants;
  std::vector<std::string> globals, symbols; // of target.NAME, uaddr("NAME")
  std::set<const Expr*> named;               // `args` of `args.x`
  auto look = [&](const Expr& e) {
    const FieldRef* f = if_a<FieldRef>(&e);
    if (f) named.insert(f->operand);
    if (const Name* n = if_a<Name>(&e); n && n->name == "args" && !named.contains(&e))
      wants.all_parameters = true;
    if (f && is_target(*f->operand) && f->operand->kind == ExprKind::name) globals.emplace_back(f->name);
    const Call* c = if_a<Call>(&e);
    if (const String* s =
            c && c->name == "uaddr" && !c->arguments.empty() ? if_a<String>(c->arguments[0]) : nullptr)
      symbols.emplace_back(s->value);
    wants.look(e);
  };
  walk(p.predicate, look);
  walk(p.body, look);

  if (LeftOut left_out = leave_out_inlined(machine_, wants, p.events); left_out.events)
    diagnostics_.warning(tag::no_value, p.where,
                         std::to_string(left_out.events) +
                             (p.events.front()->kind == probe::Kind::frame ? " of the calls"
                              : left_out.events == 1                       ? " inlined call"
                                                                           : " inlined calls") +
                             (left_out.events == 1 ? " is" : " are") +
                             " not seen: " + base::quoted(left_out.value) +
                             (p.events.front()->language ? " is no variable there" : " is optimised away there"));

  // Told apart by what decides their program: kind of probe, and for system calls the side.
  auto same = [&](const probe::Event& a, const probe::Event& b) {
    bool syscalls = a.syscall >= 0 && b.syscall >= 0 && a.syscall_exit == b.syscall_exit;
    if (wants.arguments) return false;
    if (wants.names) return syscalls;
    return a.kind == b.kind && (a.syscall >= 0) == (b.syscall >= 0) && a.syscall_exit == b.syscall_exit;
  };
  p.has_plain_result = wants.result && !wants.follows_result && results_differ(machine_, p.events);
  std::vector<std::vector<probe::Event*>> groups;
  std::map<std::string, size_t> by_key;
  const bool is_told = !wants.event || p.events.size() < 2 || !options_.tells_events;
  for (probe::Event* e : p.events) {
    if (has_key(*e)) {
      UserKeys keys(machine_, wants);
      keys.of(*e);
      if (!is_told && !options_.tells_events(*e)) keys.add_event(*e);
      if (is_user_probe(*e)) {
        keys.add_globals(*e, globals);
        keys.add_symbols(*e, types_, symbols);
      }
      auto [at, is_new] = by_key.try_emplace(keys.text(), groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back(e);
      continue;
    }
    auto again = [&](const probe::Event* other) { return other->syscall == e->syscall; };
    auto at = std::find_if(groups.begin(), groups.end(), [&](auto& g) {
      return !has_key(*g.front()) && same(*g.front(), *e) &&
             (e->syscall < 0 || std::none_of(g.begin(), g.end(), again));
    });
    if (at == groups.end())
      groups.push_back({e});
    else
      at->push_back(e);
  }
  return groups;
}

// The block for each group of its events, as they come.
std::vector<std::unique_ptr<Probe>> Checker::split(std::unique_ptr<Probe> p) {
  std::vector<std::vector<probe::Event*>> groups = group_events(*p);
  std::vector<std::unique_ptr<Probe>> out;
  for (size_t i = 1; i < groups.size(); i++) {
    auto twin = std::make_unique<Probe>(*p);
    twin->predicate = copy(program_, p->predicate);
    twin->body = copy(program_, p->body);
    twin->events = std::move(groups[i]);
    out.push_back(std::move(twin));
  }
  p->events = std::move(groups.front());
  out.insert(out.begin(), std::move(p));
  return out;
}

void Checker::split_by_arguments() {
  follow_tail_calls();
  std::vector<std::unique_ptr<Probe>> all;
  for (auto& p : program_.probes) {
    // One event of the kernel, as most probes have, is one group whatever the block wants of it.
    const bool is_one = p->events.size() == 1 && !has_key(*p->events.front());
    if (is_one)
      all.push_back(std::move(p));
    else
      for (auto& part : split(std::move(p))) all.push_back(std::move(part));
  }
  program_.probes = std::move(all);
  keep_entry_values();
  const bool is_loaded = !machine_.stopped; // programs of a stopped program run in this process
  if (is_loaded && program_.probes.size() > program_.config.number("max_bpf_progs"))
    diagnostics_.error(tag::too_many_probes, program_.probes.front()->where,
                       "this script needs " + std::to_string(program_.probes.size()) +
                           " programs, more than the limit of " + program_.config.text("max_bpf_progs"),
                       "set the configuration key max_bpf_progs");
}

} // namespace lang
