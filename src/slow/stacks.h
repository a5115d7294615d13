// Symbolizes the stacks of `acu slow`: each once, when a slow call has it.
#pragma once

#include "profile/naming.h"
#include "session/stack_map.h"
#include "slow/records.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace slow {

class Stacks {
public:
  Stacks(ir::Engine& engine, bool has_walker, symbol::FrameSources& sources)
      : stacks_{engine, has_walker, {}, {}}, names_(profile_, stacks_.out, sources) {}

  // Innermost first. A note at the end gives the reason why the stack ends. Texts are valid as long as this.
  const std::vector<symbol::Frame>& frames(const StackId& stack);

private:
  profile::Profile profile_;
  session::StackReader stacks_;
  profile::GrowingNames names_;
  std::unordered_map<uint64_t, std::vector<symbol::Frame>> known_; // by id
};

} // namespace slow
