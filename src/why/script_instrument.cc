#include "why/script_instrument.h"

#include <algorithm>

namespace why {

base::Status ScriptInstrument::prepare(const session::Options& run) {
  session::TargetFilter filter;
  if (scope_ == Scope::subject && subject_.pid >= 0) filter.pid = subject_.pid, filter.pids = {subject_.pid};
  ACU_TRY(const session::Condition condition, session::condition_of(filter));
  session::BuiltinScript script(script_);
  configure(script);
  script.set_whose(condition, filter, subject_.interval_ns);
  session::Measurement measurement = {.aim = "measure", .script = std::move(script), .filter = filter};
  arrange(measurement);
  runner_.emplace(std::move(measurement), session::Runner::Take(), subject_.shared);
  ACU_CHECK(runner_->compile());
  return runner_->load(run);
}

waits::Stacks& ScriptInstrument::stacks() {
  if (!stacks_) stacks_.emplace(runner_->backend().engine(), runner_->backend().walker() != nullptr, runner_->names().sources());
  return *stacks_;
}

double ScriptInstrument::attached_ns() const {
  const uint64_t from = runner_->attached_ns(), to = runner_->detached_ns();
  return static_cast<double>(std::max<uint64_t>(to > from ? to - from : 0, 1'000'000));
}

} // namespace why
