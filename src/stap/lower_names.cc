// Names and `$names` of a script: variables, and values of the probe.
#include "stap/lowering.h"

#include "base/text.h"
#include "spec/diagnostics.h"

namespace stap {

using namespace spec;
using base::quoted;

lang::Expr* Lowering::name(std::string_view text, Range where) {
  lang::Name* n = at(where).node<lang::Name>();
  n->name = keep(text);
  return n;
}

lang::Expr* Lowering::variable(std::string_view name, Range where) {
  lang::VariableRef* v = at(where).node<lang::VariableRef>();
  v->name = keep(name);
  return v;
}

lang::Expr* Lowering::text(std::string_view value, Range where) {
  lang::String* s = at(where).node<lang::String>();
  s->value = keep(value);
  return s;
}

lang::Expr* Lowering::field(lang::Expr* of, std::string_view name, Range where) {
  lang::FieldRef* f = at(where).node<lang::FieldRef>();
  f->operand = of;
  f->name = keep(name);
  f->name_where = where;
  return f;
}

Value Lowering::lower_name(const Node& n) {
  if (scope_->locals.contains(n.text) || scope_->parameters.contains(n.text)) {
    const Kind kind = scope_->kinds[n.text];
    return {variable(n.text, n.where), kind == Kind::unknown ? Kind::number : kind};
  }
  if (is_global(n.text)) {
    if (statistics_.contains(n.text)) {
      error(tag::bad_operand, n.where, "the statistic " + quoted(n.text) + " is no number", "take one of it: @count(" + n.text + "), @sum(" + n.text + ")");
      return wrong(n.where);
    }
    const Kind kind = global_kinds_[n.text];
    return {at(n.where).map(map_named(n.text, n.where), nullptr), kind == Kind::unknown ? Kind::number : kind};
  }
  if (const auto row = variable_row(n.text, scope_->context)) return {expand("v_" + std::to_string(*row), {}, n.where), variable_rows[*row].kind};
  if (const auto number = n.text.starts_with("argv_") ? base::parse_integer(std::string_view(n.text).substr(5)) : std::nullopt; number && *number > 0 && *number < 100) {
    lang::Positional* p = at(n.where).node<lang::Positional>();
    p->number = static_cast<uint32_t>(*number);
    return {at(n.where).call("str", {p}), Kind::text};
  }
  if (n.text == "argc") return {at(n.where).node<lang::PositionalCount>(), Kind::narrow};
  const ContextKind kind = scope_->context.kind;
  if (kind == ContextKind::syscall || kind == ContextKind::raw_syscall) return syscall_variable(n);
  if (kind == ContextKind::tapset && n.text == "name") {
    const std::string& row = scope_->context.name;
    const size_t end = row.ends_with(".return") ? row.size() - 7 : row.size();
    return {text(row.substr(row.rfind('.', end - 1) + 1, end - row.rfind('.', end - 1) - 1), n.where), Kind::text};
  }
  return unknown_name(n);
}

Value Lowering::unknown_name(const Node& n) {
  std::vector<std::string_view> known;
  for (const std::string& local : scope_->locals) known.push_back(local);
  for (const auto& [global, g] : globals_) known.push_back(global);
  for (const VariableRow& row : variable_rows)
    if (variable_row(row.name, scope_->context)) known.push_back(row.name);
  const std::string_view near = base::nearest(n.text, known);
  const std::string there = scope_->context.kind == ContextKind::tapset ? " in " + scope_->context.name : "";
  error(tag::unknown_name, n.where, quoted(n.text) + " has no value here: nothing is assigned to it, and acu knows no value of this name" + there,
        near.empty() ? "a variable is made by assigning to it" : "did you mean " + quoted(near) + "?");
  return wrong(n.where);
}

// What the tapset of system calls gives: names of parameters, which are those of the kernel's events.
Value Lowering::syscall_variable(const Node& n) {
  const Context& c = scope_->context;
  const bool is_raw = c.kind == ContextKind::raw_syscall;
  lang::Expr* args = name("args", n.where);
  if (n.text == "name" || n.text == "syscall_name") {
    if (!is_raw && !base::has_glob(c.name)) return {text(c.name, n.where), Kind::text};
    return {at(n.where).call("syscall_name", {field(args, is_raw ? "id" : "__syscall_nr", n.where)}), Kind::text};
  }
  if (n.text == "retval" || n.text == "retstr" || n.text == "errno") {
    if (!c.is_return) return unknown_name(n);
    if (n.text == "retstr") remark("retstr became the number of the result", n.where);
    return {field(args, "ret", n.where), Kind::number};
  }
  if (n.text == "argstr" && !c.is_return) {
    remark("argstr became args, a structure: name the arguments that you need, as args.NAME; `acu trace` prints them all", n.where);
    return {args, Kind::symbol};
  }
  if (is_raw || c.is_return) {
    error(tag::unknown_name, n.where, quoted(n.text) + " is not known " + (c.is_return ? "when a system call returns" : "for all system calls together"),
          c.is_return ? "keep it in a probe at the entry: x[tid()] = " + n.text : "name the system call: syscall.read");
    return wrong(n.where);
  }
  constexpr std::string_view texts[] = {"filename", "pathname", "path", "oldname", "newname", "oldpath", "newpath"};
  if (base::is_one_of(texts, n.text)) return {at(n.where).call("str", {field(args, n.text, n.where)}), Kind::text};
  std::string of = n.text;
  if (of.ends_with("_uaddr")) of.resize(of.size() - 6);
  return {field(args, of, n.where), Kind::number};
}

// Of functions whose types are not known.
lang::Expr* Lowering::signed_result(Range where) {
  lang::Cast* c = at(where).node<lang::Cast>();
  c->target = program_->arena.make<lang::TypeName>();
  c->target->where = where;
  c->target->name = "int64";
  c->operand = name("retval", where);
  return c;
}

// $name
Value Lowering::lower_target(const Node& n) {
  const Context& c = scope_->context;
  std::string of = n.text;
  while (of.ends_with('$')) of.pop_back();
  lang::Expr* args = name("args", n.where);
  if (of.starts_with('$')) {
    if (of == "$name") return {name("probe", n.where), Kind::text};
    if (of == "$return") return {c.kind == ContextKind::syscall ? field(args, "ret", n.where) : name("retval", n.where), Kind::number};
    remark("$" + of + " became args: variables that are no arguments are not in it", n.where);
    return {args, Kind::symbol};
  }
  if (of.empty()) return unknown_name(n);
  switch (c.kind) {
  case ContextKind::syscall:
  case ContextKind::raw_syscall:
    if (of == "return" || of == "ret") return {field(args, "ret", n.where), Kind::number};
    return {field(args, of == "syscall" ? "id" : of, n.where), Kind::number};
  case ContextKind::trace: return {field(args, of, n.where), Kind::number};
  case ContextKind::kernel_function:
  case ContextKind::user_function: {
    if (of == "return") return {c.name == "*" ? signed_result(n.where) : name("retval", n.where), Kind::number};
    lang::Expr* value = field(args, of, n.where);
    return {c.is_return && c.kind == ContextKind::user_function ? at(n.where).call("entry", {value}) : value, Kind::number};
  }
  case ContextKind::user_line: return {field(name("locals", n.where), of, n.where), Kind::number};
  case ContextKind::mark:
    if (const auto number = of.starts_with("arg") ? base::parse_integer(std::string_view(of).substr(3)) : std::nullopt; number && *number > 0)
      return {name("arg" + std::to_string(*number - 1), n.where), Kind::number};
    break;
  case ContextKind::tapset:
    if (of == "return" && c.is_return) return {name("retval", n.where), Kind::number};
    remark("$" + of + " is a variable of the kernel's function: look whether args has it", n.where);
    return {field(args, of, n.where), Kind::number};
  case ContextKind::none: break;
  }
  error(tag::misplaced, n.where, "`$" + of + "` has no value in this probe", c.kind == ContextKind::mark ? "arguments of a mark are $arg1, $arg2, …" : "variables of a program are known in .function(\"f\") and .trace(\"t\")");
  return wrong(n.where);
}

// $1, @1, $#
Value Lowering::lower_argument(const Node& n) {
  if (n.text == "#") {
    lang::Expr* count = at(n.where).node<lang::PositionalCount>();
    return {count, Kind::narrow};
  }
  lang::Positional* p = at(n.where).node<lang::Positional>();
  p->number = static_cast<uint32_t>(n.value);
  if (n.value == 0 || n.value > 1000) error(tag::bad_parameter, n.where, "parameters are numbered from 1", "write `$1`");
  return n.is_text ? Value{at(n.where).call("str", {p}), Kind::text} : Value{p, Kind::number};
}

} // namespace stap
