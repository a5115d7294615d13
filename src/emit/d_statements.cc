// Statements of D: see d_printer.h.
#include "emit/d_printer.h"

#include "emit/statements.h"
#include "type/format_string.h"

namespace emit {

using namespace lang;
using type::Kind;

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
    // Names of numbers (enumerators) are not known there.
    const char conversion = c.conversion == 's' && value.type && value.type->is_integer() ? 'd' : c.conversion;
    format += is_time ? 'Y' : is_symbol ? (called == "ksym" ? 'a' : 'A') : conversion;
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
