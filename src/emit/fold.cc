// Arithmetic that a person wrote with literals stays as it is (`1024 * 1024`); what depends on parameters, types and sizes
// becomes a number.
#include "emit/fold.h"

#include "emit/simplify.h"
#include "lang/walk.h"

namespace emit {

using namespace lang;

std::optional<bool> known_condition(const Expr& e) {
  if (const Boolean* b = if_a<Boolean>(&e)) return b->value;
  if (const Integer* i = if_a<Integer>(&e)) return i->value != 0;
  return std::nullopt;
}

static bool has_no_effect(const spec::Builtin& b) {
  const bool is_map_change = b.name == "delete" || b.name == "clear" || b.name == "zero" || b.name == "carry" || b.name == "resume" ||
                             b.name == "find";
  return !b.async && !b.unsafe && b.group != spec::Group::output && b.group != spec::Group::control && !is_map_change && b.name != "skboutput";
}

bool is_pure(const Expr& e) {
  bool pure = true;
  walk(&e, [&](const Expr& part) {
    const Unary* u = if_a<Unary>(&part);
    pure &= !u || u->op < UnaryOp::pre_increment;
    pure &= part.kind != ExprKind::block && part.kind != ExprKind::conditional;
    const Call* c = if_a<Call>(&part);
    pure &= !c || (c->builtin && has_no_effect(*c->builtin));
  });
  return pure;
}

Expr* Folding::boolean(const Expr& of, bool value) {
  auto* made = program_.arena.make<Boolean>(of.where);
  made->value = value;
  made->type = program_.types.boolean();
  made->constant = {Constant::integer, value, {}};
  made_.insert(made);
  return made;
}

// Known values that the tree does not spell out as literals.
Expr* Folding::as_literal(const Expr& e) {
  Expr* made = nullptr;
  if (e.constant.kind == Constant::text) {
    auto* text = program_.arena.make<String>(e.where);
    text->value = text_of(e);
    made = text;
  } else if (e.type && e.type->is(type::Kind::boolean)) {
    return boolean(e, e.constant.integer_value != 0);
  } else {
    auto* number = program_.arena.make<Integer>(e.where);
    number->value = static_cast<uint64_t>(e.constant.integer_value);
    made = number;
  }
  made->type = e.type;
  made->constant = e.constant;
  made->adapts = e.adapts;
  made_.insert(made);
  return made;
}

// `value` where it was part of a condition: a number becomes a comparison, unless it is one.
Expr* Folding::as_condition(const Expr& of, Expr* value) {
  if (value->type && value->type->is(type::Kind::boolean)) return value;
  const Binary* b = if_a<Binary>(value);
  if (b && b->op >= BinaryOp::lt && b->op != BinaryOp::bit_and && b->op != BinaryOp::bit_xor && b->op != BinaryOp::bit_or) return value;
  auto* zero = program_.arena.make<Integer>(of.where);
  zero->type = value->type;
  zero->adapts = true;
  zero->constant = {Constant::integer, 0, {}};
  auto* made = program_.arena.make<Binary>(of.where);
  made->op = BinaryOp::ne;
  made->left = value;
  made->right = zero;
  made->type = program_.types.boolean();
  return made;
}

Expr* Folding::fold(Binary& e) {
  const auto left = known_condition(*e.left), right = known_condition(*e.right);
  if (e.op == BinaryOp::logical_and || e.op == BinaryOp::logical_or) {
    const bool decides = e.op == BinaryOp::logical_or; // the value of a side that is the result whatever the other is
    if (left && *left == decides) return boolean(e, decides);
    if (right && *right == decides && is_pure(*e.left)) return boolean(e, decides);
    if (left) return as_condition(e, e.right);
    if (right && *right != decides) return as_condition(e, e.left);
    return &e;
  }
  const String* a = if_a<String>(e.left);
  const String* b = if_a<String>(e.right);
  if (a && b && (e.op == BinaryOp::eq || e.op == BinaryOp::ne)) return boolean(e, (a->value == b->value) == (e.op == BinaryOp::eq));
  if (e.constant.kind != Constant::none && (is_made(e.left) || is_made(e.right))) return as_literal(e);
  return &e;
}

Expr* Folding::fold(Expr& e) {
  const bool is_known = e.constant.kind != Constant::none;
  switch (e.kind) {
  case ExprKind::binary: return fold(as<Binary>(e));
  case ExprKind::unary: {
    Unary& u = as<Unary>(e);
    const auto known = known_condition(*u.operand);
    if (u.op == UnaryOp::logical_not && known) return boolean(e, !*known);
    return is_known && is_made(u.operand) ? as_literal(e) : &e;
  }
  case ExprKind::ternary: {
    Ternary& t = as<Ternary>(e);
    const auto known = known_condition(*t.condition);
    if (!known) return &e;
    if (!*known) return t.otherwise;
    return t.then ? t.then : t.condition;
  }
  case ExprKind::comptime: return is_known ? as_literal(e) : as<Comptime>(e).operand;
  case ExprKind::call:
  case ExprKind::name:
    // A parameter, a test of types, an enumerator; strings of known results stay calls (strerror(2)).
    if (is_known && (e.constant.kind == Constant::integer || !builtin_of(e) || builtin_of(e)->group == spec::Group::compile)) return as_literal(e);
    return &e;
  case ExprKind::positional:
  case ExprKind::positional_count:
  case ExprKind::size_of:
  case ExprKind::offset_of:
  case ExprKind::type_text: return is_known ? as_literal(e) : &e;
  case ExprKind::block: {
    BlockExpr& b = as<BlockExpr>(e);
    return b.block->statements.empty() && b.block->value ? b.block->value : &e;
  }
  case ExprKind::cast:
    return is_known && is_made(as<Cast>(e).operand) ? as_literal(e) : &e;
  default: return &e;
  }
}

void Folding::run(Expr*& e) {
  if (e) rewrite(e, {.expression = [this](Expr& part) { return fold(part); }, .statement = [](Stmt&) {}});
}

void Folding::run(Block* b) {
  if (b) rewrite(b, {.expression = [this](Expr& part) { return fold(part); }, .statement = [](Stmt&) {}});
}

} // namespace emit
