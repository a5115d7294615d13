// Symbolizes the stacks of records: each once, when it is asked for.
#pragma once

#include "profile/naming.h"
#include "session/stack_map.h"
#include "waits/records.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace waits {

class Stacks {
public:
  Stacks(ir::Engine& engine, bool has_walker, symbol::FrameSources& sources)
      : stacks_{engine, has_walker, {}, {}}, sources_(sources), names_(profile_, stacks_.out, sources) {}

  // Innermost first. A note at the end gives the reason why the stack ends. Texts are valid as long as this.
  const std::vector<symbol::Frame>& frames(const StackId& stack);
  // Where the innermost of its functions that is meant is in the source, at the instruction that has not returned: "log.cc:88". Empty: not known.
  std::string place_of(const StackId& stack, const std::function<bool(std::string_view)>& is_meant);

private:
  profile::Profile profile_;
  session::StackReader stacks_;
  symbol::FrameSources& sources_;
  profile::GrowingNames names_;
  std::unordered_map<uint64_t, std::vector<symbol::Frame>> known_; // by id
};

} // namespace waits
