// The steps of a conversion.
#include "stap/lowering.h"

#include "base/text.h"
#include "lang/parse.h"
#include "lang/source_text.h"
#include "lang/walk.h"
#include "spec/diagnostics.h"
#include "stap/walk.h"

#include <algorithm>

namespace stap {

using namespace spec;
using base::quoted;

const Node* array_of(const Node& n) {
  if (n.kind == NodeKind::name) return &n;
  return n.kind == NodeKind::index && n.parts[0] && n.parts[0]->kind == NodeKind::name ? n.parts[0] : nullptr;
}

Lowering::Lowering(const base::Source& source, const std::vector<std::string>& words, base::Diagnostics& diagnostics) : source_(source), words_(words), diagnostics_(diagnostics), program_(std::make_unique<lang::Program>()) {}

// Expressions of the tables are parsed once, as macros; copies of their bodies become part of the script.
void Lowering::make_macros() {
  std::string text;
  for (const FunctionRow& f : functions) {
    std::string parameters;
    for (std::string_view p : base::split(f.parameters, ' '))
      if (!p.empty()) parameters += (parameters.empty() ? "" : ", ") + std::string(p);
    text += "macro f_" + std::string(f.name) + "(" + parameters + ") { " + std::string(f.expression) + " }\n";
  }
  for (const Helper& h : helpers) text += h.text;
  for (size_t i = 0; i < variable_rows.size(); i++) text += "macro v_" + std::to_string(i) + "() { " + std::string(variable_rows[i].expression) + " }\n";
  table_source_ = std::make_unique<base::Source>("tables", text);
  base::Diagnostics own;
  table_ = lang::parse(*table_source_, {}, own);
  for (const lang::Macro* m : table_->macros) macros_[std::string(m->name)] = m;
}

lang::Expr* Lowering::expand(const std::string& macro, const std::vector<lang::Expr*>& arguments, Range where) {
  const auto found = macros_.find(macro);
  if (found == macros_.end() || !found->second->body || !found->second->body->value) return at(where).number(0);
  lang::Expr* e = lang::copy(*program_, found->second->body->value);
  lang::Rewriting how;
  how.expression = [&](lang::Expr& x) -> lang::Expr* {
    x.where = where;
    if (const lang::Name* n = lang::if_a<lang::Name>(&x))
      for (size_t i = 0; i < arguments.size() && i < found->second->parameters.size(); i++)
        if (found->second->parameters[i].name == n->name) return lang::copy(*program_, arguments[i]);
    return &x;
  };
  how.statement = [](lang::Stmt&) {};
  lang::rewrite(e, how);
  return e;
}

// A call of a function of helpers.h, which becomes part of the script.
lang::Expr* Lowering::help(std::string_view helper, const std::vector<lang::Expr*>& arguments, Range where) {
  helped_.insert(std::string(helper));
  if (helper == "thread_indent") helped_.insert("number_text");
  return at(where).call(helper_name(helper), arguments);
}

std::string_view Lowering::helper_name(std::string_view helper) {
  std::string name(helper);
  while (std::ranges::any_of(script_.functions, [&](const Function& f) { return f.name == name; })) name += "_";
  return keep(name);
}

// In front of the script's functions, each with its comment: their place says which.
void Lowering::add_helpers() {
  size_t count = 0;
  for (size_t i = 0; i < std::size(helpers); i++) {
    if (!helped_.contains(std::string(helpers[i].name))) continue;
    const auto found = std::ranges::find_if(table_->functions, [&](const lang::Function* f) { return f->name == helpers[i].name; });
    if (found == table_->functions.end()) continue;
    lang::Function* f = *found;
    f->name = helper_name(helpers[i].name);
    const Range nowhere = {UINT32_MAX, UINT32_MAX};
    lang::Rewriting how;
    how.expression = [&](lang::Expr& e) -> lang::Expr* {
      if (lang::Call* call = lang::if_a<lang::Call>(&e); call && helped_.contains(std::string(call->name))) call->name = helper_name(call->name);
      return &e;
    };
    how.statement = [&](lang::Stmt& s) { s.where = nowhere; };
    lang::rewrite(f->body, how);
    f->where = {UINT32_MAX, static_cast<uint32_t>(i)};
    program_->functions.insert(program_->functions.begin() + static_cast<ptrdiff_t>(count++), f);
  }
}

// Each once at a place: a probe that is written for several events has its remarks in the first.
void Lowering::remark(std::string text, Range where) {
  if (statement_.end) where = statement_;
  for (const Remark& r : script_.remarks)
    if (r.where.begin == where.begin && r.text == text) return;
  script_.remarks.push_back({where, std::move(text)});
}

lang::Map* Lowering::map_named(const std::string& name, Range where) {
  lang::Map*& map = maps_[name];
  if (map) return map;
  map = program_->arena.make<lang::Map>();
  map->name = keep(name);
  map->where = where;
  program_->maps.push_back(map);
  return map;
}

std::string Lowering::fresh(std::string_view name) {
  std::string out(name);
  for (int i = 2; fresh_.contains(out) || scope_->locals.contains(out) || scope_->parameters.contains(out); i++) out = std::string(name) + std::to_string(i);
  fresh_.insert(out);
  return out;
}

// Names of acu's own functions can't be given again.
std::string Lowering::function_name(std::string_view name) const {
  const bool is_taken = std::ranges::any_of(spec::builtins, [&](const spec::Builtin& b) { return b.name == name; });
  return std::string(name) + (is_taken ? "_" : "");
}

// ----------------------------------------------------------------------------------------------- steps

void Lowering::collect_globals() {
  for (const Global& g : script_.globals) {
    if (globals_.contains(g.name)) error(tag::redeclared, g.where, quoted(g.name) + " is declared twice", "remove one of the declarations");
    globals_[g.name] = &g;
    if (g.initial) global_kinds_[g.name] = g.initial->kind == NodeKind::text || (g.initial->kind == NodeKind::argument && g.initial->is_text) ? Kind::text : Kind::number;
  }
  const auto note = [&](const Node& n) {
    const bool is_plain = n.kind == NodeKind::assign || n.kind == NodeKind::increment;
    if (is_plain && array_of(*n.parts[0])) written_.insert(array_of(*n.parts[0])->text);
  };
  // A name is read where it is no target of an assignment.
  std::function<void(const Node*, bool)> reads = [&](const Node* n, bool is_target) {
    if (!n) return;
    if (n->kind == NodeKind::name && !is_target) read_.insert(n->text);
    for (size_t i = 0; i < n->parts.size(); i++) {
      const bool is_written = i == 0 && ((n->kind == NodeKind::assign || n->kind == NodeKind::increment) || (is_target && n->kind == NodeKind::index));
      reads(n->parts[i], is_written);
    }
  };
  std::function<void(const Statement*)> statement = [&](const Statement* s) {
    if (!s) return;
    for (const Node* n : {s->value, s->first, s->step}) reads(n, s->kind == StatementKind::remove);
    if (s->kind == StatementKind::loop_each) reads(s->each.array, false), reads(s->each.limit, false);
    for (const Statement* inner : s->list) statement(inner);
    statement(s->body), statement(s->otherwise);
  };
  const auto body = [&](const Statement* s) {
    statement(s);
    walk(s, note);
    collect_statistics(s);
  };
  for (const Function& f : script_.functions) body(f.body);
  for (const Probe& p : script_.probes) {
    if (std::ranges::all_of(p.points, [](const Point& point) { return point.components[0].name == "never"; })) { // it only says what is a text
      walk(p.body, [&](const Node& n) {
        const Node* target = n.kind == NodeKind::assign ? array_of(*n.parts[0]) : nullptr;
        if (target && target == n.parts[0] && (n.parts[1]->kind == NodeKind::text || n.parts[1]->kind == NodeKind::integer))
          global_kinds_.emplace(target->text, n.parts[1]->kind == NodeKind::text ? Kind::text : Kind::number);
      });
      continue;
    }
    body(p.body);
    for (const Point& point : p.points) reads(point.condition, false);
  }
  for (const Alias& a : script_.aliases) body(a.body);
  // Statistics are sorted by their counts.
  for (auto& [name, statistic] : statistics_)
    if (sorted_.contains(name) || (looped_.contains(name) && std::ranges::all_of(statistic.operations, [](const std::string& o) { return o.starts_with("hist"); })) || (statistic.operations.empty() && read_.contains(name))) statistic.operations.insert("count");
}

// One unit for each context of each probe; what the events of a probe share is written once.
void Lowering::collect_units() {
  for (const Probe& p : script_.probes) {
    std::vector<Unit> own;
    for (const Point& point : p.points) add_units(p, point, {}, {}, own, 0);
    for (Unit& u : own) {
      collect_locals(u.scope, u.bodies);
      // Arguments are known at the return in fexit only, and so is the type of the result, which not all functions of a pattern have.
      const bool is_kernels = u.scope.context.kind == ContextKind::kernel_function || u.scope.context.kind == ContextKind::tapset;
      const bool is_pattern = std::ranges::any_of(u.places, [](const std::string& place) { return base::has_glob(place); });
      if (is_kernels && u.scope.context.is_return && (uses_arguments(u) || (uses_result(u) && !is_pattern)))
        for (std::string& place : u.places) base::replace_all(place, "kretprobe:", "fexit:");
      if (u.scope.context.kind == ContextKind::kernel_function && is_pattern) u.scope.context.name = "*";
      const auto same = std::ranges::find_if(units_, [&](const Unit& other) {
        const bool is_alike = uses_context(u) ? other.scope.context == u.scope.context : other.scope.context.kind == u.scope.context.kind && other.scope.context.is_return == u.scope.context.is_return;
        return is_alike && other.where.begin == u.where.begin && other.bodies == u.bodies && other.program == u.program && other.process == u.process && other.condition == u.condition && other.order == u.order;
      });
      if (same == units_.end())
        units_.push_back(std::move(u));
      else
        for (const std::string& place : u.places)
          if (std::ranges::find(same->places, place) == same->places.end()) same->places.push_back(place);
    }
  }
  // begin(-1) runs before begin, end(1) behind end.
  for (std::string_view kind : {"begin", "end"}) {
    std::vector<size_t> at;
    std::vector<Unit> sorted;
    for (size_t i = 0; i < units_.size(); i++)
      if (units_[i].places == std::vector<std::string>{std::string(kind)}) at.push_back(i), sorted.push_back(units_[i]);
    std::ranges::stable_sort(sorted, {}, &Unit::order);
    for (size_t i = 0; i < at.size(); i++) units_[at[i]] = std::move(sorted[i]);
  }
}

static lang::TypeName* type_named(lang::Program& program, std::string_view name, Range where) {
  lang::TypeName* t = program.arena.make<lang::TypeName>();
  t->where = where;
  t->name = name;
  return t;
}

void Lowering::lower_functions() {
  for (const Function& f : script_.functions) {
    scope_ = &function_scopes_[&f];
    fresh_.clear();
    lang::Function* out = program_->arena.make<lang::Function>();
    out->where = f.where;
    out->name = keep(function_name(f.name));
    std::vector<lang::Parameter> parameters;
    for (const Parameter& p : f.parameters) {
      lang::Parameter& to = parameters.emplace_back();
      to.name = keep(p.name);
      to.where = p.where;
      to.type = type_named(*program_, scope_->kinds[p.name] == Kind::text ? "string" : "int64", p.where);
    }
    out->parameters = program_->arena.copy(parameters);
    const Kind result = function_kinds_[f.name];
    if (result != Kind::nothing) out->result = type_named(*program_, result == Kind::text ? "string" : "int64", f.where);
    Statements body;
    for (const Statement* s : f.body->list) lower(*s, body);
    if (out->result && (body.empty() || body.back()->kind != lang::StmtKind::give_back)) {
      lang::Return* last = at({f.where.end, f.where.end}).node<lang::Return>();
      last->value = result == Kind::text ? text("", f.where) : at(f.where).number(0);
      body.push_back(last);
    }
    out->body = block_of(body, f.where);
    declare_locals(out->body, *scope_);
    program_->functions.push_back(out);
  }
}

// Values of the entry: in a probe of their own, and in front of the body, which does not run for calls that began before.
void Lowering::add_entry_probe(const Unit& unit, Statements& body) {
  auto probe = std::make_unique<lang::Probe>();
  probe->where = unit.where;
  std::vector<lang::ProbeSpec> specs;
  for (std::string place : unit.places) {
    base::replace_all(place, "kretprobe:", "kprobe:");
    base::replace_all(place, "fexit:", "kprobe:");
    lang::ProbeSpec& spec = specs.emplace_back();
    spec.where = unit.where;
    spec.text = keep(place);
  }
  probe->specs = program_->arena.copy(specs);
  Statements kept, front;
  for (const auto& [variable_name, value] : entries_) {
    lang::Map* map = map_named(variable_name, unit.where);
    const auto whole = [&] { return at(unit.where).map(map, nullptr); };
    const auto thread = [&] { return name("tid", unit.where); };
    kept.push_back(assign(at(unit.where).map(map, thread()), value, unit.where));
    if (front.empty()) {
      lang::Unary* no = at(unit.where).node<lang::Unary>();
      no->op = lang::UnaryOp::logical_not;
      no->operand = at(unit.where).call("has_key", {whole(), thread()});
      lang::If* unknown = at(unit.where).node<lang::If>();
      unknown->condition = no;
      unknown->then = block_of({at(unit.where).node<lang::Return>()}, unit.where);
      front.push_back(unknown);
    }
    front.push_back(assign(variable(variable_name, unit.where), at(unit.where).map(map, thread()), unit.where));
    front.push_back(at(unit.where).statement(at(unit.where).call("delete", {whole(), thread()})));
  }
  probe->body = block_of(kept, unit.where);
  program_->probes.push_back(std::move(probe));
  body.insert(body.begin(), front.begin(), front.end());
  entries_.clear();
}

void Lowering::lower_unit(const Unit& unit) {
  auto probe = std::make_unique<lang::Probe>();
  probe->where = unit.where;
  std::vector<lang::ProbeSpec> specs;
  for (const std::string& place : unit.places) {
    lang::ProbeSpec& spec = specs.emplace_back();
    spec.where = unit.where;
    spec.text = keep(place);
  }
  probe->specs = program_->arena.copy(specs);
  if (unit.condition) probe->predicate = condition(*unit.condition);
  if (unit.process || !unit.program.empty()) {
    const bool is_number = unit.process && !unit.process->is_text;
    lang::Expr* wanted = unit.process ? lower(*unit.process).e : text(unit.program, unit.where);
    lang::Expr* is_program = at(unit.where).binary(lang::BinaryOp::eq, name(is_number ? "pid" : "comm", unit.where), wanted);
    probe->predicate = probe->predicate ? at(unit.where).binary(lang::BinaryOp::logical_and, is_program, probe->predicate) : is_program;
  }
  Statements body;
  for (const Statement* s : unit.bodies)
    for (const Statement* inner : s->list) lower(*inner, body);
  if (!entries_.empty()) add_entry_probe(unit, body);
  if (unit.exits) body.push_back(at({unit.where.end, unit.where.end}).statement(at(unit.where).call("exit", {})));
  probe->body = block_of(body, unit.where);
  declare_locals(probe->body, unit.scope);
  program_->probes.push_back(std::move(probe));
}

void Lowering::lower_units() {
  // Values that globals have from the start; those that nobody assigns are 0.
  Statements initial;
  for (const Global& g : script_.globals) {
    const bool is_plain = !statistics_.contains(g.name) && !looped_.contains(g.name) && key_kinds_[g.name].empty();
    if (g.initial || written_.contains(g.name) || !read_.contains(g.name) || !is_plain) continue;
    initial.push_back(assign(at(g.where).map(map_named(g.name, g.where), nullptr), global_kinds_[g.name] == Kind::text ? text("", g.where) : at(g.where).number(0), g.where));
  }
  for (const Global& g : script_.globals)
    if (g.initial) {
      scope_ = units_.empty() ? nullptr : &units_[0].scope;
      if (!scope_) return;
      initial.push_back(assign(at(g.where).map(map_named(g.name, g.where), nullptr), lower(*g.initial).e, g.where));
    }
  if (!initial.empty()) {
    auto probe = std::make_unique<lang::Probe>();
    probe->where = initial[0]->where;
    lang::ProbeSpec spec;
    spec.text = "begin";
    probe->specs = program_->arena.copy(std::vector<lang::ProbeSpec>{spec});
    probe->body = block_of(initial, probe->where);
    program_->probes.push_back(std::move(probe));
  }
  for (Unit& u : units_) {
    scope_ = &u.scope;
    fresh_.clear();
    lower_unit(u);
  }
}

// SystemTap prints at the end what is only written; acu prints all maps.
void Lowering::finish_maps() {
  std::vector<std::string> unread;
  bool any_read = helped_.contains("thread_indent") || helped_.contains("tokenize") || entry_count_; // whose maps are nobody's business
  for (const Global& g : script_.globals) {
    if (read_.contains(g.name))
      any_read = true;
    else if (written_.contains(g.name))
      unread.push_back(g.name);
    const auto map = maps_.find(g.name);
    if (map == maps_.end() || !g.size || g.size->kind != NodeKind::integer) continue;
    map->second->declared = true;
    map->second->storage = g.wraps ? lang::Storage::lruhash : lang::Storage::hash;
    map->second->max_entries = g.size->value;
    if (statistics_.contains(g.name)) map->second->declared = false; // kept on each CPU
  }
  if (!any_read) return;
  (void)program_->config.set("print_maps_on_exit", "false");
  if (unread.empty()) return;
  auto probe = std::make_unique<lang::Probe>();
  const auto end = static_cast<uint32_t>(source_.text().size());
  probe->where = {end, end};
  lang::ProbeSpec spec;
  spec.text = "end";
  probe->specs = program_->arena.copy(std::vector<lang::ProbeSpec>{spec});
  Statements body;
  for (const std::string& name : unread) {
    const auto statistic = statistics_.find(name);
    std::vector<std::string> names = {name};
    if (statistic != statistics_.end()) {
      names.clear();
      for (const std::string& operation : statistic->second.operations) names.push_back(statistic_name(name, operation));
    }
    for (const std::string& n : names)
      if (maps_.contains(n)) body.push_back(at(probe->where).statement(at(probe->where).call("print", {at(probe->where).map(maps_[n], nullptr)})));
  }
  probe->body = block_of(body, probe->where);
  if (!body.empty()) program_->probes.push_back(std::move(probe));
}

// Where the function, probe or alias ends that is in front of the one with this place.
uint32_t Lowering::item_before(uint32_t at) const {
  uint32_t out = 0;
  const auto look = [&](Range where) {
    if (where.end <= at) out = std::max(out, where.end);
  };
  for (const Function& f : script_.functions) look(f.where);
  for (const Probe& p : script_.probes) look(p.where);
  for (const Alias& a : script_.aliases) look(a.where);
  return out;
}

// Comments that stand above a place or behind it on its line, and remarks about it.
std::vector<std::string> Lowering::comments_above(Range where) {
  std::vector<std::string> out;
  if (where.begin == UINT32_MAX) { // of a helper
    if (where.end < std::size(helpers)) out.emplace_back(helpers[where.end].comment);
    return out;
  }
  const std::string_view text = source_.text();
  const size_t line_end = std::min(text.find('\n', std::min<size_t>(where.begin, text.size())), text.size());
  const uint32_t first = item_before(where.begin);
  for (const Comment& c : script_.comments)
    if (c.where.begin >= first && c.where.begin < line_end && told_.insert(&c).second) out.push_back(c.text);
  for (const Remark& r : script_.remarks)
    if (r.where.begin >= first && r.where.begin <= where.begin && told_remarks_.insert(&r).second) out.push_back("convert: " + r.text), remark_count_++;
  return out;
}

// Comments in front of everything.
std::string Lowering::head() {
  uint32_t first = static_cast<uint32_t>(source_.text().size());
  for (const Function& f : script_.functions) first = std::min(first, f.where.begin);
  for (const Probe& p : script_.probes) first = std::min(first, p.where.begin);
  for (const Alias& a : script_.aliases) first = std::min(first, a.where.begin);
  for (const Global& g : script_.globals) first = std::min(first, g.where.begin);
  std::string out;
  for (const Comment& c : script_.comments)
    if (c.where.begin < first && told_.insert(&c).second) out += c.text.empty() ? "//\n" : "// " + c.text + "\n";
  return out;
}

Converted Lowering::run() {
  script_ = parse(source_.text(), words_, diagnostics_);
  if (diagnostics_.has_errors()) return {};
  make_macros();
  collect_globals();
  collect_units();
  if (diagnostics_.has_errors()) return {};
  if (units_.empty()) {
    error(tag::empty_program, {0, 0}, "the script has no probes that acu can have", "a script needs at least one probe");
    return {};
  }
  infer();
  find_signs();
  lower_functions();
  lower_units();
  finish_maps();
  add_helpers();
  if (diagnostics_.has_errors()) return {};
  Converted out;
  out.text = head();
  if (!out.text.empty()) out.text += '\n';
  std::string program = lang::source_text(*program_, [this](Range where) { return comments_above(where); });
  program.erase(0, std::min(program.find_first_not_of('\n'), program.size()));
  out.text += program;
  // What is behind the last statement.
  for (const std::string& c : comments_above({static_cast<uint32_t>(source_.text().size()), 0})) out.text += "// " + c + "\n";
  // And about probes that were left out.
  for (const Remark& r : script_.remarks)
    if (told_remarks_.insert(&r).second) out.text += "// convert: " + r.text + "\n", remark_count_++;
  out.remarks = remark_count_;
  return out;
}

Converted convert(const base::Source& source, base::Diagnostics& diagnostics, const std::vector<std::string>& words) { return Lowering(source, words, diagnostics).run(); }

} // namespace stap
