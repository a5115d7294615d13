// Calls of builtins and of the script's own functions: parameters by the table of builtins (spec/builtins.h), results by
// that table or by the builtin's check (check_builtins.cc).
#include "lang/checker.h"

namespace lang {

using type::Kind;
using namespace spec;

// The row of a builtin that may be used here, or nullptr after telling why not.
const Builtin* Checker::builtin_named(std::string_view name, Range where, bool called) {
  const Builtin* row = find_builtin(name);
  const auto word = [&] { return "`" + std::string(name) + "`"; };
  if (row->unsafe && !options_.unsafe)
    return error(tag::unsafe, where, word() + " changes the system it runs on", "allow it with --unsafe"),
           nullptr;
  if (row->writes && options_.read_only) return error(tag::writes, where, word() + " writes, which --read-only refuses", "print the values instead"), nullptr;
  if (!called && row->form == Form::call)
    return error(tag::wrong_argument_count, where, word() + " is a function",
                 "call it: " + std::string(row->texts().signature)),
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
  if (const type::Type* t = check_whole(e, *e.builtin)) return t;
  if (!check_parameters(e, *e.builtin)) return types_.none();
  return builtin_type(e, *e.builtin);
}

const type::Type* Checker::check_user_call(Call& e, Function& f) {
  e.function = &f;
  if (speculation_) refuse_in_speculation(e, f);
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
    check_range(*wanted, *e.arguments[i]);
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
          std::string(row.texts().signature));
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

// Whether it takes a value or a whole map.
static bool takes_map(const Builtin& row) { return id_of(row) == id("len") || id_of(row) == id("is_scalar"); }

bool Checker::check_parameter(Call& e, Expr& a, Takes takes) {
  auto wrong = [&](std::string_view wanted) {
    if (a.type && a.type->is(Kind::none)) return false; // told already, or not known in this round
    error(tag::bad_argument, a.where,
          "`" + std::string(e.name) + "` takes " + std::string(wanted) + " here" +
              (a.type ? ", not " + text(a.type) : std::string()),
          a.type && a.type->is(Kind::floating) ? hint_for_floating(a.type) : std::string(e.builtin->texts().signature));
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
    if (MapRef* m = if_a<MapRef>(&a); m && takes_map(*e.builtin) && names_map(*m)) {
      m->map->used = true;
      a.type = types_.none();
      return true;
    }
    // Questions about types: see check_builtins.cc.
    if (e.builtin->group == Group::compile && e.builtin->gives == Gives::boolean) return check_for_type(a), true;
    break;
  case Takes::stack_option:
    if (a.kind != ExprKind::name) return check_parameter(e, a, Takes::literal_integer);
    a.type = types_.none();
    return true;
  case Takes::variable: {
    VariableRef* v = if_a<VariableRef>(&a);
    a.type = nullptr;
    if (!v) return wrong("a variable");
    if (Variable* known = lookup(v->name, v->expansion); !known) declare(v->variable, v->name, v->where, v->expansion)->is_given = true;
    a.type = check_variable(*v);
    return true;
  }
  default: break;
  }
  const type::Type* t = check_value(a);
  bool is_text = t->is(Kind::string) || t->is(Kind::probe_name) ||
                 (t->is(Kind::pointer) && t->element && t->element->is_char);
  switch (takes) {
  case Takes::integer: return t->is_integer() || wrong("a number");
  case Takes::integer_or_pointer: return t->is_integer() || t->is(Kind::pointer) || wrong("a number");
  case Takes::pointer:
    if (t->is(Kind::array) && a.constant.kind == Constant::text) return wrong("a pointer"); // the bytes of pton() have no address
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

// The type that the table tells.
const type::Type* Checker::declared_type(const Builtin& row) {
  switch (row.gives) {
  case Gives::nothing: return types_.none();
  case Gives::boolean: return types_.boolean();
  case Gives::u8: return types_.integer(1, false);
  case Gives::u32: return types_.integer(4, false);
  case Gives::u64: return types_.uint64();
  case Gives::i64: return types_.int64();
  case Gives::comm: return types_.string(16);
  case Gives::special: return types_.uint64(); // the check knows no better
  }
  return types_.none();
}

const type::Type* Checker::builtin_type(Expr& e, const Builtin& row) {
  if (!check_place(e, row)) return types_.none();
  const type::Type* special = special_type(e, row);
  return special ? special : declared_type(row);
}

} // namespace lang
