// Linear scan. Positions: step k reads at 2k+2 and writes at 2k+3; parameters arrive at 1.
#include "bpf/registers.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

namespace bpf {
namespace {

constexpr uint32_t nowhere = ~0u;
constexpr uint32_t reads_at(uint32_t step) { return 2 * step + 2; }
constexpr uint32_t writes_at(uint32_t step) { return 2 * step + 3; }

// Sets of numbers, one row of words for each block.
class Sets {
public:
  Sets() = default;
  Sets(size_t rows, size_t numbers) : words_((numbers + 63) / 64), bits_(rows * words_) {}
  uint64_t* row(size_t i) { return bits_.data() + i * words_; }
  size_t words() const { return words_; }
  void add(size_t i, uint32_t n) { row(i)[n / 64] |= 1ull << (n % 64); }

private:
  size_t words_ = 0;
  std::vector<uint64_t> bits_;
};

struct Interval {
  ir::Reg value = 0;
  uint32_t from = nowhere, to = 0;
  uint32_t uses = 0;
  Register wish = r0; // r0: none
  bool crosses_call = false;
  Location at;
  void cover(uint32_t position) {
    from = std::min(from, position);
    to = std::max(to, position);
  }
  // How much is lost when it has no register.
  double weight() const { return static_cast<double>(uses) / (to - from + 1); }
};

class Scan {
public:
  explicit Scan(const Steps& s) : s_(s), shared_number_(s.registers, nowhere), intervals_(s.registers) {}
  Allocation run();

private:
  // Covers `position` for each value that is live into the block and not in `seen` yet.
  void cover_new(size_t block, std::vector<uint64_t>& seen, uint32_t position) {
    const uint64_t* row = live_in_.row(block);
    for (size_t w = 0; w < live_in_.words(); w++) {
      for (uint64_t bits = row[w] & ~seen[w]; bits; bits &= bits - 1)
        intervals_[shared_[64 * w + static_cast<size_t>(std::countr_zero(bits))]].cover(position);
      seen[w] |= row[w];
    }
  }
  Sets find_shared_values();
  void find_live_values();
  void cover_shared_values();
  void build_intervals();
  void give_registers();
  void give(Interval& i);
  bool try_register(Interval& i, Register r);
  void give_slots(Allocation& a);

  const Steps& s_;
  std::vector<ir::Reg> shared_;         // values that live from one block into another: few
  std::vector<uint32_t> shared_number_; // by value: place in shared_
  Sets live_in_;                        // by block, of numbers of shared values
  std::vector<Interval> intervals_;
  std::vector<Interval*> order_;
  Interval* holder_[11] = {};
};

// Numbers the values that some block reads before it sets them. Gives back which block reads which.
Sets Scan::find_shared_values() {
  struct Read {
    size_t block;
    uint32_t number;
  };
  std::vector<Read> reads;
  std::vector<size_t> set_in(s_.registers, nowhere); // by value: the last block that set it
  for (size_t b = 0; b < s_.blocks.size(); b++) {
    for (uint32_t k = s_.blocks[b].first; k <= s_.blocks[b].last; k++) {
      const Step& step = s_.steps[k];
      for (uint8_t u = 0; u < step.count; u++) {
        const ir::Reg r = s_.uses[step.first + u];
        if (set_in[r] == b) continue;
        if (shared_number_[r] == nowhere) {
          shared_number_[r] = static_cast<uint32_t>(shared_.size());
          shared_.push_back(r);
        }
        reads.push_back({b, shared_number_[r]});
      }
      const bool partial = k == s_.blocks[b].last && s_.blocks[b].def_only_on_first;
      if (step.def && !partial) set_in[step.def] = b;
    }
  }
  Sets upward(s_.blocks.size(), shared_.size());
  for (const Read& r : reads) upward.add(r.block, r.number);
  return upward;
}

void Scan::find_live_values() {
  const size_t n = s_.blocks.size();
  Sets upward = find_shared_values(), killed(n, shared_.size());
  for (size_t b = 0; b < n; b++)
    for (uint32_t k = s_.blocks[b].first; k <= s_.blocks[b].last; k++) {
      const ir::Reg def = s_.steps[k].def;
      const bool partial = k == s_.blocks[b].last && s_.blocks[b].def_only_on_first;
      if (def && !partial && shared_number_[def] != nowhere) killed.add(b, shared_number_[def]);
    }
  live_in_ = Sets(n, shared_.size());
  std::vector<uint64_t> out(live_in_.words());
  // Without an edge that leads back, one turn from the last block to the first is enough.
  bool leads_back = false;
  for (size_t b = 0; b < n; b++)
    for (const ir::BlockId to : s_.blocks[b].next) leads_back |= to != ir::no_block && to <= b;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = n; b-- > 0;) {
      const StepBlock& block = s_.blocks[b];
      std::fill(out.begin(), out.end(), 0);
      for (int side = 0; side < 2; side++) {
        if (block.next[side] == ir::no_block) continue;
        const uint64_t* in = live_in_.row(block.next[side]);
        const uint32_t def = shared_number_[s_.steps[block.last].def]; // no part of any word where it is not shared
        for (size_t w = 0; w < out.size(); w++) {
          uint64_t from = in[w];
          if (side == 0 && block.def_only_on_first && def / 64 == w) from &= ~(1ull << (def % 64));
          out[w] |= from;
        }
      }
      uint64_t* in = live_in_.row(b);
      for (size_t w = 0; w < out.size(); w++) {
        const uint64_t now = upward.row(b)[w] | (out[w] & ~killed.row(b)[w]);
        changed |= leads_back && now != in[w];
        in[w] = now;
      }
    }
  }
}

// From the first block that a value is live into, to the last that leads to such a block.
void Scan::cover_shared_values() {
  std::vector<uint64_t> seen(live_in_.words());
  for (size_t b = 0; b < s_.blocks.size(); b++) cover_new(b, seen, reads_at(s_.blocks[b].first) - 1);
  std::fill(seen.begin(), seen.end(), 0);
  for (size_t b = s_.blocks.size(); b-- > 0;)
    for (const ir::BlockId to : s_.blocks[b].next)
      if (to != ir::no_block) cover_new(to, seen, writes_at(s_.blocks[b].last));
}

void Scan::build_intervals() {
  for (ir::Reg r = 0; r < s_.registers; r++) intervals_[r].value = r;
  for (size_t i = 0; i < s_.parameters.size(); i++) {
    Interval& p = intervals_[s_.parameters[i]];
    p.cover(1);
    p.wish = s_.arrives[i];
  }
  cover_shared_values();
  for (uint32_t k = 0; k < s_.steps.size(); k++) {
    const Step& step = s_.steps[k];
    for (uint8_t u = 0; u < step.count; u++) {
      Interval& i = intervals_[s_.uses[step.first + u]];
      i.cover(step.late >> u & 1 ? writes_at(k) : reads_at(k));
      i.uses++;
    }
    if (step.def) intervals_[step.def].cover(writes_at(k)), intervals_[step.def].uses++;
  }
  // A parameter that nobody reads needs no place.
  for (const ir::Reg p : s_.parameters)
    if (intervals_[p].uses == 0) intervals_[p].from = nowhere;
  std::vector<uint32_t> calls;
  for (uint32_t k = 0; k < s_.steps.size(); k++)
    if (s_.steps[k].call) calls.push_back(reads_at(k));
  for (Interval& i : intervals_) {
    if (i.from == nowhere) continue;
    const auto at = std::upper_bound(calls.begin(), calls.end(), i.from);
    i.crosses_call = at != calls.end() && *at < i.to;
    order_.push_back(&i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Interval* a, const Interval* b) { return a->from < b->from; });
}

bool Scan::try_register(Interval& i, Register r) {
  const bool kept = r >= r6;
  if ((i.crosses_call && !kept) || (holder_[r] && holder_[r]->to >= i.from)) return false;
  holder_[r] = &i;
  i.at = {Location::in_register, r, 0};
  return true;
}

void Scan::give(Interval& i) {
  if (i.wish && i.wish != r4 && i.wish != r5 && try_register(i, i.wish)) return;
  for (const Register r : {r1, r2, r3, r6, r7, r8, r9})
    if (try_register(i, r)) return;
  // All are taken: the one that needs a register least goes without.
  Interval* least = &i;
  for (const Register r : {r1, r2, r3, r6, r7, r8, r9}) {
    Interval* h = holder_[r];
    if (i.crosses_call && r < r6) continue;
    if (h->weight() < least->weight()) least = h;
  }
  if (least != &i) {
    i.at = least->at;
    holder_[i.at.reg] = &i;
  }
  least->at = {Location::in_slot, r0, 0};
}

void Scan::give_registers() {
  // Wishes by copies: a value made from another best stands where that one ended.
  std::vector<ir::Reg> same_as(s_.registers, 0);
  for (const Step& step : s_.steps)
    if (step.def && step.same_as && !same_as[step.def]) same_as[step.def] = step.same_as;
  for (Interval* i : order_) {
    if (const ir::Reg other = same_as[i->value];
        other && !i->wish && intervals_[other].at.kind == Location::in_register)
      i->wish = intervals_[other].at.reg;
    give(*i);
  }
}

void Scan::give_slots(Allocation& a) {
  struct Busy {
    uint32_t until, slot;
    bool operator>(const Busy& o) const { return until > o.until; }
  };
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;         // the first to end on top
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free; // the lowest on top
  for (const Interval* i : order_) {
    if (i->at.kind != Location::in_slot) continue;
    for (; !busy.empty() && busy.top().until < i->from; busy.pop()) free.push(busy.top().slot);
    if (free.empty()) free.push(a.slots++);
    a.at[i->value].slot = free.top();
    busy.push({i->to, free.top()});
    free.pop();
  }
}

Allocation Scan::run() {
  find_live_values();
  build_intervals();
  give_registers();
  Allocation a;
  a.at.resize(s_.registers);
  for (const Interval* i : order_) a.at[i->value] = i->at;
  give_slots(a);
  return a;
}

} // namespace

Allocation allocate_registers(const Steps& steps) { return Scan(steps).run(); }

} // namespace bpf
