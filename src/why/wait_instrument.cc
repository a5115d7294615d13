// Waits, locks and run queues of a process, from one graph of its waits.
#include "waits/picture.h"
#include "waits/waits.h"
#include "why/instruments.h"
#include "why/wait_facts.h"

namespace why {

namespace {

class WaitInstrument : public Instrument {
public:
  explicit WaitInstrument(const Subject& subject) : pid_(subject.pid), measuring_(options_, subject.shared) {
    options_.filter.pid = subject.pid;
    options_.filter.pids = {subject.pid};
    options_.duration_ns = subject.interval_ns;
    options_.function = subject.function;
  }

  base::Status prepare(const session::Options& run) override {
    ACU_CHECK(measuring_.compile());
    return measuring_.load(run);
  }
  session::Runner* runner() override { return &measuring_.runner(); }
  base::Result<std::vector<Fact>> end(uint64_t) override {
    graph_ = measuring_.graph();
    findings_ = waits::find_bottlenecks(graph_);
    constexpr size_t located = 3;
    measuring_.locate(graph_, findings_, located);
    return wait_facts(graph_, findings_, pid_);
  }
  std::vector<Picture> pictures() override {
    const waits::Report report = {.graph = graph_, .findings = findings_, .what = measuring_.what(), .min_ns = options_.min_duration_ns, .lost = measuring_.lost()};
    return {{"Who waits for what", waits::flow_svg(report)}, {"Threads", waits::timeline_svg(graph_)}};
  }

private:
  int pid_;
  waits::Options options_;
  waits::Measuring measuring_;
  waits::Graph graph_;
  waits::Findings findings_;
};

} // namespace

std::unique_ptr<Instrument> make_wait_instrument(const Subject& subject) { return std::make_unique<WaitInstrument>(subject); }

} // namespace why
