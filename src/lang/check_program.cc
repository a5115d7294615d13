// Values and types of traced programs, as their debug information tells them: parameters (`args`), results
// (`retval`), local variables (`locals`), globals (`target`); questions to a program that are answered when
// the script is compiled.
#include "lang/checker.h"

#include "base/text.h"
#include "format/btf.h"
#include "format/load_bias.h"
#include "lang/c_types.h"
#include "probe/kernel_functions.h"
#include "probe/stopped_program.h"
#include "spec/probes.h"
#include "symbol/binaries.h"
#include "symbol/process_map.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

// The event of a user probe whose block is being checked, or nullptr. All events of a block are alike.
probe::Event* Checker::user_event() const {
  probe::Event* e = probe_ && !probe_->events.empty() ? probe_->events.front() : nullptr;
  return e && e->module ? e : nullptr;
}

// ------------------------------------------------------------------------------------------------- types

static const type::Type* find_type(dwarf::Types& types, type::Table& table, std::string_view keyword,
                                   std::string_view name) {
  if (const type::Type* t = types.find(keyword, name)) return t;
  // Compilers do not agree on where blanks are in the arguments of templates.
  if (name.find('<') == name.npos) return nullptr;
  std::string dense;
  for (size_t i = 0; i < name.size(); i++) {
    bool between = name[i] == ' ' && i > 0 && i + 1 < name.size() && name[i - 1] == '>' && name[i + 1] == '>';
    if (name[i] == '*' && i > 0 && name[i - 1] != ' ' && name[i - 1] != '*') dense += ' ';
    if (!between) dense += name[i];
  }
  return types.find(keyword, table.keep(dense));
}

// The programs whose types come before the kernel's where this code is: in a user probe its own; of a
// stopped program all that is loaded, too.
std::vector<symbol::Binary*> Checker::programs_here() const {
  std::vector<symbol::Binary*> all;
  if (probe::Event* e = machine_.stopped ? user_event() : nullptr) all.push_back(e->module);
  if (machine_.stopped)
    for (symbol::Binary* b : machine_.stopped->binaries())
      if (all.empty() || b != all.front()) all.push_back(b);
  if (machine_.stopped) return all;
  if (probe::Event* e = user_event()) return {e->module};
  bool is_free = !probe_ || probe_->events.empty() || probe_->events.front()->kind <= probe::Kind::bench;
  return is_free && all_of_programs_ ? programs_ : all;
}

const type::Type* Checker::program_type(std::string_view keyword, std::string_view name) {
  const type::Type* declared = nullptr; // without its members, which another file may have
  for (symbol::Binary* b : programs_here()) {
    dwarf::Types* types = b->types(types_);
    const type::Type* t = types ? find_type(*types, types_, keyword, name) : nullptr;
    if (t && t->has_size) return t;
    if (!declared) declared = t;
  }
  return declared;
}

static std::optional<std::pair<const type::Type*, int64_t>>
find_enumerator(symbol::Binary& binary, type::Table& table, std::string_view name) {
  dwarf::Types* types = binary.types(table);
  if (!types) return std::nullopt;
  for (const dwarf::Die& die : binary.find_entries(name, dwarf::kinds_of({dwarf::NameKind::enumerator})))
    if (auto found = types->enumerator(die)) return found;
  return std::nullopt;
}

std::optional<std::pair<const type::Type*, int64_t>> Checker::program_enumerator(std::string_view name) {
  for (symbol::Binary* b : programs_here())
    if (auto found = find_enumerator(*b, types_, name)) return found;
  return std::nullopt;
}

// What code outside of user probes (functions, begin, end) knows: the types of all programs that the script
// probes. In a script on nothing but programs they come before the kernel's, else behind them.
void Checker::offer_program_types() {
  all_of_programs_ = true;
  for (auto& e : program_.events) {
    if (e->module && std::find(programs_.begin(), programs_.end(), e->module) == programs_.end())
      programs_.push_back(e->module);
    all_of_programs_ &= e->module || e->kind <= probe::Kind::bench;
  }
  if (programs_.empty()) return;
  if (!machine_.program_types)
    machine_.program_types = [all = programs_, &table = types_](std::string_view keyword,
                                                                std::string_view name) {
      const type::Type* found = nullptr;
      for (symbol::Binary* b : all)
        if (dwarf::Types* types = found ? nullptr : b->types(table))
          found = find_type(*types, table, keyword, name);
      return found;
    };
  if (!machine_.program_enumerators)
    machine_.program_enumerators = [all = programs_, &table = types_](std::string_view name) {
      std::optional<std::pair<const type::Type*, int64_t>> found;
      for (symbol::Binary* b : all)
        if (!found) found = find_enumerator(*b, table, name);
      return found;
    };
}

// ------------------------------------------------------------------------------------------------ values

// Keeps the recipe of a value that is there, and gives its type; else tells why it is not.
const type::Type* Checker::use_value(const probe::UserValue& v, std::string_view what, Range where,
                                     const probe::Recipe*& recipe, std::string hint) {
  recipe = nullptr;
  std::string name = base::quoted(what);
  switch (v.kind) {
  case probe::UserValue::missing:
    return mistake(tag::unknown_field, where, "there is no " + name + " here", std::move(hint));
  case probe::UserValue::ambiguous:
    return mistake(tag::ambiguous, where, name + " " + v.reason, std::move(hint));
  case probe::UserValue::without_value:
    return mistake(tag::no_value, where, name + " " + v.reason, std::move(hint));
  case probe::UserValue::no_debug_info: {
    std::string why = v.reason.empty() || v.reason == hint ? "" : ": " + v.reason;
    return mistake(tag::no_debug_info, where, name + " needs debug information" + why, std::move(hint));
  }
  case probe::UserValue::found: break;
  }
  if (!v.type) return mistake(tag::no_value, where, name + " has no value");
  if (!v.reason.empty()) warning(tag::no_value, where, name + ": " + v.reason);
  for (auto& known : program_.recipes)
    if (*known == v.recipe) recipe = known.get();
  if (!recipe) {
    program_.recipes.push_back(std::make_unique<probe::Recipe>(v.recipe));
    recipe = program_.recipes.back().get();
  }
  return v.type;
}

// What would help where there is no debug information at all.
static std::string debug_hint(symbol::Binary& binary) {
  return binary.debug_info() ? "" : binary.debug_hint();
}

static std::string nearest_hint(std::string_view wanted, std::string_view prefix,
                                const std::vector<std::string_view>& names) {
  std::string_view near = base::nearest(wanted, names);
  return near.empty() ? "" : "did you mean `" + std::string(prefix) + std::string(near) + "`?";
}

// As the bytes of a value of user memory.
const type::Type* Checker::finish_value(FieldRef& e, const type::Type* t) {
  e.field = {.name = e.name, .type = t};
  e.operand->type = types_.none();
  e.through_pointer = false;
  return t->is(Kind::none) ? t : check_part(t, type::Space::user);
}

// args.NAME of a function
const type::Type* Checker::check_parameter_value(FieldRef& e) {
  const probe::Event& event = *user_event();
  if (event.language) return check_language_variable(e, true);
  probe::UserValues& values = machine_.user_values(*event.module);
  probe::UserValue v = values.parameter(event, e.name);
  std::string what = "args." + std::string(e.name), hint;
  bool returns = event.kind == probe::Kind::uretprobe;
  if (returns && v.kind != probe::UserValue::missing && v.kind != probe::UserValue::no_debug_info)
    return mistake(tag::misplaced, e.where,
                   base::quoted(what) + " is not known any more when the function returns",
                   "`entry(" + what + ")` is what it was at the entry");
  if (v.kind == probe::UserValue::no_debug_info) hint = debug_hint(*event.module);
  if (v.kind == probe::UserValue::missing) {
    std::vector<std::string_view> names;
    std::vector<probe::UserValue> all;
    for (size_t i = 0, n = values.parameter_count(event); i < n; i++)
      all.push_back(values.parameter(event, i));
    for (const probe::UserValue& p : all)
      if (!p.name.empty()) names.push_back(p.name);
    hint = nearest_hint(e.name, "args.", names);
    return mistake(tag::unknown_field, e.name_where, event.name + " has no argument " + base::quoted(e.name),
                   hint + (hint.empty() ? "" : " ") + "`acu list -v '" + event.name + "'` shows all");
  }
  return finish_value(e, use_value(v, what, e.where, e.recipe, std::move(hint)));
}

// `args` by itself; false after a mistake.
bool Checker::check_parameters_whole(const Name& e) {
  const probe::Event& event = *user_event();
  if (event.kind == probe::Kind::uretprobe) {
    error(tag::misplaced, e.where, "`args` is not known any more when the function returns",
          "`entry(args)` is what it was at the entry");
    return false;
  }
  probe::UserValues& values = machine_.user_values(*event.module);
  for (size_t i = 0, n = values.parameter_count(event); i < n; i++) {
    probe::UserValue v = values.parameter(event, i);
    if (v.kind != probe::UserValue::without_value || v.name.empty()) continue;
    warning(tag::no_value, e.where, "`args." + std::string(v.name) + "` " + v.reason + "; it is shown as 0");
  }
  return true;
}

// args.NAME, locals.NAME of a frame of a language: the program is stopped, so that the text of the value is known now. Events of a block
// have equal ones (split_probes.cc).
const type::Type* Checker::check_language_variable(FieldRef& e, bool is_argument) {
  const probe::Event& event = *user_event();
  const std::string prefix = is_argument ? "args." : "locals.";
  e.recipe = nullptr;
  e.operand->type = types_.none();
  if (const runtime::Variable* v = machine_.stopped->variable(*event.language, e.name, is_argument)) return literal(e, v->text);
  std::vector<std::string_view> names;
  for (const runtime::Variable& v : machine_.stopped->variables(*event.language))
    if (v.is_argument || !is_argument) names.push_back(v.name);
  std::string hint = nearest_hint(e.name, prefix, names);
  if (hint.empty() && names.empty()) hint = "the variables of its version of Python are not known, or it has none";
  return mistake(tag::unknown_field, e.name_where, event.function + " has no " + (is_argument ? "argument " : "variable ") + base::quoted(e.name),
                 std::move(hint));
}

// locals.NAME
const type::Type* Checker::check_local(FieldRef& e) {
  as<Name>(*e.operand).builtin = find_builtin("locals");
  probe::Event* event = user_event();
  if (!event || event->kind == probe::Kind::uretprobe)
    return mistake(tag::misplaced, e.where, "`locals` can be used in uprobe and usdt probes only",
                   event ? "`entry(args.NAME)` is what a parameter was when the function was entered" : "");
  if (event->language) return check_language_variable(e, false);
  probe::UserValues& values = machine_.user_values(*event->module);
  probe::UserValue v = values.local(*event, e.name);
  std::string what = "locals." + std::string(e.name), hint;
  if (v.kind == probe::UserValue::no_debug_info) hint = debug_hint(*event->module);
  if (v.kind == probe::UserValue::missing) hint = nearest_hint(e.name, "locals.", values.locals(*event));
  return finish_value(e, use_value(v, what, e.where, e.recipe, std::move(hint)));
}

// begin and end are of no program; probes of a stopped one are.
symbol::Binary* Checker::stopped_program(Range where) {
  auto program = machine_.find_binaries("");
  return program.ok() ? program->front() : (error(tag::unresolved, where, program.error().message), nullptr);
}

// The binary of target("name"), or the one whose event this is.
symbol::Binary* Checker::target_binary(const Expr& target) {
  const Call* c = if_a<Call>(&target);
  probe::Event* event = user_event();
  if (!c || c->arguments.empty()) {
    if (event) return event->module;
    if (machine_.stopped) return stopped_program(target.where);
    return error(tag::misplaced, target.where, "`target` can be used in probes of user programs only",
                 "elsewhere the program is named: `target(\"nginx\").NAME`"),
           nullptr;
  }
  Expr& argument = *c->arguments[0];
  check(argument);
  if (c->arguments.size() > 1 || (argument.kind != ExprKind::string && argument.kind != ExprKind::positional))
    return error(tag::bad_argument, target.where,
                 "`target` takes the name of a program or library in quotes"),
           nullptr;
  const std::string name(argument.constant.text_value);
  auto found = machine_.find_binaries(name);
  if (!found.ok()) return error(tag::unresolved, target.where, found.error().message), nullptr;
  if (found->size() != 1)
    return error(tag::ambiguous, target.where, base::quoted(name) + " stands for several files",
                 "name one of them"),
           nullptr;
  return found->front();
}

// What was added to the addresses of a file, where the process of -p or the stopped program has it.
static std::optional<uint64_t> bias_in(const probe::Machine& machine, const symbol::Binary& binary) {
  if (machine.stopped) return machine.stopped->bias_of(binary);
  int pid = machine.pid();
  if (pid <= 0) return std::nullopt;
  std::vector<format::MappedPages> mappings;
  for (const symbol::Mapping& m : symbol::read_process_map(pid, symbol::MappingsOf::all))
    if (!m.deleted && m.path == binary.name()) mappings.push_back({m.begin, m.end, m.offset, m.may_be_executed});
  for (const format::MappedPages& pages : mappings)
    if (auto bias = format::bias_of(binary.file().elf().segments(), pages, mappings)) return bias;
  return std::nullopt;
}

static bool belongs_to_thread(const probe::Recipe& r) {
  return std::any_of(r.steps.begin(), r.steps.end(),
                     [](const probe::Step& s) { return s.op == probe::Step::thread_base; });
}

// target.NAME, target("lib").NAME
const type::Type* Checker::check_global(FieldRef& e) {
  if (Name* n = if_a<Name>(e.operand)) n->builtin = find_builtin("target");
  if (Call* c = if_a<Call>(e.operand)) c->builtin = find_builtin("target");
  e.recipe = nullptr;
  e.operand->type = types_.none();
  if (!probe_)
    return mistake(tag::misplaced, e.where, "`target` can't be used in a function",
                   "pass its value as a parameter");
  if (!machine_.stopped && !require(in_task, "target", e.where)) return types_.none();
  symbol::Binary* binary = target_binary(*e.operand);
  if (!binary) return types_.none();
  probe::UserValues& values = machine_.user_values(*binary);
  std::optional<uint64_t> bias = bias_in(machine_, *binary);
  probe::UserValue v = values.global(user_event(), e.name, bias);
  // Told by where this event is, it would be another recipe for each event of the block.
  if (probe_->events.size() > 1)
    if (probe::UserValue of_all = values.global(nullptr, e.name, bias)) v = std::move(of_all);
  // Of a stopped program all libraries are known: the name may be one of theirs.
  if (machine_.stopped && !v && v.kind != probe::UserValue::ambiguous && e.operand->kind != ExprKind::call)
    for (symbol::Binary* b : programs_here())
      if (probe::UserValue there = machine_.user_values(*b).global(nullptr, e.name, bias_in(machine_, *b))) {
        v = std::move(there);
        break;
      }
  std::string hint;
  if (v.kind == probe::UserValue::no_debug_info) hint = debug_hint(*binary);
  if (v.kind == probe::UserValue::missing && !binary->debug_info()) {
    v.kind = probe::UserValue::no_debug_info;
    hint = binary->debug_hint();
  } else if (v.kind == probe::UserValue::missing) {
    return mistake(tag::unknown_field, e.name_where,
                   binary->name() + " has no global or static variable " + base::quoted(e.name),
                   "locals are `locals." + std::string(e.name) +
                       "`, members of classes `target.Class::" + std::string(e.name) + "`");
  }
  const probe::Event* here = user_event();
  if (v && machine_.pid() <= 0 && !machine_.stopped && !(here && here->module == binary))
    warning(tag::ambiguous, e.where,
            "this is right in processes that run " + binary->name() + " only, and others come here too",
            "add a predicate such as /comm == \"" + binary->name().substr(binary->name().rfind('/') + 1, 15) +
                "\"/, or trace one process with -p PID");
  if ((here ? here->kind == probe::Kind::oneshot : machine_.stopped != nullptr) && v && belongs_to_thread(v.recipe))
    return mistake(tag::misplaced, e.where,
                   "`target." + std::string(e.name) + "` is a variable that each thread has of its own",
                   "ask for it in `thread { … }`");
  return finish_value(e, use_value(v, "target." + std::string(e.name), e.where, e.recipe, std::move(hint)));
}

// uaddr("SYMBOL"), in probes of the program that has it.
const type::Type* Checker::check_user_address(Call& e) {
  e.recipe = nullptr;
  const Expr& argument = *e.arguments[0];
  std::string name(argument.constant.text_value);
  probe::Event* event = user_event();
  if (!event && !machine_.stopped)
    return mistake(tag::misplaced, e.where, "`uaddr` can be used in probes of user programs only",
                   "where the program is described by debug information, `&target(\"PROGRAM\")." + name +
                       "` is the address of a variable");
  symbol::Binary* of = event ? event->module : stopped_program(e.where);
  if (!of) return types_.none();
  symbol::Binary& binary = *of;
  std::optional<uint64_t> bias = bias_in(machine_, binary);
  // As with globals, what is right for one event only comes last; such events were told apart by what they
  // name.
  probe::UserValue v = probe::UserValues::symbol(binary, types_, nullptr, name, bias);
  bool is_of_all = bool(v);
  if (!is_of_all) v = probe::UserValues::symbol(binary, types_, event, name, bias);
  if (v && !is_of_all && probe_->events.size() > 1 && argument.kind != ExprKind::string)
    return mistake(tag::bad_argument, argument.where, "here `uaddr` takes a name in quotes only",
                   "the block is for several functions of a library");
  if (machine_.stopped && v.kind == probe::UserValue::missing)
    for (symbol::Binary* b : programs_here())
      if (auto there = probe::UserValues::symbol(*b, types_, nullptr, name, bias_in(machine_, *b))) {
        v = std::move(there);
        break;
      }
  if (v.kind != probe::UserValue::missing) return use_value(v, "uaddr(\"" + name + "\")", e.where, e.recipe);
  std::string near = binary.symbol_like(name);
  return mistake(tag::unresolved, argument.where, binary.name() + " has no symbol " + base::quoted(name),
                 near.empty() ? "" : "did you mean " + base::quoted(near) + "?");
}

// `retval` of fexit
const type::Type* Checker::check_kernel_result(const Name& e) {
  const probe::Event& event = *probe_->events.front();
  const probe::KernelSignature* s = machine_.kernel_functions().signature(event);
  if (!s) return types_.uint64();
  if (!s->result_id)
    return mistake(tag::no_value, e.where, base::quoted(event.function) + " returns nothing");
  if (!s->result || !s->result->is_scalar())
    return mistake(tag::no_value, e.where,
                   "what " + base::quoted(event.function) + " returns does not fit a register");
  return s->result;
}

// `retval` in a return probe of a function whose result debug information describes; nullptr: a number in a
// register.
const type::Type* Checker::check_result(Name& e) {
  e.recipe = nullptr;
  if (probe_ && probe_->events.front()->kind == probe::Kind::fexit) return check_kernel_result(e);
  probe::Event* event = user_event();
  if (!event || event->kind != probe::Kind::uretprobe || probe_->has_plain_result) return nullptr;
  probe::UserValue v = machine_.user_values(*event->module).result(*event);
  if (v.kind == probe::UserValue::no_debug_info || v.kind == probe::UserValue::missing) return nullptr;
  const type::Type* t = use_value(v, "retval", e.where, e.recipe);
  return t->is(Kind::none) ? t : check_part(t, type::Space::user);
}

// --------------------------------------------------------------------------------------------- questions

// "struct ns::Foo" as it would be written in a cast.
const type::Type* Checker::type_of_text(std::string_view text) {
  TypeName name;
  name.name = base::trim(text);
  for (std::string_view keyword : {"struct ", "union ", "enum ", "class "})
    if (name.name.starts_with(keyword)) {
      name.name = base::trim(name.name.substr(keyword.size()));
      name.keyword = keyword == "class " ? "struct" : keyword.substr(0, keyword.size() - 1);
    }
  const type::Type* t = base_type(name);
  if (t || !name.keyword.empty()) return t;
  for (std::string_view keyword : {"struct", "union", "enum"}) {
    name.keyword = keyword;
    if ((t = base_type(name))) return t;
  }
  return nullptr;
}

bool Checker::has_member(const type::Type* t, std::string_view path) {
  for (std::string_view part : base::split(path, '.')) {
    if (t && t->is(Kind::pointer)) t = t->element;
    if (!t || (!t->is(Kind::structure) && !t->is(Kind::tuple))) return false;
    auto field = t->find(part);
    if (!field) return false;
    t = field->type;
  }
  return true;
}

// A function by its symbol, or in C++ as the source has it, with or without parameters.
static bool has_function(symbol::Binary& binary, std::string_view name) {
  if (!binary.find_functions(name).empty()) return true;
  if (name.find("::") == name.npos && name.find('(') == name.npos) return false;
  for (const symbol::FunctionSymbol& f : binary.functions()) {
    std::string_view shown = binary.shown(f.name);
    if (shown == name || (shown.starts_with(name) && shown.substr(name.size()).starts_with("("))) return true;
  }
  return false;
}

void Checker::check_has_type(Call& e) {
  set_integer(e, type_of_text(e.arguments[0]->constant.text_value) != nullptr);
}

void Checker::check_has_field(Call& e) {
  const type::Type* type = type_of_text(e.arguments[0]->constant.text_value);
  set_integer(e, has_member(type, e.arguments[1]->constant.text_value));
}

void Checker::check_has_function(Call& e) {
  std::string_view name = e.arguments[0]->constant.text_value;
  answer_has(e, format::BtfKind::function, [&](symbol::Binary& b) { return has_function(b, name); });
}

void Checker::check_has_variable(Call& e) {
  std::string_view name = e.arguments[0]->constant.text_value;
  answer_has(e, format::BtfKind::variable, [&](symbol::Binary& b) { return machine_.user_values(b).has_global(name); });
}

// Answers has_func() and has_var(): of the program whose event this is; outside of user probes of each that the script
// probes, and the kernel.
void Checker::answer_has(Call& e, format::BtfKind kind, const std::function<bool(symbol::Binary&)>& has) {
  if (machine_.stopped)
    return set_integer(e, std::ranges::any_of(programs_here(), [&](auto* b) { return has(*b); }));
  if (probe::Event* event = user_event()) return set_integer(e, has(*event->module));
  bool found = machine_.btf() && machine_.btf()->find(e.arguments[0]->constant.text_value, kind);
  const symbol::Binary* last = nullptr;
  for (size_t i = 0; i < program_.events.size() && !found; i++) {
    symbol::Binary* b = program_.events[i]->module;
    if (b && b != last) found = has(*b);
    last = b;
  }
  set_integer(e, found);
}

} // namespace lang
