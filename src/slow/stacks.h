// Symbolizes the stacks of `acu slow`: each once, when a slow call has it.
#pragma once

#include "profile/naming.h"
#include "slow/records.h"
#include "session/stack_map.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace slow {

struct Frame {
  std::string name, module;
  profile::FrameKind kind = profile::FrameKind::user;
};

class Stacks {
public:
  Stacks(ir::Engine& engine, bool has_walker, symbol::UserSymbols& users)
      : stacks_{engine, has_walker, {}, {}}, names_(profile_, stacks_.out, kernel_, users) {}

  // Innermost first. A note at the end gives the reason why the stack ends.
  const std::vector<Frame>& frames(const StackId& stack);

private:
  profile::Profile profile_;
  symbol::Kallsyms kernel_;
  session::StackReader stacks_;
  profile::GrowingNames names_;
  std::unordered_map<uint64_t, std::vector<Frame>> known_; // by id
};

} // namespace slow
