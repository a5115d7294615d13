// Blocks that ask at which of their probes they are (`probe == "…"`, `func == "…"`): a copy for each event, in which the answer is known.
#include "emit/simplify.h"
#include "lang/walk.h"
#include "probe/probe.h"

#include <algorithm>

namespace emit {

using namespace lang;

static constexpr size_t most_copies = 16; // of a block: a pattern of more stays one block

static bool is_question(const Expr* e) {
  const spec::Builtin* b = e ? builtin_of(*e) : nullptr;
  return b && (b->name == "probe" || b->name == "func") && arguments_of(*e).empty();
}

// The question in `probe == "…"`; nullptr: it is none.
static Expr** question_in(Binary& b) {
  if (b.op != BinaryOp::eq && b.op != BinaryOp::ne) return nullptr;
  if (is_question(b.left) && b.right->kind == ExprKind::string) return &b.left;
  if (is_question(b.right) && b.left->kind == ExprKind::string) return &b.right;
  return nullptr;
}

static std::string answer(const probe::Event& e, const Expr& question) { return builtin_of(question)->name == "probe" ? e.name : e.function; }

static void put_answers(Program& program, Probe& p) {
  const probe::Event& event = *p.events.front();
  const Rewriting how = {.expression = [&](Expr& e) -> Expr* {
                           Binary* b = if_a<Binary>(&e);
                           Expr** question = b ? question_in(*b) : nullptr;
                           if (!question) return &e;
                           auto* text = program.arena.make<String>((*question)->where);
                           text->value = program.types.keep(answer(event, **question));
                           text->type = (*question)->type;
                           text->constant = {Constant::text, 0, text->value};
                           *question = text;
                           return &e;
                         },
                         .statement = [](Stmt&) {}};
  if (p.predicate) rewrite(p.predicate, how);
  rewrite(p.body, how);
}

void split_by_name(Program& program) {
  std::vector<std::unique_ptr<Probe>> all;
  for (auto& p : program.probes) {
    bool asks = false;
    const auto look = [&](const Expr& e) {
      Binary* b = if_a<Binary>(const_cast<Expr*>(&e));
      asks |= b && question_in(*b);
    };
    walk(p->predicate, look);
    walk(p->body, look);
    // Events of one name (the return instructions of a function) stay together.
    std::vector<std::vector<probe::Event*>> groups;
    for (probe::Event* e : p->events) {
      auto same = std::ranges::find_if(groups, [&](const auto& g) { return g[0]->name == e->name && g[0]->function == e->function; });
      if (same == groups.end()) same = groups.insert(groups.end(), std::vector<probe::Event*>());
      same->push_back(e);
    }
    if (!asks || p->is_own || groups.size() > most_copies || groups.empty()) {
      all.push_back(std::move(p));
      continue;
    }
    for (auto& events : groups) {
      auto made = std::make_unique<Probe>();
      made->where = p->where;
      made->specs = p->specs;
      made->predicate = p->predicate ? copy(program, static_cast<const Expr*>(p->predicate)) : nullptr;
      made->body = copy(program, static_cast<const Block*>(p->body));
      made->events = events;
      made->fields = p->fields;
      put_answers(program, *made);
      all.push_back(std::move(made));
    }
  }
  program.probes = std::move(all);
}

} // namespace emit
