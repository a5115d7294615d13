#include "stap/walk.h"

namespace stap {

void walk(const Node* n, const Visit& visit) {
  if (!n) return;
  visit(*n);
  for (const Node* part : n->parts) walk(part, visit);
}

void walk(const Statement* s, const Visit& visit, const std::function<void(const Each&)>& each) {
  if (!s) return;
  for (const Node* n : {s->value, s->first, s->step}) walk(n, visit);
  if (s->kind == StatementKind::loop_each) {
    if (each) each(s->each);
    walk(s->each.array, visit);
    walk(s->each.limit, visit);
  }
  for (const Statement* inner : s->list) walk(inner, visit, each);
  walk(s->body, visit, each);
  walk(s->otherwise, visit, each);
}

} // namespace stap
