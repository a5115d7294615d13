// Scripts within the limit of --max-cost.
#pragma once

#include "session/run.h"

#include <vector>

namespace budget {

// As session::run.
int run(const session::Options& options, std::vector<session::Beside*> beside = {});

} // namespace budget
