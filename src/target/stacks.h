// The stacks of a Target's threads: each is walked once, when it is first asked for.
#pragma once

#include "symbol/cache.h"
#include "target/target.h"
#include "unwind/walk.h"

#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

namespace target {

class Stacks {
public:
  explicit Stacks(Target& target, size_t most_frames = 1 << 16)
      : target_(target), cache_(symbol::Cache::of_user()), most_frames_(most_frames) {}

  // Of a thread by its index; frames have all registers that are known.
  const unwind::Walk& of(size_t thread);
  // Of something else than a thread that has these registers, as a coroutine.
  unwind::Walk from(const unwind::Registers& start);
  // Whether an address of a stack that was walked is that of an instruction which was not carried out yet,
  // not one that a call returns to.
  bool is_exact(uint64_t address) const { return exact_.contains(address); }
  // Registers of a frame in the order of Target's threads; what is not known is 0.
  Registers registers_of(size_t thread, const unwind::Frame& frame);

private:
  unwind::CodePlace find_code(uint64_t address);

  Target& target_;
  symbol::Cache cache_;
  size_t most_frames_;
  std::map<const Module*, std::unique_ptr<unwind::FileFrames>> files_;
  std::vector<std::optional<unwind::Walk>> walks_;
  std::unordered_set<uint64_t> exact_;
};

} // namespace target
