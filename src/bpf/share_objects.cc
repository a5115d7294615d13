// Objects of a function that are never needed at the same time get the same memory. Where no way leads back, the blocks have an
// order that every way through the function follows: what is used from one instruction to another in it is needed between these alone.
#include "bpf/pieces.h"

#include "ir/ops.h"

#include <algorithm>

namespace bpf {
namespace {

using ir::Inst;
using ir::Op;
using ir::Operand;

constexpr uint32_t no_object = ~0u;

// Whether what it gives back may be an address that it was given. It may keep one in objects of its own, which end with it.
bool may_return_parameter(const ir::Function& f) {
  std::vector<bool> derived(f.registers, false);
  for (ir::Reg r = 1; r <= f.parameters; r++) derived[r] = true;
  bool found = false, stores = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block& b : f.blocks)
      for (const Inst& i : b.insts) {
        bool reads = i.op == Op::load && stores && i.size == 8;
        ir::for_each_use(i, [&](ir::Reg r) { reads |= derived[r]; });
        if (!reads) continue;
        found |= i.op == Op::give_back;
        stores |= i.op == Op::store && i.b.is_reg() && derived[i.b.as_reg()];
        const bool passes_on = i.op == Op::mov || i.op == Op::add || i.op == Op::sub || i.op == Op::call || (i.op == Op::load && stores);
        if (passes_on && ir::defines(i) && !derived[i.dst]) changed = derived[i.dst] = true;
      }
  }
  return found;
}

class Sharing {
public:
  Sharing(ir::Program& program, uint32_t function, const std::vector<bool>& return_parameters, std::vector<bool> excluded)
      : program_(program), function_(program.functions[function]), return_parameters_(return_parameters), excluded_(std::move(excluded)),
        uses_(program.frames[function_.frame].objects.size()) {}

  void run() {
    const ir::Flow flow(function_);
    if (!find_uses(flow)) return;
    choose();
    for (ir::Block& b : function_.blocks)
      for (Inst& i : b.insts)
        if (i.op == Op::object) i.index = uses_[i.index].place;
  }

private:
  struct Use {
    uint32_t first = ~0u, last = 0; // instructions in the order of the flow
    uint32_t place = no_object;     // the object whose memory it has
  };

  // false: there is a way back.
  bool find_uses(const ir::Flow& flow) {
    for (const ir::BlockId b : flow.order)
      for (const ir::BlockId s : ir::successors(function_.blocks[b]))
        if (flow.number[s] <= flow.number[b]) return false;
    std::vector<uint32_t> of_register(function_.registers, no_object);
    uint32_t at = 0;
    for (const ir::BlockId b : flow.order)
      for (const Inst& i : function_.blocks[b].insts) visit(i, at++, of_register);
    return true;
  }

  void visit(const Inst& i, uint32_t at, std::vector<uint32_t>& of_register) {
    if (i.op == Op::lend) excluded_[i.index] = true;
    uint32_t address = i.op == Op::object ? i.index : no_object; // that it gives
    const bool passes_on = i.op == Op::mov || i.op == Op::add || i.op == Op::sub;
    const bool keeps = i.op == Op::number_of || i.op == Op::blur || i.op == Op::give_back ||
                       (i.op == Op::call && return_parameters_[i.index]);
    ir::for_each_operand(i, [&](const Operand& o) {
      const uint32_t object = o.is_reg() ? of_register[o.as_reg()] : no_object;
      if (object == no_object) return;
      uses_[object].last = at;
      if (passes_on) address = object;
      if (keeps || (i.op == Op::store && &o == &i.b)) excluded_[object] = true;
    });
    if (address != no_object) {
      uses_[address].first = std::min(uses_[address].first, at);
      uses_[address].last = at;
    }
    if (!ir::defines(i)) return;
    uint32_t& known = of_register[i.dst];
    if (known != no_object && address != known) { // a register with the addresses of several objects
      excluded_[known] = true;
      if (address != no_object) excluded_[address] = true;
    }
    if (address != no_object) known = address;
  }

  // In the order of their begins each takes the memory of one that has ended: the one whose size is nearest.
  void choose() {
    auto& objects = program_.frames[function_.frame].objects;
    std::vector<uint32_t> order;
    for (uint32_t o = 0; o < uses_.size(); o++) {
      uses_[o].place = o;
      if (uses_[o].first != ~0u && !excluded_[o]) order.push_back(o);
    }
    std::ranges::sort(order, {}, [&](uint32_t o) { return uses_[o].first; });
    struct Place {
      uint32_t object, last;
    };
    std::vector<Place> places;
    for (const uint32_t o : order) {
      const uint32_t size = objects[o].size;
      Place* best = nullptr;
      auto distance = [&](const Place& p) { return std::max(objects[p.object].size, size) - std::min(objects[p.object].size, size); };
      for (Place& p : places)
        if (p.last < uses_[o].first && is_small(objects[p.object].size) == is_small(size) && (!best || distance(p) < distance(*best)))
          best = &p;
      if (!best) best = &places.emplace_back(o, 0u);
      best->last = uses_[o].last;
      uses_[o].place = best->object;
      objects[best->object].size = std::max(objects[best->object].size, size);
    }
  }

  static bool is_small(uint32_t size) { return size <= largest_on_stack; }

  ir::Program& program_;
  ir::Function& function_;
  const std::vector<bool>& return_parameters_; // by function
  std::vector<bool> excluded_;                 // by object of the frame
  std::vector<Use> uses_;
};

} // namespace

void share_objects(ir::Program& program) {
  std::vector<std::vector<bool>> excluded = find_address_use(program).holders;
  for (const ir::Function& f : program.functions)
    if (f.role == ir::Role::body)
      for (const ir::Block& b : f.blocks)
        for (const Inst& i : b.insts)
          if (i.op == Op::object) excluded[f.frame][i.index] = true;
  std::vector<bool> return_parameters;
  for (const ir::Function& f : program.functions) return_parameters.push_back(f.parameters && may_return_parameter(f));
  for (uint32_t f = 0; f < program.functions.size(); f++)
    if (program.functions[f].role != ir::Role::body) Sharing(program, f, return_parameters, excluded[program.functions[f].frame]).run();
}

} // namespace bpf
