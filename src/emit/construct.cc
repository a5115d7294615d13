#include "emit/construct.h"

#include "type/type.h"

#include <iterator>

namespace emit {

using namespace lang;
using type::Kind;

static constexpr ConstructRow rows[] = {
    {Construct::predicate, "predicate of a probe", "interval:s:1 /pid > 1/ { … }"},
    {Construct::map_scalar, "map without a key", "@m = nsecs"},
    {Construct::map_keyed, "map with a key", "@m[pid, comm] = nsecs"},
    {Construct::map_declared, "declared map", "let @m = lruhash(100);"},
    {Construct::map_stack_key, "key with a stack", "@m[kstack] = count()"},
    {Construct::tuple, "tuple", "$t = (1, comm); $t.0"},
    {Construct::record, "record", "$r = (id = 1, text = comm); $r.id"},
    {Construct::string_compare, "comparison of texts", "comm == \"bash\""},
    {Construct::memory_compare, "comparison of arrays, tuples and structures", "$a == $b"},
    {Construct::ternary, "choice of a value", "$a ? 1 : 2"},
    {Construct::try_value, "value for failed reads", "try(*$p, 0)"},
    {Construct::floating, "floating point number", "print(args.ratio)"},
    {Construct::cast_integer, "cast to an integer", "(uint8)$x"},
    {Construct::cast_pointer, "cast to a pointer", "(struct file *)$x"},
    {Construct::cast_array, "integer to array of bytes, and back", "(uint8[4])$x"},
    {Construct::member, "member of a structure", "curtask.pid"},
    {Construct::bit_field, "member of some bits", "$tcp.syn"},
    {Construct::element, "element of an array", "$a[1]"},
    {Construct::dereference, "value behind a pointer", "*(uint32 *)$p"},
    {Construct::address, "address of a variable, map or member", "&$x"},
    {Construct::increment, "increment as a value", "$y = @m++"},
    {Construct::conditional, "condition", "if ($x) { … } else { … }"},
    {Construct::loop_while, "loop with a condition", "while ($i < 5) { … }"},
    {Construct::loop_range, "loop over a range", "for ($i : 0..5) { … }"},
    {Construct::loop_map, "loop over a map", "for ($kv : @m) { … }"},
    {Construct::loop_sorted, "loop over a sorted map", "for ($kv : sorted(@m, 3)) { … }"},
    {Construct::unroll, "unrolled loop", "unroll (3) { … }"},
    {Construct::leave, "break and continue", "break;"},
    {Construct::give_back, "return from a probe", "return;"},
    {Construct::function, "function", "fn f($a : uint64) : uint64 { return $a; }"},
    {Construct::speculate, "speculative output", "speculate { … }"},
    {Construct::limit, "rate limit", "limit(10/s) { … }"},
    {Construct::program_value, "value of the traced program, by debug information", "args.request"},
    {Construct::kernel_value, "named argument of a kernel function or raw tracepoint", "args.bdev"},
    {Construct::wildcard, "probe with a wildcard", "kprobe:vfs_*"},
    {Construct::string_nul, "text with NULs or bytes that are no UTF-8", "\"a\\0b\""},
};
static_assert(std::size(rows) == static_cast<size_t>(Construct::string_nul) + 1);

std::span<const ConstructRow> constructs() { return rows; }
std::string_view name_of(Construct c) { return rows[static_cast<size_t>(c)].name; }

static bool is_number(const type::Type* t) { return t && (t->is_integer() || t->is(Kind::pointer)); }

static bool is_text(const Expr& e) { return e.type && (e.type->is(Kind::string)); }

static Construct construct_of(const Cast& c) {
  if (c.type->is(Kind::pointer)) return Construct::cast_pointer;
  if (c.type->is(Kind::array) || (c.operand->type && c.operand->type->is(Kind::array))) return Construct::cast_array;
  return Construct::cast_integer;
}

static std::optional<Construct> construct_of(const Binary& b) {
  if (b.op != BinaryOp::eq && b.op != BinaryOp::ne) return std::nullopt;
  if (is_text(*b.left) || is_text(*b.right)) return Construct::string_compare;
  if (!is_number(b.left->type) && !b.left->type->is_scalar() && !b.left->type->is_castable_aggregation()) return Construct::memory_compare;
  return std::nullopt;
}

static std::optional<Construct> construct_of(const FieldRef& f) {
  if (f.recipe) return Construct::program_value;
  const Name* of = if_a<Name>(static_cast<const Expr*>(f.operand));
  if (of && of->name == "args") return std::nullopt; // Checked by the probe's kind
  if (f.operand->type && f.operand->type->is(Kind::tuple)) return f.operand->type->is_named ? Construct::record : Construct::tuple;
  return f.field.bit_size ? Construct::bit_field : Construct::member;
}

static bool is_plain_text(std::string_view text) {
  for (size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!c) return false;
    if (c < 0x80) continue;
    const size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;
    if (!more || i + more >= text.size()) return false;
    for (size_t k = 0; k < more; k++)
      if ((static_cast<unsigned char>(text[++i]) & 0xc0) != 0x80) return false;
  }
  return true;
}

std::optional<Construct> construct_of(const Expr& e) {
  if (e.type && e.type->is(Kind::floating)) return Construct::floating;
  switch (e.kind) {
  case ExprKind::string: return is_plain_text(as<String>(e).value) ? std::nullopt : std::optional(Construct::string_nul);
  case ExprKind::name: return as<Name>(e).recipe && as<Name>(e).arg_number < 0 ? std::optional(Construct::program_value) : std::nullopt;
  case ExprKind::call: return as<Call>(e).recipe ? std::optional(Construct::program_value) : std::nullopt;
  case ExprKind::map: {
    const MapRef& m = as<MapRef>(e);
    if (!m.key) return Construct::map_scalar;
    return m.key->type && m.key->type->has_stack() ? Construct::map_stack_key : Construct::map_keyed;
  }
  case ExprKind::unary:
    if (as<Unary>(e).op == UnaryOp::dereference) return Construct::dereference;
    if (as<Unary>(e).op == UnaryOp::address_of) return Construct::address;
    return std::nullopt;
  case ExprKind::binary: return construct_of(as<Binary>(e));
  case ExprKind::ternary: return Construct::ternary;
  case ExprKind::attempt: return Construct::try_value;
  case ExprKind::cast: return construct_of(as<Cast>(e));
  case ExprKind::field: return construct_of(as<FieldRef>(e));
  case ExprKind::index: return Construct::element;
  case ExprKind::tuple: return as<Tuple>(e).names.empty() ? Construct::tuple : Construct::record;
  default: return std::nullopt;
  }
}

std::optional<Construct> construct_of(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::conditional: return Construct::conditional;
  case StmtKind::loop_while: return Construct::loop_while;
  case StmtKind::loop_range: return Construct::loop_range;
  case StmtKind::loop_map: return as<ForMap>(s).is_sorted ? Construct::loop_sorted : Construct::loop_map;
  case StmtKind::unroll: return Construct::unroll;
  case StmtKind::speculate: return Construct::speculate;
  case StmtKind::limit: return Construct::limit;
  case StmtKind::leave: return Construct::leave;
  case StmtKind::give_back: return Construct::give_back;
  default: return std::nullopt;
  }
}

} // namespace emit
