// Waits, locks and run queues of a process, from one graph of its waits.
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
  }

  base::Status prepare(const session::Options& run) override {
    ACU_CHECK(measuring_.compile());
    return measuring_.load(run);
  }
  session::Runner* runner() override { return &measuring_.runner(); }
  base::Result<std::vector<Fact>> end(uint64_t) override {
    waits::Graph graph = measuring_.graph();
    const waits::Findings findings = waits::find_bottlenecks(graph);
    constexpr size_t located = 3;
    measuring_.locate(graph, findings, located);
    return wait_facts(graph, findings, pid_);
  }

private:
  int pid_;
  waits::Options options_;
  waits::Measuring measuring_;
};

} // namespace

std::unique_ptr<Instrument> make_wait_instrument(const Subject& subject) { return std::make_unique<WaitInstrument>(subject); }

} // namespace why
