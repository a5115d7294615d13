// Expressions of kernel programs in C.
#include "emit/kernel_c.h"

#include "base/text.h"
#include "lang/parse.h"
#include "spec/arch.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

static std::string in_parentheses(const Text& t, int at_least) { return t.precedence < at_least ? "(" + t.text + ")" : t.text; }

Text KernelC::number(const Integer& e) {
  const bool is_signed = e.type && e.type->is_signed;
  const auto value = static_cast<int64_t>(e.value);
  if (is_signed && value < 0) return {std::to_string(value) + "LL", prefix};
  std::string digits = literal(job_.source, e);
  // As 64 bits: what is shifted or multiplied must not overflow an int.
  const bool is_plain = digits.find_first_not_of("0123456789abcdefxABCDEFX") == digits.npos;
  if (!is_plain) digits = std::to_string(e.value);
  return {digits + (e.value < 1024 ? "" : e.value > INT64_MAX ? "ULL" : "LL")};
}

// A number of 64 bits with or without a sign.
std::string KernelC::word(const Expr& e, bool is_signed, int at_least) {
  const Text t = expression(e);
  const bool fits = e.kind == ExprKind::integer || e.type->is(Kind::boolean) || (e.type->is_signed == is_signed);
  if (fits) return in_parentheses(t, at_least);
  return std::string(is_signed ? "(s64)" : "(u64)") + in_parentheses(t, prefix);
}

Text KernelC::binary(const Binary& e) {
  const type::Type &l = *e.left->type, &r = *e.right->type;
  if (e.op == BinaryOp::logical_and || e.op == BinaryOp::logical_or) return CLike::binary(e);
  const bool compares = e.op >= BinaryOp::lt && e.op <= BinaryOp::ne;
  const auto is_text = [](const type::Type& t) { return t.is(Kind::string) || t.is(Kind::probe_name); };
  if (compares && (is_text(l) || is_text(r))) {
    const bool right_is_literal = e.right->constant.kind == Constant::text;
    const Expr& literal = right_is_literal ? *e.right : *e.left;
    const Expr& other = right_is_literal ? *e.left : *e.right;
    if (literal.constant.kind != Constant::text || (e.op != BinaryOp::eq && e.op != BinaryOp::ne)) {
      refuse(e.where, "a comparison of two texts", "texts are compared with constants there", "compare with \"…\"");
      return {"0"};
    }
    helpers_.insert("same_text");
    const std::string buffer = "text" + std::to_string(serial_++);
    const uint32_t size = (std::max(16u, std::min(other.type->size, 64u)) + 7) / 8 * 8;
    out_.line("char " + buffer + "[" + std::to_string(size) + "] = {};");
    text_into(buffer, size, other);
    const std::string_view wanted = text_of(literal);
    return {std::string(e.op == BinaryOp::ne ? "!" : "") + "same_text(" + buffer + ", " + quoted_text(wanted) + ", " + std::to_string(std::min<size_t>(size, wanted.size() + 1)) + ")",
            prefix};
  }
  if (compares) {
    const bool is_signed = is_signed_comparison(e);
    const Precedence p = precedence_of(e.op);
    return {word(*e.left, is_signed, p + 1) + " " + std::string(to_string(e.op)) + " " + word(*e.right, is_signed, p + 1), p};
  }
  auto scaled = [&](const Expr& part, const type::Type& by) {
    std::string t = word(part, part.type->is_signed, product + 1);
    const uint32_t size = by.is(Kind::pointer) && by.element ? by.element->size : 1;
    return size > 1 && part.type->is_integer() ? t + " * " + std::to_string(size) : t;
  };
  switch (e.op) {
  case BinaryOp::div:
  case BinaryOp::mod: {
    const bool divides = e.op == BinaryOp::div;
    const std::string a = word(*e.left, false, product), b = word(*e.right, false, prefix);
    if (e.right->constant.kind == Constant::integer && e.right->constant.integer_value) return {a + (divides ? " / " : " % ") + b, product};
    helpers_.insert(divides ? "divided" : "remainder");
    return {std::string(divides ? "divided(" : "remainder(") + a + ", " + b + ")"};
  }
  case BinaryOp::shr: return {word(*e.left, l.is_signed, shift) + " >> " + word(*e.right, false, shift + 1), shift};
  case BinaryOp::shl: return {word(*e.left, l.is_signed, prefix) + " << " + word(*e.right, false, shift + 1), shift};
  default: {
    const Precedence p = precedence_of(e.op);
    const std::string a = scaled(*e.left, r), b = scaled(*e.right, l);
    const auto mixes = [&](const Expr& part, std::string t) { return part.kind == ExprKind::binary || part.kind == ExprKind::ternary ? "(" + t + ")" : t; };
    return {mixes(*e.left, a) + " " + std::string(to_string(e.op)) + " " + mixes(*e.right, b), p};
  }
  }
}

Text KernelC::unary(const Unary& e) {
  switch (e.op) {
  case UnaryOp::negate: return {"-" + word(*e.operand, true, prefix + 1), prefix};
  case UnaryOp::bit_not: return {"~" + word(*e.operand, false, prefix), prefix};
  case UnaryOp::logical_not: return {"!" + in_parentheses(expression(*e.operand), prefix), prefix};
  case UnaryOp::dereference: return load(expression(*e.operand), *e.type, reads_user(*e.operand) ? type::Space::user : type::Space::kernel);
  case UnaryOp::address_of:
    refuse(e.where, "the address of a value", "values of the script have no addresses there");
    return {"0"};
  default:
    if (e.operand->kind == ExprKind::map) {
      refuse(e.where, "the value of ++ or -- of a map", "it would be a statement", "write the statement before");
      return {"0"};
    }
    return CLike::unary(e);
  }
}

Text KernelC::cast(const Cast& e) {
  const type::Type& t = *e.type;
  const type::Type& from = *e.operand->type;
  if (!from.is_scalar() && !from.is_castable_aggregation()) {
    refuse(e.where, "this cast", "casts are of numbers there");
    return {"0"};
  }
  const Text operand = expression(*e.operand);
  if (t.is(Kind::boolean)) return {"!!" + in_parentheses(operand, prefix), prefix};
  if (t.is(Kind::pointer)) return from.is(Kind::pointer) ? operand : Text{"(u64)" + in_parentheses(operand, prefix), prefix};
  if (t.size >= 8 && from.is_signed == t.is_signed && from.size == t.size) return operand;
  const std::string name = (t.is_signed ? "s" : "u") + std::to_string(8 * std::max(1u, t.size));
  const std::string cut = "(" + name + ")" + in_parentheses(operand, prefix);
  // Arithmetic goes on with 64 bits.
  return {t.size < 8 ? std::string(t.is_signed ? "(s64)" : "(u64)") + cut : cut, prefix};
}

bool KernelC::reads_user(const Expr& pointer) const {
  const type::Space space = pointer.type->is(Kind::pointer) ? pointer.type->space : type::Space::none;
  if (space == type::Space::user) return true;
  if (space == type::Space::kernel) return false;
  const probe::Event& e = *probe_->events.front();
  return e.category == "syscalls" || e.kind == probe::Kind::uprobe || e.kind == probe::Kind::uretprobe;
}

Text KernelC::load(const Text& address, const type::Type& t, type::Space space) {
  if (!t.is_scalar() && !t.is_integer()) return {"0"};
  const std::string type = t.is(Kind::pointer) ? "u64" : (t.is_signed ? "s" : "u") + std::to_string(8 * std::max(1u, t.size));
  const std::string name = (space == type::Space::user ? "user_" : "kernel_") + type;
  helpers_.insert(name);
  return {name + "(" + address.text + ")"};
}

// Members of kernel structures by name, so that they are found on other kernels; of others by their offset.
Text KernelC::field(const FieldRef& e) {
  if (const Name* n = if_a<Name>(static_cast<const Expr*>(e.operand)); n && n->builtin && n->builtin->name == "args") return argument(e);
  if (e.recipe || e.operand->type->is(Kind::tuple)) {
    refuse(e.where, base::quoted(job_.source.text(e.where)), "values of the traced program that debug information describes are not carried over", "argN");
    return {"0"};
  }
  // The whole path of members up to a pointer.
  std::string path(e.name);
  const FieldRef* first = &e;
  uint32_t offset = e.field.offset;
  while (!first->through_pointer) {
    const FieldRef* outer = if_a<FieldRef>(static_cast<const Expr*>(first->operand));
    if (!outer) break;
    first = outer;
    path = std::string(outer->name) + "." + path;
    offset += outer->field.offset;
  }
  if (!first->through_pointer) {
    refuse(e.where, base::quoted(job_.source.text(e.where)), "it is no member behind a pointer");
    return {"0"};
  }
  const type::Type& of = *first->operand->type->element;
  Text pointer = expression(*first->operand);
  if (pointer.text.find("BPF_CORE_READ") != pointer.text.npos) { // these can't be one in another
    const std::string name = "pointer" + std::to_string(serial_++);
    out_.line("u64 " + name + " = " + pointer.text + ";");
    pointer = {name};
  }
  const bool user = reads_user(*first->operand);
  if (!structures_.is_kernels(of) || user) {
    if (e.field.bit_size) {
      refuse(e.where, "a bit-field of a structure that is not the kernel's", "it is read by its offset");
      return {"0"};
    }
    const std::string at = in_parentheses(pointer, sum) + (offset ? " + " + std::to_string(offset) : "");
    if (!e.type->is_scalar()) return {at, sum};
    return load({at}, *e.type, user ? type::Space::user : type::Space::kernel);
  }
  const std::string typed = "(" + structures_.name(of) + " *)" + in_parentheses(pointer, prefix);
  if (!e.type->is_scalar()) return {"(u64)&(" + typed + ")->" + path, prefix}; // where an array or structure is
  if (e.field.bit_size) {
    if (style_ == KernelStyle::bcc) refuse(e.where, "a bit-field", "there it needs the kernel's headers and no probe", "--to libbpf");
    return {"BPF_CORE_READ_BITFIELD_PROBED(" + typed + ", " + path + ")"};
  }
  const std::string sign = e.type->is(Kind::pointer) ? "(u64)" : e.type->is_signed ? "(s64)" : "(u64)";
  if (style_ == KernelStyle::libbpf) return {sign + "BPF_CORE_READ(" + typed + ", " + path + ")", prefix};
  helpers_.insert("MEMBER");
  return {sign + "MEMBER(" + typed + ", " + path + ")", prefix};
}

static std::string parameter(size_t n) { return "PT_REGS_PARM" + std::to_string(n + 1) + "(ctx)"; }

Text KernelC::argument(const FieldRef& e) {
  const probe::Event& at = *probe_->events.front();
  const type::Type& t = *e.type;
  const std::string type = t.is(Kind::pointer) ? "u64" : (t.is_signed ? "s" : "u") + std::to_string(8 * std::max(1u, t.size));
  const std::string wide = t.is(Kind::pointer) || !t.is_signed ? "(u64)" : "(s64)";
  if (at.kind == probe::Kind::tracepoint) {
    const std::string offset = std::to_string(e.field.offset);
    if (e.field.data_loc) return {"(u64)ctx + (*(u32 *)(ctx + " + offset + ") & 0xffff)", sum};
    if (!t.is_scalar()) return {"(u64)(ctx + " + offset + ")", prefix};
    return {(t.size < 8 ? wide : "") + "*(" + type + " *)(ctx + " + offset + ")", prefix};
  }
  const bool is_typed = at.kind == probe::Kind::fentry || at.kind == probe::Kind::fexit;
  const type::Type* args = at.args ? at.args : e.operand->type;
  const auto fields = args->fields();
  const auto found = std::ranges::find(fields, e.name, &type::Field::name);
  const auto number = static_cast<size_t>(found - fields.begin());
  if (e.recipe || found == fields.end() || number >= 5 || !t.is_scalar()) {
    refuse(e.where, base::quoted(job_.source.text(e.where)), "it is no argument in a register", "argN");
    return {"0"};
  }
  const std::string raw = is_typed ? "ctx[" + std::to_string(number) + "]" : parameter(number);
  return {t.size < 8 ? wide + "(" + type + ")" + raw : "(u64)" + raw, prefix};
}

Text KernelC::index(const Index& e) {
  const type::Type& of = *e.operand->type;
  if (!of.is(Kind::pointer) && !of.is(Kind::array)) {
    refuse(e.where, "this element", "elements are read through pointers there");
    return {"0"};
  }
  const uint32_t size = of.element ? std::max(1u, of.element->size) : 1;
  const std::string at = in_parentheses(expression(*e.operand), sum) + " + " + std::to_string(size) + " * " + word(*e.index, false, prefix);
  const Expr* root = e.operand;
  while (const FieldRef* f = if_a<FieldRef>(root)) root = f->operand;
  return load({at}, *e.type, reads_user(of.is(Kind::pointer) ? *e.operand : *root) ? type::Space::user : type::Space::kernel);
}

// ----------------------------------------------------------------------------------------------- builtins

Text KernelC::name(const Name& e) {
  const std::string_view n = e.name;
  const probe::Event& at = *probe_->events.front();
  if (e.arg_number >= 0 && !n.starts_with('s')) {
    if (e.arg_number < 5 && at.kind != probe::Kind::tracepoint) return {at.kind == probe::Kind::fentry || at.kind == probe::Kind::fexit ? "ctx[" + std::to_string(e.arg_number) + "]" : "(u64)" + parameter(static_cast<size_t>(e.arg_number)), prefix};
  } else if (n == "pid") {
    return {"(u64)(bpf_get_current_pid_tgid() >> 32)", prefix};
  } else if (n == "tid") {
    return {"(u64)(u32)bpf_get_current_pid_tgid()", prefix};
  } else if (n == "uid") {
    return {"(u64)(u32)bpf_get_current_uid_gid()", prefix};
  } else if (n == "gid") {
    return {"(u64)(bpf_get_current_uid_gid() >> 32)", prefix};
  } else if (n == "cpu") {
    return {"(u64)bpf_get_smp_processor_id()", prefix};
  } else if (n == "nsecs") {
    return {style_ == KernelStyle::libbpf ? "bpf_ktime_get_boot_ns()" : "bpf_ktime_get_boot_ns()"};
  } else if (n == "cgroup") {
    return {"bpf_get_current_cgroup_id()"};
  } else if (n == "curtask") {
    return {"(u64)bpf_get_current_task()", prefix};
  } else if (n == "rand") {
    return {"(u64)bpf_get_prandom_u32()", prefix};
  } else if (n == "ppid") {
    const std::string task = "(struct task_struct *)bpf_get_current_task()";
    if (style_ == KernelStyle::libbpf) return {"(u64)BPF_CORE_READ(" + task + ", real_parent, tgid)", prefix};
  } else if (n == "retval") {
    if (at.kind == probe::Kind::kretprobe || at.kind == probe::Kind::uretprobe) {
      const type::Type& t = *e.type;
      if (t.is_integer() && t.size < 8) return {std::string(t.is_signed ? "(s64)(s" : "(u64)(u") + std::to_string(8 * t.size) + ")PT_REGS_RC(ctx)", prefix};
      return {std::string(t.is_signed ? "(s64)" : "(u64)") + "PT_REGS_RC(ctx)", prefix};
    }
    if (at.kind == probe::Kind::fexit && at.args) {
      const std::string value = "ctx[" + std::to_string(at.args->fields().size()) + "]";
      const type::Type& t = *e.type;
      if (t.is_integer() && t.size < 8) return {std::string(t.is_signed ? "(s64)(s" : "(u64)(u") + std::to_string(8 * t.size) + ")" + value, prefix};
      return {std::string(t.is_signed ? "(s64)" : "(u64)") + value, prefix};
    }
  }
  refuse(e.where, "`" + std::string(n) + "`", "it has no counterpart there");
  return {"0"};
}

Text KernelC::call(const Call& e) {
  const std::string_view n = e.name;
  if (e.arguments.empty() && e.builtin) {
    Name plain(e.where);
    plain.name = e.name;
    plain.builtin = e.builtin;
    plain.type = e.type;
    return name(plain);
  }
  if (n == "nsecs") {
    const std::string_view clock = e.arguments[0]->kind == ExprKind::name ? as<Name>(*e.arguments[0]).name : std::string_view();
    if (clock == "monotonic") return {"bpf_ktime_get_ns()"};
    if (clock == "boot") return {"bpf_ktime_get_boot_ns()"};
  }
  if (n == "has_key") {
    const MapRef& m = as<MapRef>(*e.arguments[0]);
    const std::string k = key(*m.map, e.arguments[1]);
    return {map_function(*m.map, "has") + "(" + k + ")"};
  }
  if (n == "kptr" || n == "uptr") return expression(*e.arguments[0]);
  if (n == "strncmp" && e.arguments[1]->constant.kind == Constant::text && e.arguments[2]->constant.kind == Constant::integer) {
    helpers_.insert("same_text");
    const std::string buffer = "text" + std::to_string(serial_++);
    const uint32_t size = (std::max(16u, std::min(e.arguments[0]->type->size, 64u)) + 7) / 8 * 8;
    out_.line("char " + buffer + "[" + std::to_string(size) + "] = {};");
    text_into(buffer, size, *e.arguments[0]);
    const std::string_view wanted = text_of(*e.arguments[1]);
    const auto count = std::min<size_t>({size, wanted.size() + 1, static_cast<size_t>(e.arguments[2]->constant.integer_value)});
    return {"!same_text(" + buffer + ", " + quoted_text(wanted) + ", " + std::to_string(count) + ")", prefix};
  }
  if (n == "bswap") return {"__builtin_bswap" + std::to_string(8 * e.type->size) + "(" + text(*e.arguments[0]) + ")"};
  refuse(e.where, "`" + std::string(n) + "`", "it has no counterpart there");
  return {"0"};
}

// A text in an array of char, `size` bytes with its NULs.
void KernelC::text_into(const std::string& to, uint32_t size, const Expr& e) {
  if (e.constant.kind == Constant::text || e.kind == ExprKind::string) {
    std::string_view value = e.constant.kind == Constant::text ? text_of(e) : as<String>(e).value;
    value = value.substr(0, size - 1);
    out_.line("__builtin_memcpy(" + to + ", " + quoted_text(value) + ", " + std::to_string(value.size() + 1) + ");");
    return;
  }
  const spec::Builtin* b = builtin_of(e);
  const std::string_view name = b ? b->name : std::string_view();
  if (name == "comm") return out_.line("bpf_get_current_comm(" + to + ", " + std::to_string(std::min(size, 16u)) + ");");
  if (name == "probe" || name == "func") {
    const probe::Event& at = *probe_->events.front();
    if (probe_->events.size() > 1) return refuse(e.where, base::quoted(name), "one program serves several probes", "write one block for each");
    const std::string value = name == "probe" ? at.name : at.function;
    return out_.line("__builtin_memcpy(" + to + ", " + quoted_text(value) + ", " + std::to_string(value.size() + 1) + ");");
  }
  if (name == "str") {
    const Call& c = as<Call>(e);
    const Expr& from = *c.arguments[0];
    if (from.type->is(Kind::string) && !from.type->is_scalar()) return text_into(to, std::min(size, c.type->size), from);
    std::string limit = std::to_string(std::min(size, std::max(1u, c.type->size)));
    if (c.arguments.size() > 1 && c.arguments[1]->constant.kind != Constant::integer)
      return refuse(c.arguments[1]->where, "a length that is not constant", "the kernel's verifier wants to see it", "str(p, 64)");
    const std::string at = "(void *)" + in_parentheses(expression(from), prefix);
    const bool is_address = from.type->is_scalar();
    const bool is_args = from.kind == ExprKind::field && !is_address; // an array in a record or structure
    const std::string space = is_address && reads_user(from) ? "user" : "kernel";
    (void)is_args;
    return out_.line("bpf_probe_read_" + space + "_str(" + to + ", " + limit + ", " + at + ");");
  }
  if (const VariableRef* v = if_a<VariableRef>(&e))
    return out_.line("__builtin_memcpy(" + to + ", " + names_.of(*v->variable) + ", " + std::to_string(std::min(size, (v->variable->type->size + 7) / 8 * 8)) + ");");
  if (const MapRef* m = if_a<MapRef>(&e)) {
    const std::string k = key(*m->map, m->key), found = "found" + std::to_string(serial_++);
    const uint32_t bytes = std::min(size, (m->map->value->size + 7) / 8 * 8);
    out_.line("void *" + found + " = " + map_function(*m->map, "find") + "(" + k + ");");
    out_.open("if (" + found + ")");
    out_.line("__builtin_memcpy(" + to + ", " + found + ", " + std::to_string(bytes) + ");");
    out_.close_level();
    out_.open("else");
    out_.line(to + "[0] = 0;");
    return out_.close_level();
  }
  if (const Ternary* t = if_a<Ternary>(&e); t && t->then) {
    out_.line("if (" + text(*t->condition) + ") {");
    out_.indent();
    text_into(to, size, *t->then);
    out_.middle("} else {");
    text_into(to, size, *t->otherwise);
    return out_.close("}");
  }
  if (const FieldRef* f = if_a<FieldRef>(&e)) { // an array of characters
    const std::string at = "(void *)" + in_parentheses(field(*f), prefix);
    return out_.line("bpf_probe_read_kernel_str(" + to + ", " + std::to_string(std::min(size, std::max(1u, e.type->size))) + ", " + at + ");");
  }
  refuse(e.where, "this text", "it has no counterpart there");
}

} // namespace emit
