// Aggregations with parameters: histograms and time series.
#include "lang/checker.h"

#include <algorithm>

namespace lang {

using namespace spec;

// hist(n [, bits])
const type::Type* Checker::check_hist(Call& e) {
  int64_t bits = e.arguments.size() > 1 ? e.arguments[1]->constant.integer_value : 0;
  if (bits < 0 || bits > 5)
    return mistake(tag::bad_argument, e.arguments[1]->where, "hist: bits must be from 0 to 5");
  return types_.hist(static_cast<uint32_t>(bits));
}

// lhist(n, min, max, step)
const type::Type* Checker::check_lhist(Call& e) {
  auto number = [&](size_t i) { return e.arguments[i]->constant.integer_value; };
  int64_t low = number(1), high = number(2), step = number(3);
  if (low < 0) return mistake(tag::bad_argument, e.arguments[1]->where, "lhist: min can't be negative");
  if (step <= 0)
    return mistake(tag::bad_argument, e.arguments[3]->where, "lhist: step must be greater than zero");
  if (high <= low)
    return mistake(tag::bad_argument, e.arguments[2]->where, "lhist: max must be greater than min");
  if ((high - low) / step > 1000)
    return mistake(tag::too_large, e.where, "lhist: more than 1000 buckets are too many",
                   "use a larger step");
  if (high - low < step)
    return mistake(tag::bad_argument, e.arguments[3]->where,
                   "lhist: step must not be greater than the range");
  return types_.lhist(low, high, step);
}

// tseries(n, interval, count [, what is kept of an interval])
const type::Type* Checker::check_series(Call& e) {
  use_unstable("unstable_tseries", e.where, "tseries()");
  constexpr int64_t most = 1'000'000;
  int64_t interval = e.arguments[1]->constant.integer_value, count = e.arguments[2]->constant.integer_value;
  if (interval <= 0)
    return mistake(tag::bad_argument, e.arguments[1]->where, "tseries: the interval must be longer than zero");
  if (count <= 0)
    return mistake(tag::bad_argument, e.arguments[2]->where, "tseries: the number of intervals must be greater than zero");
  if (count > most)
    return mistake(tag::too_large, e.arguments[2]->where,
                   "tseries: more than " + std::to_string(most) + " intervals are too many", "use longer ones");
  constexpr std::pair<std::string_view, type::Slice> words[] = {{"avg", type::Slice::avg},
                                                                {"max", type::Slice::max},
                                                                {"min", type::Slice::min},
                                                                {"sum", type::Slice::sum}};
  type::Slice slice = type::Slice::last;
  if (e.arguments.size() > 3) {
    std::string_view wanted = e.arguments[3]->constant.text_value;
    auto at = std::find_if(std::begin(words), std::end(words), [&](auto& w) { return w.first == wanted; });
    if (at == std::end(words))
      return mistake(tag::bad_argument, e.arguments[3]->where,
                     "tseries: `" + std::string(wanted) + "` is no way to put the values of an interval together",
                     "there are avg, max, min and sum; without one the last value is kept");
    slice = at->second;
  }
  return types_.tseries(interval, static_cast<uint32_t>(count), slice, e.arguments[0]->type->is_signed);
}

} // namespace lang
