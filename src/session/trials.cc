// A bench probe runs its block ir::bench_turns times and gives the nanoseconds that took: what it costs to start a
// program does not count.
#include "session/trials.h"

#include "base/counted.h"
#include "report/json.h"

#include <algorithm>

namespace session {

namespace {

constexpr uint64_t enough_ns = 100'000'000; // measured for each block
constexpr uint64_t max_runs = 4000;

std::vector<uint32_t> probes_of(const ir::Program& program, probe::Kind kind) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (!program.probes[i].events.empty() && program.events[program.probes[i].events.front()].kind == kind)
      out.push_back(i);
  return out;
}

std::string_view name_of(const ir::Program& program, uint32_t probe) {
  return program.events[program.probes[probe].events.front()].event;
}

// Why a test failed; empty if it did not.
std::string complaint(Life& life, int64_t result, size_t errors_before) {
  size_t errors = life.effects.errors() - errors_before;
  if (life.effects.ended() && life.effects.status() != 0)
    return "exit status " + std::to_string(life.effects.status());
  if (errors) return base::counted(errors, "error");
  if (result != 0) return "returned " + std::to_string(result);
  return {};
}

void report_test(Life& life, std::string_view name, const std::string& why) {
  std::string line;
  if (life.options.json) {
    report::append_json(line, name);
    std::string text = "{\"name\": " + line + ", \"passed\": " + (why.empty() ? "true" : "false");
    line.clear();
    report::append_json(line, why);
    line = report::json_line("test", why.empty() ? text + "}" : text + ", \"reason\": " + line + "}");
  } else {
    line = (why.empty() ? "PASS " : "FAIL ") + std::string(name) + (why.empty() ? "" : ": " + why) + "\n";
  }
  life.output.out(line);
}

struct Measured {
  std::string_view name;
  uint64_t nanoseconds;
};

void report_benches(Life& life, std::vector<Measured> rows) {
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.name < b.name; });
  if (life.options.json) {
    std::string data = "{";
    for (const Measured& row : rows) {
      if (&row != rows.data()) data += ", ";
      report::append_json(data, row.name);
      data += ": " + std::to_string(row.nanoseconds);
    }
    return life.output.out(report::json_line("benchmark_results", data + "}"));
  }
  size_t widths[2] = {9, 11}; // of the headings
  for (const Measured& row : rows) {
    widths[0] = std::max(widths[0], row.name.size());
    widths[1] = std::max(widths[1], std::to_string(row.nanoseconds).size());
  }
  auto line = [&](std::string_view left, std::string_view right) {
    std::string out = "| " + std::string(left) + std::string(widths[0] - left.size(), ' ') + " | ";
    return out + std::string(right) + std::string(widths[1] - right.size(), ' ') + " |\n";
  };
  std::string rule = "+" + std::string(widths[0] + 2, '-') + "+" + std::string(widths[1] + 2, '-') + "+\n";
  std::string out = "\n\n" + rule + line("BENCHMARK", "NANOSECONDS") + rule;
  for (const Measured& row : rows) out += line(row.name, std::to_string(row.nanoseconds));
  life.output.out(out + rule);
}

} // namespace

base::Status run_tests(Life& life) {
  size_t passed = 0, failed = 0;
  for (uint32_t i : probes_of(life.program, probe::Kind::test)) {
    size_t errors_before = life.effects.errors();
    life.effects.start_anew();
    life.output.hold();
    auto ran = life.backend.engine().run(i);
    if (ran.ok()) {
      while (life.effects.drain()) {
      }
    }
    std::string why = ran.ok() ? complaint(life, *ran, errors_before) : ran.error().message;
    if (why.empty())
      life.output.drop();
    else
      life.output.release();
    why.empty() ? passed++ : failed++;
    report_test(life, name_of(life.program, i), why);
    life.output.settle();
  }
  life.effects.start_anew();
  if (!life.options.json)
    life.output.out(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed\n");
  life.failed = failed > 0;
  return {};
}

base::Status run_benches(Life& life) {
  std::vector<Measured> rows;
  for (uint32_t i : probes_of(life.program, probe::Kind::bench)) {
    uint64_t total = 0, runs = 0;
    life.output.hold();
    for (; total < enough_ns && runs < max_runs && !life.effects.ended(); runs++) {
      ACU_TRY(int64_t taken, life.backend.engine().run(i));
      total += static_cast<uint32_t>(taken);
      life.effects.drain();
      life.output.drop();
      life.output.hold();
    }
    life.output.drop();
    uint64_t turns = runs * ir::bench_turns;
    rows.push_back({name_of(life.program, i), (total + turns / 2) / turns});
    if (life.effects.ended()) break;
  }
  report_benches(life, std::move(rows));
  return {};
}

} // namespace session
