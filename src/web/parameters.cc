// Times may be relative: what is not above 0 counts from now.
#include "web/parameters.h"

#include "base/clock.h"
#include "base/print.h"
#include "report/json_object.h"

#include <charconv>
#include <cmath>

namespace web {

int64_t now_seconds() { return static_cast<int64_t>(base::clock_ns(CLOCK_REALTIME) / 1'000'000'000); }
double now_exactly() { return static_cast<double>(base::clock_ns(CLOCK_REALTIME)) / 1e9; }

static std::optional<double> number_in(std::string_view text) {
  double out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failed == std::errc() && end == text.data() + text.size() && std::isfinite(out) ? std::optional(out) : std::nullopt;
}

base::Result<store::Range> range_of(const Request& request, std::string_view before, int64_t length) {
  constexpr double latest = 4e9; // year 2096: beyond that it is in milliseconds
  const int64_t now = now_seconds();
  store::Range out = {0, now + 1};
  for (const bool is_from : {false, true}) {
    const std::string name = std::string(before) + (is_from ? "from" : "to");
    if (is_from) out.from = out.to - length;
    const std::string_view text = request.parameter(name);
    if (text.empty()) continue;
    const auto number = number_in(text);
    if (!number || std::abs(*number) > latest) return base::Error{base::Failure::usage, "`" + name + "` is a time in seconds since 1970, or 0 and below from now, not `" + std::string(text.substr(0, 40)) + "`"};
    (is_from ? out.from : out.to) = *number > 0 ? static_cast<int64_t>(std::ceil(*number)) : now + static_cast<int64_t>(std::ceil(*number)) + (is_from ? 0 : 1);
  }
  if (out.from >= out.to) return base::Error{base::Failure::usage, "the range is empty: `" + std::string(before) + "from` is not before `" + std::string(before) + "to`"};
  // Slots count whole: the one in which the range begins, too.
  out.from = store::slot_of(std::max<int64_t>(out.from, 0));
  return out;
}

base::Result<uint64_t> number_of(const Request& request, std::string_view name, uint64_t otherwise, uint64_t most) {
  const std::string_view text = request.parameter(name);
  if (text.empty()) return otherwise;
  uint64_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size() || out > most)
    return base::Error{base::Failure::usage, "`" + std::string(name) + "` is a whole number up to " + std::to_string(most) + ", not `" + std::string(text.substr(0, 40)) + "`"};
  return out;
}

std::string json_number(double value) { return std::isfinite(value) ? base::print("%.6g", value) : "null"; }

std::string to_json(const store::ServiceUse& use) {
  report::JsonObject out;
  out.add("service", use.service.name).add("type", store::name_of(use.service.type));
  for (std::string_view metric : {"cpu", "offcpu", "run_queue", "memory", "read", "written", "faults", "processes"}) out.raw(metric, json_number(use.metric(metric)));
  return out.end();
}

std::string to_json(const store::Finding& finding) {
  report::JsonObject out;
  out.raw("id", std::to_string(finding.id)).raw("time", std::to_string(finding.time)).add("service", finding.service).add("verdict", finding.verdict).add("cause", finding.cause);
  return out.add("summary", finding.summary).raw("detail", finding.detail.empty() ? "null" : finding.detail).end();
}

} // namespace web
