// Operators between two operands, with C's precedence; also those of #if.
#pragma once

#include "lang/ast.h"
#include "lang/lexer.h"

namespace lang {

struct Operator {
  TokenKind token;
  BinaryOp op;
  int precedence; // higher binds tighter
};
inline constexpr Operator operators[] = {
    {TokenKind::or_or, BinaryOp::logical_or, 1},  {TokenKind::and_and, BinaryOp::logical_and, 2},
    {TokenKind::pipe, BinaryOp::bit_or, 3},       {TokenKind::caret, BinaryOp::bit_xor, 4},
    {TokenKind::ampersand, BinaryOp::bit_and, 5}, {TokenKind::equal_equal, BinaryOp::eq, 6},
    {TokenKind::not_equal, BinaryOp::ne, 6},      {TokenKind::less, BinaryOp::lt, 7},
    {TokenKind::less_equal, BinaryOp::le, 7},     {TokenKind::greater, BinaryOp::gt, 7},
    {TokenKind::greater_equal, BinaryOp::ge, 7},  {TokenKind::shift_left, BinaryOp::shl, 8},
    {TokenKind::shift_right, BinaryOp::shr, 8},   {TokenKind::plus, BinaryOp::add, 9},
    {TokenKind::minus, BinaryOp::sub, 9},         {TokenKind::star, BinaryOp::mul, 10},
    {TokenKind::slash, BinaryOp::div, 10},        {TokenKind::percent, BinaryOp::mod, 10},
};

// nullptr: the token is none.
constexpr const Operator* find_operator(TokenKind token) {
  for (const Operator& o : operators)
    if (o.token == token) return &o;
  return nullptr;
}

} // namespace lang
