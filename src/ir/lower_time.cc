// Times: clocks, and times as text.
#include "ir/lowering.h"

#include <algorithm>

namespace ir {

using namespace lang;
using spec::id;

// The clock of nsecs([boot|monotonic|tai|sw_tai]).
Operand Lowering::clock(List<Expr*> arguments) {
  const Name* word = arguments.empty() ? nullptr : if_a<Name>(arguments[0]);
  if (word && word->name == "monotonic") return query(Query::ktime);
  if (word && (word->name == "tai" || word->name == "sw_tai")) return query(Query::ktime_tai);
  if (word && word->name != "boot")
    diagnostics_.error(spec::tag::bad_argument, word->where,
                       "unknown clock `" + std::string(word->name) + "`",
                       "clocks are boot, monotonic, tai and sw_tai");
  return query(Query::ktime_boot);
}

// The clock that a time comes from, where it is plain to see.
type::TimeClock Lowering::time_clock(const Expr& e) const {
  auto by_call = [](const Call& c) {
    const Name* word =
        is_builtin(c, id("nsecs")) && !c.arguments.empty() ? if_a<Name>(c.arguments[0]) : nullptr;
    if (!word) return type::TimeClock::boot;
    if (word->name == "monotonic") return type::TimeClock::monotonic;
    return word->name.ends_with("tai") ? type::TimeClock::tai : type::TimeClock::boot;
  };
  switch (e.kind) {
  case ExprKind::call: return by_call(as<Call>(e));
  case ExprKind::cast: return time_clock(*as<Cast>(e).operand);
  case ExprKind::binary: return std::max(time_clock(*as<Binary>(e).left), time_clock(*as<Binary>(e).right));
  case ExprKind::variable: {
    auto at = time_clocks_.find(as<VariableRef>(e).variable);
    return at == time_clocks_.end() ? type::TimeClock::boot : at->second;
  }
  default: return type::TimeClock::boot;
  }
}

// strftime(format, time): u32 number of the format's text, u32 clock, u64 time.
void Lowering::time_text_into(const Call& c, const Place& to) {
  Operand when = scalar(*c.arguments[1]);
  store(to, number(string_id(c.arguments[0]->constant.text_value)), 4);
  store(to.plus(4), number(static_cast<int64_t>(time_clock(*c.arguments[1]))), 4);
  store(to.plus(8), when, 8);
}

} // namespace ir
