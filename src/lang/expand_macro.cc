#include "lang/expand_macro.h"

#include "base/text.h"
#include "lang/walk.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <unordered_map>

namespace lang {

namespace tag = spec::tag;
using base::quoted;

namespace {

// A script of a few lines can ask for more code than any machine holds.
constexpr uint32_t max_expansions = 10'000;
constexpr size_t max_nesting = 50;
constexpr size_t max_nodes = 1'000'000;

bool takes(const MacroParameter& p, const Expr& argument) {
  switch (p.kind) {
  case MacroParameterKind::variable: return argument.kind == ExprKind::variable;
  case MacroParameterKind::map: return argument.kind == ExprKind::map && !as<MapRef>(argument).key;
  case MacroParameterKind::expression: return true;
  }
  return false;
}

bool same_parameters(const Macro& a, const Macro& b) {
  return a.parameters.size() == b.parameters.size() &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    [](auto& x, auto& y) { return x.kind == y.kind; });
}

class Expander {
public:
  Expander(Program& program, base::Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}
  void run();

private:
  // One use being expanded.
  struct Use {
    const Macro& macro;
    List<Expr*> arguments;
    uint32_t number; // of this expansion
    const MacroUse* place;
  };

  void collect();
  Rewriting rewriting(const Use* inside);
  Expr* change(Expr& e, const Use* inside);
  Expr* substitute(Expr& e, const Use& use);
  void substitute(TypeName& t, const Use& use);
  Expr* change_type(Expr& e);
  Expr* cast_of(Binary& e);
  Expr* expand(Expr& e, std::string_view name, Range name_where, List<Expr*> arguments);
  bool may_copy(const Expr& argument);
  void give_up(Range where);
  const Macro* choose(std::string_view name, Range where, List<Expr*> arguments);
  void no_match(std::string_view name, Range where, List<Expr*> arguments);
  bool is_possible(const Macro& macro, Range where);
  void error(std::string_view tag, Range where, std::string message, std::string hint = {});

  Program& program_;
  base::Diagnostics& diagnostics_;
  std::unordered_map<std::string_view, std::vector<const Macro*>> by_name_;
  std::vector<const Macro*> open_; // those whose bodies are being expanded, outer ones first
  std::vector<const MacroUse*> uses_; // and where they are used
  uint32_t expansions_ = 0;
  size_t nodes_ = 0;
  bool gave_up_ = false;
};

void Expander::error(std::string_view tag, Range where, std::string message, std::string hint) {
  diagnostics_.error(tag, where, std::move(message), std::move(hint));
}

void Expander::collect() {
  for (const Macro* m : program_.macros) {
    auto& all = by_name_[m->name];
    if (std::any_of(all.begin(), all.end(), [&](const Macro* other) { return same_parameters(*m, *other); }))
      error(tag::redeclared, m->name_where, "macro " + quoted(m->name) + " is defined twice with these parameters",
            "macros of one name differ in the number or the kinds of their parameters");
    all.push_back(m);
  }
  for (const Function* f : program_.functions)
    if (by_name_.count(f->name))
      error(tag::redeclared, f->name_where, quoted(f->name) + " is the name of a macro too",
            "choose another name for this function");
}

void Expander::run() {
  collect();
  Rewriting how = rewriting(nullptr);
  for (auto& p : program_.probes) {
    rewrite(p->predicate, how);
    rewrite(p->body, how);
  }
  for (Function* f : program_.functions) rewrite(f->body, how);
}

Rewriting Expander::rewriting(const Use* inside) {
  Rewriting how;
  how.expression = [this, inside](Expr& e) { return change(e, inside); };
  how.statement = [this, inside](Stmt& s) {
    if (!inside) return;
    if (s.kind == StmtKind::let) as<Let>(s).expansion = inside->number;
    if (s.kind == StmtKind::loop_range) as<ForRange>(s).expansion = inside->number;
    if (s.kind == StmtKind::loop_map) as<ForMap>(s).expansion = inside->number;
    if (s.kind == StmtKind::limit) as<Limit>(s).id = program_.limits++;
  };
  if (inside) how.type = [this, inside](TypeName& t) { substitute(t, *inside); };
  return how;
}

Expr* Expander::change(Expr& e, const Use* inside) {
  if (inside) {
    nodes_++;
    if (Expr* argument = substitute(e, *inside)) return argument;
    if (Expr* changed = change_type(e)) return changed;
  }
  if (const Name* n = if_a<Name>(&e)) return n->builtin ? &e : expand(e, n->name, n->where, {});
  if (Call* c = if_a<Call>(&e)) {
    if (inside) c->expanded = inside->place;
    return c->builtin ? &e : expand(e, c->name, c->name_where, c->arguments);
  }
  return &e;
}

static TypeName* type_argument(const Expr* e) {
  const TypeExpr* t = if_a<TypeExpr>(e);
  return t ? t->target : nullptr;
}

// What stood for a value in the body and turns out to be a type: sizeof(t), (t)*p.
Expr* Expander::change_type(Expr& e) {
  if (SizeOf* s = if_a<SizeOf>(&e); s && type_argument(s->operand)) {
    s->target = type_argument(std::exchange(s->operand, nullptr));
  } else if (OffsetOf* o = if_a<OffsetOf>(&e); o && type_argument(o->operand)) {
    o->target = type_argument(std::exchange(o->operand, nullptr));
  } else if (TypeText* t = if_a<TypeText>(&e); t && type_argument(t->operand)) {
    t->target = type_argument(std::exchange(t->operand, nullptr));
  } else if (Binary* b = if_a<Binary>(&e); b && type_argument(b->left)) {
    return cast_of(*b);
  }
  return nullptr;
}

// `(t) * p` and `(t) - n`, of which t is a type.
Expr* Expander::cast_of(Binary& e) {
  if (e.op != BinaryOp::mul && e.op != BinaryOp::sub && e.op != BinaryOp::bit_and) return &e;
  auto* u = program_.arena.make<Unary>(e.right->where);
  u->op = e.op == BinaryOp::mul ? UnaryOp::dereference : e.op == BinaryOp::sub ? UnaryOp::negate : UnaryOp::address_of;
  u->operand = e.right;
  auto* c = program_.arena.make<Cast>(e.where);
  c->target = type_argument(e.left);
  c->operand = u;
  return c;
}

// The name of a type in the body that is a parameter, and `typeof(parameter)`.
void Expander::substitute(TypeName& t, const Use& use) {
  const TypeName* given = type_argument(t.of);
  bool is_parameter = given != nullptr;
  for (size_t i = 0; i < use.macro.parameters.size() && t.keyword.empty() && !t.of; i++) {
    const MacroParameter& p = use.macro.parameters[i];
    if (p.kind != MacroParameterKind::expression || p.name != t.name) continue;
    is_parameter = true;
    given = type_argument(use.arguments[i]);
  }
  if (!is_parameter) return;
  if (!given)
    return error(tag::bad_argument, use.place->where,
                 "macro " + quoted(use.macro.name) + " takes a type for its parameter " + quoted(t.name),
                 "a type is passed as `typeof(…)`");
  std::vector<TypeSuffix> suffixes(given->suffixes.begin(), given->suffixes.end());
  suffixes.insert(suffixes.end(), t.suffixes.begin(), t.suffixes.end());
  const Range where = t.where;
  t = *given;
  t.where = where;
  t.of = given->of ? copy(program_, given->of) : nullptr;
  t.suffixes = program_.arena.copy(suffixes);
}

// The argument that a name in the body stands for; nullptr if it stands for itself. Variables and maps are
// renamed where they are.
Expr* Expander::substitute(Expr& e, const Use& use) {
  const Name* name = if_a<Name>(&e);
  VariableRef* variable = if_a<VariableRef>(&e);
  MapRef* map = if_a<MapRef>(&e);
  if (variable) variable->expansion = use.number;
  for (size_t i = 0; i < use.macro.parameters.size(); i++) {
    const MacroParameter& p = use.macro.parameters[i];
    const Expr& argument = *use.arguments[i];
    if (name && p.kind == MacroParameterKind::expression && p.name == name->name)
      return may_copy(argument) ? copy(program_, &argument) : nullptr;
    if (variable && p.kind == MacroParameterKind::variable && p.name == variable->name) {
      variable->name = as<VariableRef>(argument).name;
      variable->expansion = as<VariableRef>(argument).expansion;
      return &e;
    }
    if (map && p.kind == MacroParameterKind::map && p.name == map->name) {
      map->name = as<MapRef>(argument).name;
      map->map = as<MapRef>(argument).map;
      return &e;
    }
  }
  return nullptr;
}

// An argument that holds other uses may be large already, and its copies double at each level.
bool Expander::may_copy(const Expr& argument) {
  if (gave_up_) return false;
  walk(&argument, [this](const Expr&) { nodes_++; });
  if (nodes_ >= max_nodes) give_up(argument.where);
  return !gave_up_;
}

void Expander::give_up(Range where) {
  gave_up_ = true;
  error(tag::too_large, uses_.empty() ? where : uses_.front()->where, "the macros used here become too much code");
}

// What stands for a use of a macro: e itself if it is none.
Expr* Expander::expand(Expr& e, std::string_view name, Range name_where, List<Expr*> arguments) {
  if (gave_up_ || by_name_.empty() || !by_name_.count(name)) return &e;
  const Macro* macro = choose(name, name_where, arguments);
  if (!macro || !is_possible(*macro, name_where)) return &e;
  const MacroUse* outer = uses_.empty() ? nullptr : uses_.back();
  auto* place = program_.arena.make<MacroUse>(MacroUse{e.where, outer});
  open_.push_back(macro);
  uses_.push_back(place);
  Use use = {*macro, arguments, ++expansions_, place};
  auto* block = program_.arena.make<BlockExpr>(e.where);
  block->block = copy(program_, macro->body);
  rewrite(block->block, rewriting(&use));
  open_.pop_back();
  uses_.pop_back();
  // A body that is nothing but a value needs no block.
  const bool is_value = block->block->value && block->block->statements.empty();
  return is_value ? block->block->value : block;
}

// The macro whose parameters take these arguments; among several the one that asks for most.
const Macro* Expander::choose(std::string_view name, Range where, List<Expr*> arguments) {
  const Macro* best = nullptr;
  int best_score = -1;
  for (const Macro* m : by_name_[name]) {
    if (m->parameters.size() != arguments.size()) continue;
    int score = 0;
    bool fits = true;
    for (size_t i = 0; i < arguments.size(); i++) {
      fits &= takes(m->parameters[i], *arguments[i]);
      score += m->parameters[i].kind != MacroParameterKind::expression;
    }
    if (fits && score > best_score) best = m, best_score = score;
  }
  bool is_builtin = spec::find_builtin(name) != nullptr; // it keeps its own ways of being called
  if (!best && !is_builtin) no_match(name, where, arguments);
  return best;
}

void Expander::no_match(std::string_view name, Range where, List<Expr*> arguments) {
  std::vector<size_t> counts;
  const Macro* near = nullptr; // the last one with as many parameters
  for (const Macro* m : by_name_[name]) {
    counts.push_back(m->parameters.size());
    if (m->parameters.size() == arguments.size()) near = m;
  }
  if (!near) {
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    std::string text;
    for (size_t n : counts) text += (text.empty() ? "" : " or ") + std::to_string(n);
    return error(tag::wrong_argument_count, where,
                 "macro " + quoted(name) + " takes " + text + (counts.back() == 1 ? " argument" : " arguments") +
                     ", not " + std::to_string(arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); i++) {
    const MacroParameter& p = near->parameters[i];
    if (takes(p, *arguments[i])) continue;
    bool is_map = p.kind == MacroParameterKind::map;
    std::string sign = is_map ? "@" : "$";
    error(tag::bad_argument, arguments[i]->where,
          "macro " + quoted(name) + " takes a " + (is_map ? "map" : "variable") + " for its parameter " +
              quoted(sign + std::string(p.name)),
          is_map ? "give it a whole map, without a key: `@m`" : "put the value into a variable first: `$x = …`");
  }
}

bool Expander::is_possible(const Macro& macro, Range where) {
  if (std::find(open_.begin(), open_.end(), &macro) != open_.end()) {
    bool itself = open_.back() == &macro;
    error(tag::bad_macro, where,
          "macro " + quoted(macro.name) + " uses itself" +
              (itself ? "" : " by way of " + quoted(open_.back()->name)),
          "a macro is inserted where it is used, which would never end");
    return false;
  }
  if (open_.size() >= max_nesting || expansions_ >= max_expansions || nodes_ >= max_nodes) {
    give_up(where);
    return false;
  }
  return true;
}

} // namespace

void expand_macros(Program& program, base::Diagnostics& diagnostics) {
  if (!program.macros.empty()) Expander(program, diagnostics).run();
}

} // namespace lang
