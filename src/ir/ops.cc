// Questions about single instructions that need more than the row of their operation, and the arithmetic of
// the IR, which exists once so that constant folding and the evaluator cannot disagree.
#include "ir/ops.h"

#include <bit>
#include <iterator>

namespace ir {

bool is_call(const Inst& inst) {
  switch (row(inst.op).calls) {
  case Calls::never: return false;
  case Calls::always: return true;
  case Calls::outside_script: return inst.space == Space::kernel || inst.space == Space::user;
  }
  __builtin_unreachable();
}

std::string_view to_string(Op op) { return row(op).name; }

std::string_view to_string(Cond cond) {
  static constexpr std::string_view names[] = {"eq",  "ne",  "ult", "ule", "ugt",
                                               "uge", "slt", "sle", "sgt", "sge"};
  static_assert(std::size(names) == static_cast<size_t>(Cond::sge) + 1);
  return names[static_cast<size_t>(cond)];
}

std::string_view to_string(Query query) {
  static constexpr std::string_view names[] = {"pid_tgid",  "uid_gid",    "cpu",       "numa_node",
                                               "ktime",     "ktime_boot", "ktime_tai", "jiffies",
                                               "cgroup_id", "task",       "namespace_pid_tgid",
                                               "cookie",    "is_return",  "random",    "ktime_now", "user_registers"};
  static_assert(std::size(names) == static_cast<size_t>(Query::user_registers) + 1);
  return names[static_cast<size_t>(query)];
}

std::string_view to_string(Space space) {
  static constexpr std::string_view names[] = {"script", "context", "kernel", "user", "task"};
  static_assert(std::size(names) == static_cast<size_t>(Space::task) + 1);
  return names[static_cast<size_t>(space)];
}

Cond negate(Cond cond) {
  static constexpr Cond negated[] = {Cond::ne,  Cond::eq,  Cond::uge, Cond::ugt, Cond::ule,
                                     Cond::ult, Cond::sge, Cond::sgt, Cond::sle, Cond::slt};
  return negated[static_cast<size_t>(cond)];
}

Cond swap(Cond cond) {
  static constexpr Cond swapped[] = {Cond::eq,  Cond::ne,  Cond::ugt, Cond::uge, Cond::ult,
                                     Cond::ule, Cond::sgt, Cond::sge, Cond::slt, Cond::sle};
  return swapped[static_cast<size_t>(cond)];
}

bool holds(Cond cond, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (cond) {
  case Cond::eq: return a == b;
  case Cond::ne: return a != b;
  case Cond::ult: return ua < ub;
  case Cond::ule: return ua <= ub;
  case Cond::ugt: return ua > ub;
  case Cond::uge: return ua >= ub;
  case Cond::slt: return a < b;
  case Cond::sle: return a <= b;
  case Cond::sgt: return a > b;
  case Cond::sge: return a >= b;
  }
  __builtin_unreachable();
}

bool is_arithmetic(Op op) { return op <= Op::set; }

namespace {
int64_t extend(uint64_t value, uint8_t size, bool is_signed) {
  const unsigned unused = 64 - 8 * size;
  return is_signed ? static_cast<int64_t>(value << unused) >> unused
                   : static_cast<int64_t>(value << unused >> unused);
}
} // namespace

int64_t compute(const Inst& inst, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  uint64_t r = 0;
  switch (inst.op) {
  case Op::mov:
  case Op::number_of: r = ua; break;
  case Op::add: r = ua + ub; break;
  case Op::sub: r = ua - ub; break;
  case Op::mul: r = ua * ub; break;
  case Op::udiv: r = ub ? ua / ub : 0; break;
  case Op::umod: r = ub ? ua % ub : ua; break;
  case Op::and_: r = ua & ub; break;
  case Op::or_: r = ua | ub; break;
  case Op::xor_: r = ua ^ ub; break;
  case Op::shl: r = ua << (ub & 63); break;
  case Op::lshr: r = ua >> (ub & 63); break;
  case Op::ashr: return a >> (ub & 63);
  case Op::zext: return extend(ua, inst.size, false);
  case Op::sext: return extend(ua, inst.size, true);
  case Op::bswap: r = __builtin_bswap64(ua) >> (64 - 8 * inst.size); break;
  case Op::log2: r = ua ? std::bit_width(ua) - 1 : 0; break;
  case Op::set: r = holds(inst.cond, a, b); break;
  default: __builtin_unreachable();
  }
  return static_cast<int64_t>(r);
}

} // namespace ir
