// Arithmetic of what is known when the script is compiled.
//
// Literals, and what is made of them, are numbers as in mathematics: a result that neither an int64 nor a uint64 holds
// is a mistake, and so is a division by zero. Other constants (casts, sizes of types) go as they would when the script
// runs: in 64 bits.
#include "lang/checker.h"

namespace lang {

using namespace spec;

bool is_signed_comparison(const Binary& e) {
  auto is_signed = [](const Expr& side) {
    bool adapts = side.adapts && side.constant.integer_value >= 0;
    return side.type->is_integer() && side.type->is_signed && !adapts;
  };
  return is_signed(*e.left) || is_signed(*e.right);
}

void Checker::fold(Unary& e) {
  if (e.operand->constant.kind != Constant::integer) return;
  int64_t n = e.operand->constant.integer_value;
  if (e.op == UnaryOp::logical_not) set_integer(e, !n);
  if (e.op == UnaryOp::bit_not) set_integer(e, ~n);
  if (e.op == UnaryOp::negate) set_integer(e, static_cast<int64_t>(-static_cast<uint64_t>(n)));
}

// As it would be when the script runs.
void Checker::fold(Binary& e) {
  if (e.left->constant.kind != Constant::integer || e.right->constant.kind != Constant::integer) return;
  int64_t sa = e.left->constant.integer_value, sb = e.right->constant.integer_value;
  auto a = static_cast<uint64_t>(sa), b = static_cast<uint64_t>(sb);
  bool is_signed = is_signed_comparison(e);
  auto put = [&](uint64_t v) { set_integer(e, static_cast<int64_t>(v)); };
  switch (e.op) {
  case BinaryOp::mul: return put(a * b);
  case BinaryOp::div: return b ? put(a / b) : void(); // by zero: reported when it runs
  case BinaryOp::mod: return b ? put(a % b) : void();
  case BinaryOp::add: return put(a + b);
  case BinaryOp::sub: return put(a - b);
  case BinaryOp::shl: return put(a << (b & 63));
  case BinaryOp::shr: return put(e.left->type->is_signed ? static_cast<uint64_t>(sa >> (b & 63)) : a >> (b & 63));
  case BinaryOp::lt: return put(is_signed ? sa < sb : a < b);
  case BinaryOp::le: return put(is_signed ? sa <= sb : a <= b);
  case BinaryOp::gt: return put(is_signed ? sa > sb : a > b);
  case BinaryOp::ge: return put(is_signed ? sa >= sb : a >= b);
  case BinaryOp::eq: return put(a == b);
  case BinaryOp::ne: return put(a != b);
  case BinaryOp::bit_and: return put(a & b);
  case BinaryOp::bit_xor: return put(a ^ b);
  case BinaryOp::bit_or: return put(a | b);
  case BinaryOp::logical_and: return put(a && b);
  case BinaryOp::logical_or: return put(a || b);
  }
}

// ------------------------------------------------------------------------------------------ literals

namespace {

using Wide = __int128; // holds each result of one operation on 64-bit numbers

bool is_in_range(Wide n) { return n >= INT64_MIN && n <= Wide{UINT64_MAX}; }

// The bits of a number, which is meant to be one without sign unless a side is negative.
Wide as_number(uint64_t bits, bool is_negative) {
  return is_negative ? Wide{static_cast<int64_t>(bits)} : Wide{bits};
}

// The result of an operation that has one.
Wide result_of(BinaryOp op, Wide a, Wide b) {
  const bool is_negative = a < 0 || b < 0;
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
  case BinaryOp::mul: return a * b;
  case BinaryOp::div: return a / b;
  case BinaryOp::mod: return a % b;
  case BinaryOp::add: return a + b;
  case BinaryOp::sub: return a - b;
  case BinaryOp::shl: return as_number(ua << b, a < 0);
  case BinaryOp::shr: return a >> b;
  case BinaryOp::bit_and: return as_number(ua & ub, a < 0 && b < 0);
  case BinaryOp::bit_xor: return as_number(ua ^ ub, (a < 0) != (b < 0));
  default: return as_number(ua | ub, is_negative);
  }
}

} // namespace

__int128 value_of(const Expr& e) {
  const int64_t bits = e.constant.integer_value;
  return e.type->is_signed ? Wide{bits} : Wide{static_cast<uint64_t>(bits)};
}

const type::Type* Checker::set_number(Expr& e, __int128 n) {
  if (!is_in_range(n))
    return mistake(tag::overflow, e.where, "the result of this constant expression needs more than 64 bits",
                   "cast a side, `(uint64)…`, for arithmetic that wraps around");
  return set_literal(e, static_cast<int64_t>(n), n <= INT64_MAX);
}

const type::Type* Checker::fold_literal(Unary& e) {
  const Wide n = value_of(*e.operand);
  return set_number(e, e.op == UnaryOp::negate ? -n : n < 0 ? ~n : Wide{~static_cast<uint64_t>(n)});
}

const type::Type* Checker::fold_literals(Binary& e) {
  const Wide a = value_of(*e.left), b = value_of(*e.right);
  const bool divides = e.op == BinaryOp::div || e.op == BinaryOp::mod;
  if (divides && b == 0) return mistake(tag::overflow, e.where, "this divides by zero");
  const bool shifts = e.op == BinaryOp::shl || e.op == BinaryOp::shr;
  if (shifts && (b < 0 || b > 63))
    return mistake(tag::overflow, e.where, "numbers have 64 bits: they are shifted by 0 to 63");
  return set_number(e, result_of(e.op, a, b));
}

} // namespace lang
