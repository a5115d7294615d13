#include "emit/d_printer.h"

#include "base/text.h"
#include "emit/raw_argument.h"
#include "emit/recipe_text.h"
#include "emit/statements.h"
#include "spec/arch.h"
#include "type/format_string.h"

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

// ------------------------------------------------------------------------------------------------ clauses

void DPrinter::begin_clause(base::Range where) {
  if (is_open_) return;
  std::string predicate;
  for (const std::string& g : guards_) predicate += (predicate.empty() ? "" : " && ") + g;
  clauses_.push_back({.predicate = predicate, .text = {}, .where = where});
  is_open_ = true;
}

void DPrinter::finish_clause() {
  if (is_open_) clauses_.back().text += out_.take();
  is_open_ = false;
}

void DPrinter::under(const std::string& guard, const Block& b) {
  finish_clause();
  guards_.push_back(guard);
  block(b);
  finish_clause();
  guards_.pop_back();
}

static bool has_conditions(const Block& b) {
  bool found = false;
  walk_statements(&b, [&](const Stmt& s) { found |= s.kind == StmtKind::conditional; });
  return found;
}

void DPrinter::conditional(const If& s) {
  // What nothing else depends on is the predicate itself.
  if (!s.otherwise && !has_conditions(*s.then)) {
    finish_clause();
    return under(text(*s.condition, logical_and + 1), *s.then);
  }
  const std::string flag = "this->" + names_.fresh("is_taken");
  begin_clause(s.where);
  out_.line(flag + " = " + text(*s.condition, choice + 1) + " ? 1 : 0;");
  under(flag, *s.then);
  if (s.otherwise) under("!" + flag, *s.otherwise);
}

std::vector<DClause> DPrinter::clauses(const Probe& p) {
  clauses_.clear();
  guards_.clear();
  if (p.predicate) guards_.push_back(text(*p.predicate, logical_and + 1));
  // A predicate that the first clause could change is kept for the others.
  const bool is_long = has_conditions(*p.body) && p.predicate;
  if (is_long) {
    const std::string flag = "this->" + names_.fresh("is_wanted");
    const std::string condition = guards_[0];
    guards_.clear();
    begin_clause(p.where);
    out_.line(flag + " = " + condition + " ? 1 : 0;");
    under(flag, *p.body);
  } else {
    block(*p.body);
  }
  finish_clause();
  if (clauses_.empty()) clauses_.push_back({.predicate = guards_.empty() ? "" : guards_[0], .text = {}, .where = p.where});
  return std::move(clauses_);
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

Text DPrinter::cast(const Cast& e) { return {"(" + type_text(*e.type) + ")" + text(*e.operand, prefix), prefix}; }

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

// --------------------------------------------------------------------------------------------- statements

// Times are dates (%Y) of walltimestamp, symbols %a; the rest is C's.
std::string DPrinter::printf_arguments(const Call& e) {
  std::string problem, format, out;
  size_t next = 1;
  for (const type::Conversion& c : type::parse_format(as<String>(*e.arguments[0]).value, problem)) {
    for (const char letter : c.text) format += letter == '%' ? std::string("%%") : std::string(1, letter);
    if (!c.conversion) continue;
    const Expr& value = *e.arguments[next++];
    const Call* of = if_a<Call>(&value);
    const std::string_view called = of ? of->name : std::string_view();
    const bool is_time = called == "strftime", is_symbol = called == "ksym" || called == "usym";
    format += "%" + c.flags + (c.width >= 0 ? std::to_string(c.width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "");
    format += is_time ? 'Y' : is_symbol ? (called == "ksym" ? 'a' : 'A') : c.conversion;
    out += ", " + (is_time ? "walltimestamp" : is_symbol ? text(*of->arguments[0]) : text(value));
  }
  return quoted_text(format) + out;
}

std::string DPrinter::map_line(const Map& m) {
  if (keeping_of(m) != Keeping::global || m.key) return {};
  const bool is_text = m.value && m.value->is(Kind::string);
  return "printf(" + quoted_text("@" + std::string(m.name) + ": " + (is_text ? "%s" : "%d") + "\n") + ", " + entry(m, nullptr) + ");";
}

void DPrinter::print(const Call& e) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(e.arguments[0]));
  if (m && keeping_of(*m->map) == Keeping::aggregation) {
    if (e.arguments.size() > 1) refuse(e.where, "print() of a part of a map", "trunc() would remove the other entries", "print(@" + std::string(m->name) + ")");
    if (m->map->value->is(Kind::stats))
      for (const std::string_view part : {"count", "average", "total"}) out_.line("printa(" + entry(*m->map, nullptr, part) + ");");
    else
      out_.line("printa(" + entry(*m->map, nullptr) + ");");
    return;
  }
  if (m && m->map->key && !m->key) return refuse(e.where, "print() of an array", "associative arrays can't be walked", "use an aggregation: @m[k] = sum(n)");
  const Expr& value = *e.arguments[0];
  const Name* name = if_a<Name>(&value);
  if (name && (name->name == "kstack" || name->name == "ustack")) return out_.line(text(value) + ";");
  out_.line("printf(" + std::string(value.type->is(Kind::string) ? "\"%s\\n\"" : "\"%d\\n\"") + ", " + text(value) + ");");
}

void DPrinter::remove(const Call& e, const Map& m, const Expr* key) {
  if (keeping_of(m) == Keeping::aggregation) return refuse(e.where, "`delete`() of an entry of an aggregation", "trunc() removes all of them", "clear(@" + std::string(m.name) + ")");
  out_.line(entry(m, key) + " = " + (m.value->is(Kind::string) ? "NULL" : "0") + ";");
  if (keys_.is_needed(m)) out_.line(entry(m, key, "known") + " = 0;");
}

void DPrinter::call_statement(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  const Unary* u = if_a<Unary>(&e);
  if (u) {
    CLike::call_statement(e);
    const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(u->operand));
    if (m && keys_.is_needed(*m->map)) out_.line(entry(*m->map, m->key, "known") + " = 1;");
    return;
  }
  const MapRef* m = c && !c->arguments.empty() ? if_a<MapRef>(static_cast<const Expr*>(c->arguments[0])) : nullptr;
  const std::string_view name = c ? c->name : std::string_view();
  if (name == "printf" || name == "errorf" || name == "warnf") return out_.line("printf(" + printf_arguments(*c) + ");");
  if (name == "time") return out_.line("printf(\"%Y" + std::string(!c->arguments.empty() && !as<String>(*c->arguments[0]).value.ends_with('\n') ? " " : "\\n") + "\", walltimestamp);");
  if (name == "print") return print(*c);
  if (name == "delete" && m) return remove(*c, *m->map, c->arguments.size() > 1 ? c->arguments[1] : m->key);
  if ((name == "clear" || name == "zero") && m) {
    if (keeping_of(*m->map) == Keeping::aggregation) {
      if (m->map->value->is(Kind::stats))
        for (const std::string_view part : {"count", "average", "total"}) out_.line((name == "clear" ? "trunc(" : "clear(") + entry(*m->map, nullptr, part) + ");");
      else
        out_.line((name == "clear" ? "trunc(" : "clear(") + entry(*m->map, nullptr) + ");");
      return;
    }
    if (!m->map->key) return out_.line(entry(*m->map, nullptr) + " = " + (m->map->value->is(Kind::string) ? "NULL" : "0") + ";");
    // At the end nothing reads an array any more.
    if (event() && event()->kind == probe::Kind::end) return;
    return refuse(e.where, "`clear`() of an array", "associative arrays can't be walked", "assign 0 to each entry when it is done with");
  }
  CLike::call_statement(e);
}

void DPrinter::let(const Let& s) {
  if (s.variable) out_.line("this->" + variable_name(*s.variable) + " = " + (s.value ? text(*s.value) : s.variable->type && s.variable->type->is(Kind::string) ? "\"\"" : "0") + ";");
}

void DPrinter::assign(const Assign& s) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(s.target));
  const Call* c = if_a<Call>(static_cast<const Expr*>(s.value));
  if (m && c && c->builtin && c->builtin->group == spec::Group::aggregation) {
    const std::string value = c->arguments.empty() ? "" : text(*c->arguments[0]);
    const type::Type& t = *m->map->value;
    if (c->name == "stats") {
      out_.line(entry(*m->map, m->key, "count") + " = count();");
      out_.line(entry(*m->map, m->key, "average") + " = avg(" + value + ");");
      return out_.line(entry(*m->map, m->key, "total") + " = sum(" + value + ");");
    }
    if (c->name == "hist") return out_.line(entry(*m->map, m->key) + " = quantize(" + value + ");");
    if (c->name == "lhist")
      return out_.line(entry(*m->map, m->key) + " = lquantize(" + value + ", " + std::to_string(t.low) + ", " + std::to_string(t.high) + ", " + std::to_string(t.step) + ");");
    return out_.line(entry(*m->map, m->key) + " = " + std::string(c->name) + "(" + value + ");");
  }
  CLike::assign(s);
  if (m && keys_.is_needed(*m->map)) out_.line(entry(*m->map, m->key, "known") + " = 1;");
}

void DPrinter::range(const ForRange& s) {
  const Integer* first = if_a<Integer>(static_cast<const Expr*>(s.first));
  const Integer* last = if_a<Integer>(static_cast<const Expr*>(s.last));
  constexpr uint64_t most = 64;
  if (!first || !last || last->value - first->value > most)
    return refuse(s.where, "a loop over more than 64 numbers, or over numbers that are not known", "it has no loops, and this can't be unrolled", "loop over constants: for ($i : 0..8)");
  for (uint64_t i = first->value; i < last->value; i++) {
    begin_clause(s.where);
    out_.line("this->" + variable_name(*s.variable) + " = " + std::to_string(i) + ";");
    block(*s.body);
  }
}

void DPrinter::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::conditional: return conditional(as<If>(s));
  case StmtKind::loop_range: return range(as<ForRange>(s));
  case StmtKind::block: return block(*as<BlockStmt>(s).block);
  case StmtKind::unroll: {
    const Integer* count = if_a<Integer>(static_cast<const Expr*>(as<Unroll>(s).count));
    for (uint64_t i = 0; count && i < count->value; i++) block(*as<Unroll>(s).body);
    return;
  }
  default: break;
  }
  begin_clause(s.where);
  CLike::statement(s);
}

} // namespace emit
