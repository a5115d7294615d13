// Percentiles of histograms: p50(@h), p99(@h[key]), percentile(@h, 99.9).
#include "lang/checker.h"

namespace lang {

using type::Kind;
using namespace spec;

// `99`, `99.9` or `99.999` in thousandths of a percent; nothing: it is no percentage above 0.
static std::optional<uint32_t> thousandths(std::string_view text) {
  constexpr size_t most_decimals = 3;
  const size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  const std::string_view decimals = dot < text.size() ? text.substr(dot + 1) : std::string_view();
  if (digits.empty() || digits.size() > 3 || decimals.size() > most_decimals || (dot < text.size() && decimals.empty())) return std::nullopt;
  digits.append(decimals).append(most_decimals - decimals.size(), '0');
  if (digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  const auto value = static_cast<uint32_t>(std::stoul(digits));
  return value > 0 && value <= whole_percentile ? std::optional(value) : std::nullopt;
}

std::optional<uint32_t> percentile_of(const Call& e) {
  const std::string_view name = e.builtin->name;
  if (e.arguments.size() < 2) return name == "p999" ? 99900 : thousandths(name.substr(1));
  const Constant& value = e.arguments[1]->constant;
  return thousandths(value.kind == Constant::integer ? std::to_string(value.integer_value) : std::string(value.text_value));
}

// The map is named as a whole or by a key; its values are no numbers, so the argument is checked here.
const type::Type* Checker::check_percentile(Call& e) {
  const size_t wanted = e.builtin->params[1].takes == Takes::nothing ? 1 : 2;
  if (e.arguments.size() != wanted) return check_parameters(e, *e.builtin), types_.none();
  const std::string name = "`" + std::string(e.builtin->name) + "`";
  MapRef* m = if_a<MapRef>(e.arguments[0]);
  if (!m) return mistake(tag::bad_argument, e.arguments[0]->where, name + " takes a map of histograms here", std::string(e.builtin->texts().signature));
  use_map(*m);
  Map& map = *m->map;
  map.reads_buckets = true;
  map.only_adds = map.tid_only = false;
  if (!m->key && map.keyed_use)
    return mistake(tag::bad_map_use, m->where, "`@" + std::string(map.name) + "` has keys: name one, `@" + std::string(map.name) + "[…]`");
  ask(map.inferred_value);
  map.value = settled(map.inferred_value);
  m->type = map.value ? map.value : types_.none();
  if (map.value && !map.value->is(Kind::hist) && !map.value->is(Kind::lhist))
    return mistake(tag::bad_argument, m->where, name + " needs a histogram; `@" + std::string(map.name) + "` has values of type " + text(map.value),
                   "fill it with hist() or lhist()");
  if (wanted == 2) {
    Expr& percentage = *e.arguments[1];
    check_value(percentage);
    if (percentage.constant.kind == Constant::none || !percentile_of(e))
      return mistake(tag::bad_argument, percentage.where,
                     name + " takes a constant percentage above 0, at most 100, with up to 3 decimals", "percentile(@us, 99.9)");
  }
  return types_.int64();
}

} // namespace lang
