// Calls: parameters by the table of builtins, results by the table or, where they depend on the arguments,
// here.
#include "host/environment.h"
#include "lang/checker.h"

#include "base/text.h"
#include "type/format_string.h"

#include <algorithm>
#include <sys/stat.h>

namespace lang {

using type::Kind;
using namespace spec;

static constexpr int64_t most_stack_depth = 1024; // that may be written

// In len(): whether a whole map is meant, not the stack that is its value.
bool Checker::names_map(const MapRef& e) {
  Map& m = *e.map;
  ask(m.inferred_value);
  bool holds_stack = m.scalar_use && m.value && (m.value->is(Kind::kstack) || m.value->is(Kind::ustack));
  return !e.key && !holds_stack;
}

// The row of a builtin that may be used here, or nullptr after telling why not.
const Builtin* Checker::builtin_named(std::string_view name, Range where, bool called) {
  const Builtin* row = find_builtin(name);
  const auto word = [&] { return "`" + std::string(name) + "`"; };
  if (!row->ready)
    return error(tag::not_yet, where, word() + " is part of the language but not built yet"), nullptr;
  if (row->unsafe && !options_.unsafe)
    return error(tag::unsafe, where, word() + " changes the system it runs on", "allow it with --unsafe"),
           nullptr;
  if (!called && row->form == Form::call)
    return error(tag::wrong_argument_count, where, word() + " is a function",
                 "call it: " + std::string(row->signature)),
           nullptr;
  if (called && row->form == Form::value)
    return error(tag::wrong_argument_count, where, word() + " is not a function"), nullptr;
  return row;
}

const type::Type* Checker::check_call(Call& e) {
  bool aggregation_wanted = std::exchange(wants_aggregation_, false);
  for (Function* f : program_.functions)
    if (f->name == e.name) return check_user_call(e, *f);
  if (!find_builtin(e.name)) {
    for (Expr* a : e.arguments) check(*a);
    std::vector<std::string_view> names;
    for (const Builtin& row : builtins)
      if (row.form != Form::value) names.push_back(row.name);
    for (const Function* f : program_.functions) names.push_back(f->name);
    for (const Macro* m : program_.macros) names.push_back(m->name);
    return mistake(tag::unknown_function, e.name_where, "unknown function `" + std::string(e.name) + "`",
                   hint_for_name(e.name, names));
  }
  e.builtin = builtin_named(e.name, e.name_where, true);
  if (!e.builtin) return types_.none();
  if (e.builtin->group == Group::aggregation && !aggregation_wanted)
    return mistake(tag::misplaced, e.where, "`" + std::string(e.name) + "()` must be assigned to a map",
                   "write `@name = " + std::string(e.name) + "(…)`");
  BuiltinId builtin = id_of(*e.builtin);
  if (builtin == id("print")) return check_print(e);
  if (builtin == id("str"))
    if (const type::Type* t = check_str_call(e)) return t;
  if (!check_parameters(e, *e.builtin)) return types_.none();
  if (e.builtin->group == Group::compile) check_compile_time(e);
  return builtin_type(e, *e.builtin, e.arguments);
}

const type::Type* Checker::check_user_call(Call& e, Function& f) {
  e.function = &f;
  if (e.arguments.size() != f.parameters.size()) {
    for (Expr* a : e.arguments) check(*a);
    return mistake(tag::wrong_argument_count, e.where,
                   "`" + std::string(f.name) + "` takes " + std::to_string(f.parameters.size()) +
                       (f.parameters.size() == 1 ? " argument, " : " arguments, ") +
                       std::to_string(e.arguments.size()) + " are given");
  }
  for (size_t i = 0; i < e.arguments.size(); i++) {
    const type::Type* given = check_value(*e.arguments[i]);
    const type::Type* wanted = f.parameters[i].variable ? f.parameters[i].variable->type : nullptr;
    if (!wanted || given->is(Kind::none)) continue;
    bool numbers = wanted->is_integer() && given->is_integer();
    if (!numbers && unify(wanted, nullptr, given, e.arguments[i]) != wanted)
      error(tag::bad_argument, e.arguments[i]->where,
            "`$" + std::string(f.parameters[i].name) + "` is " + text(wanted) + ", not " + text(given));
    learn_space(f.parameters[i].space.seen, *given, e.arguments[i]->where);
  }
  guessed_ |= !f.result_type;
  return f.result_type ? f.result_type : types_.none();
}

bool Checker::check_parameters(Call& e, const Builtin& row) {
  size_t least = 0, most = 0;
  bool endless = false;
  for (const Param& p : row.params) {
    if (p.takes == Takes::nothing) break;
    if (p.takes == Takes::rest)
      endless = true;
    else
      most++, least += !p.optional;
  }
  size_t given = e.arguments.size();
  if (given < least || (!endless && given > most)) {
    for (Expr* a : e.arguments)
      if (a->kind != ExprKind::name && a->kind != ExprKind::map) check(*a);
    std::string wanted = std::to_string(least) + (endless        ? " or more"
                                                  : most > least ? " to " + std::to_string(most)
                                                                 : "");
    error(tag::wrong_argument_count, e.where,
          "`" + std::string(row.name) + "` takes " + wanted + " argument" + (wanted == "1" ? "" : "s") +
              ", " + std::to_string(given) + (given == 1 ? " is given" : " are given"),
          std::string(row.signature));
    return false;
  }
  bool fine = true;
  for (size_t i = 0; i < given; i++) {
    Takes takes = endless && i >= most ? Takes::any : row.params[i].takes;
    fine &= takes == Takes::string ? check_text_parameter(e, e.arguments[i])
                                   : check_parameter(e, *e.arguments[i], takes);
  }
  return fine;
}

bool Checker::check_parameter(Call& e, Expr& a, Takes takes) {
  auto wrong = [&](std::string_view wanted) {
    if (a.type && a.type->is(Kind::none)) return false; // told already, or not known in this round
    error(tag::bad_argument, a.where,
          "`" + std::string(e.name) + "` takes " + std::string(wanted) + " here" +
              (a.type ? ", not " + text(a.type) : std::string()),
          a.type && a.type->is(Kind::floating) ? hint_for_floating(a.type) : std::string(e.builtin->signature));
    return false;
  };
  switch (takes) {
  case Takes::map: {
    MapRef* m = if_a<MapRef>(&a);
    a.type = nullptr;
    if (!m) return wrong("a map");
    if (m->key) {
      bool deletes = id_of(*e.builtin) == id("delete");
      if (deletes && e.arguments.size() > 1)
        return error(tag::bad_argument, a.where, "`delete` removes one key at a time",
                     "write `delete(@" + std::string(m->map->name) + ", key)` for each"),
               false;
      if (!deletes) return wrong("a map without a key");
      check_key(*m);
    }
    m->map->used = true;
    a.type = types_.none();
    return true;
  }
  case Takes::key: {
    MapRef* m = if_a<MapRef>(e.arguments[0]);
    if (m) check_key(*m->map, a);
    return m != nullptr;
  }
  case Takes::word:
    a.type = nullptr;
    if (a.kind != ExprKind::name) return wrong("a bare word");
    a.type = types_.none();
    return true;
  case Takes::any:
    // A whole map, where a function takes one: not a value.
    if (MapRef* m = if_a<MapRef>(&a); m && id_of(*e.builtin) == id("len") && names_map(*m)) {
      m->map->used = true;
      a.type = types_.none();
      return true;
    }
    break;
  case Takes::stack_option:
    if (a.kind != ExprKind::name) return check_parameter(e, a, Takes::literal_integer);
    a.type = types_.none();
    return true;
  case Takes::variable: {
    VariableRef* v = if_a<VariableRef>(&a);
    a.type = nullptr;
    if (!v) return wrong("a variable");
    a.type = check_variable(*v);
    return true;
  }
  default: break;
  }
  const type::Type* t = check_value(a);
  bool is_text = t->is(Kind::string) || t->is(Kind::probe_name) ||
                 (t->is(Kind::pointer) && t->element && t->element->is_char);
  switch (takes) {
  case Takes::integer: return t->is_integer() || t->is(Kind::pointer) || wrong("a number");
  case Takes::pointer:
    return t->is_integer() || t->is(Kind::pointer) || t->is(Kind::array) || wrong("a pointer");
  case Takes::string_or_pointer:
    if (t->is(Kind::probe_name)) name_probes_by_text();
    return is_text || t->is_integer() || t->is(Kind::pointer) || t->is(Kind::array) || t->is(Kind::buffer) ||
           wrong("a string or a pointer");
  case Takes::literal_string: return a.constant.kind == Constant::text || wrong("a string literal");
  case Takes::literal_integer:
    return a.constant.kind == Constant::integer ||
           wrong("a number that is known when the script is compiled");
  default: return !t->is(Kind::none) || !tells(); // what has no type was told, or is not known in this round
  }
}

const type::Type* Checker::builtin_type(Expr& e, const Builtin& row, List<Expr*> arguments) {
  if (!check_place(e, row)) return types_.none();
  if (const type::Type* t = context_builtin_type(e, id_of(row), arguments)) return t;
  switch (row.gives) {
  case Gives::nothing: {
    Call& call = as<Call>(e);
    bool formats =
        std::any_of(row.params.begin(), row.params.end(), [](Param p) { return p.takes == Takes::rest; });
    return formats ? check_format(call) : types_.none();
  }
  case Gives::boolean: break;
  case Gives::u8: return types_.integer(1, false);
  case Gives::u32: return types_.integer(4, false);
  case Gives::u64: break;
  case Gives::i64: break;
  case Gives::comm: return types_.string(16);
  case Gives::special: break;
  }
  const type::Type* special = special_type(e, id_of(row), arguments);
  if (special) return special;
  if (row.gives == Gives::boolean) return types_.boolean();
  return row.gives == Gives::i64 ? types_.int64() : types_.uint64();
}

// is_ptr(), is_str() and their like: what the compiler knows of an expression.
static bool answer_about(BuiltinId question, const Expr& e) {
  switch (question) {
  case id("is_ptr"): return e.type->is(Kind::pointer);
  case id("is_str"): return e.type->is(Kind::string);
  case id("is_integer"): return e.type->is(Kind::integer);
  case id("is_unsigned_integer"): return e.type->is(Kind::integer) && !e.type->is_signed;
  case id("is_array"): return e.type->is(Kind::array);
  default: return e.kind == ExprKind::integer || e.kind == ExprKind::string || e.kind == ExprKind::boolean;
  }
}

// Results that depend on arguments or place; nullptr: as the table says.
const type::Type* Checker::special_type(Expr& e, BuiltinId builtin, List<Expr*> arguments) {
  Call* call = if_a<Call>(&e);
  if (call && call->builtin->group == Group::aggregation) return check_aggregation(*call);
  switch (builtin) {
  case id("args"): return check_arguments(as<Name>(e));
  case id("container_of"): return check_container_of(*call);
  case id("probe"):
  case id("probetype"): {
    if (!probe_) return mistake(tag::misplaced, e.where, "this can't be used in a function");
    const probe::Event& event = *probe_->events.front();
    bool is_type = builtin == id("probetype");
    if (!is_type && probe_->events.size() > 1)
      return probe_as_text_ ? types_.string(longest_probe_name()) : types_.simple(Kind::probe_name);
    std::string_view name = types_.keep(is_type ? event.provider : event.name);
    set_text(e, name);
    return types_.string(static_cast<uint32_t>(name.size()) + 1);
  }
  case id("username"): return types_.simple(Kind::username);
  case id("has_cpid"): set_integer(e, options_.has_cpid); return nullptr;
  case id("curtask"):
    if (const type::Type* task = machine_.kernel_type("struct", "task_struct"))
      return types_.pointer(task, type::Space::kernel);
    return nullptr;
  case id("kaddr"): return types_.pointer(types_.uint64(), type::Space::kernel);
  case id("ksym"): return types_.simple(Kind::ksym);
  case id("usym"): return types_.simple(Kind::usym);
  case id("strftime"): return types_.simple(Kind::timestamp);
  case id("str"): return check_str(e, arguments);
  case id("buf"): return check_buf(e, arguments);
  case id("strcap"): return check_strcap(e, *arguments[0]);
  case id("default_str_length"):
    set_integer(e, static_cast<int64_t>(program_.config.number("max_strlen")));
    return nullptr;
  case id("strncmp"): return check_strncmp(*call);
  case id("memcmp"): return check_memcmp(*call);
  case id("kptr"):
  case id("uptr"): {
    type::Space space = builtin == id("kptr") ? type::Space::kernel : type::Space::user;
    const type::Type* t = arguments[0]->type;
    return types_.pointer(t->is(Kind::pointer) ? t->element : types_.uint64(), space);
  }
  case id("bswap"): return types_.integer(std::max(1u, arguments[0]->type->size), false);
  case id("kstack"): return check_stack(Kind::kstack, arguments);
  case id("task_kstack"): check_task(*arguments[0], "task_kstack"); return check_stack(Kind::kstack, {});
  case id("ustack"): return check_stack(Kind::ustack, arguments);
  case id("stack"): return check_stack(Kind::stack, arguments);
  case id("ntop"): return check_ntop(*call);
  case id("pton"): return check_pton(*call);
  case id("macaddr"): return check_macaddr(*call);
  case id("cgroup_path"): return types_.simple(Kind::cgroup_path);
  case id("strerror"):
  case id("signal_name"):
  case id("syscall_name"): return check_number_name(e, builtin, arguments);
  case id("getopt"): return check_getopt(*call);
  case id("find"): return check_find(*call);
  case id("delete"): return check_delete(*call);
  case id("has_key"): as<MapRef>(*arguments[0]).map->only_adds = false; return nullptr;
  case id("len"): return check_len(*call);
  case id("cgroupid"): {
    struct stat st = {};
    std::string path(arguments[0]->constant.text_value);
    if (!machine_.host().is_this_host())
      return mistake(tag::unresolved, arguments[0]->where, "the ids of control groups are not known of a saved host",
                     "give the number: a parameter of the script can hold it");
    if (::stat(path.c_str(), &st) != 0)
      return mistake(tag::unresolved, arguments[0]->where, "there is no cgroup at " + path);
    set_integer(e, static_cast<int64_t>(st.st_ino));
    return nullptr;
  }
  case id("is_ptr"):
  case id("is_str"):
  case id("is_integer"):
  case id("is_unsigned_integer"):
  case id("is_array"):
  case id("is_literal"): set_integer(e, answer_about(builtin, *arguments[0])); return nullptr;
  default: return nullptr;
  }
}

const type::Type* Checker::check_delete(Call& e) {
  MapRef& m = as<MapRef>(*e.arguments[0]);
  std::string name = "@" + std::string(m.map->name);
  if (m.key && !told_old_delete_ && tells()) {
    warning(tag::deprecated, e.where, "this is the old form of delete", "write `delete(" + name + ", key)`");
    told_old_delete_ = true;
  }
  if (m.key || e.arguments.size() > 1) return nullptr;
  if (m.map->keyed_use)
    return mistake(tag::bad_map_use, e.where, "`" + name + "` has keys: name the one to delete",
                   "delete(" + name + ", key); clear() removes all");
  m.map->scalar_use = true;
  return nullptr;
}

const type::Type* Checker::check_len(Call& e) {
  Expr& of = *e.arguments[0];
  if (MapRef* m = if_a<MapRef>(&of); m && names_map(*m)) {
    m->map->tid_only = false;
    if (m->map->scalar_use) return mistake(tag::bad_map_use, e.where, "`len` needs a map with keys");
    return nullptr;
  }
  if (of.type->is(Kind::kstack) || of.type->is(Kind::ustack) || of.type->is(Kind::none)) return nullptr;
  return mistake(tag::bad_argument, of.where, "`len` takes a map or a stack, not " + text(of.type));
}

// kstack, kstack(depth), kstack(mode), kstack(mode, depth); of user stacks also how they are found: ustack(fp),
// ustack(mode, fp, depth)
const type::Type* Checker::check_stack(Kind kind, List<Expr*> arguments) {
  constexpr std::pair<std::string_view, type::StackMode> modes[] = {{"bpftrace", type::StackMode::bpftrace},
                                                                    {"perf", type::StackMode::perf},
                                                                    {"raw", type::StackMode::raw}};
  auto mode_of = [&](std::string_view word) -> const type::StackMode* {
    for (auto& [name, mode] : modes)
      if (name == word) return &mode;
    return nullptr;
  };
  type::StackMode mode = *mode_of(program_.config.text("stack_mode"));
  std::optional<int64_t> depth;
  bool has_mode = false, by_frame_pointers = false;
  for (Expr* a : arguments) {
    if (const Name* word = if_a<Name>(a)) {
      if (word->name == "fp" && kind == Kind::ustack && !by_frame_pointers && !depth) {
        by_frame_pointers = true;
        continue;
      }
      const type::StackMode* found = mode_of(word->name);
      if (!found)
        return mistake(tag::bad_argument, a->where, "unknown stack mode `" + std::string(word->name) + "`",
                       kind == Kind::ustack ? "modes are bpftrace, perf and raw; `fp` takes frame pointers for granted"
                                            : "modes are bpftrace, perf and raw");
      if (has_mode || depth)
        return mistake(tag::bad_argument, a->where, "the mode of a stack comes first, and once",
                       std::string(find_builtin(kind == Kind::kstack ? "kstack" : kind == Kind::ustack ? "ustack" : "stack")->signature));
      mode = *found;
      has_mode = true;
      continue;
    }
    if (depth)
      return mistake(tag::bad_argument, a->where, "a stack has one depth");
    if (a->constant.kind != Constant::integer || a->constant.integer_value < 0 ||
        a->constant.integer_value > most_stack_depth)
      return mistake(tag::bad_argument, a->where,
                     "the depth of a stack is a number from 0 to " + std::to_string(most_stack_depth));
    depth = a->constant.integer_value;
  }
  const int64_t most = type::most_frames(kind, by_frame_pointers);
  return types_.stack(kind, mode, static_cast<uint32_t>(std::min(depth.value_or(most), most)), by_frame_pointers);
}

const type::Type* Checker::check_print(Call& e) {
  if (e.arguments.empty() || e.arguments.size() > 3) {
    check_parameters(e, *e.builtin);
    return types_.none();
  }
  for (size_t i = 1; i < e.arguments.size(); i++)
    if (check_parameter(e, *e.arguments[i], Takes::literal_integer) &&
        e.arguments[i]->type->is_signed && e.arguments[i]->constant.integer_value < 0)
      error(tag::bad_argument, e.arguments[i]->where, "`top` and `div` can't be negative");
  Expr& a = *e.arguments[0];
  if (MapRef* m = if_a<MapRef>(&a); m && !m->key) {
    m->map->used = true;
    a.type = types_.none();
    return types_.none();
  }
  if (e.arguments.size() > 1)
    error(tag::wrong_argument_count, e.where, "only maps are printed with `top` and `div`",
          std::string(e.builtin->signature));
  // What is more than one number is printed as a whole: a.type stays.
  const type::Type* t = check(a);
  bool is_number = t->is_castable_aggregation() && !t->is(Kind::stats);
  if (is_number || (t->is_aggregation() && a.kind != ExprKind::map)) t = check_value(a);
  if (t->is(Kind::none) && a.kind == ExprKind::call) check_value(a);
  return types_.none();
}

// Arguments of printf and its kin against the format.
const type::Type* Checker::check_format(Call& e) {
  std::vector<const type::Type*> given;
  for (size_t i = 1; i < e.arguments.size(); i++) given.push_back(e.arguments[i]->type);
  for (const type::Type* t : given)
    if (t->is(Kind::none)) return types_.none();
  if (e.builtin->group == Group::compile) return types_.none();
  std::string wrong = type::check_format(e.arguments[0]->constant.text_value, given);
  if (wrong.empty()) return types_.none();
  bool wants_text = wrong.starts_with("%s");
  bool is_address = wrong.find("(pointer") != wrong.npos;
  bool is_floating = wrong.ends_with("float supplied)") || wrong.ends_with("double supplied)");
  error(tag::bad_format, e.where, std::string(e.name) + ": " + wrong,
        is_floating ? "%f, %e and %g print numbers of floating point"
        : !wants_text ? "" : is_address ? "str() reads the text at an address" : "%d prints numbers");
  return types_.none();
}

const type::Type* Checker::check_aggregation(Call& e) {
  auto simple = [&](Kind kind) { return types_.simple(kind, e.arguments[0]->type->is_signed); };
  switch (id_of(*e.builtin)) {
  case id("count"): return types_.simple(Kind::count, true);
  case id("sum"): return simple(Kind::sum);
  case id("min"): return simple(Kind::min);
  case id("max"): return simple(Kind::max);
  case id("avg"): return simple(Kind::avg);
  case id("stats"): return simple(Kind::stats);
  case id("tseries"):
    use_unstable("unstable_tseries", e.where, "tseries()");
    return check_series(e);
  default: return check_histogram(e);
  }
}

const type::Type* Checker::check_histogram(Call& e) {
  auto number = [&](size_t i) { return e.arguments[i]->constant.integer_value; };
  if (id_of(*e.builtin) == id("hist")) {
    int64_t bits = e.arguments.size() > 1 ? number(1) : 0;
    if (bits < 0 || bits > 5)
      return mistake(tag::bad_argument, e.arguments[1]->where, "hist: bits must be from 0 to 5");
    return types_.hist(static_cast<uint32_t>(bits));
  }
  int64_t low = number(1), high = number(2), step = number(3);
  if (low < 0) return mistake(tag::bad_argument, e.arguments[1]->where, "lhist: min can't be negative");
  if (step <= 0)
    return mistake(tag::bad_argument, e.arguments[3]->where, "lhist: step must be greater than zero");
  if (high <= low)
    return mistake(tag::bad_argument, e.arguments[2]->where, "lhist: max must be greater than min");
  if ((high - low) / step > 1000)
    return mistake(tag::too_large, e.where, "lhist: more than 1000 buckets are too many",
                   "use a larger step");
  if (high - low < step)
    return mistake(tag::bad_argument, e.arguments[3]->where,
                   "lhist: step must not be greater than the range");
  return types_.lhist(low, high, step);
}

const type::Type* Checker::check_getopt(Call& e) {
  std::string_view name = e.arguments[0]->constant.text_value;
  const std::string* given = nullptr;
  for (auto& [key, value] : options_.named)
    if (key == name) given = &value;
  const Expr* fallback = e.arguments.size() > 1 ? e.arguments[1] : nullptr;
  if (tells()) {
    std::string shown = !fallback ? "false"
                        : fallback->constant.kind == Constant::text
                            ? std::string(fallback->constant.text_value)
                            : std::to_string(fallback->constant.integer_value);
    std::string help = e.arguments.size() > 2 ? std::string(e.arguments[2]->constant.text_value) : "";
    bool known = std::any_of(parameters_.begin(), parameters_.end(), [&](auto& p) { return p.name == name; });
    if (!known) parameters_.push_back({std::string(name), shown, help});
  }
  auto wrong = [&](std::string_view wanted) {
    return mistake(tag::bad_parameter, e.where,
                   "--" + std::string(name) + "=" + *given + ": this parameter takes " + std::string(wanted));
  };
  if (!fallback || fallback->type->is(Kind::boolean)) {
    bool value = fallback && fallback->constant.integer_value;
    if (given) {
      if (*given == "" || *given == "true" || *given == "1")
        value = true;
      else if (*given == "false" || *given == "0")
        value = false;
      else
        return wrong("true or false");
    }
    set_integer(e, value);
    return types_.boolean();
  }
  if (fallback->constant.kind == Constant::text) {
    std::string_view value = given ? types_.keep(*given) : fallback->constant.text_value;
    set_text(e, value);
    return types_.string(static_cast<uint32_t>(value.size()) + 1);
  }
  if (fallback->constant.kind != Constant::integer)
    return mistake(tag::bad_argument, fallback->where, "the default of a parameter must be a literal");
  int64_t value = fallback->constant.integer_value;
  if (given) {
    bool negative = given->starts_with("-");
    auto number = base::parse_integer(std::string_view(*given).substr(negative));
    if (!number) return wrong("a number");
    value = static_cast<int64_t>(negative ? 0 - *number : *number);
  }
  set_integer(e, value);
  e.adapts = true;
  return types_.int64();
}

// find(@m, k, $v): $v takes the type of the map's values.
const type::Type* Checker::check_find(Call& e) {
  MapRef& m = as<MapRef>(*e.arguments[0]);
  VariableRef& v = as<VariableRef>(*e.arguments[2]);
  m.map->only_adds = m.map->tid_only = false;
  const type::Type* value = m.map->value;
  ask(m.map->inferred_value);
  if (!value || !v.variable) return nullptr;
  if (value->is_aggregation()) {
    if (!value->is_castable_aggregation())
      return mistake(tag::bad_map_use, e.where, "`find` can't give a value of type " + text(value));
    value = types_.integer(8, value->is_signed);
  }
  const type::Type* declared = v.variable->declared ? v.variable->type : nullptr;
  bool fits = declared ? (declared->is_integer() && value->is_integer()) || unify(declared, nullptr, value, nullptr) == declared
                       : join(v.variable->inferred, value, nullptr);
  if (!fits)
    error(tag::type_mismatch, v.where,
          "`$" + std::string(v.name) + "` can't hold a value of type " + text(value));
  if (!v.variable->declared) ask(v.variable->inferred), v.type = v.variable->type = variable_type(v.variable->inferred);
  return nullptr;
}

void Checker::check_compile_time(Call& e) {
  BuiltinId builtin = id_of(*e.builtin);
  if (builtin == id("has_type") || builtin == id("has_field") || builtin == id("has_func") || builtin == id("has_var"))
    check_has(e);
  if (builtin == id("assert_str")) check_assert_str(*e.arguments[0]);
  if (builtin == id("static_assert")) {
    const Constant& c = e.arguments[0]->constant;
    if (c.kind != Constant::integer)
      error(tag::bad_argument, e.arguments[0]->where,
            "static_assert needs a condition that is known when the script is compiled");
    else if (!c.integer_value)
      error(tag::user_failure, e.where, std::string(e.arguments[1]->constant.text_value));
  }
  if (builtin == id("fail")) {
    std::string problem, message;
    size_t next = 1;
    for (const type::Conversion& c : type::parse_format(e.arguments[0]->constant.text_value, problem)) {
      message += c.text;
      if (!c.conversion || next >= e.arguments.size()) continue;
      const Constant& value = e.arguments[next++]->constant;
      message +=
          value.kind == Constant::text ? std::string(value.text_value) : std::to_string(value.integer_value);
    }
    error(tag::user_failure, e.where, message);
  }
}

} // namespace lang
