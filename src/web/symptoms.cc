// Pressure (PSI) is the share of time in which some task waited for the resource: below these values nobody complains.
#include "web/symptoms.h"

#include <algorithm>
#include <iterator>

namespace web {

namespace {

struct Threshold {
  std::string metric;
  double value;
};
const Threshold thresholds[] = {{"pressure_cpu", 0.5}, {"pressure_memory", 0.1}, {"pressure_io", 0.3}};
constexpr int64_t lasting = 60, pause = 1800; // seconds

} // namespace

std::string find_symptom(store::Store& store, int64_t now) {
  const int64_t to = store::slot_of(now);
  std::vector<std::string> names;
  for (const Threshold& t : thresholds) names.push_back(t.metric);
  const auto series = store.series("", names, {to - lasting, to}, 1000);
  if (!series.ok()) return {};
  for (size_t m = 0; m < names.size(); m++)
    if (!series->values[m].empty() && std::ranges::all_of(series->values[m], [&](const auto& value) { return value && *value > thresholds[m].value; })) return names[m];
  return {};
}

bool Symptoms::should_ask(store::Store& store, int64_t now) const {
  if (now - asked_ < pause && asked_ <= now) return false; // a clock that was set back starts anew
  return !find_symptom(store, now).empty();
}

} // namespace web
