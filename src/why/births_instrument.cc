// The measurement `births`: which processes start others, how many, and what these are (scripts/why_births.bt).
#include "why/instruments.h"

#include "why/script_instrument.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view own_name = "births";
constexpr size_t most_facts = 32;

struct Parent {
  std::string name, program;
  uint64_t births = 0, program_births = 0, cpu_ns = 0;
  std::vector<uint64_t> lifetimes;
};

uint64_t median(std::vector<uint64_t> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

class BirthsInstrument final : public ScriptInstrument {
public:
  explicit BirthsInstrument(const Subject& subject) : ScriptInstrument("why_births", subject, Scope::host) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;
};

base::Result<std::vector<Fact>> BirthsInstrument::end(uint64_t) {
  std::map<uint32_t, Parent> parents;
  ACU_TRY(const std::vector<ScriptRow> births, rows("births"));
  ACU_TRY(const std::vector<ScriptRow> names, rows("name"));
  ACU_TRY(const std::vector<ScriptRow> programs, rows("programs"));
  ACU_TRY(const std::vector<ScriptRow> times, rows("cpu"));
  ACU_TRY(const std::vector<ScriptRow> lifetimes, rows("lifetimes"));
  auto find = [&](uint64_t pid) -> Parent* {
    const auto at = parents.find(static_cast<uint32_t>(pid));
    return at == parents.end() ? nullptr : &at->second;
  };
  for (const ScriptRow& r : births) parents[static_cast<uint32_t>(r.number("key"))].births = r.count();
  for (const ScriptRow& r : names)
    if (Parent* p = find(r.number("key"))) p->name = r.text("value");
  for (const ScriptRow& r : programs)
    if (Parent* p = find(r.number("0")); p && r.count() > p->program_births) p->program = r.text("1"), p->program_births = r.count();
  for (const ScriptRow& r : times)
    if (Parent* p = find(r.number("key"))) p->cpu_ns = r.sum();
  for (const ScriptRow& r : lifetimes)
    if (Parent* p = find(r.number("0"))) p->lifetimes.push_back(r.number("value"));
  std::vector<std::pair<uint32_t, const Parent*>> ranked;
  for (const auto& [pid, parent] : parents) ranked.emplace_back(pid, &parent);
  std::ranges::sort(ranked, std::greater(), [](const auto& p) { return p.second->births; });
  if (ranked.size() > most_facts) ranked.resize(most_facts);
  std::vector<Fact> out;
  for (const auto& [pid, p] : ranked)
    out.push_back({.kind = find_fact_kind("births"),
                   .slots = {{"parent", int64_t{pid}},
                             {"name", p->name},
                             {"program", p->program.empty() ? p->name : p->program},
                             {"rate", rate(p->births)},
                             {"cpu", share(p->cpu_ns)},
                             {"lifetime", static_cast<double>(median(p->lifetimes))}},
                   .measurement = own_name});
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_births_instrument(const Subject& subject) { return std::make_unique<BirthsInstrument>(subject); }

} // namespace why
