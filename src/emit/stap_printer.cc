#include "emit/stap_printer.h"

#include "base/text.h"
#include "emit/raw_argument.h"
#include "emit/stap_rows.h"
#include "spec/arch.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

static std::string in_parentheses(const Text& t, int at_least) { return t.precedence < at_least ? "(" + t.text + ")" : t.text; }

// An empty text where it cannot be read: an error would end the whole script.
static std::string text_at(std::string_view space, const std::string& address) { return std::string(space) + "_string2(" + address + ", \"\")"; }

std::string StapPrinter::type_class(const type::Type* t) const {
  constexpr Kind texts[] = {Kind::string, Kind::kstack, Kind::ustack, Kind::inet, Kind::ksym, Kind::usym, Kind::probe_name};
  return t && std::ranges::find(texts, t->kind) != std::end(texts) ? "text" : "number";
}

// ------------------------------------------------------------------------------------------------ memory

bool StapPrinter::is_user(const Expr& pointer) const {
  const type::Type* t = pointer.type;
  if (t && t->is(Kind::pointer)) return t->space == type::Space::user;
  const probe::Event* e = event();
  return e && (e->module || (e->kind == probe::Kind::tracepoint && e->category == "syscalls"));
}

// Where @cast finds a structure: headers of the kernel, its debug information, or the file of the probe.
std::string StapPrinter::module_of(const type::Type& structure) const {
  const type::Type* task = job_.machine.kernel_type("struct", "task_struct");
  if (task && structure.provider == task->provider) {
    const auto* row = std::ranges::find(stap_rows::structures, structure.name, &stap_rows::Structure::name);
    return row != std::end(stap_rows::structures) ? "kernel" + std::string(row->headers) : "kernel";
  }
  return event() ? event()->binary : "kernel";
}

Text StapPrinter::loaded(const std::string& address, const type::Type& t) {
  const bool user = t.space == type::Space::user || (event() && event()->module);
  if (t.is(Kind::string) || (t.is(Kind::array) && t.element && t.element->is_char)) return {text_at(user ? "user" : "kernel", address)};
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
      return e.type->is(Kind::string) || e.type->is(Kind::array) ? Text{text_at("kernel", value)} : Text{value};
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

struct Renamed {
  std::string_view structure, name, older;
};
static constexpr Renamed renamed_members[] = {
    {"task_struct", "__state", "state"}, // 5.14
};

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
    // What a function around a path or a register gives needs a cast of its own.
    if (path.starts_with("kernel_") || path.starts_with("user_") || path.starts_with("$regs->")) path.clear();
  }
  if (path.empty()) path = "@cast(" + text(*e.operand) + ", \"" + std::string(t && t->is_union ? "union " : "") + std::string(t && !t->name.empty() ? t->name : "char") + "\", \"" + (t ? module_of(*t) : "kernel") + "\")->" + std::string(e.name);
  // Members that other kernels call otherwise: the script runs on both.
  for (const Renamed& r : renamed_members)
    if (t && t->name == r.structure && e.name == r.name) {
      const std::string other = path.substr(0, path.size() - e.name.size()) + std::string(r.older);
      return {"(@defined(" + path + ") ? " + path + " : " + other + ")"};
    }
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
    return {text_at(e.type->space == type::Space::user || (event() && event()->module) ? "user" : "kernel", value.text)};
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
  if (e.arguments.size() == 1) return {text_at(is_user(of) ? "user" : "kernel", text(of))};
  const std::string length = text(*e.arguments[1], sum) + " - 1"; // without the NUL
  return {is_user(of) ? "user_string_n2(" + text(of) + ", " + length + ", \"\")" : "substr(" + text_at("kernel", text(of)) + ", 0, " + length + ")"};
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
  if (name == "signal_name") return {"signal_str(" + arg(0) + ")"};
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

} // namespace emit
