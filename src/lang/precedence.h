// How tightly expressions bind, as in C: what printers of source text need to know to set parentheses.
#pragma once

#include "lang/ast.h"

namespace lang::precedence {

enum Precedence : int { lowest, choice, logical_or, logical_and, bit_or, bit_xor, bit_and, equality, relation, shift, sum, product, prefix, postfix };

constexpr Precedence precedence_of(BinaryOp op) {
  switch (op) {
  case BinaryOp::mul:
  case BinaryOp::div:
  case BinaryOp::mod: return product;
  case BinaryOp::add:
  case BinaryOp::sub: return sum;
  case BinaryOp::shl:
  case BinaryOp::shr: return shift;
  case BinaryOp::lt:
  case BinaryOp::le:
  case BinaryOp::gt:
  case BinaryOp::ge: return relation;
  case BinaryOp::eq:
  case BinaryOp::ne: return equality;
  case BinaryOp::bit_and: return bit_and;
  case BinaryOp::bit_xor: return bit_xor;
  case BinaryOp::bit_or: return bit_or;
  case BinaryOp::logical_and: return logical_and;
  case BinaryOp::logical_or: return logical_or;
  }
  return lowest;
}

} // namespace lang::precedence
