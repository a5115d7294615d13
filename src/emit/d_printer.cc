#include "emit/d_printer.h"

#include "base/text.h"
#include "emit/raw_argument.h"
#include "emit/recipe_text.h"
#include "spec/arch.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

static std::string in_parentheses(const Text& t, int at_least) { return t.precedence < at_least ? "(" + t.text + ")" : t.text; }

std::string DPrinter::type_class(const type::Type* t) const { return t && t->is(Kind::string) ? "string" : t && t->is(Kind::pointer) ? type::to_string(*t) : "number"; }

bool DPrinter::is_user(const Expr& pointer) const {
  const type::Type* t = pointer.type;
  if (t && t->is(Kind::pointer)) return t->space == type::Space::user;
  const probe::Event* e = event();
  return e && (e->module || (e->kind == probe::Kind::tracepoint && e->category == "syscalls"));
}

std::string DPrinter::type_text(const type::Type& t) {
  switch (t.kind) {
  case Kind::boolean: return "uint8_t";
  case Kind::integer:
  case Kind::enumeration: return t.is_char ? "char" : (t.is_signed ? "int" : "uint") + std::to_string(t.size * 8) + "_t";
  case Kind::pointer: {
    if (!t.element || t.element->is(Kind::none) || t.element->is(Kind::array)) return "void *";
    const std::string to = type_text(*t.element);
    return to + (to.ends_with('*') ? "*" : " *");
  }
  case Kind::structure: return structures_.name(t);
  case Kind::string: return "string";
  default: return "uint64_t";
  }
}

// --------------------------------------------------------------------------------------------------- maps

DPrinter::Keeping DPrinter::keeping_of(const Map& m) const {
  if (m.value && m.value->is_aggregation()) return Keeping::aggregation;
  return m.tid_only && m.key && m.key->is_integer() ? Keeping::thread : Keeping::global;
}

// Of the arrays and aggregations that one map has become.
const std::string& DPrinter::part_name(const Map& m, std::string_view part) {
  const std::pair key(&m, part);
  auto found = parts_.find(key);
  if (found == parts_.end()) found = parts_.emplace(key, globals_.fresh(std::string(m.name) + "_" + std::string(part))).first;
  return found->second;
}

std::string DPrinter::entry(const Map& m, const Expr* key, std::string_view suffix) {
  const Keeping keeping = keeping_of(m);
  const std::string& name = suffix.empty() ? globals_.of(m) : part_name(m, suffix);
  const std::string mark = keeping == Keeping::aggregation ? "@" : keeping == Keeping::thread ? "self->" : "";
  if (!key || keeping == Keeping::thread) return mark + name;
  const Tuple* t = if_a<Tuple>(key);
  return mark + name + "[" + (t && t->names.empty() ? list(t->elements) : text(*key)) + "]";
}

Text DPrinter::map(const MapRef& e) {
  if (keeping_of(*e.map) == Keeping::aggregation)
    refuse(e.where, "the value of `@" + std::string(e.name) + "`", "aggregations can be printed, not read", "count in a variable: @x++");
  return {entry(*e.map, e.key)};
}

Text DPrinter::has_key(const Call& e) {
  const Map& m = *as<MapRef>(*e.arguments[0]).map;
  if (keeping_of(m) == Keeping::aggregation) refuse(e.where, "`has_key`() of an aggregation", "aggregations can be printed, not read", "count in a variable: @x++");
  if (keys_.is_needed(m)) return {entry(m, e.arguments[1], "known") + " != 0", equality};
  return {entry(m, e.arguments[1]) + (m.value->is(Kind::string) ? " != NULL" : " != 0"), equality};
}

// ---------------------------------------------------------------------------------- arguments and members

static RecipeWords words_for(const probe::Event* event) {
  RecipeWords words;
  words.reg = [event](std::string_view reg) {
    const auto& arguments = spec::arch.arguments;
    const auto found = std::ranges::find(arguments, reg);
    if (event && event->at_entry && found != arguments.end()) return Text{"arg" + std::to_string(found - arguments.begin())};
    std::string name = "R_" + std::string(reg.starts_with('r') ? "" : "R");
    for (const char c : reg) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return Text{"uregs[" + name + "]"};
  };
  const auto integer = [](uint32_t size, bool is_signed) { return (is_signed ? "int" : "uint") + std::to_string(size * 8) + "_t"; };
  words.load = [integer](const Text& address, uint32_t size, bool is_signed) {
    return Text{"*(" + integer(size, is_signed) + " *)copyin(" + address.text + ", " + std::to_string(size) + ")", prefix};
  };
  words.extend = [integer](const Text& value, uint32_t size, bool is_signed) { return Text{"(" + integer(size, is_signed) + ")" + in_parentheses(value, prefix), prefix}; };
  return words;
}

Text DPrinter::recipe_value(const probe::Recipe& recipe, const type::Type& t, base::Range where, std::string_view what) {
  const bool is_simple = recipe.kind == probe::Recipe::value || recipe.kind == probe::Recipe::address;
  const auto value = is_simple ? recipe_text(recipe.steps, words_for(event())) : std::nullopt;
  if (!value) {
    refuse(where, what, "where it is takes more than registers and offsets", "use the numbered arguments");
    return {"0"};
  }
  if (recipe.kind == probe::Recipe::address) return {"*(" + type_text(t) + " *)copyin(" + value->text + ", " + std::to_string(t.size) + ")", prefix};
  if (t.is_integer() && t.size == 8) return *value;
  return {"(" + type_text(t) + ")" + in_parentheses(*value, prefix), prefix};
}

Text DPrinter::argument(const FieldRef& e) {
  const probe::Event& at = *event();
  const auto cast_to = [&](const type::Type& t, const std::string& word) { return t.is_integer() && t.size == 8 ? Text{word} : Text{"(" + type_text(t) + ")" + word, prefix}; };
  const bool is_raw_call = at.category == "raw_syscalls";
  if (const auto call = syscall_of(at); call || is_raw_call) {
    // The system's own errno is 0 where the call did not fail.
    if (e.name == "ret") return {"(errno ? -errno : (int64_t)arg1)"};
    const auto number = call ? syscall_argument(*call, e.field) : std::nullopt;
    if (number) return e.type->is(Kind::pointer) || !e.type->is_integer() ? Text{"arg" + std::to_string(*number)} : cast_to(*e.type, "arg" + std::to_string(*number));
  } else if (at.kind == probe::Kind::tracepoint || at.kind == probe::Kind::rawtracepoint) {
    if (const auto raw = raw_argument(job_.machine, at, e.name)) {
      const std::string word = "arg" + std::to_string(raw->number);
      if (raw->path.empty()) return raw->type ? cast_to(*raw->type, word) : Text{word};
      const std::string value = "((" + (raw->type ? type_text(*raw->type) : std::string("struct task_struct *")) + ")" + word + ")->" + raw->path;
      return e.type->is(Kind::string) || e.type->is(Kind::array) ? Text{"stringof(" + value + ")"} : Text{value};
    }
  } else {
    const auto fields = (at.args ? at.args : e.operand->type)->fields();
    const auto found = std::ranges::find(fields, e.name, &type::Field::name);
    if (found != fields.end()) {
      const bool is_typed = at.kind == probe::Kind::fentry || at.kind == probe::Kind::fexit;
      const std::string number = std::to_string(found - fields.begin());
      return is_typed ? Text{"args[" + number + "]"} : cast_to(*e.type, "arg" + number);
    }
  }
  refuse(e.where, "`args." + std::string(e.name) + "`", "its probes see what the kernel's code passes, and this is computed when the record of the event is made",
         "use `rawtracepoint:" + at.event + "`, whose arguments are the kernel's");
  return {"0"};
}

Text DPrinter::field(const FieldRef& e) {
  if (e.recipe) return recipe_value(*e.recipe, *e.type, e.where, job_.source.text(e.where));
  const Name* of = if_a<Name>(static_cast<const Expr*>(e.operand));
  if (of && of->name == "args") return argument(e);
  const type::Type* t = e.operand->type;
  if (t && t->is(Kind::pointer)) t = t->element;
  if (t && t->is(Kind::structure)) structures_.use(*t, e.field);
  if (e.through_pointer && is_user(*e.operand) && t) {
    const std::string name = type_text(*t);
    return {"((" + name + " *)copyin((uintptr_t)" + text(*e.operand, prefix) + ", sizeof (" + name + ")))->" + std::string(e.name)};
  }
  return CLike::field(e);
}

Text DPrinter::index(const Index& e) {
  const type::Type* of = e.operand->type;
  if (of && of->is(Kind::string)) {
    refuse(e.where, "a byte of a text", "its texts have no elements", "substr() of the text");
    return {"0"};
  }
  if (of && of->is(Kind::pointer) && of->element && is_user(*e.operand)) {
    const std::string size = std::to_string(of->element->size);
    return {"*(" + type_text(*of->element) + " *)copyin((uintptr_t)" + text(*e.operand, prefix) + " + " + text(*e.index, product) + " * " + size + ", " + size + ")", prefix};
  }
  return CLike::index(e);
}

Text DPrinter::unary(const Unary& e) {
  if (e.op != UnaryOp::dereference || !is_user(*e.operand)) return CLike::unary(e);
  // `*(T *)p`: the cast names the size, copyin() the memory.
  const Cast* c = if_a<Cast>(static_cast<const Expr*>(e.operand));
  return {"*(" + type_text(*e.type) + " *)copyin((uintptr_t)" + text(c ? *c->operand : *e.operand, prefix) + ", " + std::to_string(e.type->size) + ")", prefix};
}

Text DPrinter::cast(const Cast& e) {
  const std::string operand = text(*e.operand, prefix), to = "(" + type_text(*e.type) + ")";
  return {(operand.starts_with(to) ? "" : to) + operand, prefix}; // arguments may have this cast already
}

Text DPrinter::tuple(const Tuple& e) {
  refuse(e.where, "a tuple", "it has tuples as keys only", "use a variable for each element");
  return {"0"};
}

// Characters of kernel structures are texts.
Text DPrinter::expression(const Expr& e) {
  const Text value = CLike::expression(e);
  const FieldRef* f = if_a<FieldRef>(&e);
  if (f && e.type && e.type->is(Kind::string) && !value.text.starts_with("stringof(") && !value.text.starts_with("copyinstr(")) return {"stringof(" + value.text + ")"};
  return value;
}

// ----------------------------------------------------------------------------------------------- builtins

static constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"pid", "pid"},         {"tid", "tid"},         {"ppid", "ppid"},       {"comm", "execname"},  {"uid", "uid"},         {"gid", "gid"},          {"cpu", "cpu"},    {"cpid", "$target"},
    {"nsecs", "timestamp"}, {"func", "probefunc"}, {"curtask", "curthread"}, {"retval", "arg1"}, {"kstack", "stack()"}, {"ustack", "ustack()"}, {"rand", "rand()"},
};

Text DPrinter::name(const Name& e) {
  if (e.arg_number >= 0) return {"arg" + std::to_string(e.arg_number)};
  if (e.name == "retval" && e.type && e.type->is_integer() && e.type->size < 8) return {"(" + type_text(*e.type) + ")arg1", prefix};
  if (e.name == "elapsed") {
    uses_elapsed_ = true;
    return {"timestamp - started", sum};
  }
  for (const auto& [acu, d] : names)
    if (e.name == acu) return {std::string(d)};
  if (!e.builtin) return {std::string(e.name)};
  refuse(e.where, base::quoted(e.name), "it has nothing like it", {});
  return {"0"};
}

Text DPrinter::str(const Call& e) {
  const Expr& of = *e.arguments[0];
  reads_text_ = true;
  const bool is_text = of.type && (of.type->is(Kind::string) || of.type->is(Kind::array));
  if (is_text && e.arguments.size() == 1) return expression(of);
  if (is_text) return {"substr(" + text(of) + ", 0, " + text(*e.arguments[1]) + ")"};
  if (!is_user(of)) return {"stringof(" + text(of) + ")"};
  const std::string address = (of.type && of.type->is(Kind::pointer) && of.kind != ExprKind::field ? "(uintptr_t)" : "") + text(of, prefix);
  // The length counts the NUL.
  return {"copyinstr(" + address + (e.arguments.size() > 1 ? ", " + text(*e.arguments[1], sum) + " - 1" : "") + ")"};
}

Text DPrinter::call(const Call& e) {
  const std::string_view name = e.name;
  const auto arg = [&](size_t i) { return text(*e.arguments[i]); };
  if (e.recipe) return recipe_value(*e.recipe, *e.type, e.where, name);
  if (name == "str") return str(e);
  if (name == "has_key") return has_key(e);
  if (name == "kptr" || name == "uptr") return expression(*e.arguments[0]);
  if (name == "strncmp") return {"substr(" + arg(0) + ", 0, " + arg(2) + ") != substr(" + arg(1) + ", 0, " + arg(2) + ")", equality};
  if (name == "strcontains") return {"index(" + list(e.arguments) + ") >= 0", relation};
  if (name == "strstr") return {"index(" + list(e.arguments) + ")"};
  if (name == "str_concat") return {"strjoin(" + list(e.arguments) + ")"};
  if (name == "strlen") return {"strlen(" + arg(0) + ")"};
  if (name == "ksym") return {"sym(" + text(*e.arguments[0]) + ")"};
  if (name == "usym") return {"usym(" + text(*e.arguments[0]) + ")"};
  if (name == "bswap") return {std::string(e.type->size == 2 ? "ntohs(" : e.type->size == 4 ? "ntohl(" : "ntohll(") + arg(0) + ")"};
  if (name == "reg") return words_for(nullptr).reg(as<String>(*e.arguments[0]).value);
  if (name == "exit") return {"exit(" + (e.arguments.empty() ? "0" : arg(0)) + ")"};
  if (name == "system") {
    is_destructive_ = true;
    return {"system(" + list(e.arguments) + ")"};
  }
  if (name == "kstack" || name == "ustack") {
    std::string depth;
    for (const Expr* a : e.arguments)
      if (a->kind == ExprKind::integer) depth = text(*a);
    return {(name == "kstack" ? "stack(" : "ustack(") + depth + ")"};
  }
  for (const auto& [acu, d] : names)
    if (name == acu) return {std::string(d)};
  refuse(e.where, base::quoted(name) + "() here", "it has nothing like it", {});
  return {"0"};
}

} // namespace emit
