// Numbers for texts, frames, nodes, threads and samples; the same thing always has the same one.
#include "profile/profile.h"

#include "base/rounded.h"
#include "base/text.h"

#include <algorithm>
#include <utility>

namespace profile {

Profile::Profile() {
  text({});
  nodes_.push_back({});
  frames_.push_back({}); // of the root
  links_.emplace_back();
}

uint32_t Profile::text(std::string_view given) {
  const bool is_plain = std::ranges::all_of(given, [](char c) { return c >= ' ' && c < 0x7f; });
  const std::string escaped = is_plain ? std::string() : base::printable(given);
  const std::string_view text = is_plain ? given : escaped;
  auto [at, is_new] = text_index_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(at->first);
  return at->second;
}

template<class List, class Item> static uint32_t number_of(base::PairIndex& index, List& list, uint64_t a, uint64_t b, const Item& item) {
  const auto [number, is_new] = index.find_or_add(a, b, static_cast<uint32_t>(list.size()));
  if (is_new) list.push_back(item);
  return number;
}

uint32_t Profile::frame(const Frame& f) {
  uint64_t rest = uint64_t{static_cast<uint8_t>(f.kind)} << 1 | f.named;
  return number_of(frame_index_, frames_, uint64_t{f.name} << 32 | f.module, rest, f);
}

uint32_t Profile::node(uint32_t parent, uint32_t frame) {
  return number_of(node_index_, nodes_, parent, frame, Node{parent, frame});
}

uint32_t Profile::thread(const Thread& t) {
  return number_of(thread_index_, threads_, uint64_t{t.pid} << 32 | (t.tid ? t.tid : t.service), uint64_t{t.process} << 32 | t.name, t);
}

static bool are_digits(std::string_view text, size_t count) { return text.size() == count && text.find_first_not_of("0123456789abcdef") == text.npos; }

uint32_t Profile::link(const Link& link) {
  if (!are_digits(link.trace_id, 32) || !are_digits(link.span_id, 16)) return 0;
  auto [at, is_new] = link_index_.try_emplace(link, static_cast<uint32_t>(links_.size()));
  if (is_new) links_.push_back(link);
  return at->second;
}

uint32_t Profile::add(uint32_t thread, uint32_t node, uint64_t weight, uint64_t count, uint32_t link) {
  uint32_t at = number_of(sample_index_, samples_, uint64_t{link} << 32 | thread, node, Sample{thread, node, 0, 0, link});
  if (__builtin_add_overflow(samples_[at].weight, weight, &samples_[at].weight)) samples_[at].weight = UINT64_MAX; // which no reader takes
  samples_[at].count += count;
  return at;
}

void Profile::add_slice(uint64_t number, uint64_t span, std::vector<Gain> gains) {
  std::ranges::sort(gains, {}, &Gain::sample);
  Slice slice = {.number = number, .span = span, .gains = {}};
  for (const Gain& g : gains) {
    if (slice.gains.empty() || slice.gains.back().sample != g.sample) slice.gains.push_back({.sample = g.sample});
    slice.gains.back().weight += g.weight;
    slice.gains.back().count += g.count;
  }
  slices.push_back(std::move(slice));
}

void Profile::weigh_anew(std::span<const Gain> gains) {
  for (Sample& s : samples_) s.weight = s.count = 0;
  for (const Gain& g : gains) {
    samples_[g.sample].weight += g.weight;
    samples_[g.sample].count += g.count;
  }
}

void Profile::scale(double factor) {
  auto scaled = [factor](uint64_t weight) { return static_cast<uint64_t>(base::rounded(static_cast<double>(weight) * factor)); };
  for (Sample& s : samples_) s.weight = slices.empty() ? scaled(s.weight) : 0;
  for (Slice& slice : slices)
    for (Gain& g : slice.gains) {
      g.weight = scaled(g.weight);
      samples_[g.sample].weight += g.weight; // to the unit what its gains add up to
    }
}

void Profile::drop_weightless() {
  slices.clear();
  slice_ns = 0;
  std::vector<Sample> all = std::exchange(samples_, {});
  sample_index_.clear();
  for (const Sample& s : all)
    if (s.weight) add(s.thread, s.node, s.weight, s.count, s.link);
}

std::vector<uint32_t> Profile::stack(uint32_t node) const {
  std::vector<uint32_t> out;
  for (; node; node = nodes_[node].parent) out.push_back(nodes_[node].frame);
  std::reverse(out.begin(), out.end());
  return out;
}

uint64_t Profile::total() const {
  uint64_t sum = 0;
  for (const Sample& s : samples_) sum += s.weight;
  return sum;
}

} // namespace profile
