#include "trace/summary.h"

#include "trace/values.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace trace {

void CountedCalls::add(const std::map<int, Tally>& now) {
  for (const auto& [number, all] : now) {
    Tally& before = tallies_[number];
    const Tally gained = {all.timed - before.timed, all.ns - before.ns, all.untimed - before.untimed, all.errors - before.errors};
    before = all;
    CallCount& c = counts_[number];
    c.calls += gained.timed + gained.untimed;
    c.errors += gained.errors;
    c.timed += gained.timed;
    c.ns += gained.ns;
    uint64_t& unknown = unknown_[number];
    unknown += gained.untimed;
    if (!all.timed) continue;
    const Tally& like = gained.timed ? gained : all;
    c.ns += static_cast<uint64_t>(static_cast<double>(like.ns) / static_cast<double>(like.timed) * static_cast<double>(std::exchange(unknown, 0)));
  }
}

static std::string row(uint64_t all_ns, const CallCount& c, const std::string& name) {
  char text[160];
  const double share = all_ns ? 100.0 * static_cast<double>(c.ns) / static_cast<double>(all_ns) : 0;
  const std::string errors = c.errors ? std::to_string(c.errors) : "";
  if (c.timed || !c.calls)
    std::snprintf(text, sizeof text, "%6.2f %11.6f %11lu %9lu %9s ", share, static_cast<double>(c.ns) / 1e9, c.calls ? c.ns / c.calls / 1000 : 0, c.calls, errors.c_str());
  else
    std::snprintf(text, sizeof text, "%6s %11s %11s %9lu %9s ", "-", "-", "-", c.calls, errors.c_str());
  return text + name + "\n";
}

std::string name_of_row(int number) { return call_name(number) + (number >= Call::first_of_32 ? " (32 bit)" : ""); }

SortCounts sort_of_counts(std::string_view word) {
  if (word == "calls") return SortCounts::calls;
  if (word == "errors") return SortCounts::errors;
  return word == "name" ? SortCounts::name : SortCounts::time;
}

std::vector<CountRow> sorted_counts(const std::map<int, CallCount>& counts, SortCounts by) {
  std::vector<CountRow> out;
  for (const auto& [number, c] : counts)
    if (c.calls) out.push_back({name_of_row(number), c});
  std::stable_sort(out.begin(), out.end(), [by](const CountRow& a, const CountRow& b) {
    switch (by) {
    case SortCounts::time: return a.count.ns > b.count.ns;
    case SortCounts::calls: return a.count.calls > b.count.calls;
    case SortCounts::errors: return a.count.errors > b.count.errors;
    case SortCounts::name: return a.name < b.name;
    }
    return false;
  });
  return out;
}

std::string summary_text(const std::vector<CountRow>& rows, size_t top) {
  CallCount all;
  for (const CountRow& r : rows) all.calls += r.count.calls, all.errors += r.count.errors, all.ns += r.count.ns, all.timed += r.count.timed;
  const std::string line = "------ ----------- ----------- --------- --------- ----------------\n";
  std::string out = "% time     seconds  usecs/call     calls    errors syscall\n" + line;
  for (size_t i = 0; i < rows.size() && (!top || i < top); i++) out += row(all.ns, rows[i].count, rows[i].name);
  return out + line + row(all.ns, all, "total");
}

} // namespace trace
