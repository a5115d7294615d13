// Stacks whose frames a test names, and what makes stories of them. No symbols are read: each frame is a tagged entry.
#pragma once

#include "recording_backend.h"
#include "slow/story.h"

#include <deque>

namespace slow {

class GivenFrames : public symbol::FrameSource {
public:
  explicit GivenFrames(const std::deque<std::string>& names) : names_(names) {}
  Key key_of(const symbol::RawFrame& raw) override { return {raw.entry.number, 0}; }
  symbol::Frame function_of(const symbol::RawFrame& raw) override {
    return {.name = names_[raw.entry.number], .module = "/srv/app", .kind = spec::FrameKind::test};
  }

private:
  const std::deque<std::string>& names_;
};

struct Teller {
  explicit Teller(std::string function = {}, std::string what = {}) : writer(notes, stacks, names, locks, std::move(function), std::move(what)) {
    names.sources().add(spec::FrameKind::test, std::make_unique<GivenFrames>(frames));
  }

  // Innermost first. `end`: a number of spec/stack_ends.h.
  StackId user(std::initializer_list<std::string_view> functions, uint64_t end = 0) {
    StackId out = {.id = keep(functions), .pid = pid, .type = types.stack(type::Kind::ustack, {}, 512)};
    if (end) engine.stacks[out.id].push_back(STACK_END + end);
    return out;
  }
  StackId kernel(std::initializer_list<std::string_view> functions) {
    return {.id = keep(functions), .type = types.stack(type::Kind::kstack, {}, 127)};
  }
  uint64_t keep(std::initializer_list<std::string_view> functions) {
    std::vector<uint64_t> words;
    for (std::string_view f : functions) {
      words.insert(words.end(), {spec::tagged_word(spec::FrameKind::test, frames.size()), 0});
      frames.emplace_back(f);
    }
    const uint64_t id = engine.stacks.size() + 1;
    engine.stacks[id] = words;
    return id;
  }

  static constexpr uint32_t pid = 0x3ffffff; // above the kernel's limit: there is no such process
  type::Table types;
  RecordingEngine engine;
  std::deque<std::string> frames;
  report::SystemNames names;
  Notes notes;
  Stacks stacks{engine, true, names.sources()};
  InterpreterLocks locks;
  StoryWriter writer;
};

inline Thread thread(uint32_t number, std::string name) { return {.task = number, .pid = Teller::pid, .tid = number, .name = std::move(name)}; }

} // namespace slow
