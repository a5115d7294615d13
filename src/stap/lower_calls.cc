// Calls of functions: of the script, and of the tapsets (functions.h).
#include "stap/lowering.h"

#include "base/counted.h"
#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <utility>

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
  const bool is_now = of.parts.empty() || (of.parts.size() == 1 && of.parts[0]->kind == NodeKind::call && of.parts[0]->text == "gettimeofday_s");
  if (!is_now && is_part) {
    error(tag::bad_argument, n.where, "a part of a time is not available", "print it with strftime() and a format");
    return wrong(n.where);
  }
  if (!is_now) {
    remark("`0 * nsecs(tai)` says which clock the time is of", n.where);
    return {expand("f_ctime", {number(*of.parts[0])}, n.where), Kind::symbol};
  }
  return {at(n.where).call("strftime", {text(is_part ? "%H:%M:%S" : "%a %b %e %H:%M:%S %Y", n.where), name("nsecs", n.where)}), Kind::symbol};
}

Value Lowering::lower_call(const Node& n) {
  for (const Function& f : script_.functions)
    if (f.name == n.text) return lower_function_call(n, f);
  constexpr std::string_view times[] = {"ctime", "tz_ctime"};
  if (base::is_one_of(times, n.text)) return lower_time_text(n);
  if (n.text == "substr" && !n.parts.empty() && n.parts[0]->kind == NodeKind::call && base::is_one_of(times, n.parts[0]->text)) return lower_time_text(n);
  if (n.text.ends_with("_arg")) return lower_numbered(n);
  if (n.text == "thread_indent" && n.parts.size() == 1) return {help("thread_indent", {number(*n.parts[0])}, n.where), Kind::text};
  if ((n.text == "tokenize" && n.parts.size() == 2) || (n.text == "str_replace" && n.parts.size() == 3)) {
    std::vector<lang::Expr*> texts;
    for (const Node* part : n.parts) texts.push_back(bounded(lower(*part).e));
    return {help(n.text, texts, n.where), Kind::text};
  }
  if (n.text == "strtol" && n.parts.size() == 2) return {help("text_number", {bounded(lower(*n.parts[0]).e), number(*n.parts[1])}, n.where), Kind::number};
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

// The text of a number, as a conversion of printf() has it: "%d", "%06ld", "%-5x"; nullptr: it has other parts.
lang::Expr* Lowering::number_text(std::string_view conversion, lang::Expr* of) {
  const char letter = conversion.back();
  std::string_view parts = conversion.substr(1, conversion.size() - 2);
  while (parts.ends_with('l')) parts.remove_suffix(1);
  constexpr std::pair<char, int64_t> bases[] = {{'d', 10}, {'u', 10}, {'x', 16}, {'o', 8}};
  const auto* row = std::ranges::find_if(bases, [&](const auto& b) { return b.first == letter; });
  if (row == std::end(bases)) return nullptr;
  if (parts.empty() && row->second == 10) return help("number_text", {of}, of->where);
  const char fill = parts.starts_with('0') || parts.starts_with('-') ? parts.front() : ' ';
  if (fill != ' ') parts.remove_prefix(1);
  const auto width = parts.empty() ? std::optional<uint64_t>(0) : base::parse_integer(parts);
  if (!width || *width > 64) return nullptr;
  const lang::TreeMaker make = at(of->where);
  return help("padded_number", {of, make.number(row->second), make.number(static_cast<int64_t>(*width)), text(std::string(1, fill), of->where)}, of->where);
}

// A text that is made of parts: of texts and of numbers.
lang::Expr* Lowering::text_value(const Node& n) {
  std::vector<Piece> pieces;
  add_text(n, pieces);
  lang::Expr* out = nullptr;
  const auto refuse = [&](std::string why, std::string hint) {
    error(tag::bad_operand, n.where, std::move(why), std::move(hint));
    return text("", n.where);
  };
  const auto add = [&](lang::Expr* part) { out = out ? at(n.where).call("str_concat", {out, part}) : part; };
  const bool is_one = pieces.size() == 1 && pieces[0].format == "%s";
  for (const Piece& p : pieces) {
    if (p.histogram) return refuse("a histogram is no text", "print it");
    if (p.has_symbols && !is_one) return refuse("this joins a text with a name of an address, a stack or a time, which acu makes when it prints them", "print the parts with printf(), or use them as keys one by one");
    size_t next = 0;
    std::string literal;
    for (size_t i = 0; i < p.format.size(); i++) {
      if (p.format[i] != '%' || p.format[i + 1] == '%') {
        literal += p.format[i];
        i += p.format[i] == '%';
        continue;
      }
      const size_t end = p.format.find_first_of("diouxXscp", i + 1);
      lang::Expr* argument = p.arguments[next++];
      const bool is_text = p.format[end] == 's';
      lang::Expr* part = !is_text ? number_text(std::string_view(p.format).substr(i, end + 1 - i), argument) : end == i + 1 ? argument : nullptr;
      if (!part) return refuse("this makes a text with a format that acu can't", "`%d`, `%x` and `%o` with a width make one; print others with printf()");
      if (!literal.empty()) add(text(std::exchange(literal, {}), n.where));
      add(part);
      i = end;
    }
    if (!literal.empty()) add(text(literal, n.where));
  }
  return out ? out : text("", n.where);
}

} // namespace stap
