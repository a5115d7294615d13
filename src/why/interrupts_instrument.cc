// The measurement `interrupts`: what interrupts cost, by source (scripts/why_interrupts.bt).
#include "why/instruments.h"

#include "why/script_instrument.h"

#include <algorithm>
#include <array>
#include <map>

namespace why {

namespace {

constexpr std::string_view own_name = "interrupts";
constexpr size_t most_facts = 32;

// enum of linux/interrupt.h
constexpr std::array<std::string_view, 10> softirqs = {"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"};

struct Source {
  uint64_t count = 0, most_ns = 0;
  int64_t cpu = 0; // where it takes most time
};

class InterruptsInstrument final : public ScriptInstrument {
public:
  explicit InterruptsInstrument(const Subject& subject) : ScriptInstrument("why_interrupts", subject, Scope::host) {}

  base::Result<std::vector<Fact>> end(uint64_t) override {
    ACU_TRY(const std::vector<ScriptRow> devices, rows("irqs"));
    ACU_TRY(const std::vector<ScriptRow> soft, rows("softirqs"));
    ACU_TRY(const std::vector<ScriptRow> named, rows("irq_name"));
    std::map<uint64_t, std::string> names;
    for (const ScriptRow& r : named) names[r.number("key")] = r.text("value");
    std::map<std::string, Source> sources;
    auto add = [&](const std::string& name, const ScriptRow& r) {
      Source& s = sources[name];
      s.count += r.count();
      if (r.sum() >= s.most_ns) s.most_ns = r.sum(), s.cpu = static_cast<int64_t>(r.number("1"));
    };
    for (const ScriptRow& r : devices) {
      const auto name = names.find(r.number("0"));
      add(name == names.end() || name->second.empty() ? "interrupt " + std::to_string(r.number("0")) : name->second, r);
    }
    for (const ScriptRow& r : soft)
      if (const uint64_t vector = r.number("0"); vector < softirqs.size()) add(std::string(softirqs[vector]), r);
    std::vector<std::pair<std::string, Source>> ranked(sources.begin(), sources.end());
    std::ranges::sort(ranked, std::greater(), [](const auto& s) { return s.second.most_ns; });
    if (ranked.size() > most_facts) ranked.resize(most_facts);
    std::vector<Fact> out;
    // All are counted, so that the interval of the share is the share itself.
    for (const auto& [name, s] : ranked) {
      const double part = std::min(1.0, share(s.most_ns));
      out.push_back({.kind = find_fact_kind("interrupt-load"),
                     .slots = {{"source", name}, {"cpu", s.cpu}, {"share", part}, {"low", part}, {"high", part}, {"rate", rate(s.count)}},
                     .measurement = own_name});
    }
    return out;
  }
};

} // namespace

std::unique_ptr<Instrument> make_interrupts_instrument(const Subject& subject) { return std::make_unique<InterruptsInstrument>(subject); }

} // namespace why
