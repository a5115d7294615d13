// Values and the types that are written for them: `let $x : uint8 = …`, parameters, results.
//
// A constant must be in the range of the type; of other integers the type must not be wider, for its value would be cut
// without a word. The sign may differ: the bits are kept, and what may be negative is warned of.
#include "lang/checker.h"

namespace lang {

using type::Kind;
using namespace spec;

namespace {

struct Limits {
  __int128 low, high;
};

Limits limits_of(const type::Type& t) {
  const unsigned bits = t.size * 8;
  const __int128 one = 1;
  return t.is_signed ? Limits{-(one << (bits - 1)), (one << (bits - 1)) - 1} : Limits{0, (one << bits) - 1};
}

std::string decimal(__int128 n) {
  return n < 0 ? std::to_string(static_cast<int64_t>(n)) : std::to_string(static_cast<uint64_t>(n));
}

} // namespace

// Whether a constant is in the range of an integer type; reports it if not.
bool Checker::check_range(const type::Type& wanted, const Expr& value) {
  if (!wanted.is(Kind::integer) || !value.type->is(Kind::integer) || value.constant.kind != Constant::integer) return true;
  const __int128 n = value_of(value);
  const auto [low, high] = limits_of(wanted);
  if (n >= low && n <= high) return true;
  error(tag::type_mismatch, value.where,
        decimal(n) + " is out of range for " + text(&wanted) + " (" + decimal(low) + " to " + decimal(high) + ")",
        "cast it to keep its low bits: `(" + text(&wanted) + ")…`");
  return false;
}

// Whether what is declared with this type can be given the value. A constant out of range is reported here, and so
// is a sign that may be lost.
bool Checker::fits_declared(const type::Type& wanted, const Expr& value) {
  const type::Type& given = *value.type;
  if (&wanted == &given) return true;
  if (!wanted.is_integer() || !given.is_integer()) return unify(&wanted, nullptr, &given, &value) == &wanted;
  if (!wanted.is(Kind::integer) || !given.is(Kind::integer)) return true;
  if (value.constant.kind == Constant::integer) return check_range(wanted, value), true;
  if (given.size > wanted.size) return false;
  if (!wanted.is_signed && may_be_negative(value))
    warning(tag::sign_mix, value.where, "this may be negative, but is given to a " + text(&wanted),
            "cast it to say so: `(" + text(&wanted) + ")…`");
  return true;
}

} // namespace lang
