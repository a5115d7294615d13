#include "session/cost_limit.h"

#include "base/clock.h"
#include "base/print.h"
#include "bpf/syscall.h"
#include "session/trap_cost.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace session {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t piece_ns = 5 * ms, period_ns = 100 * ms;

bool has_traps(const ir::Program& program) {
  return std::ranges::any_of(program.probes, [](const ir::Probe& p) { return p.context == probe::Context::registers; });
}

} // namespace

CostLimit::CostLimit(Backend& backend, const ir::Program& program, double percent, Output& output)
    : backend_(backend), percent_(percent), cpus_(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN))), trap_ns_(has_traps(program) ? trap_cost_ns() : 0), output_(output) {
  regular_.begin = [this] { begun_ns_ = base::clock_ns(); };
  regular_.tick = [this]() -> base::Result<bool> {
    if (measuring_.valid()) return is_kept();
    ACU_CHECK(measure());
    return true;
  };
  regular_.end = [this] { report(); };
}

base::Status CostLimit::measure() {
  measuring_ = bpf::measure_run_times();
  if (!measuring_.valid()) return base::Error{base::Failure::permission, "`--max-cost` cannot be kept: the kernel does not measure run times of programs for this user (CAP_SYS_ADMIN)"};
  before_ = backend_.run_costs();
  measured_from_ = base::clock_ns();
  regular_.next_ns = measured_from_ + piece_ns;
  return {};
}

bool CostLimit::is_kept() {
  const RunCosts now = backend_.run_costs();
  const uint64_t until = base::clock_ns();
  measuring_ = {};
  const double ns = static_cast<double>(now.ns - before_.ns) + static_cast<double>(now.runs - before_.runs) * trap_ns_;
  cost_ = 100 * ns / static_cast<double>(until - measured_from_) / cpus_;
  above_ = cost_ > percent_ ? above_ + 1 : 0;
  regular_.next_ns = above_ ? until : until + period_ns - piece_ns;
  return !is_exceeded();
}

void CostLimit::report() {
  measuring_ = {};
  if (!is_exceeded()) return;
  output_.message(base::print("WARNING: ended after %.1f s: its probes took %.2g%% of the host's CPUs, more than --max-cost %.3g; results are of that time\n", static_cast<double>(base::clock_ns() - begun_ns_) / 1e9,
                              cost_, percent_) +
                  "HINT: probe rarer events, filter with a predicate, or only one process (-p)\n");
}

} // namespace session
