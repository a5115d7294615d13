#include "budget/run.h"

#include "budget/cost_limit.h"

#include <optional>

namespace budget {

int run(const session::Options& options, std::vector<session::Beside*> beside) {
  std::optional<CostLimit> limit;
  if (options.max_cost && options.engine == session::EngineKind::kernel && !options.dry_run) beside.push_back(&limit.emplace(*options.max_cost));
  return session::run(options, beside);
}

} // namespace budget
