// Counter values as text: the layout of perf stat(1), its columns, and JSON with one object per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace counters {

// Values of one quantity over several runs (Welford's method).
class Runs {
public:
  void add(double value);
  uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  // The standard error of the mean, and that as a share of it; 0: of one run.
  double error() const;
  double relative_error() const { return mean_ != 0 ? error() / mean_ : 0; }

private:
  uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

struct CountRow {
  std::string name;
  bool is_time = false;      // ns, told in milliseconds
  bool is_supported = true;  // by this machine
  Runs value;                // of all runs
  double running = 1;        // share of the time that it was counted; below 1 the value is scaled up
  uint64_t running_ns = 0;   // that time, of the last run
  std::optional<int> cpu;    // of this one alone
};

struct CountTable {
  std::string title; // "'sort big.txt'", "process 17 (nginx)"
  std::vector<CountRow> rows;
  Runs elapsed, user, system; // seconds; none of user and system: of no command
};

// At the end of a run, or of several.
std::string count_text(const CountTable& table);
// At an interval: without title, each line begins with the time in seconds. `with_head`: the names of the columns first.
std::string interval_text(const CountTable& table, double seconds, bool with_head);
// `seconds`: of an interval.
std::string count_json(const CountTable& table, std::optional<double> seconds);
// The columns of `perf stat -x`: time of an interval, CPU, value, unit, event, error of several runs, ns that it was counted, percent
// of the time that is; and two for perf's metrics, which stay empty.
std::string count_columns(const CountTable& table, std::optional<double> seconds, std::string_view separator);

} // namespace counters
