#include "trace/summary.h"

#include "trace/values.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace trace {

static std::string row(uint64_t all_ns, const CallCount& c, const std::string& name) {
  char text[160];
  const double share = all_ns ? 100.0 * static_cast<double>(c.ns) / static_cast<double>(all_ns) : 0;
  const uint64_t each_us = c.calls ? c.ns / c.calls / 1000 : 0;
  const std::string errors = c.errors ? std::to_string(c.errors) : "";
  std::snprintf(text, sizeof text, "%6.2f %11.6f %11lu %9lu %9s ", share, static_cast<double>(c.ns) / 1e9,
                each_us, c.calls, errors.c_str());
  return text + name + "\n";
}

std::string summary_text(const std::map<int, CallCount>& counts) {
  std::vector<std::pair<int, CallCount>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.second.ns > b.second.ns; });
  CallCount all;
  for (auto& [number, c] : sorted) all.calls += c.calls, all.errors += c.errors, all.ns += c.ns;
  const std::string line = "------ ----------- ----------- --------- --------- ----------------\n";
  std::string out = "% time     seconds  usecs/call     calls    errors syscall\n" + line;
  for (auto& [number, c] : sorted) out += row(all.ns, c, call_name(number));
  return out + line + row(all.ns, all, "total");
}

} // namespace trace
