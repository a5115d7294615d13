#include "target/reach.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace target {

namespace {

// Which chunk holds an address, asked for every word of the memory. Chunks lie in few runs, one behind the other; a run
// has for each 512 bytes the first chunk that ends behind their begin.
class ChunkIndex {
public:
  explicit ChunkIndex(const std::vector<Chunk>& chunks) : chunks_(chunks) {
    for (uint32_t i = 0; i < chunks.size(); i++) {
      const Chunk& c = chunks[i];
      const bool goes_on = !runs_.empty() && !c.is_mapped && !runs_.back().is_one && c.address - runs_.back().end < bucket;
      if (!goes_on) runs_.push_back({c.address, c.address, c.is_mapped ? i : firsts_.size(), c.is_mapped});
      Run& run = runs_.back();
      run.end = c.address + c.size;
      if (run.is_one) continue;
      const size_t wanted = run.first + (run.end - run.begin + bucket - 1) / bucket;
      if (firsts_.size() < wanted) firsts_.resize(wanted, i);
    }
  }
  bool may_hold(uint64_t address) const { return !runs_.empty() && address >= runs_.front().begin && address < runs_.back().end; }
  // Reach::nothing: none.
  uint32_t find(uint64_t address) const {
    if (last_ >= runs_.size() || address - runs_[last_].begin >= runs_[last_].end - runs_[last_].begin) {
      auto after = std::upper_bound(runs_.begin(), runs_.end(), address, [](uint64_t a, const Run& r) { return a < r.begin; });
      if (after == runs_.begin() || address >= std::prev(after)->end) return Reach::nothing;
      last_ = static_cast<size_t>(std::prev(after) - runs_.begin());
    }
    const Run& run = runs_[last_];
    if (run.is_one) return static_cast<uint32_t>(run.first);
    const size_t at = run.first + (address - run.begin) / bucket;
    for (uint32_t i = firsts_[at]; i < chunks_.size() && chunks_[i].address <= address; i++)
      if (address - chunks_[i].address < chunks_[i].size) return i;
    return Reach::nothing;
  }

private:
  static constexpr uint64_t bucket = 512;
  struct Run {
    uint64_t begin, end;
    size_t first; // of firsts_; of one chunk alone: that
    bool is_one;
  };
  const std::vector<Chunk>& chunks_;
  std::vector<Run> runs_;
  std::vector<uint32_t> firsts_;
  mutable size_t last_ = 0; // run that an address was found in
};

class Marker {
public:
  Marker(Target& target, const Heap& heap, Reach& out) : target_(target), heap_(heap), index_(heap.chunks), out_(out) {
    out_.steps.resize(heap.chunks.size());
  }

  // The words of [begin, end) as roots, but for what is malloc's.
  void take_roots(const Window& area, uint64_t begin, uint64_t end) {
    auto own = std::lower_bound(heap_.own.begin(), heap_.own.end(), begin,
                                [](Range r, uint64_t a) { return r.end <= a; });
    for (; own != heap_.own.end() && own->begin < end; own++) {
      if (own->begin > begin) look(area, begin, own->begin, Reach::root);
      begin = std::max(begin, own->end);
    }
    if (begin < end) look(area, begin, end, Reach::root);
  }
  void take_registers(uint32_t thread, const Registers& all) {
    for (uint64_t i = 0; i < all.size(); i++) take(all[i], {Reach::root, thread + 1, i});
  }

  // Goes on from what was found to all that it leads to.
  void finish() {
    for (; done_ < out_.order.size(); done_++) {
      constexpr size_t ahead = 8;
      if (done_ + ahead < out_.order.size()) fetch(out_.order[done_ + ahead]);
      const uint32_t index = out_.order[done_];
      each_area(index, [&](const Window& w, uint64_t begin, uint64_t end) { look(w, begin, end, index); });
    }
  }
  void take_lost(uint32_t index) {
    out_.steps[index].holder = Reach::root;
    out_.order.push_back(index);
    finish();
  }
  bool is_taken(uint32_t index) const { return out_.steps[index].holder != Reach::nothing; }
  // Marks the chunks that the words of a chunk lead to.
  void mark_held(uint32_t index, std::vector<bool>& held) {
    each_area(index, [&](const Window& w, uint64_t begin, uint64_t end) {
      each_word(w, begin, end, [&](uint64_t, uint64_t value) {
        if (uint32_t i = index_.find(value); i != Reach::nothing && i != index) held[i] = true;
      });
    });
  }

private:
  // Chunks are looked at in no order of addresses, so most are in no cache.
  void fetch(uint32_t index) const {
    const uint64_t at = heap_.chunks[index].address;
    if (last_.holds(at, 1)) __builtin_prefetch(last_.bytes + (at - last_.begin));
  }
  void each_area(uint32_t index, auto&& use) {
    const Chunk& c = heap_.chunks[index];
    for (uint64_t at = c.address; at < c.address + c.size;) {
      Window w = last_.holds(at, 1) ? last_ : target_.memory().window(at);
      if (w.bytes) last_ = w, use(w, at, c.address + c.size);
      at = w.begin + w.size;
    }
  }
  void each_word(const Window& area, uint64_t begin, uint64_t end, auto&& use) {
    begin = (std::max(begin, area.begin) + 7) / 8 * 8;
    end = std::min(end, area.begin + area.size);
    for (uint64_t at = begin; at + 8 <= end; at += 8) {
      uint64_t value;
      std::memcpy(&value, area.bytes + (at - area.begin), 8);
      if (index_.may_hold(value)) use(at, value);
    }
  }
  void look(const Window& area, uint64_t begin, uint64_t end, uint32_t holder) {
    each_word(area, begin, end, [&](uint64_t at, uint64_t value) { take(value, {holder, 0, at}); });
  }
  void take(uint64_t value, const Reach::Step& step) {
    const uint32_t i = index_.find(value);
    if (i == Reach::nothing || i == step.holder) return;
    if (heap_.chunks[i].state != Chunk::used || is_taken(i)) return;
    out_.steps[i] = step;
    out_.order.push_back(i);
  }

  Target& target_;
  const Heap& heap_;
  ChunkIndex index_;
  Reach& out_;
  size_t done_ = 0; // of out_.order
  Window last_;     // that was looked at
};

// What of a stack's area is in use: from the lowest stack pointer on, and from where on threads' own
// variables lie.
struct StackPart {
  uint64_t begin = 0, end = 0; // of the calls
};

} // namespace

uint64_t own_variables_size(const Target& target) {
  uint64_t out = 0;
  for (const Module& m : target.modules()) {
    if (!m.file) continue;
    for (const format::ElfSegment& s : m.file->elf().segments())
      if (s.type == PT_TLS) out += (s.memory_size + 63) / 64 * 64;
  }
  return out;
}

Reach find_reach(Target& target, const Heap& heap) {
  Reach out;
  Marker marker(target, heap, out);
  const uint64_t own_size = own_variables_size(target);
  // Below the stack pointer what was on a stack is over, but for what functions that call none keep there.
  constexpr uint64_t red_zone = spec::x86_64.red_zone;
  const std::vector<Window> areas = target.writable();
  std::vector<StackPart> parts(areas.size());
  for (size_t i = 0; i < areas.size(); i++) {
    const Window& area = areas[i];
    const uint64_t end = area.begin + area.size;
    StackPart& part = parts[i];
    for (const Thread& t : target.threads()) {
      const uint64_t sp = t.registers[register_sp], thread = t.registers[register_fs_base];
      if (!area.holds(sp, 1)) continue;
      const uint64_t begin = sp - std::min(red_zone, sp - area.begin);
      part.begin = part.end ? std::min(part.begin, begin) : begin;
      // The descriptor of a thread and its own variables lie above its stack.
      const bool has_own = area.holds(thread, 1) && thread > sp;
      part.end = std::max(part.end, has_own ? std::max(sp, thread - std::min(own_size, thread)) : end);
    }
    // A stack has no variables below.
    const bool is_stack = part.end;
    marker.take_roots(area, is_stack ? part.end : area.begin, end);
  }
  marker.finish();
  for (size_t i = 0; i < areas.size(); i++)
    if (parts[i].end) marker.take_roots(areas[i], parts[i].begin, parts[i].end);
  marker.finish();
  for (uint32_t t = 0; t < target.threads().size(); t++)
    marker.take_registers(t, target.threads()[t].registers);
  marker.finish();
  return out;
}

std::vector<Lost> find_lost(Target& target, const Heap& heap, const Reach& reach) {
  std::vector<uint32_t> lost;
  for (uint32_t i = 0; i < heap.chunks.size(); i++)
    if (reach.is_leak(heap, i)) lost.push_back(i);
  Reach hangs;
  Marker marker(target, heap, hangs);
  // What else leads to is not theirs.
  for (uint32_t i = 0; i < heap.chunks.size(); i++)
    if (!reach.is_leak(heap, i)) hangs.steps[i].holder = Reach::root;
  std::vector<bool> held(heap.chunks.size());
  for (uint32_t i : lost) marker.mark_held(i, held);
  std::vector<Lost> out;
  // Those that none holds, and then one of each circle that is left.
  for (bool is_circle : {false, true})
    for (uint32_t i : lost) {
      if (marker.is_taken(i) || (!is_circle && held[i])) continue;
      const size_t before = hangs.order.size();
      marker.take_lost(i);
      Lost& l = out.emplace_back(Lost{i, hangs.order.size() - before, 0});
      for (size_t n = before; n < hangs.order.size(); n++) l.bytes += heap.chunks[hangs.order[n]].size;
    }
  std::stable_sort(out.begin(), out.end(), [](const Lost& a, const Lost& b) { return a.bytes > b.bytes; });
  return out;
}

} // namespace target
