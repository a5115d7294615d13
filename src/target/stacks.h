// The stacks of a Target's threads: each is walked once, when it is first asked for. Where a thread runs a language runtime, its language
// frames take the places of the interpreter's (runtime/splice.h).
#pragma once

#include "runtime/code_names.h"
#include "runtime/splice.h"
#include "symbol/cache.h"
#include "target/target.h"
#include "unwind/walk.h"

#include <functional>
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
  // A thread's frames in the order in which they are shown.
  struct Spliced {
    std::vector<runtime::SplicedFrame> frames; // native ones by their index in of(thread)
    runtime::LanguageStack language;
  };
  const Spliced& spliced(size_t thread);
  // The same as words of a stack (spec/stack_entry.h), from a native frame on, or from one of the language by its place in `language`.
  std::vector<uint64_t> words_from(size_t thread, size_t frame);
  std::vector<uint64_t> words_from_language(size_t thread, size_t index);
  // What stacks show of language frames; before they are asked for.
  void set_show(runtime::Show show) { codes_.set_show(show); }
  // Names of language frames, of process 0.
  const runtime::CodeNames& codes() const { return codes_; }
  // A language frame by its place in `language`; its texts live until threads are walked again.
  symbol::Frame language_frame(size_t thread, size_t index);
  // The file of the language's runtime; nullptr: there is none that is known.
  const Module* runtime_module();
  // The variables of a language frame, given by its place in `language`, arguments first; empty: none are known.
  std::vector<runtime::Variable> variables(size_t thread, size_t index, const runtime::TextLimits& limits);
  // The tasks of the program's event loops. Nothing: it runs no language that has some.
  std::optional<runtime::AsyncTasks> tasks();

  // What was asked for, of a program that may have it.
  struct Asked {
    bool language = false, tasks = false;
    std::optional<runtime::TextLimits> variables = {}; // how much of them
  };
  Asked asked() const;
  // Walks all threads anew, as their target has them now, and reads again what was asked for. What is not done when there is no time any
  // more is not readable.
  void walk_again(const Asked& asked, const std::function<bool()>& has_time);
  // Of something else than a thread that has these registers, as a coroutine.
  unwind::Walk from(const unwind::Registers& start);
  // Whether an address of a stack that was walked is that of an instruction which was not carried out yet,
  // not one that a call returns to.
  bool is_exact(uint64_t address) const { return exact_.contains(address); }
  // Registers of a frame in the order of Target's threads; what is not known is 0.
  Registers registers_of(size_t thread, const unwind::Frame& frame);

private:
  unwind::CodePlace find_code(uint64_t address);
  unwind::ReadMemory reader();
  // What the target runs; nothing: no language runtime that is known.
  const runtime::ProcessRuntime* runtime();
  void expand(const unwind::Walk& walk, const runtime::ProcessRuntime& language, Spliced& into);
  void walk_language(size_t thread, Spliced& into);
  std::vector<uint64_t> words_from(size_t thread, const std::function<bool(const runtime::SplicedFrame&)>& is_first);
  // Calls it with what readers of objects need.
  void with_runtime(const std::function<void(const runtime::Runtime&, const runtime::StoppedRuntime&)>& use);

  Target& target_;
  symbol::Cache cache_;
  size_t most_frames_;
  std::map<const Module*, std::unique_ptr<unwind::FileFrames>> files_;
  std::vector<std::optional<unwind::Walk>> walks_;
  std::unordered_set<uint64_t> exact_;
  std::vector<std::optional<Spliced>> spliced_;
  bool looked_for_runtime_ = false;
  std::optional<runtime::ProcessRuntime> runtime_;
  const Module* runtime_module_ = nullptr;
  std::optional<runtime::PythonKnown> objects_; // of the runtime
  bool reads_tasks_ = false;
  std::optional<runtime::TextLimits> reads_variables_;
  runtime::CodeNames codes_;
  std::function<bool()> has_time_;
};

} // namespace target
