// Values that are known while a script is read: sizes of arrays, enumerators, arguments that must be constants.
#include "dlang/script.h"

#include <algorithm>

namespace dlang {

using lang::BinaryOp;
using lang::UnaryOp;

const Definition* Script::definition(const TypeName& t) const {
  if (t.keyword.empty() || t.pointers > 0) return nullptr;
  const auto found = std::find_if(definitions.begin(), definitions.end(), [&](const Definition& d) { return d.keyword == t.keyword && d.name == t.name; });
  return found == definitions.end() ? nullptr : &*found;
}

const Inline* Script::inline_named(std::string_view name) const {
  const auto found = std::find_if(inlines.begin(), inlines.end(), [&](const Inline& i) { return i.name == name; });
  return found == inlines.end() ? nullptr : &*found;
}

static std::optional<int64_t> result_of(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const bool overflows = b == 0 || (b == -1 && a == INT64_MIN);
  switch (op) {
  case BinaryOp::add: return static_cast<int64_t>(x + y);
  case BinaryOp::sub: return static_cast<int64_t>(x - y);
  case BinaryOp::mul: return static_cast<int64_t>(x * y);
  case BinaryOp::div: return overflows ? std::nullopt : std::optional(a / b);
  case BinaryOp::mod: return overflows ? std::nullopt : std::optional(a % b);
  case BinaryOp::shl: return static_cast<int64_t>(x << (y & 63));
  case BinaryOp::shr: return a >> (y & 63);
  case BinaryOp::bit_and: return a & b;
  case BinaryOp::bit_or: return a | b;
  case BinaryOp::bit_xor: return a ^ b;
  case BinaryOp::eq: return a == b;
  case BinaryOp::ne: return a != b;
  case BinaryOp::lt: return a < b;
  case BinaryOp::le: return a <= b;
  case BinaryOp::gt: return a > b;
  case BinaryOp::ge: return a >= b;
  case BinaryOp::logical_and: return a && b;
  case BinaryOp::logical_or: return a || b;
  }
  return std::nullopt;
}

static std::optional<int64_t> value_of(const Script& script, const Node& n, int depth) {
  if (depth > 200) return std::nullopt;
  auto part = [&](size_t i) { return value_of(script, *n.parts[i], depth + 1); };
  switch (n.kind) {
  case NodeKind::integer: return static_cast<int64_t>(n.value);
  case NodeKind::name: {
    for (const auto& [name, value] : script.enumerators)
      if (name == n.text) return value;
    const Inline* i = script.inline_named(n.text);
    return i && i->parameters.empty() ? value_of(script, *i->value, depth + 1) : std::nullopt;
  }
  case NodeKind::unary: {
    const auto of = part(0);
    if (!of) return std::nullopt;
    if (n.unary == UnaryOp::negate) return static_cast<int64_t>(0 - static_cast<uint64_t>(*of));
    if (n.unary == UnaryOp::bit_not) return ~*of;
    if (n.unary == UnaryOp::logical_not) return !*of;
    return std::nullopt;
  }
  case NodeKind::binary: {
    const auto a = part(0), b = part(1);
    return a && b ? result_of(n.op, *a, *b) : std::nullopt;
  }
  case NodeKind::ternary: {
    const auto condition = part(0);
    return condition ? part(*condition ? 1 : 2) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

std::optional<int64_t> constant_of(const Script& script, const Node& n) { return value_of(script, n, 0); }

} // namespace dlang
