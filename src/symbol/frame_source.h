// Where the frames of walked stacks get their names: a source for each kind of entry (spec/stack_entry.h). User code and the
// kernel have theirs here; a language runtime adds one for the tag of its kind, and everything that shows stacks shows its
// frames.
#pragma once

#include "spec/stack_entries.h"
#include "symbol/frame.h"
#include "symbol/kallsyms.h"
#include "symbol/user_symbols.h"

#include <array>
#include <memory>
#include <span>
#include <sys/types.h>

namespace symbol {

// One entry of a stack, with what its source may need to name it.
struct RawFrame {
  spec::StackEntry entry;
  pid_t pid = 0;          // whose stack it is
  uint64_t stack = 0;     // id of the stack, as UserSymbols::seen knows it; 0: of none
  bool is_kernel = false; // of a kernel stack
};

// Frames of one place, innermost first: calls that were inlined, at last the function whose code it is.
using TakeFrames = Module::TakeFrames;

class FrameSource {
public:
  virtual ~FrameSource() = default;
  // The same for entries that have the same frames, whichever processes and stacks show them.
  struct Key {
    uint64_t first = 0, second = 0;
    bool operator==(const Key&) const = default;
  };
  virtual Key key_of(const RawFrame& raw) = 0;
  // The function. Views live until the next call.
  virtual Frame function_of(const RawFrame& raw) = 0;
  // Calls `take` with the index of each of many entries in which calls were inlined, or whose function is known better.
  virtual void find_inlined(std::span<const RawFrame> /*raw*/, const TakeFrames& /*take*/) {}
  // What tells the file of its code under whatever path; empty: not known, or the code is one process's own.
  virtual std::span<const std::byte> build_id_of(const RawFrame& /*raw*/) { return {}; }
};

// The source of each entry.
class FrameSources {
public:
  // Both outlive this.
  FrameSources(Kallsyms& kernel, UserSymbols& users);
  // Names entries that have the kind's tag, in place of the one that did so before.
  void add(spec::FrameKind kind, std::unique_ptr<FrameSource> source);
  FrameSource& of(const RawFrame& raw);

private:
  std::unique_ptr<FrameSource> kernel_, users_;
  std::array<std::unique_ptr<FrameSource>, spec::frame_kinds.size()> tagged_; // by kind
};

} // namespace symbol
