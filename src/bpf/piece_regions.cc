// Where a long function may be cut. Blocks and instructions are numbered in the order of control (reverse postorder), in which
// a block comes after those that lead to it. What the verifier knows of a value must not be needed on both sides of a cut: read back from
// memory it is any number. Method: each value whose address or limits matter forbids the cuts from its first to its last use,
// and each way back those from where it leads to.
#include "bpf/pieces.h"

#include "ir/passes.h"

#include <algorithm>
#include <map>
#include <ranges>

namespace bpf {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Reg;

constexpr size_t most_exits = 6; // of a piece
constexpr uint32_t nowhere = ~0u;

// Whether an address that is only used so may also be a number.
bool takes_number(const Inst& i, const ir::Operand& o) {
  if (ir::is_arithmetic(i.op)) return i.op != Op::mov && i.op != Op::add && i.op != Op::sub;
  return i.op == Op::branch || (i.op == Op::store && &o == &i.b && &o != &i.a);
}

// What of a function forbids cuts, and how many values a cut would have to carry over.
class Cuts {
public:
  Cuts(const ir::Function& function, const CutFacts& facts, const ir::Flow& flow)
      : function_(function), facts_(facts), flow_(flow), definitions_(function), first_of_(flow.order.size() + 1), work_until_(flow.order.size() + 1),
        lives_(function.registers), is_address_(function.registers), has_limits_(function.registers), holders_(facts.program.frames[function.frame].objects.size()) {
    uint32_t number = 0;
    for (size_t n = 0; n < flow.order.size(); n++) {
      first_of_[n] = number;
      number += static_cast<uint32_t>(function.blocks[flow.order[n]].insts.size());
      work_until_[n + 1] = work_until_[n];
      for (const Inst& i : function.blocks[flow.order[n]].insts) work_until_[n + 1] += work_of(facts.program, i);
    }
    first_of_.back() = number;
    for (Reg r = 1; r <= function.parameters; r++) lives_[r] = {0, 0};
    find_ways_back();
    for (size_t n = 0; n < flow.order.size(); n++) {
      uint32_t at = first_of_[n];
      for (const Inst& i : function.blocks[flow.order[n]].insts) visit(i, at++);
    }
    spread_limits();
    sum_up(number);
  }

  uint32_t first_of(size_t place) const { return first_of_[place]; } // number of the first instruction of a block
  size_t work(size_t from, size_t to) const { return work_until_[to] - work_until_[from]; } // of blocks by their places
  bool may_cut(uint32_t at) const { return forbidden_[at] == 0; }     // in front of this instruction
  int32_t carried(uint32_t at) const { return carried_[at]; }

private:
  struct Life {
    uint32_t from = nowhere, to = 0;
    void cover(uint32_t at) {
      from = std::min(from, at);
      to = std::max(to, at);
    }
  };

  // Loops within the function, from where a way back leads to where it comes from.
  void find_ways_back() {
    for (uint32_t n = 0; n < flow_.order.size(); n++)
      for (const BlockId b : ir::successors(function_.blocks[flow_.order[n]])) {
        const uint32_t to = flow_.number[b];
        if (to > n) continue;
        loops_.push_back({first_of_[to], first_of_[n + 1] - 1});
        for (uint32_t inside = to; inside <= n; inside++)
          for (const Inst& i : function_.blocks[flow_.order[inside]].insts)
            if (ir::defines(i)) has_limits_[i.dst] = true;
      }
  }

  // The limits of a value are those of what it is calculated from, unless a constant sets them.
  void spread_limits() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = flow_.order.size(); n-- > 0;)
        for (const Inst& i : function_.blocks[flow_.order[n]].insts | std::views::reverse) {
          if (!ir::defines(i) || !has_limits_[i.dst] || !ir::is_arithmetic(i.op)) continue;
          if ((i.op == Op::and_ || i.op == Op::umod) && i.b.is_constant()) continue;
          ir::for_each_use(i, [&](Reg r) {
            changed |= !has_limits_[r];
            has_limits_[r] = true;
          });
        }
    }
  }

  void visit(const Inst& i, uint32_t at) {
    if (ir::defines(i)) lives_[i.dst].cover(at);
    const auto& addresses = facts_.addresses.addresses[facts_.function];
    const auto is_address = [&](const ir::Operand& o) {
      const Inst* made = definitions_.only(o);
      return (made && made->op == Op::object) || (o.is_reg() && o.as_reg() < addresses.size() && addresses[o.as_reg()]);
    };
    if ((i.op == Op::add || i.op == Op::sub) && is_address(i.a) && i.b.is_reg()) has_limits_[i.b.as_reg()] = true;
    if (i.op == Op::add && is_address(i.b) && i.a.is_reg()) has_limits_[i.a.as_reg()] = true;
    ir::for_each_operand(i, [&](const ir::Operand& o) {
      if (!o.is_reg()) return;
      const Reg r = o.as_reg();
      lives_[r].cover(at);
      if (!takes_number(i, o)) is_address_[r] = true;
      if (const Inst* made = definitions_.only(o); made && made->op == Op::object) holders_[made->index].cover(at);
    });
    if (i.op == Op::object) holders_[i.index].cover(at);
    if (i.op == Op::loop) visit_body(i.index, at);
    if (i.op == Op::for_each) visit_body(static_cast<uint32_t>(i.imm), at);
  }
  void visit_body(uint32_t body, uint32_t at) {
    for (const ir::Block& b : facts_.program.functions[body].blocks)
      for (const Inst& i : b.insts) {
        if (i.op == Op::object) holders_[i.index].cover(at);
        if (i.op == Op::loop) visit_body(i.index, at);
        if (i.op == Op::for_each) visit_body(static_cast<uint32_t>(i.imm), at);
      }
  }

  void sum_up(uint32_t count) {
    forbidden_.assign(count + 1, 0);
    carried_.assign(count + 1, 0);
    const auto add = [](std::vector<int32_t>& to, const Life& l) {
      if (l.from == nowhere || l.from == l.to) return;
      to[l.from + 1]++;
      to[l.to + 1]--;
    };
    const auto& is_known_address = facts_.addresses.addresses[facts_.function];
    for (Reg r = 1; r < function_.registers; r++) {
      const Inst* made = definitions_.only(ir::Operand::of(r));
      if (made && (made->op == Op::object || is_repeatable(*made))) continue;
      const bool follows = r < is_known_address.size() && is_known_address[r] && is_address_[r];
      const bool is_followed = follows || has_limits_[r];
      add(is_followed ? forbidden_ : carried_, lives_[r]);
      if (is_followed && r <= function_.parameters) forbidden_[0]++, forbidden_[1]--; // a piece that has the begin gets it from memory
    }
    for (const Life& l : loops_) add(forbidden_, l);
    const auto& holds_address = facts_.addresses.holders[function_.frame];
    for (size_t o = 0; o < holders_.size(); o++)
      add(holds_address[o] ? forbidden_ : carried_, holders_[o]);
    for (size_t n = 1; n <= count; n++) {
      forbidden_[n] += forbidden_[n - 1];
      carried_[n] += carried_[n - 1];
    }
  }

  const ir::Function& function_;
  const CutFacts& facts_;
  const ir::Flow& flow_;
  const ir::Definitions definitions_;
  std::vector<uint32_t> first_of_;
  std::vector<size_t> work_until_;
  std::vector<Life> lives_; // by register
  std::vector<bool> is_address_; // by register: used as one
  std::vector<bool> has_limits_; // by register: the verifier has to know some
  std::vector<Life> loops_;
  std::vector<Life> holders_; // by object
  std::vector<int32_t> forbidden_, carried_; // by instruction
};

// Instructions that only the function itself may have.
bool must_stay(const Inst& i, const CutFacts& facts) {
  switch (i.op) {
  case Op::give_back:
  case Op::unreachable:
  case Op::stack: // it knows how deep it stands, and where
  case Op::override: return true;
  case Op::query: return i.query == ir::Query::is_return;
  case Op::loop: return facts.fixed_bodies[i.index];
  case Op::for_each: return facts.fixed_bodies[static_cast<size_t>(i.imm)];
  default: return false;
  }
}

class Finder {
public:
  Finder(const ir::Function& function, const CutFacts& facts, const PieceSizes& sizes)
      : function_(function), facts_(facts), sizes_(sizes), flow_(function), cuts_(function, facts, flow_),
        earliest_(flow_.order.size(), nowhere), latest_(flow_.order.size(), 0), stays_(flow_.order.size(), false) {
    for (uint32_t n = 0; n < flow_.order.size(); n++) {
      const ir::Block& b = function.blocks[flow_.order[n]];
      for (const BlockId to : ir::successors(b)) {
        const uint32_t at = flow_.number[to];
        earliest_[at] = std::min(earliest_[at], n);
        latest_[at] = std::max(latest_[at], n);
      }
      stays_[n] = std::ranges::any_of(b.insts, [&](const Inst& i) { return must_stay(i, facts); });
    }
  }

  std::vector<Region> run() {
    std::vector<Region> found;
    for (uint32_t from = 0; from < flow_.order.size();) {
      const uint32_t to = end_of_region(from);
      if (to == from) {
        from++;
        continue;
      }
      found.push_back(region(from, to));
      from = to;
    }
    return found;
  }

private:
  // A region from there on that is not larger than a piece; `from` where there is none that is worth it. Of those that are nearly as
  // large as the largest it is the one that has the least in common with what follows.
  uint32_t end_of_region(uint32_t from) const {
    if (!cuts_.may_cut(cuts_.first_of(from))) return from;
    std::map<uint32_t, uint32_t> exits; // places that blocks of the region lead to, outside of it
    uint32_t end = from, entered = nowhere, last = 0;
    size_t least = 0; // ways out of the region that ends there, and values that are needed behind it
    for (uint32_t n = from; n < flow_.order.size() && !stays_[n]; n++) {
      if (cuts_.work(from, n + 1) > sizes_.piece && n > from) break;
      if (n > from) entered = std::min(entered, earliest_[n]), last = std::max(last, latest_[n]);
      if (n > from && entered < from) break; // it has another entry
      exits.erase(n);
      for (const BlockId b : ir::successors(function_.blocks[flow_.order[n]]))
        if (flow_.number[b] > n || flow_.number[b] < from) exits[flow_.number[b]]++;
      const bool is_closed = (entered == nowhere || entered >= from) && last <= n;
      if (!is_closed || exits.size() > most_exits || !cuts_.may_cut(cuts_.first_of(n + 1))) continue;
      const size_t in_common = exits.size() + static_cast<size_t>(cuts_.carried(cuts_.first_of(n + 1)));
      const bool is_short = cuts_.work(from, end) < sizes_.piece / 4 * 3;
      if (is_short || in_common <= least) end = n + 1, least = in_common;
    }
    const bool is_worth_it = end > from && cuts_.work(from, end) >= sizes_.piece / 8;
    return is_worth_it ? end : from;
  }

  Region region(uint32_t from, uint32_t to) const {
    Region r;
    r.head = flow_.order[from];
    for (uint32_t n = from; n < to; n++) {
      r.blocks.push_back(flow_.order[n]);
      for (const BlockId b : ir::successors(function_.blocks[flow_.order[n]])) {
        const uint32_t at = flow_.number[b];
        if ((at < from || at >= to) && std::ranges::find(r.exits, b) == r.exits.end()) r.exits.push_back(b);
      }
    }
    return r;
  }

  const ir::Function& function_;
  const CutFacts& facts_;
  const PieceSizes& sizes_;
  const ir::Flow flow_;
  const Cuts cuts_;
  std::vector<uint32_t> earliest_, latest_; // by place: the first and the last place that leads there
  std::vector<bool> stays_;                 // by place
};

} // namespace

bool is_repeatable(const Inst& made) {
  if (made.op == Op::query) return made.query == ir::Query::task || made.query == ir::Query::user_registers;
  return made.op == Op::load && made.space == ir::Space::context && made.other == ir::no_block;
}

void take_addresses_anew(ir::Function& function) {
  const std::vector<KnownAddress> known = find_known_addresses(function);
  const auto is_known = [&](Reg r) { return r < known.size() && known[r].is_known; };
  std::vector<std::pair<BlockId, Reg>> taken(known.size(), {ir::no_block, 0}); // by register: what stands for it in a block
  std::vector<Inst> insts;
  for (BlockId b = 0; b < function.blocks.size(); b++) {
    insts.clear();
    for (Inst i : function.blocks[b].insts) {
      if (ir::defines(i) && is_known(i.dst)) continue;
      ir::for_each_operand(i, [&](ir::Operand& o) {
        if (!o.is_reg() || !is_known(o.as_reg())) return;
        auto& [block, reg] = taken[o.as_reg()];
        if (block != b) {
          const KnownAddress& k = known[o.as_reg()];
          block = b;
          reg = function.registers++;
          insts.push_back({.op = Op::object, .dst = reg, .imm = k.offset, .index = k.object, .where = i.where});
        }
        o = ir::Operand::of(reg);
      });
      insts.push_back(i);
    }
    function.blocks[b].insts.assign(insts.begin(), insts.end());
  }
}

bool split_blocks(ir::Function& function, const CutFacts& facts, const PieceSizes& sizes) {
  const size_t shortest = std::max<size_t>(sizes.piece / 8, 4);
  if (std::ranges::none_of(function.blocks, [&](const ir::Block& b) { return b.insts.size() > 2 * shortest; })) return false;
  const ir::Flow flow(function);
  const Cuts cuts(function, facts, flow);
  for (uint32_t n = 0; n < flow.order.size(); n++) {
    std::vector<Inst> left = std::move(function.blocks[flow.order[n]].insts);
    std::vector<size_t> places; // in front of these instructions
    for (size_t begin = 0; left.size() - begin > 2 * shortest;) {
      size_t best = 0;
      for (size_t at = begin + shortest; at < std::min(begin + 2 * shortest, left.size() - 1); at++) {
        const uint32_t number = cuts.first_of(n) + static_cast<uint32_t>(at);
        if (cuts.may_cut(number) && (!best || cuts.carried(number) < cuts.carried(cuts.first_of(n) + static_cast<uint32_t>(best))))
          best = at;
      }
      if (best) places.push_back(best);
      begin = best ? best : begin + shortest;
    }
    places.push_back(left.size());
    BlockId block = flow.order[n];
    size_t begin = 0;
    for (const size_t end : places) {
      std::vector<Inst> part(left.begin() + static_cast<ptrdiff_t>(begin), left.begin() + static_cast<ptrdiff_t>(end));
      const BlockId next = static_cast<BlockId>(function.blocks.size());
      if (end != left.size()) part.push_back({.op = Op::jump, .target = next, .where = part.back().where});
      function.blocks[block].insts = std::move(part);
      if (end == left.size()) break;
      function.blocks.emplace_back();
      block = next;
      begin = end;
    }
  }
  return true;
}

std::vector<Region> find_regions(const ir::Function& function, const CutFacts& facts, const PieceSizes& sizes) {
  return Finder(function, facts, sizes).run();
}

} // namespace bpf
