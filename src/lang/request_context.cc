// The context of a request: `ctx NAME = …` sets a value for the current thread, `ctx.NAME` reads it in any probe, and carry(key) and
// resume(key) move all values of the context from one thread to another. Each value is a map of acu's own with the thread as its key, and one
// with the keys of the script for those on their way; what moves them is made of statements of the language.
#include "lang/checker.h"

#include "lang/tree_maker.h"
#include "lang/walk.h"

#include <algorithm>

namespace lang {

using namespace spec;

namespace {

struct ContextValue {
  Map* of_threads;
  Map* carried;
};

class ContextRewriting {
public:
  explicit ContextRewriting(Program& program) : program_(program) {
    for (const std::string_view name : program.context_names)
      values_.push_back({make_map("ctx." + std::string(name)), make_map("carried." + std::string(name))});
  }

  Rewriting how() {
    Rewriting how;
    how.statement = [](Stmt&) {};
    how.expression = [this](Expr& e) { return change(e); };
    return how;
  }

  // The values of the thread are gone.
  Block* drop_all(base::Range where) const {
    TreeMaker make{program_, where};
    std::vector<Stmt*> all;
    for (const ContextValue& v : values_) all.push_back(drop(make, v));
    return make.block(all);
  }

private:
  Map* make_map(const std::string& name) const {
    Map* m = program_.arena.make<Map>();
    m->name = program_.types.keep(name);
    m->is_own = true;
    program_.maps.push_back(m);
    return m;
  }
  static Expr* thread(const TreeMaker& make) {
    Name* tid = make.node<Name>();
    tid->name = "tid";
    return tid;
  }
  static Expr* variable(const TreeMaker& make) {
    VariableRef* v = make.node<VariableRef>();
    v->name = moved_key;
    return v;
  }
  static Stmt* drop(const TreeMaker& make, const ContextValue& v) {
    return when_there(make, v.of_threads, thread(make), {make.statement(make.call("delete", {make.map(v.of_threads, nullptr), thread(make)}))});
  }
  static Stmt* when_there(const TreeMaker& make, Map* map, Expr* key, const std::vector<Stmt*>& then) {
    If* s = make.node<If>();
    s->condition = make.call("has_key", {make.map(map, nullptr), key});
    s->then = make.block(then);
    return s;
  }
  // to = from, and from is gone; a `from` that is not there changes nothing.
  static Stmt* move(const TreeMaker& make, Map* from, Expr* (*from_key)(const TreeMaker&), Map* to, Expr* (*to_key)(const TreeMaker&)) {
    Assign* assign = make.node<Assign>();
    assign->target = make.map(to, to_key(make));
    assign->value = make.map(from, from_key(make));
    return when_there(make, from, from_key(make),
                      {assign, make.statement(make.call("delete", {make.map(from, nullptr), from_key(make)}))});
  }

  Expr* change(Expr& e) {
    if (FieldRef* f = if_a<FieldRef>(&e)) return change_value(*f);
    Call* c = if_a<Call>(&e);
    const bool is_move = c && (c->name == "carry" || c->name == "resume") && c->arguments.size() == 1 && !values_.empty();
    return is_move ? change_move(*c) : &e;
  }
  Expr* change_value(FieldRef& f) {
    const Name* whole = if_a<Name>(f.operand);
    if (!whole || whole->name != "ctx") return &f;
    const auto& names = program_.context_names;
    const auto at = std::ranges::find(names, f.name);
    if (at == names.end()) return &f;
    TreeMaker make{program_, f.where};
    Map* of = values_[static_cast<size_t>(at - names.begin())].of_threads;
    if (of->where.end == 0) of->where = f.where;
    return make.map(of, thread(make));
  }
  Expr* change_move(Call& c) {
    TreeMaker make{program_, c.where};
    Let* key = make.node<Let>();
    key->name = moved_key;
    key->name_where = c.where;
    key->value = c.arguments[0];
    std::vector<Stmt*> all = {key};
    for (const ContextValue& v : values_) {
      if (v.carried->where.end == 0) v.carried->where = c.where;
      if (c.name == "carry") {
        all.push_back(move(make, v.of_threads, thread, v.carried, variable));
      } else {
        all.push_back(drop(make, v));
        all.push_back(move(make, v.carried, variable, v.of_threads, thread));
      }
    }
    BlockExpr* block = make.node<BlockExpr>();
    block->block = make.block(all);
    return block;
  }

  static constexpr std::string_view moved_key = "key of the context"; // no script can have such a name
  Program& program_;
  std::vector<ContextValue> values_; // by Program::context_names
};

} // namespace

// Values go with the thread: another one may get its number.
void Checker::keep_request_contexts() {
  if (program_.context_names.empty()) return;
  ContextRewriting context(program_);
  const Rewriting how = context.how();
  for (Function* f : program_.functions) rewrite(f->body, how);
  for (auto& p : program_.probes) {
    rewrite(p->predicate, how);
    rewrite(p->body, how);
  }
  if (!options_.in_kernel) return;
  TreeMaker make{program_, program_.probes.front()->where};
  BlockStmt* dropped = make.node<BlockStmt>();
  dropped->block = context.drop_all(make.where);
  at_exit_of_threads(*program_.probes.front(), dropped);
}

const type::Type* Checker::check_misplaced_carry(Expr& e) {
  const std::string name(as<Call>(e).name);
  return mistake(tag::misplaced, e.where, "`" + name + "` moves the context of a request, and this script has none",
                 "set a value with `ctx NAME = …`");
}

} // namespace lang
