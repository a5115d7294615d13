// A CLIPS environment for rules that come from a file: they compute with facts, in bounded time and memory, and cannot do anything else. All functions
// of CLIPS but those in a list are undefined in it (no files, no commands, no clock, no chance), so are most constructs, and what CLIPS prints is kept
// as the reason of an error.
#pragma once

#include "base/result.h"
#include "why/rule_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace why {

class ClipsEnvironment {
public:
  ClipsEnvironment();
  ~ClipsEnvironment();
  ClipsEnvironment(const ClipsEnvironment&) = delete;
  ClipsEnvironment& operator=(const ClipsEnvironment&) = delete;

  void* get() const { return environment_; }

  // One construct of ours; a mistake in it is a mistake of acu.
  void build(const std::string& construct);
  // The constructs of a file. Failure: "NAME:LINE: why". Those before the mistake stay.
  base::Status load(std::string_view text, std::string_view name);

  // Before anything that may run code of rules: what one load, one added fact or one run may use.
  void begin();
  // After code of rules ran: keeps what CLIPS said of it.
  void end();
  // Fires rules; returns how many.
  uint64_t run(uint64_t most);
  // The rule that would fire next; empty: none.
  std::string next_rule() const;
  // The rule that used up the time or the memory, or words for a condition that did; empty: none.
  const std::string& exhausted() const { return exhausted_; }
  // Mistakes that rules made as they ran since the last call: "rule NAME: why".
  std::vector<std::string> take_mistakes();

private:
  struct Callbacks;
  bool has_time();
  void note_mistake();

  void* environment_ = nullptr;
  KnownNames known_;
  uint64_t checks_ = 0;
  uint64_t step_end_ = 0, run_end_ = 0; // CPU times at which one rule and all have to be done; 0: not known yet
  std::string exhausted_;
  std::string output_;     // of CLIPS: errors and warnings
  int64_t line_ = 0;       // at which the first of them was printed
  std::string rule_;       // that was firing then
  std::vector<std::string> mistakes_;
};

} // namespace why
