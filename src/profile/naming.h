// From the stacks of samples to a Profile: each place is named once by its source (symbol/frame_source.h), calls that were
// inlined become frames of their own, and a stack that does not reach the outermost frame gets a frame that says why.
#pragma once

#include "profile/profile.h"
#include "symbol/frame_source.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace profile {

// Why a stack has no more frames.
struct RawStack {
  uint64_t id = 0;              // of a user stack, as UserSymbols::seen knows it
  uint32_t pid = 0;             // whose code it is; of kernel stacks 0
  std::vector<uint64_t> frames; // innermost first; words (spec/stack_entry.h)
  std::string end; // user stacks: why there are no more; empty: they are all there, or it is not known
  bool is_none = false;      // there is none by right, for the reason `end`
  bool is_end_known = false; // `end` tells; else the name of the outermost frame does
  bool is_cut = false;       // it is deeper than what is kept of stacks
};

struct RawSample {
  static constexpr uint32_t no_stack = ~uint32_t{0};
  uint32_t pid = 0, tid = 0;
  std::string process, thread;
  uint32_t kernel = no_stack, user = no_stack; // indices of the stacks
  std::string leaf;                            // a note on top, such as what is waited for
  bool has_waker = false;                      // the note is the name of a thread, whose stacks these are:
  uint32_t waker_kernel = no_stack, waker_user = no_stack;
  uint64_t weight = 0, count = 0;
  Link link; // the request that the thread worked on
};

struct RawRecording {
  std::vector<RawStack> stacks;
  std::vector<RawSample> samples;
};

// The entries of a stack, innermost first, each at the instruction that has not returned yet.
std::vector<symbol::RawFrame> entries_of(const RawStack& stack);

// Adds the samples to the profile, and what is known of their stacks to its `about`; gives their numbers there. Of user code
// the files are kept (symbol::UserSymbols::keep_files).
std::vector<uint32_t> name_samples(Profile& profile, const RawRecording& raw, symbol::FrameSources& sources);

// The same again and again, of a recording whose stacks grow in number: each place is named once. All three outlive it.
class GrowingNames {
public:
  GrowingNames(Profile& profile, const RawRecording& raw, symbol::FrameSources& sources);
  ~GrowingNames();
  // Adds the samples that `raw` holds now.
  std::vector<uint32_t> add_samples();

private:
  std::unique_ptr<class Namer> namer_;
};

} // namespace profile
