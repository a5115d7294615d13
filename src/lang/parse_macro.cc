// Definitions of macros. The body is a block that may give a value; what its names mean is settled where the
// macro is used (expand_macro.h). What can't be right anywhere is told here, whether it is used or not.
#include "lang/parser.h"

#include "lang/walk.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

// Names that mean the same everywhere: of bpftrace's builtins without arguments, and of types. Not retval and arg0, arg1, …: the
// macros that acu's own scripts have for conditions of the user give them a meaning.
static bool names_other(std::string_view name) {
  constexpr std::string_view builtins[] = {"args", "cgroup", "comm", "cpid", "cpu", "ctx", "curtask", "elapsed", "func", "gid", "jiffies",
                                           "kstack", "ncpus", "nsecs", "numaid", "pid", "probe", "rand", "tid", "uid", "username",
                                           "usermode", "ustack"};
  constexpr std::string_view types[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "void", "string", "count_t", "sum_t", "min_t", "max_t",
                                        "avg_t", "stats_t", "hist_t", "lhist_t", "tseries_t", "ksym_t", "usym_t", "kstack_t", "ustack_t"};
  return std::ranges::find(builtins, name) != std::end(builtins) || std::ranges::find(types, name) != std::end(types);
}

// macro     := 'macro' NAME [ '(' [ macro-parameter { ',' macro-parameter } [','] ] ')' ] block
void Parser::parse_macro() {
  Token word = take();
  auto* m = program_->arena.make<Macro>();
  Token name = expect(TokenKind::identifier, "the name of a macro");
  m->name = name.text;
  m->name_where = name.where;
  std::vector<MacroParameter> parameters;
  const bool has_parameters = !at(TokenKind::left_brace);
  if (has_parameters) parse_parameters([&] {
    MacroParameter p = parse_macro_parameter();
    for (const MacroParameter& other : parameters)
      if (other.name == p.name && other.kind == p.kind)
        error(tag::redeclared, p.where, "this macro has two parameters of that name");
    parameters.push_back(p);
  });
  m->parameters = program_->arena.copy(parameters);
  if (panic_ && !stopped_) skip_to_body();
  macro_ = m;
  m->body = parse_block(true);
  macro_ = nullptr;
  m->where = since(word.where.begin);
  if (!panic_ && !stopped_) check_macro_body(*m);
  for (const Insert& e : options_.parts.expressions)
    if (e.name == m->name && !panic_ && !stopped_) m->body = parse_inserted(e, *m);
  program_->macros.push_back(m);
}

// The body of a macro is the expression instead.
Block* Parser::parse_inserted(const Insert& expression, const Macro& macro) {
  Place place = set_aside();
  const bool was_users = read_users(expression.is_users);
  input_.enter(*input_.files().add(expression.shown, expression.text), Dialect::script, false);
  macro_ = &macro;
  is_inserted_ = true;
  auto* body = program_->arena.make<Block>();
  body->value = parse_expression();
  if (!at(TokenKind::end)) unexpected("an operator or the end");
  is_inserted_ = false;
  input_.leave();
  read_users(was_users);
  take_up(place);
  return body;
}

// macro-parameter := VARIABLE | MAP | NAME
MacroParameter Parser::parse_macro_parameter() {
  Token t = peek();
  MacroParameterKind kind = t.kind == TokenKind::variable ? MacroParameterKind::variable
                            : t.kind == TokenKind::map    ? MacroParameterKind::map
                                                          : MacroParameterKind::expression;
  if (kind == MacroParameterKind::expression && t.kind != TokenKind::identifier)
    unexpected("a parameter",
               "`$v` takes a variable, `@m` a map, and a name without a sign any expression: they have no types");
  if (kind == MacroParameterKind::expression && names_other(t.text))
    error(tag::bad_macro, t.where, "`" + std::string(t.text) + "` can't be the name of a parameter: it is that of a builtin or a type");
  if (at(TokenKind::map) && t.text.empty()) unexpected("a map with a name");
  take();
  if (at(TokenKind::colon))
    panic(tag::syntax, peek().where, "parameters of macros have no types", "functions (`fn`) have them");
  return {kind, t.text, t.where};
}

bool Parser::is_macro_parameter(std::string_view name) const {
  return macro_ && std::any_of(macro_->parameters.begin(), macro_->parameters.end(), [&](const MacroParameter& p) {
           return p.kind == MacroParameterKind::expression && p.name == name;
         });
}

// A macro sees no maps but those it is given, and what it is given as an expression can't be changed.
void Parser::check_macro_body(const Macro& macro) {
  auto has = [&](MacroParameterKind kind, std::string_view name) {
    return std::any_of(macro.parameters.begin(), macro.parameters.end(),
                       [&](const MacroParameter& p) { return p.kind == kind && p.name == name; });
  };
  auto unchangeable = [&](const Expr* target) {
    const Name* name = if_a<Name>(target);
    if (name && has(MacroParameterKind::expression, name->name))
      error(tag::bad_assignment, target->where,
            "parameter `" + std::string(name->name) + "` stands for an expression and can't be changed",
            "a macro that changes a variable or a map takes `$" + std::string(name->name) + "` or `@" +
                std::string(name->name) + "`");
  };
  auto declares = [&](std::string_view name, Range where) {
    if (has(MacroParameterKind::variable, name))
      error(tag::redeclared, where, "`$" + std::string(name) + "` is already a parameter of this macro");
  };
  Rewriting look;
  look.expression = [&](Expr& e) -> Expr* {
    const MapRef* m = if_a<MapRef>(&e);
    if (m && !has(MacroParameterKind::map, m->name))
      error(tag::bad_macro, {m->where.begin, m->where.begin + 1 + static_cast<uint32_t>(m->name.size())},
            "macro `" + std::string(macro.name) + "` can't use `@" + std::string(m->name) +
                "`: it was not passed in",
            "make it a parameter: macro " + std::string(macro.name) + "(…, @" + std::string(m->name) + ")");
    if (const Unary* u = if_a<Unary>(&e); u && u->op >= UnaryOp::address_of) unchangeable(u->operand);
    return &e;
  };
  look.statement = [&](Stmt& s) {
    if (s.kind == StmtKind::assign) unchangeable(as<Assign>(s).target);
    if (s.kind == StmtKind::let) declares(as<Let>(s).name, as<Let>(s).name_where);
    if (s.kind == StmtKind::loop_range) declares(as<ForRange>(s).name, as<ForRange>(s).name_where);
    if (s.kind == StmtKind::loop_map) declares(as<ForMap>(s).name, as<ForMap>(s).name_where);
  };
  rewrite(macro.body, look);
}

} // namespace lang
