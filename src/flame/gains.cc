#include "flame/gains.h"

#include "base/counted.h"
#include "session/stack_map.h"

#include <algorithm>
#include <utility>

namespace flame {

constexpr size_t max_gains = 1 << 20; // 32 bytes each
constexpr size_t max_slices = 1 << 16;

std::vector<Gains::Gain> Gains::take(const ir::Map& map, const std::vector<ir::Entry>& entries) {
  std::vector<Gain> out;
  for (uint32_t i = 0; i < entries.size(); i++) {
    const ir::Entry& e = entries[i];
    profile::RawSample now;
    session::add_values(map, e, now);
    auto at = known_.find(bytes_of(e));
    if (at == known_.end())
      at = known_.emplace(bytes_of(e), Known{.number = static_cast<uint32_t>(known_.size())}).first;
    Known& k = at->second;
    if (now.weight > k.weight || (now.weight == k.weight && now.count > k.count)) // a state may shrink: that is no gain
      out.push_back({k.number, i, now.weight - k.weight, now.count - std::min(k.count, now.count)});
    k.weight = now.weight, k.count = now.count;
  }
  return out;
}

uint32_t Gains::number(const ir::Entry& e) const { return known_.find(bytes_of(e))->second.number; }

void Slicer::add(std::vector<Gains::Gain> gains, uint64_t span) {
  if (gains.empty()) return;
  held_ += gains.size();
  if (slices_.empty() || slices_.back().number != now_) slices_.push_back({.number = now_, .gains = {}});
  slices_.back().span = std::max(slices_.back().span, span);
  auto& to = slices_.back().gains;
  to.insert(to.end(), gains.begin(), gains.end());
  if (held_ > max_gains || slices_.size() > max_slices) make_longer();
}

// One gain of each key is left. Gives their number.
static size_t join_same(std::vector<Gains::Gain>& gains) {
  std::ranges::sort(gains, {}, &Gains::Gain::key);
  size_t kept = 0;
  for (const Gains::Gain& g : gains) {
    if (!kept || gains[kept - 1].key != g.key) {
      gains[kept++] = g;
      continue;
    }
    gains[kept - 1].weight += g.weight;
    gains[kept - 1].count += g.count;
  }
  gains.resize(kept);
  return kept;
}

// Two become one.
void Slicer::make_longer() {
  slice_ns_ *= 2;
  now_ /= 2;
  std::vector<Slice> all = std::exchange(slices_, {});
  for (Slice& s : all) {
    if (slices_.empty() || slices_.back().number != s.number / 2)
      slices_.push_back({.number = s.number / 2, .gains = {}});
    slices_.back().span = std::max(slices_.back().span, (s.number + s.span + 1) / 2 - s.number / 2);
    auto& to = slices_.back().gains;
    to.insert(to.end(), s.gains.begin(), s.gains.end());
  }
  held_ = 0;
  for (Slice& s : slices_) held_ += join_same(s.gains);
}

void Slicer::take(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t time_ns) {
  const uint64_t due = time_ns / slice_ns_, span = due > now_ ? due - now_ : 1;
  late_ += span - 1;
  add(gains_.take(map, entries), span);
  now_ = std::max(time_ns / slice_ns_, now_); // slices may be longer now
}

// The moment that ending takes is no slice of its own.
void Slicer::end(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t duration_ns) {
  if (now_ && duration_ns < now_ * slice_ns_ + slice_ns_ / 10) now_--;
  add(gains_.take(map, entries), 1);
}

void Slicer::give(profile::Profile& to, const std::vector<ir::Entry>& entries,
                  const std::vector<uint32_t>& sample_of) {
  std::vector<uint32_t> samples;
  for (size_t i = 0; i < entries.size(); i++) {
    const uint32_t number = gains_.number(entries[i]);
    if (number >= samples.size()) samples.resize(number + 1, no_sample);
    samples[number] = sample_of[i];
  }
  to.slice_ns = slice_ns_;
  for (Slice& s : slices_) {
    std::vector<profile::Gain> gains;
    for (const Gains::Gain& g : s.gains)
      if (g.key < samples.size() && samples[g.key] != no_sample)
        gains.push_back({samples[g.key], g.weight, g.count});
    to.add_slice(s.number, s.span, std::move(gains));
  }
  auto note = [&](std::string text) { to.about.notes.push_back(std::move(text)); };
  if (slice_ns_ != wanted_ns_)
    note("slices are " + std::to_string(slice_ns_ / 1'000'000) + " ms long instead of " +
         std::to_string(wanted_ns_ / 1'000'000) + " ms: there would be too many");
  if (late_)
    note(base::counted(late_, "slice") + " read late because the host was busy, and merged with the previous one: hatched in the heat map");
}

} // namespace flame
