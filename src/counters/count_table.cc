#include "counters/count_table.h"

#include "base/print.h"
#include "base/rounded.h"
#include "report/json.h"
#include "report/number.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace counters {

using base::print;

namespace {

constexpr double ns_in_ms = 1e6, ns_in_s = 1e9;

std::string value_text(const CountRow& row) {
  if (!row.is_supported) return "<not supported>";
  return row.is_time ? print("%.2f", row.value.mean() / ns_in_ms) : report::grouped(static_cast<uint64_t>(base::rounded(row.value.mean())));
}
std::string_view unit_of(const CountRow& row) { return row.is_time ? "msec" : ""; }

const CountRow* find(const CountTable& table, const CountRow& beside, std::string_view name) {
  for (const CountRow& row : table.rows)
    if (row.name == name && row.cpu == beside.cpu && row.is_supported && row.value.mean() > 0) return &row;
  return nullptr;
}

std::string rate(double per_second) {
  constexpr double largest = 999.9995; // what is more is shown as 1000.000
  if (per_second >= largest * 1e6) return print("%8.3f G/sec", per_second / 1e9);
  if (per_second >= largest * 1e3) return print("%8.3f M/sec", per_second / 1e6);
  if (per_second >= largest) return print("%8.3f K/sec", per_second / 1e3);
  return print("%8.3f /sec", per_second);
}

// What the number means beside the others: "   0.998 CPUs utilized"; empty: nothing.
std::string meaning(const CountTable& table, const CountRow& row, double elapsed) {
  const double value = row.value.mean();
  if (row.name == "task-clock" || row.name == "cpu-clock")
    return elapsed > 0 ? print("%8.3f CPUs utilized", value / ns_in_s / elapsed) : "";
  if (row.name == "instructions")
    if (const CountRow* cycles = find(table, row, "cycles")) return print("%8.2f insn per cycle", value / cycles->value.mean());
  if (row.name == "branch-misses")
    if (const CountRow* all = find(table, row, "branches")) return print("%8.2f%% of all branches", 100 * value / all->value.mean());
  if (row.name == "cache-misses")
    if (const CountRow* all = find(table, row, "cache-references"))
      return print("%8.2f%% of all cache refs", 100 * value / all->value.mean());
  const CountRow* clock = find(table, row, "task-clock");
  if (!clock) clock = find(table, row, "cpu-clock");
  if (!clock) return "";
  if (row.name == "cycles") return print("%8.3f GHz", value / clock->value.mean());
  return rate(value / (clock->value.mean() / ns_in_s));
}

std::string line(const CountTable& table, const CountRow& row, double elapsed) {
  std::string out = row.cpu ? print("CPU%-4d", *row.cpu) : "";
  const std::string unit(unit_of(row));
  out += print("%18s %-4s %-25s", value_text(row).c_str(), unit.c_str(), row.name.c_str());
  if (!row.is_supported) return out;
  const std::string told = meaning(table, row, elapsed);
  const bool has_noise = row.value.count() > 1, is_part = row.running < 1;
  if (!told.empty()) out += " # " + print("%-28s", told.c_str());
  if ((has_noise || is_part) && told.empty()) out += std::string(31, ' ');
  if (has_noise) out += print("  ( +-%6.2f%% )", 100 * row.value.relative_error());
  if (is_part) out += print("  (%.2f%%)", 100 * row.running);
  return out;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

} // namespace

void Runs::add(double value) {
  const double before = value - mean_;
  mean_ += before / static_cast<double>(++count_);
  squares_ += before * (value - mean_);
}

double Runs::error() const {
  if (count_ < 2) return 0;
  const double n = static_cast<double>(count_);
  return std::sqrt(squares_ / (n - 1) / n);
}

std::string count_text(const CountTable& table) {
  const double elapsed = table.elapsed.mean();
  std::string out = "\n Performance counter stats for " + table.title;
  if (table.elapsed.count() > 1) out += " (" + std::to_string(table.elapsed.count()) + " runs)";
  out += ":\n\n";
  for (const CountRow& row : table.rows) out += trimmed(line(table, row, elapsed));
  if (table.elapsed.count() > 1)
    out += print("\n%18.6f +- %.6f seconds time elapsed  ( +-%6.2f%% )\n\n", elapsed, table.elapsed.error(),
                 100 * table.elapsed.relative_error());
  else
    out += print("\n%18.9f seconds time elapsed\n\n", elapsed);
  if (table.user.count())
    out += print("%18.9f seconds user\n%18.9f seconds sys\n\n", table.user.mean(), table.system.mean());
  return out;
}

std::string interval_text(const CountTable& table, double seconds, bool with_head) {
  std::string out;
  if (with_head) out = "#           time             counts unit events\n";
  for (const CountRow& row : table.rows) out += print("%16.9f ", seconds) + trimmed(line(table, row, table.elapsed.mean()));
  return out;
}

std::string count_json(const CountTable& table, std::optional<double> seconds) {
  std::string out;
  for (const CountRow& row : table.rows) {
    out += "{";
    if (seconds) out += print("\"time\": %.9f, ", *seconds);
    if (row.cpu) out += print("\"cpu\": %d, ", *row.cpu);
    out += "\"event\": ";
    report::append_json(out, row.name);
    if (row.is_supported)
      out += row.is_time ? print(", \"value\": %.6f, \"unit\": \"msec\"", row.value.mean() / ns_in_ms)
                         : print(", \"value\": %.*f, \"unit\": \"\"", row.value.count() > 1 ? 2 : 0, row.value.mean());
    else
      out += ", \"value\": null";
    if (row.value.count() > 1) out += print(", \"runs\": %llu, \"error\": %.6f", static_cast<unsigned long long>(row.value.count()), row.value.relative_error());
    out += print(", \"running\": %.4f}\n", row.running);
  }
  return out;
}

std::string count_columns(const CountTable& table, std::optional<double> seconds, std::string_view separator) {
  std::string out;
  for (const CountRow& row : table.rows) {
    std::vector<std::string> columns;
    if (seconds) columns.push_back(print("%16.9f", *seconds));
    if (row.cpu) columns.push_back(print("CPU%d", *row.cpu));
    if (!row.is_supported)
      columns.push_back("<not supported>");
    else
      columns.push_back(row.is_time ? print("%.2f", row.value.mean() / ns_in_ms) : print("%.0f", row.value.mean()));
    columns.push_back(row.is_time ? "msec" : "");
    columns.push_back(row.name);
    if (row.value.count() > 1) columns.push_back(print("%.2f%%", 100 * row.value.relative_error()));
    columns.push_back(std::to_string(row.running_ns));
    columns.push_back(print("%.2f", 100 * row.running));
    columns.insert(columns.end(), 2, "");
    for (size_t i = 0; i < columns.size(); i++) out.append(i ? separator : std::string_view()).append(columns[i]);
    out += "\n";
  }
  return out;
}

} // namespace counters
