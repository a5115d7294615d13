// Walking and copying trees: the one place besides parser and printer that lists the parts of every node.
// `parts` names them once; walking and copying are two uses of it.
#include "lang/walk.h"

#include "lang/c_types.h"

#include "probe/probe.h"

namespace lang {

Program::Program() : c_types(std::make_unique<CTypes>(*this)) {}
Program::~Program() = default;

namespace {

// Calls on(part) for each part of a node; parts are Expr*&, Block*&, TypeName*& or lists of Expr*.
template<class On> void parts(Expr& e, On on) {
  switch (e.kind) {
  case ExprKind::integer:
  case ExprKind::boolean:
  case ExprKind::string:
  case ExprKind::name:
  case ExprKind::variable:
  case ExprKind::positional:
  case ExprKind::positional_count: return;
  case ExprKind::map: return on(as<MapRef>(e).key);
  case ExprKind::call: return on(as<Call>(e).arguments);
  case ExprKind::unary: return on(as<Unary>(e).operand);
  case ExprKind::binary: on(as<Binary>(e).left); return on(as<Binary>(e).right);
  case ExprKind::ternary:
    on(as<Ternary>(e).condition);
    on(as<Ternary>(e).then);
    return on(as<Ternary>(e).otherwise);
  case ExprKind::attempt:
    on(as<Attempt>(e).first);
    on(as<Attempt>(e).fault);
    on(as<Attempt>(e).address);
    return on(as<Attempt>(e).otherwise);
  case ExprKind::cast: on(as<Cast>(e).target); return on(as<Cast>(e).operand);
  case ExprKind::field: return on(as<FieldRef>(e).operand);
  case ExprKind::index: on(as<Index>(e).operand); return on(as<Index>(e).index);
  case ExprKind::tuple: return on(as<Tuple>(e).elements);
  case ExprKind::block: return on(as<BlockExpr>(e).block);
  case ExprKind::conditional:
    on(as<Conditional>(e).condition);
    on(as<Conditional>(e).then);
    return on(as<Conditional>(e).otherwise);
  case ExprKind::size_of: on(as<SizeOf>(e).target); return on(as<SizeOf>(e).operand);
  case ExprKind::offset_of:
    on(as<OffsetOf>(e).target);
    on(as<OffsetOf>(e).indexes);
    return on(as<OffsetOf>(e).operand);
  case ExprKind::type_text: on(as<TypeText>(e).target); return on(as<TypeText>(e).operand);
  case ExprKind::type_name: return on(as<TypeExpr>(e).target);
  case ExprKind::comptime: return on(as<Comptime>(e).operand);
  }
}

template<class On> void parts(Stmt& s, On on) {
  switch (s.kind) {
  case StmtKind::expression: return on(as<ExprStmt>(s).value);
  case StmtKind::assign: on(as<Assign>(s).target); return on(as<Assign>(s).value);
  case StmtKind::discard: return on(as<Discard>(s).value);
  case StmtKind::let: on(as<Let>(s).type); return on(as<Let>(s).value);
  case StmtKind::conditional:
    on(as<If>(s).condition);
    on(as<If>(s).then);
    return on(as<If>(s).otherwise);
  case StmtKind::loop_while:
    on(as<While>(s).condition);
    on(as<While>(s).body);
    return on(as<While>(s).step);
  case StmtKind::loop_range:
    on(as<ForRange>(s).first);
    on(as<ForRange>(s).last);
    return on(as<ForRange>(s).body);
  case StmtKind::loop_map:
    on(as<ForMap>(s).map);
    on(as<ForMap>(s).most);
    return on(as<ForMap>(s).body);
  case StmtKind::unroll: on(as<Unroll>(s).count); return on(as<Unroll>(s).body);
  case StmtKind::speculate: on(as<Speculate>(s).key); return on(as<Speculate>(s).body);
  case StmtKind::limit: on(as<Limit>(s).count); return on(as<Limit>(s).body);
  case StmtKind::leave: return;
  case StmtKind::give_back: return on(as<Return>(s).value);
  case StmtKind::block: return on(as<BlockStmt>(s).block);
  }
}

struct Walker {
  const std::function<void(const Expr&)>& visit;
  void operator()(Expr* e) const {
    if (!e) return;
    visit(*e);
    parts(*e, *this);
  }
  void operator()(MapRef* e) const { (*this)(static_cast<Expr*>(e)); }
  void operator()(List<Expr*> list) const {
    for (Expr* e : list) (*this)(e);
  }
  void operator()(TypeName* t) const {
    if (!t) return;
    for (const TypeSuffix& s : t->suffixes) (*this)(s.count);
    (*this)(t->of);
  }
  void operator()(Block* b) const {
    if (!b) return;
    for (Stmt* s : b->statements) parts(*s, *this);
    (*this)(b->value);
  }
};

// Replaces each part by its copy.
struct Copier {
  base::Arena& arena;

  void operator()(Expr*& e) const {
    if (e) e = copy(*e);
  }
  void operator()(MapRef*& e) const {
    Expr* c = e;
    (*this)(c);
    e = static_cast<MapRef*>(c);
  }
  void operator()(List<Expr*>& list) const {
    list = arena.copy(std::span<Expr* const>(list));
    for (Expr*& e : list) (*this)(e);
  }
  void operator()(TypeName*& t) const {
    if (!t) return;
    t = arena.make<TypeName>(*t);
    t->type = nullptr;
    t->suffixes = arena.copy(std::span<const TypeSuffix>(t->suffixes));
    for (TypeSuffix& s : t->suffixes) (*this)(s.count);
    (*this)(t->of);
  }
  void operator()(Block*& b) const {
    if (!b) return;
    b = arena.make<Block>(*b);
    b->statements = arena.copy(std::span<Stmt* const>(b->statements));
    for (Stmt*& s : b->statements) s = copy(*s);
    (*this)(b->value);
  }

  template<class Node> Node* node(const auto& n) const {
    Node* made = arena.make<Node>(static_cast<const Node&>(n));
    parts(*made, *this);
    return made;
  }

  Expr* copy(const Expr& e) const {
    switch (e.kind) {
    case ExprKind::integer: return node<Integer>(e);
    case ExprKind::boolean: return node<Boolean>(e);
    case ExprKind::string: return node<String>(e);
    case ExprKind::name: return node<Name>(e);
    case ExprKind::variable: return node<VariableRef>(e);
    case ExprKind::map: return node<MapRef>(e);
    case ExprKind::positional: return node<Positional>(e);
    case ExprKind::positional_count: return node<PositionalCount>(e);
    case ExprKind::call: return node<Call>(e);
    case ExprKind::unary: return node<Unary>(e);
    case ExprKind::binary: return node<Binary>(e);
    case ExprKind::ternary: return node<Ternary>(e);
    case ExprKind::attempt: return node<Attempt>(e);
    case ExprKind::cast: return node<Cast>(e);
    case ExprKind::field: return node<FieldRef>(e);
    case ExprKind::index: return node<Index>(e);
    case ExprKind::tuple: return node<Tuple>(e);
    case ExprKind::block: return node<BlockExpr>(e);
    case ExprKind::conditional: return node<Conditional>(e);
    case ExprKind::size_of: return node<SizeOf>(e);
    case ExprKind::offset_of: return node<OffsetOf>(e);
    case ExprKind::type_text: return node<TypeText>(e);
    case ExprKind::type_name: return node<TypeExpr>(e);
    case ExprKind::comptime: return node<Comptime>(e);
    }
    return nullptr;
  }

  Stmt* copy(const Stmt& s) const {
    switch (s.kind) {
    case StmtKind::expression: return node<ExprStmt>(s);
    case StmtKind::assign: return node<Assign>(s);
    case StmtKind::discard: return node<Discard>(s);
    case StmtKind::let: return node<Let>(s);
    case StmtKind::conditional: return node<If>(s);
    case StmtKind::loop_while: return node<While>(s);
    case StmtKind::loop_range: return node<ForRange>(s);
    case StmtKind::loop_map: return node<ForMap>(s);
    case StmtKind::unroll: return node<Unroll>(s);
    case StmtKind::speculate: return node<Speculate>(s);
    case StmtKind::limit: return node<Limit>(s);
    case StmtKind::leave: return node<Leave>(s);
    case StmtKind::give_back: return node<Return>(s);
    case StmtKind::block: return node<BlockStmt>(s);
    }
    return nullptr;
  }
};

struct Rewriter {
  const Rewriting& how;

  void operator()(Expr*& e) const {
    if (!e) return;
    parts(*e, *this);
    e = how.expression(*e);
  }
  void operator()(MapRef* m) const { // a loop's: it stays a map
    parts(*m, *this);
    how.expression(*m);
  }
  void operator()(List<Expr*>& list) const {
    for (Expr*& e : list) (*this)(e);
  }
  void operator()(TypeName* t) const {
    if (!t) return;
    for (TypeSuffix& s : t->suffixes) (*this)(s.count);
    (*this)(t->of);
    if (how.type) how.type(*t);
  }
  void operator()(Block* b) const {
    if (!b) return;
    for (Stmt* s : b->statements) {
      parts(*s, *this);
      how.statement(*s);
    }
    (*this)(b->value);
  }
};

} // namespace

uint32_t stored_size(const Expr& e) {
  if (!e.type->is(type::Kind::string)) return e.type->size;
  if (const FieldRef* f = if_a<FieldRef>(&e); f && f->field.type && !f->operand->type->is(type::Kind::tuple))
    return f->field.type->size;
  const Index* x = if_a<Index>(&e);
  if (!x || x->operand->type->is(type::Kind::tuple) || !x->operand->type->element) return e.type->size;
  return x->operand->type->element->size;
}

void rewrite(Expr*& e, const Rewriting& how) { Rewriter{how}(e); }
void rewrite(Block* b, const Rewriting& how) { Rewriter{how}(b); }

void walk(const Expr* e, const std::function<void(const Expr&)>& visit) {
  Walker{visit}(const_cast<Expr*>(e));
}
void walk(const Block* b, const std::function<void(const Expr&)>& visit) {
  Walker{visit}(const_cast<Block*>(b));
}

Expr* copy(Program& program, const Expr* e) {
  Expr* made = const_cast<Expr*>(e);
  Copier{program.arena}(made);
  return made;
}

Block* copy(Program& program, const Block* b) {
  Block* made = const_cast<Block*>(b);
  Copier{program.arena}(made);
  return made;
}

} // namespace lang
