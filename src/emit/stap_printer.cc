#include "emit/stap_printer.h"

#include "base/text.h"
#include "emit/raw_argument.h"
#include "spec/arch.h"
#include "type/format_string.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

static std::string in_parentheses(const Text& t, int at_least) { return t.precedence < at_least ? "(" + t.text + ")" : t.text; }

std::string StapPrinter::type_class(const type::Type* t) const {
  return t && (t->is(Kind::string) || t->is(Kind::kstack) || t->is(Kind::ustack) || t->is(Kind::inet)) ? "text" : "number";
}

// ------------------------------------------------------------------------------------------------ memory

bool StapPrinter::is_user(const Expr& pointer) const {
  const type::Type* t = pointer.type;
  if (t && t->is(Kind::pointer)) return t->space == type::Space::user;
  const probe::Event* e = event();
  return e && (e->module || (e->kind == probe::Kind::tracepoint && e->category == "syscalls"));
}

// Where @cast finds a structure: the kernel, or the file of the probe.
std::string StapPrinter::module_of(const type::Type& structure) const {
  const type::Type* task = job_.machine.kernel_type("struct", "task_struct");
  if (task && structure.provider == task->provider) return "kernel<linux/sched.h>";
  return event() ? event()->binary : "kernel";
}

Text StapPrinter::loaded(const std::string& address, const type::Type& t) {
  const bool user = t.space == type::Space::user || (event() && event()->module);
  if (t.is(Kind::string) || (t.is(Kind::array) && t.element && t.element->is_char)) return {std::string(user ? "user" : "kernel") + "_string(" + address + ")"};
  const bool is_signed = t.is_integer() && t.is_signed;
  if (user) return {"user_" + std::string(is_signed ? "int" : "uint") + std::to_string(t.size * 8) + "(" + address + ")"};
  constexpr std::string_view names[] = {"char", "short", "int", "long"};
  const std::string read = "kernel_" + std::string(names[t.size == 1 ? 0 : t.size == 2 ? 1 : t.size == 4 ? 2 : 3]) + "(" + address + ")";
  return is_signed || t.size == 8 ? Text{read} : Text{read + " & " + (t.size == 1 ? "0xff" : t.size == 2 ? "0xffff" : "0xffffffff"), bit_and};
}

// The low bytes of a number, with the type's sign.
Text StapPrinter::narrowed(Text value, const type::Type& t) {
  if (!t.is_integer() || t.size == 8) return value;
  if (t.is(Kind::boolean)) return {in_parentheses(value, equality + 1) + " != 0", equality};
  if (!t.is_signed) return {in_parentheses(value, bit_and + 1) + " & " + (t.size == 1 ? "0xff" : t.size == 2 ? "0xffff" : "0xffffffff"), bit_and};
  const std::string bits = std::to_string(64 - t.size * 8);
  return {"(" + in_parentheses(value, shift) + " << " + bits + ") >> " + bits, shift};
}

Text StapPrinter::cast(const Cast& e) {
  const Text value = expression(*e.operand);
  const bool fits = e.operand->type && e.operand->type->is_integer() && e.operand->type->size < e.type->size;
  return fits ? value : narrowed(value, *e.type);
}

Text StapPrinter::unary(const Unary& e) {
  if (e.op != UnaryOp::dereference) return CLike::unary(e);
  return loaded(text(*e.operand), *e.type);
}

Text StapPrinter::index(const Index& e) {
  const type::Type* of = e.operand->type;
  if (of && of->is(Kind::pointer) && of->element) {
    const std::string offset = of->element->size == 1 ? text(*e.index, sum + 1) : text(*e.index, product) + " * " + std::to_string(of->element->size);
    return loaded(text(*e.operand, sum) + " + " + offset, *e.type);
  }
  if (of && of->is(Kind::string)) return {"stringat(" + text(*e.operand) + ", " + text(*e.index) + ")"};
  return CLike::index(e);
}

// --------------------------------------------------------------------------------- arguments and members

// A system call's arguments are in the registers that sys_enter is given.
static Text syscall_value(const Syscall& call, const type::Field& field) {
  const auto number = syscall_argument(call, field);
  if (field.name == "__syscall_nr") return {call.is_exit ? "$regs->" + std::string(spec::arch.syscall_number) : "$id"};
  if (!number) return {};
  return {call.is_exit ? "$ret" : "$regs->" + std::string(spec::arch.syscall_arguments[*number])};
}

Text StapPrinter::argument(const FieldRef& e) {
  const probe::Event& at = *event();
  const std::string what = "`args." + std::string(e.name) + "`";
  if (const auto call = syscall_of(at)) {
    const Text value = syscall_value(*call, e.field);
    if (!value.text.empty()) return e.type->is_integer() && e.type->size < 8 ? narrowed(value, *e.type) : value;
  } else if (at.kind == probe::Kind::tracepoint || at.kind == probe::Kind::rawtracepoint) {
    if (const auto raw = raw_argument(job_.machine, at, e.name)) {
      std::string path = raw->path;
      base::replace_all(path, ".", "->");
      const std::string value = "$" + raw->name + (path.empty() ? "" : "->" + path);
      return e.type->is(Kind::string) || e.type->is(Kind::array) ? Text{"kernel_string(" + value + ")"} : Text{value};
    }
  } else {
    return {"$" + std::string(e.name)};
  }
  refuse(e.where, what, "its probes see what the kernel's code passes, and this is computed when the record of the event is made",
         "use `rawtracepoint:" + at.event + "`, whose arguments are the kernel's");
  return {"0"};
}

Text StapPrinter::program_value(const FieldRef& e) {
  if (is_target(*e.operand)) {
    std::string_view name = e.name;
    const size_t scope = name.rfind("::");
    if (scope == name.npos) return {"@var(\"" + std::string(name) + "\")"};
    return {"@var(\"" + std::string(name.substr(scope + 2)) + "@" + std::string(name.substr(0, scope)) + "\")"};
  }
  return {"$" + std::string(e.name)};
}

Text StapPrinter::field(const FieldRef& e) {
  if (e.recipe) return program_value(e);
  const Name* of = if_a<Name>(static_cast<const Expr*>(e.operand));
  if (of && of->name == "args") return argument(e);
  const type::Type* t = e.operand->type;
  if (t && t->is(Kind::pointer)) t = t->element;
  // The base of a path names the structure; members of members follow with arrows.
  const FieldRef* inner = if_a<FieldRef>(static_cast<const Expr*>(e.operand));
  const Index* element = if_a<Index>(static_cast<const Expr*>(e.operand));
  const bool follows = inner || (element && element->operand->kind == ExprKind::field);
  std::string path;
  if (follows && e.operand->kind != ExprKind::call) {
    path = text(*e.operand, postfix) + "->" + std::string(e.name);
    // A path that a function around it has ended needs a cast of its own.
    if (path.starts_with("kernel_") || path.starts_with("user_")) path.clear();
  }
  if (path.empty()) path = "@cast(" + text(*e.operand) + ", \"" + std::string(t && !t->name.empty() ? t->name : "char") + "\", \"" + (t ? module_of(*t) : "kernel") + "\")->" + std::string(e.name);
  return {path};
}

Text StapPrinter::tuple(const Tuple& e) {
  refuse(e.where, "a tuple", "it has tuples as keys of arrays only", "use a variable for each element");
  return {"0"};
}

// Arrays of characters are texts only where they are read as such.
Text StapPrinter::expression(const Expr& e) {
  Text value = CLike::expression(e);
  const bool is_place = e.kind == ExprKind::field && value.text.find('(') != 0;
  const FieldRef* f = if_a<FieldRef>(&e);
  if (is_place && e.type && e.type->is(Kind::string) && f && !value.text.starts_with("kernel_string") && !value.text.starts_with("user_string"))
    return {std::string(e.type->space == type::Space::user || (event() && event()->module) ? "user" : "kernel") + "_string(" + value.text + ")"};
  return value;
}

// -------------------------------------------------------------------------------------------------- maps

Text StapPrinter::map(const MapRef& e) {
  const std::string name = globals_.of(*e.map);
  const std::string entry = e.key ? name + "[" + key_list(e) + "]" : name;
  const type::Type* t = e.map->value;
  if (t && t->is_castable_aggregation()) return {statistic(*e.map, entry)};
  return {entry};
}

std::string StapPrinter::statistic(const Map& m, const std::string& entry) {
  switch (m.value->kind) {
  case Kind::count: return "@count(" + entry + ")";
  case Kind::sum: return "@sum(" + entry + ")";
  case Kind::min: return "@min(" + entry + ")";
  case Kind::max: return "@max(" + entry + ")";
  default: return "@avg(" + entry + ")";
  }
}

// ---------------------------------------------------------------------------------------------- builtins

static constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"pid", "pid()"},       {"tid", "tid()"},           {"ppid", "ppid()"},   {"comm", "execname()"},          {"pcomm", "pid2execname(ppid())"},
    {"uid", "uid()"},       {"gid", "gid()"},           {"cpu", "cpu()"},     {"cpid", "target()"},            {"curtask", "task_current()"},
    {"nsecs", "ktime_get_ns()"}, {"jiffies", "jiffies()"}, {"func", "ppfunc()"}, {"probe", "pn()"},            {"kstack", "sprint_backtrace()"},
    {"ustack", "sprint_ubacktrace()"}, {"rand", "randint(4294967296)"},
};

Text StapPrinter::name(const Name& e) {
  if (e.arg_number >= 0) {
    const probe::Event* at = event();
    if (at && at->kind == probe::Kind::usdt) return {"$arg" + std::to_string(e.arg_number + 1)};
    if (at && at->kind == probe::Kind::rawtracepoint)
      if (const type::Type* args = at->args; args && static_cast<size_t>(e.arg_number) < args->fields().size())
        return {"$" + std::string(args->fields()[static_cast<size_t>(e.arg_number)].name)};
    return {"ulong_arg(" + std::to_string(e.arg_number + 1) + ")"};
  }
  if (e.name == "retval") {
    const bool is_described = e.recipe || (event() && event()->kind == probe::Kind::fexit);
    return {is_described ? "$return" : "returnval()"};
  }
  if (e.name == "elapsed") {
    uses_elapsed_ = true;
    return {"ktime_get_ns() - started", sum};
  }
  for (const auto& [acu, stap] : names)
    if (e.name == acu) return {std::string(stap)};
  if (!e.builtin) return {std::string(e.name)};
  refuse(e.where, base::quoted(e.name), "it has nothing like it", {});
  return {"0"};
}

// Times of day as tz_ctime() has them: "Fri Sep 12 14:02:11 2014 UTC".
Text StapPrinter::clock_text(const Call& e, size_t format) {
  const std::string_view wanted = as<String>(*e.arguments[format]).value;
  std::string out, text;
  const auto flush = [&] {
    if (!text.empty()) out += (out.empty() ? "" : " . ") + quoted_text(text);
    text.clear();
  };
  for (size_t i = 0; i < wanted.size(); i++) {
    const std::string_view rest = wanted.substr(i);
    const bool is_clock = rest.starts_with("%H:%M:%S") || rest.starts_with("%T");
    if (is_clock || rest.starts_with("%f")) {
      flush();
      out += (out.empty() ? "" : " . ") + std::string(is_clock ? "substr(tz_ctime(gettimeofday_s()), 11, 8)" : "sprintf(\"%06d\", gettimeofday_us() % 1000000)");
      i += is_clock && rest[1] == 'H' ? 7 : 1;
    } else if (rest[0] == '%') {
      refuse(e.arguments[format]->where, "this format of a time", "it has the time of day as %H:%M:%S and microseconds", "write \"%H:%M:%S\"");
      return {"\"\""};
    } else {
      text += rest[0];
    }
  }
  flush();
  return {out.empty() ? "\"\"" : out, sum};
}

Text StapPrinter::str(const Call& e) {
  const Expr& of = *e.arguments[0];
  const bool is_text = of.type && (of.type->is(Kind::string) || of.type->is(Kind::array));
  if (is_text && e.arguments.size() == 1) return expression(of);
  if (is_text) return {"substr(" + text(of) + ", 0, " + text(*e.arguments[1]) + ")"};
  const std::string read = is_user(of) ? "user_string" : "kernel_string";
  // The length counts the NUL.
  if (e.arguments.size() > 1) return {read + "_n(" + text(of) + ", " + text(*e.arguments[1], sum) + " - 1)"};
  return {read + "(" + text(of) + ")"};
}

Text StapPrinter::ntop(const Call& e) {
  const Expr& address = *e.arguments.back();
  const bool is_number = address.type && (address.type->is_integer() || (address.type->is(Kind::array) && address.type->size == 4));
  if (!is_number) {
    refuse(e.where, "`ntop`() of an IPv6 address", "the tapset prints addresses as numbers of 4 bytes", "print the IPv4 address");
    return {"\"\""};
  }
  return {"ip_ntop(" + text(address) + ")"};
}

Text StapPrinter::call(const Call& e) {
  const std::string_view name = e.name;
  const auto arg = [&](size_t i) { return text(*e.arguments[i]); };
  if (e.function) return {globals_.of(*e.function) + "(" + list(e.arguments) + ")"};
  if (name == "str") return str(e);
  if (name == "kptr" || name == "uptr") return expression(*e.arguments[0]);
  if (name == "strftime") return clock_text(e, 0);
  if (name == "ntop") return ntop(e);
  if (name == "strncmp") {
    const std::string n = arg(2);
    return {"substr(" + arg(0) + ", 0, " + n + ") != substr(" + arg(1) + ", 0, " + n + ")", equality};
  }
  if (name == "strcontains") return {"isinstr(" + list(e.arguments) + ")"};
  if (name == "str_concat") return {text(*e.arguments[0], sum) + " . " + text(*e.arguments[1], sum), sum};
  if (name == "strlen") return {"strlen(" + arg(0) + ")"};
  if (name == "strerror") return {"errno_str(" + arg(0) + ")"};
  if (name == "signal_name") return {"_signal_name(" + arg(0) + ")"};
  if (name == "syscall_name") return {"syscall_name(" + arg(0) + ")"};
  if (name == "ksym") return {"symname(" + arg(0) + ")"};
  if (name == "usym") return {"usymname(" + arg(0) + ")"};
  if (name == "reg") {
    const std::string_view reg = as<String>(*e.arguments[0]).value;
    return {"u_register(\"" + std::string(reg.starts_with('r') ? "" : "r") + std::string(reg) + "\")"};
  }
  if (name == "bswap") {
    const uint32_t size = e.type ? e.type->size : 8;
    return {std::string(size == 2 ? "ntohs(" : size == 4 ? "ntohl(" : "ntohll(") + arg(0) + ")"};
  }
  if (name == "has_key") {
    const Expr& key = *e.arguments[1];
    const Tuple* t = if_a<Tuple>(&key);
    return {"[" + (t && t->names.empty() ? list(t->elements) : text(key)) + "] in " + globals_.of(*as<MapRef>(*e.arguments[0]).map), relation};
  }
  if (name == "exit") return {"exit()"};
  if (name == "system") return {"system(" + list(e.arguments) + ")"};
  for (const auto& [acu, stap] : names)
    if (name == acu && (e.arguments.empty() || name == "kstack" || name == "ustack" || name == "tid" || name == "pid" || name == "nsecs")) return {std::string(stap)};
  refuse(e.where, base::quoted(name) + "() with these arguments", "it has nothing like it", {});
  return {"0"};
}

// -------------------------------------------------------------------------------------------- statements

std::string StapPrinter::condition_not(const Expr& e) {
  const Binary* b = if_a<Binary>(&e);
  constexpr std::pair<BinaryOp, std::string_view> inverse[] = {{BinaryOp::eq, "!="}, {BinaryOp::ne, "=="}, {BinaryOp::lt, ">="}, {BinaryOp::le, ">"}, {BinaryOp::gt, "<="}, {BinaryOp::ge, "<"}};
  for (const auto& [op, text_of] : inverse)
    if (b && b->op == op) return text(*b->left, precedence_of(op)) + " " + std::string(text_of) + " " + text(*b->right, precedence_of(op) + 1);
  return "!" + text(e, prefix);
}

// The conversions of printf without lengths: numbers have 64 bits. A conversion of 32 bits prints the low ones.
std::string StapPrinter::printf_arguments(const Call& e) {
  std::string problem, format, out;
  size_t next = 1;
  for (const type::Conversion& c : type::parse_format(as<String>(*e.arguments[0]).value, problem)) {
    for (const char letter : c.text) format += letter == '%' ? std::string("%%") : std::string(1, letter);
    if (!c.conversion) continue;
    format += "%" + c.flags + (c.width >= 0 ? std::to_string(c.width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "");
    const Expr& value = *e.arguments[next++];
    const bool is_number = c.conversion != 's';
    format += c.conversion == 'i' || c.conversion == 'u' ? 'd' : c.conversion;
    std::string word = text(value);
    if (!is_number && value.type && (value.type->is_integer() || value.type->is(Kind::pointer))) word = "sprintf(\"%d\", " + word + ")";
    out += ", " + word;
  }
  return quoted_text(format) + out;
}

void StapPrinter::append_value(std::string& format, std::string& arguments, const type::Type& t, const std::string& value) {
  format += type_class(&t) == "text" ? "%s" : t.is(Kind::pointer) ? "0x%x" : "%d";
  arguments += ", " + value;
}

void StapPrinter::print_map(const Map& m, int64_t most) {
  const std::string name = globals_.of(m), label = "@" + std::string(m.name);
  const bool is_statistic = m.value && m.value->is_aggregation();
  const bool is_histogram = m.value && (m.value->is(Kind::hist) || m.value->is(Kind::lhist));
  std::string format = label, arguments, keys, entry = name;
  if (m.key) {
    format += "[";
    std::vector<const type::Type*> parts;
    if (m.key->is(Kind::tuple))
      for (const type::Field& f : m.key->fields()) parts.push_back(f.type);
    else
      parts.push_back(m.key);
    for (size_t i = 0; i < parts.size(); i++) {
      const std::string key = parts.size() == 1 ? "key" : "key" + std::to_string(i + 1);
      if (i) format += ", ";
      append_value(format, arguments, *parts[i], key);
      keys += (i ? ", " : "") + key;
    }
    format += "]";
    entry += "[" + keys + "]";
    out_.line("foreach ([" + keys + "] in " + name + (is_statistic ? "+" : "+") + (most ? " limit " + std::to_string(most) : "") + ") {");
    out_.indent();
  } else if (is_statistic) {
    out_.line("if (@count(" + name + ") > 0) {");
    out_.indent();
  }
  if (is_histogram) {
    out_.line("printf(" + quoted_text(format + ":\n") + arguments + ");");
    const bool is_linear = m.value->is(Kind::lhist);
    out_.line("print(" + (is_linear ? "@hist_linear(" + entry + ", " + std::to_string(m.value->low) + ", " + std::to_string(m.value->high) + ", " + std::to_string(m.value->step) + ")"
                                    : "@hist_log(" + entry + ")") + ");");
  } else if (m.value && m.value->is(Kind::stats)) {
    out_.line("printf(" + quoted_text(format + ": { .count = %d, .average = %d, .total = %d }\n") + arguments + ", @count(" + entry + "), @avg(" + entry + "), @sum(" + entry + "));");
  } else {
    format += ": ";
    if (is_statistic)
      append_value(format, arguments, *job_.program.types.none(), statistic(m, entry));
    else
      append_value(format, arguments, *m.value, entry);
    out_.line("printf(" + quoted_text(format + "\n") + arguments + ");");
  }
  if (m.key || is_statistic) {
    out_.close_level();
    out_.line("}");
  }
}

void StapPrinter::print(const Call& e) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(e.arguments[0]));
  if (m && !m->key) {
    const Integer* most = e.arguments.size() > 1 ? if_a<Integer>(static_cast<const Expr*>(e.arguments[1])) : nullptr;
    return print_map(*m->map, most ? static_cast<int64_t>(most->value) : 0);
  }
  std::string format, arguments;
  append_value(format, arguments, *e.arguments[0]->type, text(*e.arguments[0]));
  out_.line("printf(" + quoted_text(format + "\n") + arguments + ");");
}

void StapPrinter::call_statement(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  if (!c) return CLike::call_statement(e);
  const MapRef* m = !c->arguments.empty() ? if_a<MapRef>(static_cast<const Expr*>(c->arguments[0])) : nullptr;
  if (c->name == "printf") return out_.line("printf(" + printf_arguments(*c) + ");");
  if (c->name == "errorf" || c->name == "warnf") return out_.line("warn(sprintf(" + printf_arguments(*c) + "));");
  if (c->name == "time") {
    if (!c->arguments.empty()) return out_.line("print(" + clock_text(*c, 0).text + ");");
    return out_.line("print(substr(tz_ctime(gettimeofday_s()), 11, 8) . \"\\n\");");
  }
  if (c->name == "print") return print(*c);
  if (c->name == "clear" && m) {
    if (m->map->key || (m->map->value && m->map->value->is_aggregation())) return out_.line("delete " + globals_.of(*m->map) + ";");
    return out_.line(globals_.of(*m->map) + " = " + (type_class(m->map->value) == "text" ? "\"\";" : "0;"));
  }
  if (c->name == "delete" && m) {
    if (m->key) return out_.line("delete " + globals_.of(*m->map) + "[" + key_list(*m) + "];");
    if (c->arguments.size() < 2) return out_.line("delete " + globals_.of(*m->map) + ";");
    const Tuple* t = if_a<Tuple>(static_cast<const Expr*>(c->arguments[1]));
    return out_.line("delete " + globals_.of(*m->map) + "[" + (t && t->names.empty() ? list(t->elements) : text(*c->arguments[1])) + "];");
  }
  CLike::call_statement(e);
}

void StapPrinter::let(const Let& s) {
  if (!s.variable) return;
  out_.line(variable_name(*s.variable) + " = " + (s.value ? text(*s.value) : type_class(s.variable->type) == "text" ? "\"\"" : "0") + ";");
}

void StapPrinter::assign(const Assign& s) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(s.target));
  const Call* c = if_a<Call>(static_cast<const Expr*>(s.value));
  if (!m || !c || !c->builtin || c->builtin->group != spec::Group::aggregation) return CLike::assign(s);
  const std::string entry = globals_.of(*m->map) + (m->key ? "[" + key_list(*m) + "]" : "");
  out_.line(entry + " <<< " + (c->arguments.empty() ? "1" : text(*c->arguments[0])) + ";");
}

void StapPrinter::range(const ForRange& s) {
  const std::string i = variable_name(*s.variable);
  out_.line("for (" + i + " = " + text(*s.first) + "; " + i + " < " + text(*s.last, relation + 1) + "; " + i + "++) {");
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  body(*s.body);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.line("}");
}

void StapPrinter::give_back(const Return& s) {
  if (probe_) return out_.line("next;");
  CLike::give_back(s);
}

void StapPrinter::statement(const Stmt& s) {
  if (s.kind != StmtKind::unroll) return CLike::statement(s);
  out_.comments_above(s.where);
  const std::string i = names_.fresh("round");
  out_.line("for (" + i + " = 0; " + i + " < " + text(*as<Unroll>(s).count, relation + 1) + "; " + i + "++) {");
  body(*as<Unroll>(s).body);
  out_.line("}");
}

} // namespace emit
