// reuse_lookups: an entry of a map that was looked up on every path is not looked up again, unless this function may have
// made or removed entries of the map in between. What other CPUs do to the map then is seen no later than it could be
// anyhow: the entry may be gone the moment after it was found.
//
// Keys are equal when the same registers and constants were stored into their objects, once each. Functions with loops are
// left alone: their bodies are functions that share the objects.
#include "ir/passes.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace ir {
namespace {

struct Part { // of a key
  int64_t offset;
  uint8_t size;
  Operand value;
  bool operator==(const Part&) const = default;
};

struct Key {
  std::vector<Part> parts; // by offset
  bool is_known = true;
};

bool is_looked_up(const Map& m) { return !is_scalar(m.kind) && m.kind != MapKind::task; }

// What the objects of a function hold, as far as they serve as keys only.
class Keys {
public:
  Keys(const Function& function, const Program& program)
      : definitions_(function), keys_(program.frames[function.frame].objects.size()) {
    for (const Block& b : function.blocks)
      for (const Inst& i : b.insts) {
        const bool on_key = i.op == Op::store || (i.op >= Op::map_find && i.op <= Op::map_remove);
        if (i.op == Op::store) add(i);
        if (i.op == Op::object && (i.imm || !definitions_.is_single(i.dst))) keys_[i.index].is_known = false;
        for_each_operand(i, [&](const Operand& o) {
          if (Key* k = find(o); k && !(on_key && &o == &i.a)) k->is_known = false;
        });
      }
    for (Key& k : keys_) sort(k);
  }

  const Key* of(const Inst& find) { return this->find(find.a); }

private:
  Key* find(const Operand& o) {
    const Inst* from = definitions_.only(o);
    return from && from->op == Op::object ? &keys_[from->index] : nullptr;
  }
  void add(const Inst& store) {
    Key* k = find(store.a);
    if (!k) return;
    k->is_known = k->is_known && definitions_.is_stable(store.b);
    k->parts.push_back({store.imm, store.size, store.b});
  }
  static void sort(Key& k) {
    std::ranges::sort(k.parts, {}, &Part::offset);
    for (size_t n = 1; n < k.parts.size(); n++)
      if (k.parts[n - 1].offset + k.parts[n - 1].size > k.parts[n].offset) k.is_known = false;
  }

  Definitions definitions_;
  std::vector<Key> keys_;
};

using Set = uint64_t;                    // of lookups, by number
constexpr size_t most = 8 * sizeof(Set); // the others are not reused
// Each that is reused doubles the ways that a verifier follows from its first test to its last.
constexpr int most_reused = 6;

struct Lookup {
  uint32_t map;
  const Key* key;
  Reg answer;
};

struct Lookups {
  std::vector<Lookup> all;
  std::vector<Set> of_map; // those whose answer is no more known when an entry of the map comes or goes

  // The set behind the instruction; `number`: the next lookup's, which is this one where the instruction is one.
  Set step(const Inst& i, size_t& number, Set known) const {
    switch (i.op) {
    case Op::map_slot:
    case Op::map_store:
    case Op::map_remove: return known & ~of_map[i.index];
    case Op::call: return 0;
    case Op::map_find:
      if (number < all.size() && all[number].answer == i.dst) known |= Set{1} << number++;
      return known;
    default: return known;
    }
  }
};

// In the order of blocks. Of each function few are asked for twice.
Lookups find_lookups(const Function& function, const Program& program, const Flow& flow, Keys& keys) {
  const Definitions definitions(function);
  Lookups out{{}, std::vector<Set>(program.maps.size())};
  for (const BlockId b : flow.order)
    for (const Inst& i : function.blocks[b].insts) {
      if (i.op != Op::map_find || out.all.size() == most || !is_looked_up(program.maps[i.index])) continue;
      const Key* key = keys.of(i);
      if (!key || !key->is_known || !i.dst || !definitions.is_single(i.dst)) continue;
      out.of_map[i.index] |= Set{1} << out.all.size();
      out.all.push_back({i.index, key, i.dst});
    }
  return out;
}

bool has_twins(const Lookups& lookups) {
  for (size_t a = 0; a < lookups.all.size(); a++)
    for (size_t b = 0; b < a; b++)
      if (lookups.all[a].map == lookups.all[b].map && lookups.all[a].key->parts == lookups.all[b].key->parts) return true;
  return false;
}

// The lookups whose answers are known where each block begins: those known at the end of all blocks that lead to it.
std::vector<Set> known_at_heads(const Function& function, const Flow& flow, const Lookups& lookups) {
  std::vector<Set> heads(function.blocks.size(), ~Set{0});
  heads[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    size_t number = 0;
    for (const BlockId b : flow.order) {
      Set known = heads[b];
      for (const Inst& i : function.blocks[b].insts) known = lookups.step(i, number, known);
      for (const BlockId to : successors(function.blocks[b])) {
        changed |= (heads[to] & known) != heads[to];
        heads[to] &= known;
      }
    }
  }
  return heads;
}

// Those whose answers were copied.
Set reused_before(const Function& function, const Lookups& lookups) {
  Set out = 0;
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts)
      for (size_t n = 0; i.op == Op::mov && n < lookups.all.size(); n++)
        if (i.a == Operand::of(lookups.all[n].answer)) out |= Set{1} << n;
  return out;
}

bool may_have_loops(const Function& function) {
  if (function.role == Role::body) return true;
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts)
      if (i.op == Op::loop || i.op == Op::for_each) return true;
  return false;
}

} // namespace

bool reuse_lookups(Function& function, PassContext& context) {
  if (is_long(function)) return false;
  std::vector<uint32_t> count(context.program.maps.size());
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts)
      if (i.op == Op::map_find && is_looked_up(context.program.maps[i.index])) count[i.index]++;
  if (std::ranges::none_of(count, [](uint32_t n) { return n > 1; }) || may_have_loops(function)) return false;

  Keys keys(function, context.program);
  const Flow& flow = context.flow();
  const Lookups lookups = find_lookups(function, context.program, flow, keys);
  if (!has_twins(lookups)) return false;
  const std::vector<Set> heads = known_at_heads(function, flow, lookups);
  bool changed = false;
  size_t number = 0;
  Set reused = reused_before(function, lookups);
  for (const BlockId b : flow.order) {
    Set known = heads[b];
    for (Inst& i : function.blocks[b].insts) {
      const size_t own = number;
      const Set before = known;
      known = lookups.step(i, number, known);
      if (number == own) continue; // not one of them
      const Lookup& asked = lookups.all[own];
      for (Set left = std::popcount(reused) < most_reused ? before : before & reused; left; left &= left - 1) {
        const Lookup& earlier = lookups.all[static_cast<size_t>(std::countr_zero(left))];
        if (earlier.answer == i.dst || earlier.map != asked.map || earlier.key->parts != asked.key->parts) continue;
        i = {.op = Op::mov, .dst = i.dst, .a = Operand::of(earlier.answer), .where = i.where};
        reused |= left & -left;
        changed = true;
        break;
      }
    }
  }
  return changed;
}

} // namespace ir
