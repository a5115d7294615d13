// A recording: CPU samples, waits or other events, as call trees with weights.
//
// Stacks share their outer frames, so they are kept as one tree: a node is a frame called by its parent, node
// 0 is the root, and a node's number is higher than its parent's. A sample is a thread, the node of its
// innermost frame, and a weight. Names are kept once. Everything is known by name, no addresses are left: a
// recording means the same on another host.
#pragma once

#include "base/pair_index.h"
#include "spec/frame_kinds.h"

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profile {

using spec::FrameKind;

// A function, as kept of a symbol::Frame; numbers are those of Profile::texts.
struct Frame {
  uint32_t name = 0,
           module = 0; // module: path of the file of the code, "[kernel]", or text 0, which is empty
  FrameKind kind = FrameKind::user;
  bool named = true; // false: `name` is where it is in the module
};

struct Node {
  uint32_t parent = 0, frame = 0;
};

struct Thread {
  uint32_t pid = 0, tid = 0;      // 0: not known
  uint32_t process = 0, name = 0; // texts
  uint32_t service = 0;           // text; of profiles of a store, which knows no tid. Not kept in files
};

// The request that a thread worked on, as its process published it: identifiers of W3C's Trace Context, in hexadecimal digits.
struct Link {
  std::string trace_id, span_id; // both or none
  auto operator<=>(const Link&) const = default;
};

struct Sample {
  uint32_t thread = 0, node = 0;
  uint64_t weight = 0; // in Profile::about.unit
  uint64_t count = 0;  // how often it was seen
  uint32_t link = 0;   // of Profile::links; 0: to none
};

// What a sample gained in one stretch of time.
struct Gain {
  uint32_t sample = 0; // of Profile::samples
  uint64_t weight = 0, count = 0;
};

// A stretch of time, from number * Profile::slice_ns after the start on. What gained nothing is left out.
struct Slice {
  uint64_t number = 0;
  uint64_t span = 1;       // how many slices its gains are of: 1, but where there was no time to look at each
  std::vector<Gain> gains; // in the order of the samples
};

// How the recording was made, and what is missing in it. Of a file of another tool most is 0.
struct About {
  std::string title = "CPU";
  std::string unit = "samples"; // of weights: "samples", "ns", "bytes", or another word
  std::string what;             // what was recorded: "process 17", "all processes", a command
  std::string host, version;
  uint64_t start_ns = 0;    // wall clock, since 1970
  uint64_t duration_ns = 0; // recorded
  uint64_t period_ns = 0;   // of processor time between two samples; 0: not known, or weights are no samples
  uint64_t samples = 0;     // taken
  uint64_t lost = 0;        // known to be missing
  uint64_t complete = 0;    // samples whose stack reaches the outermost frame
  uint64_t frames = 0, frames_named = 0;   // of all samples
  uint64_t own_cpu_ns = 0, own_memory = 0; // what acu itself took: processor time, most memory (bytes)
  uint64_t kernel_ns = 0;                  // and its programs in the kernel
  std::vector<std::string> notes;          // what was lost, and how; whole sentences
  std::string incomplete;                  // why_incomplete(), for the first line; not kept in files
};

class Profile {
public:
  Profile();
  Profile(Profile&&) = default; // the texts stay where they are
  Profile& operator=(Profile&&) = default;

  About about;
  std::map<uint32_t, std::string> build_ids; // of modules, by their texts: hexadecimal digits, where they are known
  uint64_t slice_ns = 0;     // 0: the recording was not split
  std::vector<Slice> slices; // in their order; those in which nothing happened are left out

  // These give the number of what may be there already. Control characters of texts are escaped.
  uint32_t text(std::string_view text);
  uint32_t frame(const Frame& frame);
  uint32_t node(uint32_t parent, uint32_t frame);
  uint32_t thread(const Thread& thread);
  uint32_t link(const Link& link); // 0: it has no identifiers
  uint32_t add(uint32_t thread, uint32_t node, uint64_t weight, uint64_t count, uint32_t link = 0);

  // Behind the slices that are there. Gains may be in any order, and several of one sample.
  void add_slice(uint64_t number, uint64_t span, std::vector<Gain> gains);

  // Instead of what they weigh samples weigh these, and the others nothing; …
  void weigh_anew(std::span<const Gain> gains);
  // … and samples that weigh nothing go. Slices do, too: their samples are no longer there.
  void drop_weightless();

  // Samples, and what they gained in slices, weigh `factor` times as much.
  void scale(double factor);

  const std::vector<std::string_view>& texts() const { return texts_; }
  const std::vector<Frame>& frames() const { return frames_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Link>& links() const { return links_; } // the first is none

  std::string_view name(const Frame& frame) const { return texts_[frame.name]; }
  std::string_view module(const Frame& frame) const { return texts_[frame.module]; }
  const Frame& frame_of(uint32_t node) const { return frames_[nodes_[node].frame]; }
  // Frames of a stack, the outermost first.
  std::vector<uint32_t> stack(uint32_t node) const;
  uint64_t total() const; // of weights

private:
  std::unordered_map<std::string, uint32_t> text_index_; // owns the texts
  std::vector<std::string_view> texts_;
  std::vector<Frame> frames_;
  std::vector<Node> nodes_;
  std::vector<Thread> threads_;
  std::vector<Sample> samples_;
  std::vector<Link> links_;
  std::map<Link, uint32_t> link_index_;
  base::PairIndex frame_index_, node_index_, thread_index_, sample_index_;
};

} // namespace profile
