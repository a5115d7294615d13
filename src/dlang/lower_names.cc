// Builtin variables, arguments of probes, and the members that translators give.
#include "base/clock.h"
#include "base/text.h"
#include "dlang/lowering.h"
#include "spec/numbers.h"

#include <algorithm>
#include <cctype>

namespace dlang {

using namespace spec;
using base::quoted;

namespace {

Type type_of(char letter) {
  switch (letter) {
  case 'i': return int32_type;
  case 'u': return uint64_type;
  case 'l': return int64_type;
  case 'w': return uint32_type;
  case 's': return text_type;
  case 'p': return {Type::pointer, 0, false};
  case 'd':
  case 'D': {
    Type t{Type::other};
    t.symbol = letter == 'd' ? SymbolForm::device : SymbolForm::device_path;
    return t;
  }
  default: return {};
  }
}

} // namespace

Value Lowering::member_value(const Member& m, Range where, const std::vector<lang::Expr*>& of) {
  const bool is_variable = m.translator.empty();
  const std::string macro = is_variable ? "d_v_" + std::string(m.name) : "d_m_" + std::string(m.translator) + "_" + std::string(m.name);
  lang::Expr* e = never_failing(expand(macro, of, where), where);
  Type t = dlang::type_of(m.type);
  if (m.expression.find("ntop(") != m.expression.npos) t = {Type::other};
  return {t.is_number() ? cast(e, t) : e, t};
}

Value Lowering::lower_name(const Node& n) {
  if (const Node* bound = bound_to(n.text)) { // its names are those outside of what binds it
    const auto names = bindings_;
    while (bindings_.back().first != n.text) bindings_.pop_back();
    bindings_.pop_back();
    const Value v = lower(*bound);
    bindings_ = names;
    return v;
  }
  for (const auto& [name, value] : script_.enumerators)
    if (name == n.text) return {at(n.where).number(value), int32_type};
  if (const Inline* i = script_.inline_named(n.text)) {
    if (!i->parameters.empty()) return error(d_tag::arr_badref, n.where, quoted(n.text) + " takes keys: `" + n.text + "[…]`"), wrong(n.where);
    if (++depth_ > 50) return depth_ = 0, error(tag::recursion, n.where, "the constant " + quoted(n.text) + " is made of itself"), wrong(n.where);
    const Value v = lower(*i->value);
    depth_--;
    return v;
  }
  if (n.text == command_pid) return {name("cpid", n.where), int32_type};
  if (const auto own = variables_.find(n.text); own != variables_.end() && own->second.has_value && !is_builtin(n.text)) return lower_variable(n);
  if (declaration_of(n.text)) return lower_variable(n);
  if (n.text == "walltimestamp") {
    lang::Expr* wall = at(n.where).binary(lang::BinaryOp::add, at(n.where).call("nsecs", {name("boot", n.where)}), at(n.where).number(base::boot_to_wall_ns()));
    return {cast(wall, int64_type), int64_type};
  }
  for (const Member& v : variables)
    if (v.name == n.text) return member_value(v, n.where);
  for (std::string_view part : {"probeprov", "probemod", "probefunc", "probename"})
    if (n.text == part) return probe_part(part, n.where);
  for (std::string_view described : {"curpsinfo", "curlwpsinfo", "curcpu"})
    if (n.text == described) return {at(n.where).number(0), {Type::translated, 0, false, described}};
  if (n.text == "id" || n.text == "epid") return {cast(at(n.where).number(group_->id), uint32_type), uint32_type};
  if (n.text.size() == 4 && n.text.starts_with("arg") && std::isdigit(static_cast<unsigned char>(n.text[3])))
    return lower_argument(static_cast<size_t>(n.text[3] - '0'), n.where);
  if (n.text == "errno") {
    if (group_->context.kind == ContextKind::syscall_return) return {cast(expand("d_call_error", {}, n.where), int32_type), int32_type};
    return {at(n.where).number(0), int32_type}; // no call has failed here, as far as is known
  }
  if (n.text == "args") {
    error(d_tag::proto_len, n.where, "`args` needs a number or a name", "write args[0], or args.NAME in a clause of sdt");
    return wrong(n.where);
  }
  if (n.text == "fds") {
    error(tag::misplaced, n.where, "`fds` needs the number of a descriptor", "write `fds[arg0].fi_pathname`");
    return wrong(n.where);
  }
  if (n.text == "caller" || n.text == "ucaller") return lower_caller(n.text == "ucaller", n);
  for (const Constant& c : constants)
    if (c.name == n.text) return {at(n.where).number(c.value), int32_type};
  if (const auto value = header_constant(n.text))
    return {at(n.where).number(*value), *value >= INT32_MIN && *value <= INT32_MAX ? int32_type : int64_type};
  return unknown_name(n);
}

// At the entry of a function its return address is on top of the stack.
Value Lowering::lower_caller(bool is_user, const Node& n) {
  const Context& c = group_->context;
  const bool is_entry = c.kind == ContextKind::function_entry && c.name == "entry";
  if (c.kind == ContextKind::special || c.kind == ContextKind::error || c.kind == ContextKind::tick) return {cast(at(n.where).number(0), uint64_type), uint64_type};
  if (!is_entry || is_user == (c.provider == "fbt")) {
    error(tag::misplaced, n.where, quoted(n.text) + " is not available in this probe",
          is_user ? "it is known in pid:::entry; ustack(2) prints it everywhere" : "it is known in fbt:::entry; stack(2) prints it everywhere");
    return wrong(n.where);
  }
  return {cast(expand(is_user ? "d_user_return_address" : "d_return_address", {}, n.where), uint64_type), uint64_type};
}

bool Lowering::is_builtin(std::string_view name) {
  constexpr std::string_view others[] = {"walltimestamp", "probeprov", "probemod", "probefunc", "probename", "curpsinfo", "curlwpsinfo", "curcpu", "id", "epid", "errno", "args", "fds", "caller", "ucaller"};
  const bool is_argument = name.size() == 4 && name.starts_with("arg") && std::isdigit(static_cast<unsigned char>(name[3]));
  return is_argument || base::is_one_of(others, name) || std::ranges::any_of(variables, [&](const Member& v) { return v.name == name; });
}

Value Lowering::unknown_name(const Node& n) {
  for (const Missing& m : missing_variables)
    if (m.name == n.text) {
      error(tag::unknown_name, n.where, quoted(n.text) + " is not available on Linux", std::string(m.nearest));
      return wrong(n.where);
    }
  std::vector<std::string_view> known = {"probefunc", "probename", "probemod", "probeprov", "curpsinfo", "curlwpsinfo", "errno", "walltimestamp"};
  for (const Member& v : variables) known.push_back(v.name);
  for (const auto& [name, v] : variables_)
    if (v.has_value) known.push_back(name);
  const std::string_view near = base::nearest(n.text, known);
  error(d_tag::ident_undef, n.where, "there is no variable " + quoted(n.text), near.empty() ? "a variable is made by assigning to it" : "did you mean " + quoted(near) + "?");
  return wrong(n.where);
}

Value Lowering::probe_part(std::string_view part, Range where) {
  const Context& c = group_->context;
  if (part == "probeprov") return {text(c.provider, where), text_type};
  if (part == "probemod") return {text(c.module, where), text_type};
  if (part == "probename") return {text(c.name, where), text_type};
  if (!c.varies) return {text(c.function, where), text_type};
  const bool is_call = c.kind == ContextKind::syscall_entry || c.kind == ContextKind::syscall_return;
  return {expand(is_call ? "d_call_name" : "d_function", {}, where), text_type};
}

// What args[N] of a fixed probe is, where it has no members.
std::optional<Member> Lowering::single_value(size_t index) const {
  const std::vector<std::string_view> names = base::split(group_->context.translators, ' ');
  for (const Member& m : members)
    if (index < names.size() && m.translator == names[index] && m.name.empty()) return m;
  return {};
}

// arg0 … arg9
Value Lowering::lower_argument(size_t index, Range where) {
  const Context& c = group_->context;
  auto refuse = [&](std::string why, std::string hint) {
    error(tag::misplaced, where, "arg" + std::to_string(index) + " is not available in " + c.provider + ":::" + c.name + ": " + why, std::move(hint));
    return wrong(where);
  };
  auto signed_value = [&](lang::Expr* e) { return Value{cast(e, int64_type), int64_type}; };
  switch (c.kind) {
  case ContextKind::syscall_entry:
    if (index > 5) return refuse("system calls have at most six arguments", "");
    return signed_value(expand("d_call_argument", {at(where).number(static_cast<int64_t>(index))}, where));
  case ContextKind::syscall_return:
    if (index > 1) return refuse("arg0 and arg1 are the result", "keep arguments in a clause of entry: `self->fd = arg0;`");
    return signed_value(expand("d_call_result", {}, where));
  case ContextKind::profile:
    if (index > 1) return refuse("arg0 is the address in the kernel, arg1 that in the program", "");
    return {expand(index == 0 ? "d_kernel_place" : "d_user_place", {}, where), uint64_type};
  case ContextKind::function_entry:
  case ContextKind::raw_tracepoint:
  case ContextKind::usdt: {
    lang::Expr* e = name(program_->types.keep("arg" + std::to_string(index)), where);
    return signed_value(e);
  }
  case ContextKind::function_return:
    if (index == 0) return refuse("the place of the return is not known", "arg1 is the result");
    if (index > 1) return refuse("arg1 is the result", "keep arguments in a clause of entry: `self->fd = arg0;`");
    return signed_value(expand("d_result", {}, where));
  case ContextKind::tracepoint: return refuse("fields of tracepoints have names", "write args.NAME; `acu list -v 'tracepoint:…'` lists them");
  case ContextKind::fixed:
    if (const auto value = single_value(index); value && value->type != 's') return member_value(*value, where);
    return refuse("it is a number of the kernel of Solaris there", c.translators.empty() ? "" : "use args[0]");
  case ContextKind::error: return fault_argument(index, where);
  case ContextKind::tick:
  case ContextKind::special: return {cast(at(where).number(0), int64_type), int64_type};
  }
  return wrong(where);
}

// args[N]: what a translator describes, or argN.
Value Lowering::lower_args(size_t index, const Node& n) {
  const Context& c = group_->context;
  if (c.kind == ContextKind::raw_tracepoint || (c.kind == ContextKind::function_entry && c.provider == "fbt")) { // with the kernel's types
    lang::FieldRef* f = at(n.where).node<lang::FieldRef>();
    f->operand = name("args", n.where);
    f->name = program_->types.keep(std::to_string(index));
    f->name_where = n.where;
    return {f, {}};
  }
  if (c.kind == ContextKind::function_return && index == 1) return lower_argument(1, n.where);
  if (c.kind != ContextKind::fixed) return lower_argument(index, n.where);
  const std::vector<std::string_view> names = base::split(c.translators, ' ');
  if (c.translators.empty() || index >= names.size() || names[index] == "-") {
    error(d_tag::args_idx, n.where, "args[" + std::to_string(index) + "] of " + c.provider + ":::" + c.name + " is not available here",
          c.translators.empty() ? "use pid, execname and curpsinfo" : "");
    return wrong(n.where);
  }
  if (const auto value = single_value(index)) return member_value(*value, n.where);
  return {at(n.where).number(0), {Type::translated, 0, false, names[index]}};
}

} // namespace dlang
