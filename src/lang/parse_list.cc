// Parts of the language that are written as calls and are more than calls.
//
//   for ($n : list(HEAD, NEXT)) BODY     is     { $n = HEAD; for (; $n; $n = $n->NEXT) BODY }
//   try(EXPRESSION, DEFAULT)             is     an Attempt
//
// A list that goes in a circle is found out as the loop goes (R. P. Brent, An improved Monte Carlo
// factorization algorithm, 1980): one element is kept as a mark, and replaced by the current one after 1, 2,
// 4, 8, … steps; if the mark is met again the loop ends, with a warning. The names of its variables can't be
// written in a script.
#include "lang/parser.h"

#include "spec/diagnostics.h"

namespace lang {

using namespace spec;

namespace {

// NEXT of an element: `next` or `links.next`.
Expr* member_of(base::Arena& arena, Expr* element, Expr* path) {
  if (FieldRef* f = if_a<FieldRef>(path)) {
    Expr* inner = member_of(arena, element, f->operand);
    if (!inner) return nullptr;
    f->operand = inner;
    return f;
  }
  Name* name = if_a<Name>(path);
  if (!name) return nullptr;
  auto* f = arena.make<FieldRef>(path->where);
  f->operand = element;
  f->name = name->name;
  f->name_where = path->where;
  return f;
}

} // namespace

Stmt* Parser::make_list_loop(uint32_t begin, const Token& name, Call& list, Block* body) {
  base::Arena& arena = program_->arena;
  const Range where = name.where;
  auto variable = [&](std::string_view suffix) {
    auto* v = make<VariableRef>(where);
    v->name = suffix.empty() ? name.text : arena.copy(std::string(name.text) + std::string(suffix));
    return v;
  };
  auto number = [&](uint64_t n) {
    auto* e = make<Integer>(where);
    e->value = n;
    return e;
  };
  auto binary = [&](BinaryOp op, Expr* left, Expr* right) {
    auto* e = make<Binary>(where);
    e->op = op, e->left = left, e->right = right;
    return e;
  };
  auto assign = [&](Expr* target, Expr* value) {
    auto* s = make<Assign>(where);
    s->target = target, s->value = value;
    return s;
  };
  auto block = [&](const std::vector<Stmt*>& statements) {
    auto* b = arena.make<Block>();
    b->statements = arena.copy(statements);
    b->where = where;
    return b;
  };
  auto when = [&](Expr* condition, Block* then) {
    auto* s = make<If>(where);
    s->condition = condition, s->then = then;
    return s;
  };
  auto both = [&](Expr* a, Expr* b) { return binary(BinaryOp::logical_and, a, b); };

  Expr* next = list.arguments.size() == 2 ? member_of(arena, variable(""), list.arguments[1]) : nullptr;
  if (!next) {
    panic(tag::syntax, list.where, "`list` takes the first element, and the member that leads to the next",
          "write `for ($n : list(target.head, next))`");
    next = variable("");
  }
  auto* text = make<String>(where);
  text->value = "a list goes in a circle: some of its elements were seen more than once\n";
  auto* warning = make<Call>(where);
  warning->name = "warnf", warning->name_where = where;
  warning->arguments = arena.copy(std::vector<Expr*>{text});
  auto* told = make<ExprStmt>(where);
  told->value = warning;

  auto* loop = make<While>(since(begin));
  loop->condition = variable("");
  loop->body = body;
  loop->step = block({
      assign(variable(""), next),
      assign(variable(".steps"), binary(BinaryOp::add, variable(".steps"), number(1))),
      when(both(variable(""), binary(BinaryOp::eq, variable(""), variable(".mark"))),
           block({told, assign(variable(""), number(0))})),
      when(binary(BinaryOp::eq, variable(".steps"), variable(".most")),
           block({assign(variable(".mark"), variable("")), assign(variable(".steps"), number(0)),
                  assign(variable(".most"), binary(BinaryOp::mul, variable(".most"), number(2)))})),
  });
  auto* s = make<BlockStmt>(loop->where);
  s->block = block({assign(variable(""), list.arguments.empty() ? number(0) : list.arguments[0]),
                    assign(variable(".mark"), variable("")), assign(variable(".steps"), number(0)),
                    assign(variable(".most"), number(1)), loop});
  s->block->where = s->where;
  return s;
}

Expr* Parser::make_try(const Call& call) {
  auto* a = make<Attempt>(call.where);
  a->first = call.arguments[0];
  a->otherwise = call.arguments[1];
  return a;
}

} // namespace lang
