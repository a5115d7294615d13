// The steps of a translation, and what all of them use.
#include "base/counted.h"
#include "base/text.h"
#include "dlang/helpers.h"
#include "dlang/lowering.h"
#include "dlang/options.h"
#include "lang/parse.h"
#include "lang/walk.h"

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;

namespace {

std::string macro_text(std::string_view kind, std::string_view name, std::string_view expression, std::string_view parameter = {}) {
  return "macro " + std::string(kind) + std::string(name) + "(" + std::string(parameter) + ") { " + std::string(expression) + " }\n";
}

} // namespace

Lowering::Lowering(const base::Source& source, const TranslateOptions& options, base::Diagnostics& diagnostics)
    : source_(source), options_(options), diagnostics_(diagnostics), plan_(std::make_shared<Plan>()) {}

Translated translate(const base::Source& source, const TranslateOptions& options, base::Diagnostics& diagnostics) {
  return Lowering(source, options, diagnostics).run();
}

base::Diagnostics with_error_tags(const base::Diagnostics& diagnostics) {
  base::Diagnostics out;
  for (const base::Diagnostic& d : diagnostics.all())
    if (d.severity == base::Severity::error)
      out.error(d.tag, d.where, "[" + std::string(error_tag(d.tag)) + "] " + d.message, d.hint, d.other, d.note);
    else
      out.warning(d.tag, d.where, d.message, d.hint, d.other, d.note);
  return out;
}

std::string Lowering::with_underscores(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '-' || c == ':' || c == '.') c = '_';
  return out;
}

// A clause is translated for its types first, and then for each of its groups.
bool Lowering::is_reported(Range where, std::string_view message) const {
  return std::ranges::any_of(diagnostics_.all(), [&](const base::Diagnostic& d) { return d.where.begin == where.begin && d.where.end == where.end && d.message == message; });
}

void Lowering::error(std::string_view tag, Range where, std::string message, std::string hint) {
  if (!is_reported(where, message)) diagnostics_.error(tag, where, std::move(message), std::move(hint));
}

void Lowering::warn(std::string_view tag, Range where, std::string message) {
  if (!is_reported(where, message)) diagnostics_.warning(tag, where, std::move(message));
}

Translated Lowering::run() {
  // A program with macros for all that the tables describe, and nothing else.
  make_macros();

  // The tree; options are in force.
  MacroValues values = options_.values;
  for (const auto& [name, value] : options_.settings) values.has_defaults |= name == "defaultargs", plan_->error_tags |= name == "errtags";
  if (source_.text().find("defaultargs") != std::string_view::npos) values.has_defaults = true;
  script_ = parse(source_, values, diagnostics_);
  for (const auto& [name, value] : options_.settings) apply({{}, name, value});
  for (const Setting& s : script_.settings) apply(s);
  for (size_t i = 1; !allows_unused_ && i <= values.words.size(); i++)
    if (!script_.used_words.contains(i))
      error(d_tag::macro_unused, {0, 0}, "the argument " + quoted(values.words[i - 1]) + " is not used: the script has no $" + std::to_string(i), "leave it out; `-x argref` allows it");
  if (diagnostics_.has_errors()) return {std::move(program_), plan_};

  // Its types.
  define_types();
  if (diagnostics_.has_errors()) return {std::move(program_), plan_};

  // Each clause belongs to the groups of its probes; variables are known.
  for (const Clause& c : script_.clauses) place_clause(c);
  if (diagnostics_.has_errors()) return {std::move(program_), plan_};
  collect_variables();

  // Variables have the types of what the script assigns first, whatever the order of the groups.
  learn_types();
  if (diagnostics_.has_errors()) return {std::move(program_), plan_};

  // Every group is a probe of the program.
  for (const Group& g : groups_)
    if (g.context.kind != ContextKind::error) emit_group(g);
  program_->macros.clear();
  if (program_->probes.empty() && !diagnostics_.has_errors()) error(tag::empty_program, {0, 0}, "no clause of this script can ever run");
  return {std::move(program_), plan_};
}

void Lowering::make_macros() {
  std::string text(helpers);
  for (const Member& v : variables) text += macro_text("d_v_", v.name, v.expression);
  for (const Member& m : members) text += macro_text("d_m_", std::string(m.translator) + "_" + std::string(m.name), m.expression, m.translator == "fds" ? "fd" : "");
  for (const FixedProbe& p : fixed_probes)
    if (!p.condition.empty()) text += macro_text("d_c_", with_underscores(std::string(p.provider) + "_" + std::string(p.name)), p.condition);
  text += "begin { }\n";
  base::Source source("translators", std::move(text));
  base::Diagnostics mistakes;
  program_ = lang::parse(source, {}, mistakes);
  if (mistakes.has_errors()) error(tag::bad_macro, {0, 0}, "acu's own tables of D translators are wrong: " + mistakes.render(source, false));
  program_->probes.clear();
  program_->maps.clear();
  for (lang::Macro* m : program_->macros) macros_[m->name] = m;
  (void)program_->config.set("print_maps_on_exit", "false");
  (void)program_->config.set("max_strlen", "256");
  (void)program_->config.set("max_probes", "65536");
}

std::optional<ScriptOption> Lowering::option_of(const std::string& name, Range where) {
  if (const auto option = option_named(name)) return option;
  std::vector<std::string_view> names;
  for (const ScriptOption& o : script_options) names.push_back(o.name);
  const std::string_view near = base::nearest(name, names);
  error(d_tag::pragma_optset, where, "there is no option " + quoted(name), near.empty() ? "" : "did you mean " + quoted(near) + "?");
  return {};
}

void Lowering::apply(const Setting& s) {
  const auto option = option_of(s.name, s.where);
  if (!option) return;
  auto wrong_value = [&](const std::string& why) { error(d_tag::pragma_optset, s.where, "option " + quoted(s.name) + ": " + why); };
  if (is_of_display(option->effect)) {
    if (!set_option(plan_->display, option->effect, s.value)) wrong_value(quoted(s.value) + " is not a value that it can have");
    return;
  }
  switch (option->effect) {
  case OptionEffect::error_tags: plan_->error_tags = true; break;
  case OptionEffect::destructive: plan_->destructive = true; break;
  case OptionEffect::zero_probes: allows_no_probes_ = true, (void)program_->config.set("missing_probes", "ignore"); break;
  case OptionEffect::ignored:
    if (!is_value_of(option->value, s.value)) wrong_value(quoted(s.value) + " is not a value that it can have");
    break;
  case OptionEffect::default_args: break;
  case OptionEffect::argument_use: allows_unused_ = true; break;
  case OptionEffect::frames:
  case OptionEffect::user_frames: {
    const auto n = base::parse_integer(s.value);
    if (!n || *n > 4096) return wrong_value(quoted(s.value) + " is not a number that it can have");
    (option->effect == OptionEffect::frames ? frames_ : user_frames_) = static_cast<size_t>(*n);
    break;
  }
  case OptionEffect::refused: error(d_tag::pragma_optset, s.where, "option " + quoted(s.name) + " is not supported", std::string(option->reason)); break;
  case OptionEffect::strsize:
  case OptionEffect::config: {
    const auto n = size_of_option(s.value);
    if (!n || *n == 0) return wrong_value(quoted(s.value) + " is not a size");
    if (option->effect == OptionEffect::strsize) strsize_ = static_cast<int64_t>(*n);
    const std::string_view key = option->effect == OptionEffect::strsize ? "max_strlen" : option->key;
    if (std::string why = program_->config.set(key, std::to_string(*n)); !why.empty()) wrong_value(why);
    break;
  }
  default: break; // of the display
  }
}

// ------------------------------------------------------------------------------------------------- groups

void Lowering::enter(const Group& g) {
  group_ = &g;
  locals_.clear();
  for (auto& [name, v] : variables_)
    if (name.starts_with("this->") && is_local(v) && v.used.contains(g.id)) locals_.insert(name);
}

// A translation in the order of the script, of which only what it says of variables and aggregations is kept.
void Lowering::learn_types() {
  for (const Clause& c : script_.clauses) {
    const auto group = std::ranges::find_if(groups_, [&](const Group& g) { return std::ranges::find(g.clauses, &c) != g.clauses.end(); });
    if (group == groups_.end()) continue;
    enter(*group);
    if (c.predicate) (void)condition(*c.predicate, d_tag::pred_scalar);
    (void)lower_clause(c);
  }
  plan_->records.clear();
}

void Lowering::emit_group(const Group& g) {
  lang::Block* body = group_body(g);
  std::unique_ptr<lang::Probe> probe = probe_at(g.places, g.where);
  probe->predicate = condition_of(g);
  probe->body = body;
  program_->probes.push_back(std::move(probe));
}

std::unique_ptr<lang::Probe> Lowering::probe_at(const std::vector<std::string>& places, Range where) {
  auto probe = std::make_unique<lang::Probe>();
  probe->where = where;
  std::vector<lang::ProbeSpec> specs;
  for (const std::string& place : places) {
    lang::ProbeSpec spec;
    spec.where = where;
    spec.text = program_->types.keep(place);
    std::vector<std::string_view> parts;
    for (std::string_view part : base::split(spec.text, ':')) parts.push_back(part);
    spec.parts = program_->arena.copy(parts);
    specs.push_back(spec);
  }
  probe->specs = program_->arena.copy(specs);
  return probe;
}

// The clauses one behind the other, each in a condition of its own. What ends one of them does not end the others.
lang::Block* Lowering::group_body(const Group& g) {
  const lang::TreeMaker make = at(g.where);
  std::vector<lang::Stmt*> all;
  enter(g);
  std::vector<lang::Stmt*> clauses;
  for (const Clause* c : g.clauses)
    if (std::vector<lang::Stmt*> statements = clause_statements(*c); !statements.empty()) clauses.push_back(guarded(*c, statements));
  if (!clauses.empty()) all = fault_variables(g.where);
  for (const std::string& l : locals_) {
    lang::Let* s = at(variables_[l].where).node<lang::Let>();
    s->name = program_->types.keep(l);
    s->name_where = s->where;
    const Type& t = variables_[l].type;
    if (t.is_number()) s->value = cast(make.number(0), t);
    if (t.kind == Type::text) s->value = text("", s->where);
    all.push_back(s);
  }
  all.insert(all.end(), clauses.begin(), clauses.end());
  return make.block(all);
}

std::vector<lang::Stmt*> Lowering::clause_statements(const Clause& c) {
  lang::Expr* predicate = c.predicate ? condition(*c.predicate, d_tag::pred_scalar) : nullptr;
  std::vector<lang::Stmt*> actions = lower_clause(c);
  if (!predicate) return actions;
  lang::If* s = at(c.predicate->where).node<lang::If>();
  s->condition = predicate;
  s->then = at(c.where).block(actions);
  return {s};
}

lang::Expr* Lowering::condition_of(const Group& g) {
  const lang::TreeMaker make = at(g.where);
  lang::Expr* all = nullptr;
  auto also = [&](lang::Expr* e) { all = all ? make.binary(BinaryOp::logical_and, all, e) : e; };
  if (!g.calls.empty()) also(calls_condition(g));
  if (!g.process.empty()) {
    lang::Expr* process = name("cpid", g.where);
    if (auto number = base::parse_integer(g.process)) process = make.number(static_cast<int64_t>(*number));
    also(make.binary(BinaryOp::eq, name("pid", g.where), process));
  }
  if (!g.condition.empty()) also(expand(g.condition, {}, g.where));
  return all;
}

// Ranges of numbers of system calls.
lang::Expr* Lowering::calls_condition(const Group& g) {
  const lang::TreeMaker make = at(g.where);
  lang::Expr* any = nullptr;
  for (size_t i = 0; i < g.calls.size();) {
    size_t end = i + 1;
    while (end < g.calls.size() && g.calls[end] == g.calls[end - 1] + 1) end++;
    auto compare = [&](BinaryOp op, int n) { return make.binary(op, expand("d_call", {}, g.where), make.number(n)); };
    lang::Expr* one = end == i + 1 ? compare(BinaryOp::eq, g.calls[i])
                                   : make.binary(BinaryOp::logical_and, compare(BinaryOp::ge, g.calls[i]), compare(BinaryOp::le, g.calls[end - 1]));
    any = any ? make.binary(BinaryOp::logical_or, any, one) : one;
    i = end;
  }
  return any;
}

// ------------------------------------------------------------------------------------------------- pieces

lang::Expr* Lowering::text(std::string_view value, Range where) {
  lang::String* s = at(where).node<lang::String>();
  s->value = program_->types.keep(value);
  return s;
}

lang::Expr* Lowering::name(std::string_view name, Range where) {
  lang::Name* n = at(where).node<lang::Name>();
  n->name = name;
  return n;
}

lang::Expr* Lowering::scratch(std::string_view name, Range where) {
  lang::VariableRef* v = at(where).node<lang::VariableRef>();
  v->name = program_->types.keep(name);
  return v;
}

lang::Stmt* Lowering::let(std::string_view name, lang::Expr* value, Range where) {
  lang::Let* s = at(where).node<lang::Let>();
  s->name = program_->types.keep(name);
  s->name_where = where;
  s->value = value;
  return s;
}

lang::Stmt* Lowering::set(lang::Expr* target, lang::Expr* value, Range where) {
  lang::Assign* s = at(where).node<lang::Assign>();
  s->target = target;
  s->value = value;
  return s;
}

lang::Expr* Lowering::copy(const lang::Expr* e) const { return e ? lang::copy(*program_, e) : nullptr; }

lang::Map* Lowering::map_named(const std::string& name, Range where) {
  lang::Map*& map = maps_[name];
  if (!map) {
    map = program_->arena.make<lang::Map>();
    map->name = program_->types.keep(name);
    map->where = where;
    map->id = static_cast<uint32_t>(program_->maps.size());
    program_->maps.push_back(map);
  }
  return map;
}

Value Lowering::wrong(Range where) { return {at(where).number(0), {}}; }

// The body of a macro of the tables, with its parameters replaced and all of it at one place of the script. Its variables are its own.
lang::Expr* Lowering::expand(std::string_view name, const std::vector<lang::Expr*>& arguments, Range where) {
  const auto found = macros_.find(name);
  if (found == macros_.end()) {
    error(tag::bad_macro, where, "acu has no translator " + quoted(name));
    return at(where).number(0);
  }
  const lang::Macro& macro = *found->second;
  lang::Expr* e = nullptr;
  if (macro.body->statements.empty()) {
    e = lang::copy(*program_, macro.body->value);
  } else {
    lang::BlockExpr* block = at(where).node<lang::BlockExpr>();
    block->block = lang::copy(*program_, macro.body);
    e = block;
  }
  const uint32_t number = ++expansions_;
  lang::Rewriting how;
  how.expression = [&](lang::Expr& x) -> lang::Expr* {
    x.where = where;
    if (lang::VariableRef* v = lang::if_a<lang::VariableRef>(&x)) v->expansion = number;
    if (lang::Call* c = lang::if_a<lang::Call>(&x)) {
      c->name_where = where;
      if (macros_.contains(c->name)) return expand(c->name, {c->arguments.begin(), c->arguments.end()}, where);
    }
    if (lang::Name* n = lang::if_a<lang::Name>(&x))
      for (size_t i = 0; i < arguments.size() && i < macro.parameters.size(); i++)
        if (macro.parameters[i].name == n->name) return copy(arguments[i]);
    if (lang::FieldRef* f = lang::if_a<lang::FieldRef>(&x)) f->name_where = where;
    return &x;
  };
  how.statement = [&](lang::Stmt& s) {
    s.where = where;
    if (s.kind == lang::StmtKind::let) lang::as<lang::Let>(s).expansion = number, lang::as<lang::Let>(s).name_where = where;
  };
  how.type = [&](lang::TypeName& t) { t.where = where; };
  rewrite(e, how);
  return e;
}

// ---------------------------------------------------------------------------------------------- variables

// What is assigned, and where each clause-local variable is used, before anything is translated.
void Lowering::collect_variables() {
  note_scratch();
  for (const Node& n : script_.nodes)
    if (n.kind == NodeKind::assign && n.parts[0]->kind != NodeKind::aggregation)
      if (const auto place = place_of(*n.parts[0]); place && place->keys.empty()) assigned_whole_.insert(place->name);
  for (const Declaration& d : script_.declarations) {
    if (d.scope == Scope::global && is_builtin(d.name)) error(d_tag::decl_idred, d.where, quoted(d.name) + " is a variable of D itself", "give it another name");
    if (script_.definition(d.type)) continue; // its members are variables
    const std::string prefix = d.scope == Scope::self ? "self->" : d.scope == Scope::clause ? "this->" : "";
    Variable& v = variables_[prefix + d.name];
    v.where = d.where;
    v.type = type_of(d.type);
    v.is_typed = v.type.kind != Type::unknown;
    v.has_value = true;
  }
  for (const Group& g : groups_)
    for (const Clause* c : g.clauses) {
      if (c->predicate) note_uses(*c->predicate, g.id, false);
      for (const Node* n : c->actions) note_uses(*n, g.id, false);
    }
  for (const Group& g : groups_) // clauses of ERROR run among those of others, so they have no variables of their own
    if (g.context.kind == ContextKind::error)
      for (auto& [name, v] : variables_) v.assigned.erase(g.id);
}

void Lowering::note_uses(const Node& n, uint32_t group, bool is_target) {
  if (n.kind == NodeKind::call && n.text == "strtok") {
    Variable& v = variables_[std::string(token_rest)];
    v = {.type = text_type, .is_typed = true, .has_value = true, .where = v.where.end ? v.where : n.where, .used = std::move(v.used), .assigned = std::move(v.assigned)};
    v.used.insert(group), v.assigned.insert(group);
  }
  const auto place = place_of(n);
  if (place && place->root->kind == NodeKind::clause && !place->keys.empty() && !place->type)
    error(d_tag::arr_local, n.where, quoted(source_.text(place->root->where)) + " cannot be an associative array", "self->" + place->root->text + " can");
  if (place && !is_whole(*place)) {
    const Declaration* declared = declaration_of(place->name);
    if (declared && declared->is_associative && declared->keys.size() != place->keys.size())
      return error(d_tag::proto_len, n.where, quoted(declared->name) + " is declared with " + base::counted(declared->keys.size(), "key") + ", not " + std::to_string(place->keys.size()));
    const size_t keys = place->keys.size(), known = key_counts_.emplace(place->name, keys).first->second;
    if (known != keys)
      error(d_tag::arr_badref, n.where,
            quoted(source_.text(place->root->where)) + (known && keys ? " has " + base::counted(known, "key") + " elsewhere, not " + std::to_string(keys) : " is used both with and without keys"),
            "an associative array has the same number of keys everywhere");
  }
  if (place && (place->root->kind != NodeKind::name || is_target)) {
    Variable& v = variables_[place->name];
    if (v.where.end == 0) v.where = place->root->where;
    v.used.insert(group);
    if (is_target) v.assigned.insert(group);
    v.is_array |= !place->keys.empty();
    v.has_value |= is_target;
  }
  if ((n.kind == NodeKind::assign || n.kind == NodeKind::increment) && n.parts[0]->kind != NodeKind::aggregation) {
    const Node& target = *n.parts[0];
    note_uses(target, group, true);
    const bool is_zero = n.kind == NodeKind::assign && !n.is_compound && n.parts[1]->kind == NodeKind::integer && n.parts[1]->value == 0;
    if (const auto at = place_of(target); at && !is_zero) valued_.insert(at->name);
    for (size_t i = 1; i < n.parts.size(); i++) note_uses(*n.parts[i], group, false);
    return;
  }
  if (!place) {
    for (const Node* part : n.parts) note_uses(*part, group, false);
    return;
  }
  for (const Node* key : place->keys) note_uses(*key, group, false);
}

} // namespace dlang
