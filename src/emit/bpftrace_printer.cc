#include "emit/bpftrace_printer.h"

#include "base/text.h"
#include "probe/probe.h"
#include "spec/arch.h"
#include "type/format_string.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

// ------------------------------------------------------------------------------------------ has_key()

Text BpftracePrinter::has_key(const Call& e) {
  const Map& m = *as<MapRef>(*e.arguments[0]).map;
  if (at_least(22)) return {"has_key(" + map_name(m) + ", " + text(*e.arguments[1]) + ")"};
  if (keys_.is_needed(m)) return {map_with_key(m, keys_name(m), e.arguments[1])};
  const std::string value = map_with_key(m, map_name(m), e.arguments[1]);
  return {value + (m.value->is(Kind::string) ? " != \"\"" : " != 0"), equality};
}

// ------------------------------------------------------------------------------------------------- maps

// The key as the index of a map: the elements of a tuple that is written there.
std::string BpftracePrinter::key_of(const Expr& key) {
  const Tuple* t = if_a<Tuple>(&key);
  if (!t || !t->names.empty()) return text(key);
  return list(t->elements);
}

std::string BpftracePrinter::map_with_key(const Map&, std::string_view name, const Expr* key) {
  return key ? std::string(name) + "[" + key_of(*key) + "]" : std::string(name);
}

Text BpftracePrinter::map(const MapRef& e) {
  if (!at_least(21) && e.map->value && e.map->value->is_aggregation())
    refuse(e.where, "the value of `@" + std::string(e.name) + "`", "version 0.21 is the first that reads aggregations", "count in a plain map: @x++");
  return {map_with_key(*e.map, map_name(*e.map), e.key)};
}

Text BpftracePrinter::tuple(const Tuple& e) {
  if (!e.names.empty()) {
    std::string out = "(";
    for (size_t i = 0; i < e.elements.size(); i++) out += (i ? ", " : "") + std::string(e.names[i]) + "=" + text(*e.elements[i]);
    return {out + ")"};
  }
  return CLike::tuple(e);
}

// ------------------------------------------------------------------------------------------------ types

std::string BpftracePrinter::type_class(const type::Type* t) const {
  if (!t || at_least(22)) return {};
  return t->is_integer() ? "integer" : t->is(Kind::string) ? "string" : type::to_string(*t);
}

std::string BpftracePrinter::type_text(const type::Type& t) {
  switch (t.kind) {
  case Kind::boolean: return at_least(24) ? "bool" : "uint8";
  case Kind::integer: return (t.is_signed || t.is_char ? "int" : "uint") + std::to_string(t.size * 8);
  case Kind::enumeration:
    if (t.name.empty() || !at_least(22) || !job_.machine.kernel_type("enum", t.name)) return (t.is_signed ? "int" : "uint") + std::to_string(t.size * 8);
    return "enum " + std::string(t.name);
  case Kind::pointer: {
    if (!t.element || t.element->is(Kind::none)) return at_least(22) ? "void *" : "int8 *";
    const type::Type& to = *t.element;
    if (to.is(Kind::array)) return to.element ? type_text(*to.element) + " *" : "void *";
    const std::string name = type_text(to);
    return name + (name.ends_with('*') ? "*" : " *");
  }
  case Kind::structure: return structures_.name(t);
  default: return type::to_string(t);
  }
}

std::string BpftracePrinter::deref(const type::Type& t, const Text& address) {
  const std::string at = address.precedence < prefix ? "(" + address.text + ")" : address.text;
  return "*(" + type_text(t) + " *)" + at;
}

Text BpftracePrinter::cast(const Cast& e) {
  const type::Type& t = *e.type;
  if (t.is(Kind::array)) return {"(" + type_text(*t.element) + "[" + std::to_string(t.count) + "])" + text(*e.operand, prefix), prefix};
  // Without booleans, the comparison is the number.
  if (t.is(Kind::boolean) && !at_least(24)) return {text(*e.operand, equality + 1) + " != 0", equality};
  const std::string operand = text(*e.operand, prefix), to = "(" + type_text(t) + ")";
  return {(operand.starts_with(to) ? "" : to) + operand, prefix}; // arguments may have this cast already
}

// ------------------------------------------------------------------------------- arguments and members

// Argument registers have names as arguments where a function is entered.
static std::string register_text(std::string_view reg, const probe::Event* event) {
  const auto& arguments = spec::arch.arguments;
  const auto found = std::ranges::find(arguments, reg);
  if (event && event->at_entry && found != arguments.end()) return "arg" + std::to_string(found - arguments.begin());
  return "reg(\"" + std::string(reg) + "\")";
}

static RecipeWords words_for(const probe::Event* event) {
  RecipeWords words;
  words.reg = [event](std::string_view reg) { return Text{register_text(reg, event)}; };
  const auto integer = [](uint32_t size, bool is_signed) { return (is_signed ? "int" : "uint") + std::to_string(size * 8); };
  words.load = [integer](const Text& address, uint32_t size, bool is_signed) {
    const std::string at = address.precedence < prefix ? "(" + address.text + ")" : address.text;
    return Text{"*(" + integer(size, is_signed) + " *)" + at, prefix};
  };
  words.extend = [integer](const Text& value, uint32_t size, bool is_signed) {
    const std::string operand = value.precedence < prefix ? "(" + value.text + ")" : value.text;
    return Text{"(" + integer(size, is_signed) + ")" + operand, prefix};
  };
  words.code_start = "(uint64)curtask->mm->start_code";
  words.thread_base = "(uint64)curtask->thread.fsbase";
  return words;
}

static const probe::Recipe* recipe_of(const Expr& e) {
  if (const FieldRef* f = if_a<FieldRef>(&e)) return f->recipe;
  if (const Name* n = if_a<Name>(&e)) return n->arg_number < 0 ? n->recipe : nullptr;
  if (const Call* c = if_a<Call>(&e)) return c->recipe;
  return nullptr;
}

// Where a structure or array of the traced program is; nothing: the expression is not one.
std::optional<Text> BpftracePrinter::recipe_address(const Expr& e) {
  const probe::Recipe* recipe = recipe_of(e);
  if (!recipe || recipe->kind != probe::Recipe::address) return std::nullopt;
  return recipe_text(recipe->steps, words_for(event()));
}

Text BpftracePrinter::recipe_value(const probe::Recipe& recipe, const type::Type& t, base::Range where, std::string_view what) {
  const auto value = recipe.kind == probe::Recipe::value || recipe.kind == probe::Recipe::address ? recipe_text(recipe.steps, words_for(event())) : std::nullopt;
  if (!value) {
    refuse(where, what, "where it is takes more than registers and offsets", "read it in acu, or use the numbered arguments");
    return {"0"};
  }
  if (recipe.kind == probe::Recipe::address) return {deref(t, *value), prefix};
  if (t.is_integer() && t.size == 8) return *value;
  const std::string cast = "(" + type_text(t) + ")";
  if (value->text.starts_with(cast)) return *value;
  return {cast + (value->precedence < prefix ? "(" + value->text + ")" : value->text), prefix};
}

// args.NAME of the kernel's probes.
Text BpftracePrinter::argument(const FieldRef& e) {
  const probe::Event& at = *event();
  const bool is_named = at.kind == probe::Kind::tracepoint || at.kind == probe::Kind::fentry || at.kind == probe::Kind::fexit;
  if (is_named) return {std::string(at_least(19) ? "args." : "args->") + std::string(e.name)};
  const type::Type* args = at.args ? at.args : e.operand->type;
  const auto fields = args->fields();
  const auto field = std::ranges::find(fields, e.name, &type::Field::name);
  const size_t number = at.kind == probe::Kind::rawtracepoint ? e.field.offset / 8 : static_cast<size_t>(field - fields.begin());
  const type::Type& t = *e.type;
  if (number >= 6 || field == fields.end() || !(t.is_integer() || t.is(Kind::pointer))) {
    refuse(e.where, "`args." + std::string(e.name) + "`", "it has arguments only by their numbers, and this one is in no register", "use fentry, whose arguments have names");
    return {"0"};
  }
  const std::string word = "arg" + std::to_string(number);
  if (t.is_integer() && t.size == 8 && !t.is_signed) return {word};
  return {"(" + type_text(t) + ")" + word, prefix};
}

Text BpftracePrinter::field(const FieldRef& e) {
  if (e.recipe) return recipe_value(*e.recipe, *e.type, e.where, job_.source.text(e.where));
  const Name* of = if_a<Name>(static_cast<const Expr*>(e.operand));
  if (of && of->name == "args") return argument(e);
  const type::Type* t = e.operand->type;
  if (t && t->is(Kind::pointer)) t = t->element;
  const bool is_context = of && of->name == "ctx";
  if (t && t->is(Kind::structure) && !is_context) structures_.use(*t, e.field);
  // A structure in the program's memory: its members are read one by one.
  if (const auto address = e.through_pointer ? std::nullopt : recipe_address(*e.operand)) {
    const std::string at = address->precedence < prefix ? "(" + address->text + ")" : address->text;
    return {"((" + type_text(*t) + " *)" + at + ")->" + std::string(e.name)};
  }
  // The predecessor of `->` in older versions: *p.m does not bind as (*p).m.
  return CLike::field(e);
}

Text BpftracePrinter::index(const Index& e) {
  const bool is_text = e.operand->type && e.operand->type->is(Kind::string);
  if (is_text && !at_least(24))
    refuse(e.where, "a byte of a text", "version 0.24 is the first that has it", "read it through a pointer: *(uint8 *)(p + 1)");
  // Only numbers that are known could be indexes.
  const type::Type* of = e.operand->type;
  if (!at_least(20) && of && of->is(Kind::pointer) && of->element && e.index->kind != ExprKind::integer) {
    const type::Type& to = *of->element;
    const std::string address = "((uint64)" + text(*e.operand, prefix) + " + " + text(*e.index, product) + " * " + std::to_string(to.size) + ")";
    if (to.is(Kind::pointer)) return {"(" + type_text(to) + ")*(uint64 *)" + address, prefix};
    return {"*(" + type_text(to) + " *)" + address, prefix};
  }
  return CLike::index(e);
}

// ---------------------------------------------------------------------------------------------- builtins

Text BpftracePrinter::curtask(std::string_view path, const Expr&) { return {"curtask->" + std::string(path)}; }

Text BpftracePrinter::name(const Name& e) {
  if (e.arg_number >= 0) {
    const int registers = static_cast<int>(spec::arch.arguments.size());
    if (e.name.starts_with('s')) return {"sarg" + std::to_string(e.arg_number - registers)};
    return {"arg" + std::to_string(e.arg_number)};
  }
  if (e.recipe && e.name != "retval") return recipe_value(*e.recipe, *e.type, e.where, e.name);
  if (e.name == "retval" && e.type && (e.type->is(Kind::pointer) || (e.type->is_integer() && (e.type->size < 8 || e.type->is_signed))) && event() &&
      event()->kind != probe::Kind::fexit)
    return {"(" + type_text(*e.type) + ")retval", prefix};
  if (e.name == "ppid" && !at_least(26)) return curtask("real_parent->tgid", e);
  if (e.name == "leader_tid") return curtask("group_leader->pid", e);
  if (e.name == "pcomm") return curtask("real_parent->comm", e);
  if (e.name == "leader_comm") return curtask("group_leader->comm", e);
  return {std::string(e.name)};
}

// Older versions know fewer flags, and names of enumerators not at all.
std::string BpftracePrinter::format_arguments(const Call& e) {
  const String* format = if_a<String>(static_cast<const Expr*>(e.arguments[0]));
  if (at_least(22) || !format) return list(e.arguments);
  std::string problem, out, arguments;
  size_t next = 1, bytes = 0;
  for (const type::Conversion& c : type::parse_format(format->value, problem)) {
    for (const char letter : c.text) out += letter == '%' ? std::string("%%") : std::string(1, letter);
    if (!c.conversion) continue;
    const Expr& value = *e.arguments[next++];
    std::string flags = c.flags, length = c.length;
    char conversion = c.conversion;
    int width = c.width;
    if (const size_t at = flags.find('#'); at != flags.npos) {
      flags.erase(at, 1);
      out += conversion == 'x' || conversion == 'X' ? "0x" : "0";
      width = width > 2 ? width - 2 : width;
    }
    if (conversion == 's' && value.type && value.type->is_integer()) conversion = 'd';
    out += "%" + flags + (width >= 0 ? std::to_string(width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "") + length + conversion;
    if (c.variant) out += c.variant;
    const bool is_made = value.kind == ExprKind::ternary || value.kind == ExprKind::map || value.kind == ExprKind::call;
    if (value.type && value.type->is(Kind::string) && is_made) bytes += 64;
    arguments += ", " + text(value);
  }
  if (bytes > 384)
    refuse(e.where, "printf() of so many texts", "its programs have 512 bytes of stack, and a text takes 64 of them", "print in several calls of printf()");
  // Without conversions, the text is printed as it is there: also `%%`.
  if (arguments.empty() && out.find("%%") != out.npos) {
    base::replace_all(out, "%%", "%");
    return "\"%s\", " + quoted_text(out);
  }
  return quoted_text(out) + arguments;
}

Text BpftracePrinter::ternary(const Ternary& e) {
  if (at_least(24)) return CLike::ternary(e);
  for (const Expr* arm : {static_cast<const Expr*>(e.then ? e.then : e.condition), static_cast<const Expr*>(e.otherwise)})
    if (const Call* c = if_a<Call>(arm); c && (c->name == "strerror" || c->name == "strftime" || c->name == "ksym" || c->name == "usym"))
      refuse(arm->where, base::quoted(c->name) + "() in a choice", "version 0.24 is the first that has it", "choose with if, and print in each branch");
  // A pointer is no condition there.
  if (!e.condition->type || !e.condition->type->is(Kind::pointer) || !e.then) return CLike::ternary(e);
  return {"(uint64)" + text(*e.condition, prefix) + " ? " + text(*e.then, choice + 1) + " : " + text(*e.otherwise, choice + 1), choice};
}

static bool is_literal_value(const Expr& e) { return e.kind == ExprKind::integer || e.kind == ExprKind::string || e.kind == ExprKind::boolean; }

std::string BpftracePrinter::plain_arguments(const Call& e) {
  std::string out;
  for (const Expr* a : e.arguments)
    if (const MapRef* m = if_a<MapRef>(a); m && a == e.arguments[0] && e.name != "printf")
      out += map_with_key(*m->map, map_name(*m->map), m->key); // the map itself: print(), clear()
    else
      out += (out.empty() ? "" : ", ") + (a->kind == ExprKind::name && !builtin_of(*a) ? std::string(as<Name>(*a).name) : text(*a));
  return out;
}

Text BpftracePrinter::call(const Call& e) {
  const std::string_view name = e.name;
  if (e.recipe) return recipe_value(*e.recipe, *e.type, e.where, name);
  if (name == "has_key") return has_key(e);
  if ((name == "delete") && !at_least(22)) {
    const MapRef& m = as<MapRef>(*e.arguments[0]);
    const Expr* key = e.arguments.size() > 1 ? e.arguments[1] : m.key;
    return {"delete(" + map_with_key(*m.map, map_name(*m.map), key) + ")"};
  }
  if (name == "printf" || name == "errorf" || name == "warnf") return {std::string(name == "printf" || !at_least(24) ? "printf" : name) + "(" + format_arguments(e) + ")"};
  if (name == "exit" && !e.arguments.empty() && !at_least(21)) return {"exit()"};
  if (name == "hist" && e.arguments.size() > 1 && !at_least(20))
    refuse(e.where, "hist() with bits", "version 0.20 is the first that has it", "leave out the second argument");
  if (name == "nsecs" && !e.arguments.empty() && !at_least(19))
    refuse(e.where, "nsecs() with a clock", "version 0.19 is the first that has it", "nsecs is the time since the host was started, without that in suspension");
  // A thread's ids as the initial namespace has them are all that older versions know.
  if ((name == "tid" || name == "pid") && !at_least(26)) return {std::string(name)};
  if (name == "ppid" || name == "leader_tid" || name == "comm" || name == "pcomm" || name == "leader_comm") {
    constexpr std::pair<std::string_view, std::string_view> paths[] = {
        {"ppid", "real_parent->tgid"}, {"leader_tid", "group_leader->pid"}, {"comm", "comm"}, {"pcomm", "real_parent->comm"}, {"leader_comm", "group_leader->comm"}};
    const auto path = std::ranges::find(paths, name, &std::pair<std::string_view, std::string_view>::first)->second;
    if (e.arguments.empty()) return name == "comm" ? Text{"comm"} : curtask(path, e);
    if (e.arguments[0]->type && e.arguments[0]->type->is(Kind::pointer)) return {text(*e.arguments[0], postfix) + "->" + std::string(path)};
    refuse(e.where, base::quoted(name) + "() with a number", "names are those of threads that are at a probe", "comm");
  }
  // What is text already needs no str(), which older versions refuse there.
  if (name == "str" && e.arguments[0]->type && e.arguments[0]->type->is(Kind::string)) {
    if (e.arguments.size() == 1) return expression(*e.arguments[0]);
    if (!at_least(24)) refuse(e.where, "str() of a part of a text", "version 0.24 is the first that has it", "read the text with its length: str(p, n)");
  }
  if (e.arguments.empty() && e.builtin && e.builtin->form == spec::Form::both && e.builtin->group != spec::Group::output) return {std::string(name)};
  return {std::string(name) + "(" + plain_arguments(e) + ")"};
}

// -------------------------------------------------------------------------------------------- statements

std::string BpftracePrinter::assigned(const Expr& target) {
  const MapRef* m = if_a<MapRef>(&target);
  return m ? map_with_key(*m->map, map_name(*m->map), m->key) : text(target);
}

void BpftracePrinter::let(const Let& s) {
  if (!s.variable) return;
  const std::string name = "$" + variable_name(*s.variable);
  if (!s.value) {
    if (at_least(22)) out_.line("let " + name + ";");
    return;
  }
  // What is assigned later may be wider than the first value.
  const type::Type* t = s.variable->type;
  const bool is_cast = t && t->is_integer() && !t->is(Kind::boolean) && is_literal_value(*s.value) && (s.variable->declared || s.name == "value");
  out_.line((at_least(22) ? "let " : "") + name + " = " + (is_cast ? "(" + type_text(*t) + ")" + text(*s.value, prefix) : text(*s.value)) + ";");
}

void BpftracePrinter::assign(const Assign& s) {
  CLike::assign(s);
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(s.target));
  if (m && keys_.is_needed(*m->map)) out_.line(map_with_key(*m->map, keys_name(*m->map), m->key) + " = 1;");
}

void BpftracePrinter::call_statement(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  const Unary* u = if_a<Unary>(&e);
  CLike::call_statement(e);
  const MapRef* m = c && !c->arguments.empty() ? if_a<MapRef>(static_cast<const Expr*>(c->arguments[0]))
                    : u                        ? if_a<MapRef>(static_cast<const Expr*>(u->operand))
                                               : nullptr;
  if (!m || !keys_.is_needed(*m->map)) return;
  const std::string known = keys_name(*m->map);
  if (u) return out_.line(map_with_key(*m->map, known, m->key) + " = 1;");
  if (c->name == "delete") return out_.line("delete(" + map_with_key(*m->map, known, c->arguments.size() > 1 ? c->arguments[1] : m->key) + ");");
  if (c->name == "clear") out_.line("clear(" + known + ");");
}

void BpftracePrinter::range(const ForRange& s) {
  if (!at_least(24)) return CLike::range(s);
  out_.line("for ($" + variable_name(*s.variable) + " : " + text(*s.first, postfix) + ".." + text(*s.last, postfix) + ") {");
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  body(*s.body);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.line("}");
}

void BpftracePrinter::statement(const Stmt& s) {
  if (s.kind != StmtKind::loop_map && s.kind != StmtKind::unroll) return CLike::statement(s);
  out_.comments_above(s.where);
  const Block* inner = nullptr;
  if (s.kind == StmtKind::unroll) {
    out_.line("unroll(" + text(*as<Unroll>(s).count) + ") {");
    inner = as<Unroll>(s).body;
  } else {
    const ForMap& f = as<ForMap>(s);
    out_.line("for ($" + variable_name(*f.variable) + " : " + map_name(*f.map->map) + ") {");
    inner = f.body;
  }
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  body(*inner);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.line("}");
}

} // namespace emit
