// Linear scan. Positions: step k reads at 2k+2 and writes at 2k+3; parameters arrive at 1.
#include "bpf/registers.h"

#include "ir/liveness.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace bpf {
namespace {

constexpr uint32_t nowhere = ~0u;
constexpr uint32_t reads_at(uint32_t step) { return 2 * step + 2; }
constexpr uint32_t writes_at(uint32_t step) { return 2 * step + 3; }

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
  void find_shared_values();
  void cover_shared_values();
  void build_intervals();
  void give_registers();
  void give(Interval& i);
  bool try_register(Interval& i, Register r);
  void give_slots(Allocation& a);

  const Steps& s_;
  std::vector<ir::Reg> shared_;         // values that live from one block into another: few
  std::vector<uint32_t> shared_number_; // by value: place in shared_
  std::vector<ir::BlockValue> reads_, sets_; // which blocks read shared values before they set them; which set them
  std::vector<Interval> intervals_;
  std::vector<Interval*> order_;
  Interval* holder_[11] = {};
};

// Numbers the values that some block reads before it sets them.
void Scan::find_shared_values() {
  std::vector<uint32_t> set_in(s_.registers, nowhere); // by value: the last block that set it
  std::vector<ir::BlockValue> sets;
  for (uint32_t b = 0; b < s_.blocks.size(); b++) {
    for (uint32_t k = s_.blocks[b].first; k <= s_.blocks[b].last; k++) {
      const Step& step = s_.steps[k];
      for (uint8_t u = 0; u < step.count; u++) {
        const ir::Reg r = s_.uses[step.first + u];
        if (set_in[r] == b) continue;
        if (shared_number_[r] == nowhere) {
          shared_number_[r] = static_cast<uint32_t>(shared_.size());
          shared_.push_back(r);
        }
        reads_.push_back({shared_number_[r], b});
      }
      const bool partial = k == s_.blocks[b].last && s_.blocks[b].def_only_on_first;
      if (!step.def || partial || set_in[step.def] == b) continue;
      set_in[step.def] = b;
      sets.push_back({step.def, b});
    }
  }
  for (const ir::BlockValue& s : sets)
    if (shared_number_[s.value] != nowhere) sets_.push_back({shared_number_[s.value], s.block});
}

// From the first block that a value is live into, to the last that leads to such a block.
void Scan::cover_shared_values() {
  const size_t n = s_.blocks.size();
  std::vector<uint32_t> begin(n + 1);
  for (const StepBlock& b : s_.blocks)
    for (const ir::BlockId to : b.next)
      if (to != ir::no_block) begin[to + 1]++;
  for (size_t b = 0; b < n; b++) begin[b + 1] += begin[b];
  std::vector<std::pair<uint32_t, int>> from(begin[n]); // of each block: those that lead to it, by which of their edges
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t b = 0; b < n; b++)
    for (int side = 0; side < 2; side++)
      if (const ir::BlockId to = s_.blocks[b].next[side]; to != ir::no_block) from[next[to]++] = {b, side};
  ir::for_each_live(
      n, std::move(reads_), std::move(sets_),
      [&](uint32_t b, uint32_t value, const auto& go) {
        for (uint32_t e = begin[b]; e < begin[b + 1]; e++) {
          const StepBlock& p = s_.blocks[from[e].first];
          intervals_[shared_[value]].cover(writes_at(p.last));
          const bool is_set = from[e].second == 0 && p.def_only_on_first && s_.steps[p.last].def == shared_[value];
          if (!is_set) go(from[e].first);
        }
      },
      [&](uint32_t value, uint32_t b) { intervals_[shared_[value]].cover(reads_at(s_.blocks[b].first) - 1); });
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
  find_shared_values();
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
