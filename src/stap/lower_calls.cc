// Calls of functions: of the script, and of the tapsets (functions.h).
#include "stap/lowering.h"

#include "base/counted.h"
#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace stap {

using namespace spec;
using base::quoted;

// Texts that functions take and give have at most 1024 bytes: what is made of several is cut to that.
lang::Expr* Lowering::bounded(lang::Expr* e) {
  constexpr int64_t max_bytes = 1024;
  const lang::Call* call = lang::if_a<lang::Call>(static_cast<const lang::Expr*>(e));
  const bool may_be_longer = (call && (call->name == "str_concat" || call->name == "substr")) || e->kind == lang::ExprKind::ternary;
  return may_be_longer ? at(e->where).call("str", {e, at(e->where).number(max_bytes)}) : e;
}

Value Lowering::lower_function_call(const Node& n, const Function& f) {
  if (n.parts.size() != f.parameters.size()) {
    error(tag::wrong_argument_count, n.where, quoted(f.name) + "() takes " + base::counted(f.parameters.size(), "argument") + ", not " + std::to_string(n.parts.size()), "see its declaration");
    return wrong(n.where);
  }
  std::vector<lang::Expr*> arguments;
  for (const Node* part : n.parts) arguments.push_back(bounded(number(*part)));
  return {at(n.where).call(keep(function_name(f.name)), arguments), function_kinds_[f.name]};
}

// int_arg(1), pointer_arg(2), …: arguments by number, from 1
Value Lowering::lower_numbered(const Node& n) {
  const bool is_numbered = n.parts.size() == 1 && n.parts[0]->kind == NodeKind::integer && n.parts[0]->value >= 1 && n.parts[0]->value <= 32;
  if (!is_numbered) {
    error(tag::bad_argument, n.where, quoted(n.text) + "() needs the number of an argument, from 1", "write `" + n.text + "(1)`");
    return wrong(n.where);
  }
  if (scope_->context.kind == ContextKind::syscall || scope_->context.kind == ContextKind::raw_syscall) {
    error(tag::misplaced, n.where, "arguments of system calls have names in acu", "name it, as `fd` or `$fd`: `acu list -v 'tracepoint:syscalls:sys_enter_NAME'` lists them");
    return wrong(n.where);
  }
  lang::Expr* argument = name("arg" + std::to_string(n.parts[0]->value - 1), n.where);
  const bool is_narrow = n.text == "int_arg" || n.text == "s32_arg";
  if (!is_narrow) return {argument, Kind::number};
  lang::Cast* c = at(n.where).node<lang::Cast>();
  c->target = program_->arena.make<lang::TypeName>();
  c->target->where = n.where;
  c->target->name = "int32";
  c->operand = argument;
  return {c, Kind::narrow};
}

// ctime(gettimeofday_s()) is the time now, and substr(ctime(…), 11, 8) its hours, minutes and seconds.
Value Lowering::lower_time_text(const Node& n) {
  const bool is_part = n.text == "substr";
  const Node& of = is_part ? *n.parts[0] : n;
  const bool is_now = of.parts.size() == 1 && of.parts[0]->kind == NodeKind::call && of.parts[0]->text == "gettimeofday_s";
  if (!is_now && is_part) {
    error(tag::bad_argument, n.where, "a part of a time is not available", "print it with strftime() and a format");
    return wrong(n.where);
  }
  if (!is_now) return {expand("f_ctime", {of.parts.empty() ? at(n.where).number(0) : number(*of.parts[0])}, n.where), Kind::symbol};
  return {at(n.where).call("strftime", {text(is_part ? "%H:%M:%S" : "%a %b %e %H:%M:%S %Y", n.where), name("nsecs", n.where)}), Kind::symbol};
}

Value Lowering::lower_call(const Node& n) {
  for (const Function& f : script_.functions)
    if (f.name == n.text) return lower_function_call(n, f);
  constexpr std::string_view times[] = {"ctime", "tz_ctime"};
  if (base::is_one_of(times, n.text)) return lower_time_text(n);
  if (n.text == "substr" && !n.parts.empty() && n.parts[0]->kind == NodeKind::call && base::is_one_of(times, n.parts[0]->text)) return lower_time_text(n);
  if (n.text.ends_with("_arg")) return lower_numbered(n);
  if (is_output(n.text)) {
    if (n.text.starts_with("s")) return {text_value(n), Kind::text};
    error(tag::misplaced, n.where, quoted(n.text) + "() has no value", "make it a statement of its own");
    return wrong(n.where);
  }
  // Characters of a structure are a text already, and so is what str() is made of.
  const bool is_text_already = n.text.find("_string") != std::string::npos && !n.parts.empty() && kind_of(*n.parts[0], *scope_) == Kind::text;
  if (is_text_already) return lower(*n.parts[0]);
  const bool is_read = n.text == "kernel_string" || n.text == "user_string" || n.text == "kernel_string2" || n.text == "user_string_quoted";
  if (is_read && !n.parts.empty() && (n.parts[0]->kind == NodeKind::member || n.parts[0]->kind == NodeKind::target)) return {at(n.where).call("str", {number(*n.parts[0])}), Kind::text};
  for (const FunctionRow& f : functions) {
    if (f.name != n.text) continue;
    const size_t count = f.parameters.empty() ? 0 : base::split(f.parameters, ' ').size();
    if (n.parts.size() < count) {
      error(tag::wrong_argument_count, n.where, quoted(n.text) + "() needs " + std::to_string(count) + (count == 1 ? " argument" : " arguments") + ", and is given " + std::to_string(n.parts.size()),
            "see its manual page: man function::" + n.text);
      return wrong(n.where);
    }
    if (!f.remark.empty()) remark(std::string(f.remark), n.where);
    std::vector<lang::Expr*> arguments;
    for (size_t i = 0; i < count; i++) arguments.push_back(number(*n.parts[i]));
    return {expand("f_" + n.text, arguments, n.where), f.kind};
  }
  for (const MissingFunction& m : missing_functions)
    if (m.name == n.text) {
      error(tag::unknown_function, n.where, quoted(n.text) + "() has no counterpart in acu", std::string(m.instead));
      return wrong(n.where);
    }
  std::vector<std::string_view> names;
  for (const FunctionRow& f : functions) names.push_back(f.name);
  for (const Function& f : script_.functions) names.push_back(f.name);
  const std::string_view near = base::nearest(n.text, names);
  error(tag::unknown_function, n.where, "acu knows no function " + quoted(n.text) + "()", near.empty() ? "write it as a function of the script" : "did you mean " + quoted(near) + "()?");
  return wrong(n.where);
}

// A text that is made of parts. acu joins texts, and makes none of numbers: those can only be printed.
lang::Expr* Lowering::text_value(const Node& n) {
  std::vector<Piece> pieces;
  add_text(n, pieces);
  lang::Expr* out = nullptr;
  for (const Piece& p : pieces) {
    const bool is_made = p.has_numbers || p.histogram || (!p.arguments.empty() && p.format != "%s");
    if (is_made) {
      error(tag::bad_operand, n.where, "this makes a text of numbers, which acu can't", "print the parts with printf(), or use them as keys one by one");
      return text("", n.where);
    }
    std::string literal = p.format;
    base::replace_all(literal, "%%", "%");
    lang::Expr* part = p.arguments.empty() ? text(literal, n.where) : p.arguments[0];
    out = out ? at(n.where).call("str_concat", {out, part}) : part;
  }
  return out ? out : text("", n.where);
}

} // namespace stap
