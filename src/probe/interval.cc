// interval:UNIT:COUNT and interval:DURATION: run by acu itself from a timer. Also the reading of rates, which
// profile shares.
#include "probe/kinds.h"

#include "base/text.h"
#include "spec/durations.h"

namespace probe {

namespace {

// "interval:hz:0" and so on.
std::optional<Rate> wrong(std::string_view kind, Parts parts, Mismatch& mismatch, std::string why) {
  malformed(mismatch, kind, "`" + join(parts) + "`: " + why);
  return std::nullopt;
}

std::optional<Rate> parse_duration(std::string_view kind, Parts parts, Mismatch& mismatch) {
  std::string_view text = parts[1];
  if (text.empty()) return wrong(kind, parts, mismatch, "how often is missing");
  size_t end = text.size();
  while (end > 0 && text[end - 1] >= 'a' && text[end - 1] <= 'z') end--;
  std::string_view suffix = "ns";
  auto count = parse_count(text);
  if (!count) {
    suffix = text.substr(end);
    count = parse_count(text.substr(0, end));
  }
  const spec::DurationUnit* unit = spec::find_duration_unit(suffix);
  if (!count) return wrong(kind, parts, mismatch, "`" + std::string(text) + "` is not a length of time");
  if (!unit) return wrong(kind, parts, mismatch, "`" + std::string(suffix) + "` is not a unit of time");
  Rate rate;
  if (__builtin_mul_overflow(*count, unit->nanoseconds, &rate.period_ns) || rate.period_ns > INT64_MAX)
    return wrong(kind, parts, mismatch, "the time is too long");
  if (rate.period_ns == 0) return wrong(kind, parts, mismatch, "the time must not be 0");
  return rate;
}

} // namespace

std::optional<uint64_t> parse_count(std::string_view text) {
  std::string digits;
  bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (text.empty() || text.front() == '_' || text.back() == '_') return std::nullopt;
  uint64_t scale = 1;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '_') continue;
    if (!hex && (text[i] == 'e' || text[i] == 'E')) {
      auto exponent = base::parse_integer(text.substr(i + 1));
      if (!exponent || *exponent > 19 || digits.empty()) return std::nullopt;
      for (uint64_t n = 0; n < *exponent; n++)
        if (__builtin_mul_overflow(scale, uint64_t{10}, &scale)) return std::nullopt;
      break;
    }
    digits += text[i];
  }
  auto n = base::parse_integer(digits);
  if (!n || __builtin_mul_overflow(*n, scale, &*n)) return std::nullopt;
  return n;
}

std::string join_counts(Parts parts) {
  std::string out;
  for (const std::string_view part : parts) {
    const auto count = parse_count(part);
    out.append(out.empty() ? "" : ":").append(count ? std::to_string(*count) : std::string(part));
  }
  return out;
}

std::optional<Rate> parse_rate(std::string_view kind, Parts parts, Mismatch& mismatch) {
  if (parts.size() == 2) return parse_duration(kind, parts, mismatch);
  if (parts.size() != 3) return wrong(kind, parts, mismatch, "it takes a unit and a count");
  std::string_view unit_name = parts[1];
  auto count = parse_count(parts[2]);
  const spec::DurationUnit* unit = spec::find_duration_unit(unit_name);
  if (unit_name != "hz" && !unit)
    return wrong(kind, parts, mismatch, "`" + std::string(unit_name) + "` is not one of hz, s, ms, us");
  if (parts[2].empty()) return wrong(kind, parts, mismatch, "the count is missing");
  if (!count) return wrong(kind, parts, mismatch, "`" + std::string(parts[2]) + "` is not a count");
  if (*count == 0) return wrong(kind, parts, mismatch, "the count must not be 0");
  Rate rate;
  if (unit_name == "hz") {
    if (*count > 1'000'000'000) return wrong(kind, parts, mismatch, "nothing can happen that often");
    rate.frequency = *count;
  } else if (__builtin_mul_overflow(*count, unit->nanoseconds, &rate.period_ns) ||
             rate.period_ns > INT64_MAX) {
    return wrong(kind, parts, mismatch, "the time is too long");
  }
  return rate;
}

// ------------------------------------------------------------------------------------------------- match

static std::vector<Event> match_interval(Machine&, Parts parts, Mismatch& mismatch) {
  auto rate = parse_rate("interval", parts, mismatch);
  if (!rate) return {};
  Event e{.kind = Kind::interval, .name = "interval:" + join_counts(parts.subspan(1)), .provider = "interval"};
  e.period_ns = rate->frequency ? 1'000'000'000 / rate->frequency : rate->period_ns;
  return {std::move(e)};
}

static void list_interval(Machine&, std::vector<Event>& to) {
  for (const char* form : {"hz:", "ms:", "s:", "us:"})
    to.push_back({.kind = Kind::interval, .name = std::string("interval:") + form, .provider = "interval"});
}

constinit const KindFunctions interval_kind{
    .match = match_interval, .list = list_interval, .attach = run_by_acu};

} // namespace probe
