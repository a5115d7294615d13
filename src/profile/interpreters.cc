#include "profile/interpreters.h"

#include <algorithm>

namespace profile {

static bool is_interpreters(const Frame& frame) { return spec::row_of(frame.kind).layer == spec::Layer::interpreter; }

void drop_interpreters(Profile& profile) {
  if (std::ranges::none_of(profile.frames(), is_interpreters)) return;
  Profile out;
  out.about = std::move(profile.about);
  for (std::string_view text : profile.texts()) out.text(text); // with the numbers that they have
  out.build_ids = std::move(profile.build_ids);
  out.slice_ns = profile.slice_ns;
  for (const Thread& t : profile.threads()) out.thread(t);
  std::vector<uint32_t> nodes(1, 0), samples;
  for (size_t n = 1; n < profile.nodes().size(); n++) {
    const Node& node = profile.nodes()[n];
    const Frame& frame = profile.frames()[node.frame];
    nodes.push_back(is_interpreters(frame) ? nodes[node.parent] : out.node(nodes[node.parent], out.frame(frame)));
  }
  for (const Sample& s : profile.samples()) samples.push_back(out.add(s.thread, nodes[s.node], s.weight, s.count, out.link(profile.links()[s.link])));
  for (const Slice& slice : profile.slices) {
    std::vector<Gain> gains = slice.gains;
    for (Gain& g : gains) g.sample = samples[g.sample];
    out.add_slice(slice.number, slice.span, std::move(gains));
  }
  profile = std::move(out);
}

} // namespace profile
