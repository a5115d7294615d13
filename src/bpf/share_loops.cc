// Loops that do the same with other objects, such as searches for one word in several texts, become calls of one function. It is
// given the addresses of the objects and keeps them in its frame, where the body of its loop finds them.
#include "bpf/pieces.h"

#include "ir/ops.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace bpf {
namespace {

using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Reg;

constexpr size_t often = 4;        // loops that are worth a function
constexpr size_t most_objects = 5; // parameters of a function

struct Loop {
  uint32_t function, block, inst;
  int64_t turns;
  std::vector<uint32_t> objects; // that its body uses, in the order of their first use
};

// How many turns it takes at most, also where the verifier shall not know it; none: only the running program knows.
std::optional<int64_t> turns_of(const Inst& loop, const ir::Definitions& definitions) {
  const Inst* made = definitions.only(loop.a);
  const Operand& turns = made && made->op == Op::blur ? made->a : loop.a;
  return turns.is_constant() ? std::optional(turns.value) : std::nullopt;
}

// The objects of a body, if it is one that may be shared.
std::optional<std::vector<uint32_t>> objects_of(const ir::Function& body) {
  std::vector<uint32_t> objects;
  for (const ir::Block& b : body.blocks)
    for (const Inst& i : b.insts) {
      const bool is_of_place = i.op == Op::loop || i.op == Op::for_each || i.op == Op::call || i.op == Op::stack ||
                               i.op == Op::context_address || i.op == Op::event || i.op == Op::hold || (i.op == Op::load && i.space == ir::Space::context);
      if (is_of_place) return {};
      if (i.op == Op::object && std::ranges::find(objects, i.index) == objects.end()) objects.push_back(i.index);
    }
  if (objects.size() > most_objects) return {};
  return objects;
}

// All that two bodies must have in common: their instructions, with objects by their order.
std::vector<int64_t> key_of(const Inst& loop, int64_t turns, const ir::Function& body, const std::vector<uint32_t>& objects) {
  std::vector<int64_t> key{loop.a.kind, turns};
  const auto add = [&](const Operand& o) { key.push_back(o.kind), key.push_back(o.value); };
  for (const ir::Block& b : body.blocks) {
    key.push_back(-1);
    for (const Inst& i : b.insts) {
      const int64_t index = i.op == Op::object ? std::ranges::find(objects, i.index) - objects.begin() : int64_t{i.index};
      for (const int64_t n : {static_cast<int64_t>(i.op), int64_t{i.size}, int64_t{i.is_signed}, int64_t{i.atomic}, static_cast<int64_t>(i.cond),
                              static_cast<int64_t>(i.space), static_cast<int64_t>(i.query), int64_t{i.dst}, i.imm, int64_t{i.imm2},
                              int64_t{i.imm3}, index, int64_t{i.target}, int64_t{i.other}})
        key.push_back(n);
      for (const Operand& o : {i.a, i.b, i.c, i.d, i.e}) add(o);
    }
  }
  return key;
}

std::map<std::vector<int64_t>, std::vector<Loop>> find_loops(const ir::Program& program) {
  std::map<std::vector<int64_t>, std::vector<Loop>> found;
  for (uint32_t f = 0; f < program.functions.size(); f++) {
    const ir::Definitions definitions(program.functions[f]);
    for (uint32_t b = 0; b < program.functions[f].blocks.size(); b++)
      for (uint32_t n = 0; n < program.functions[f].blocks[b].insts.size(); n++) {
        const Inst& i = program.functions[f].blocks[b].insts[n];
        if (i.op != Op::loop) continue;
        const auto turns = turns_of(i, definitions);
        if (!turns || *turns < 0 || *turns > i.imm) continue; // another would count at its place that it was cut
        if (auto objects = objects_of(program.functions[i.index]))
          found[key_of(i, *turns, program.functions[i.index], *objects)].push_back({f, b, n, *turns, std::move(*objects)});
      }
  }
  return found;
}

// The body, with the addresses of its objects from those of the function's frame.
ir::Function shared_body(const ir::Function& body, const std::vector<uint32_t>& objects, uint32_t parent, uint32_t frame) {
  ir::Function out = body;
  out.parent = parent;
  out.frame = frame;
  for (ir::Block& b : out.blocks) {
    std::vector<Inst> insts;
    for (const Inst& i : b.insts) {
      if (i.op != Op::object) {
        insts.push_back(i);
        continue;
      }
      const auto holder = static_cast<uint32_t>(std::ranges::find(objects, i.index) - objects.begin());
      const Reg at = out.registers++, address = i.imm ? out.registers++ : i.dst;
      insts.push_back({.op = Op::object, .dst = at, .index = holder, .where = i.where});
      insts.push_back({.op = Op::load, .size = 8, .space = ir::Space::script, .dst = address, .a = Operand::of(at), .where = i.where});
      if (i.imm) insts.push_back({.op = Op::add, .dst = i.dst, .a = Operand::of(address), .b = Operand::number(i.imm), .where = i.where});
    }
    b.insts = std::move(insts);
  }
  return out;
}

uint32_t add_function(ir::Program& program, const Loop& loop) {
  const auto frame = static_cast<uint32_t>(program.frames.size()), number = static_cast<uint32_t>(program.functions.size());
  program.frames.emplace_back();
  Inst run = program.functions[loop.function].blocks[loop.block].insts[loop.inst];
  ir::Function f;
  f.name = program.functions[run.index].name;
  f.role = ir::Role::function;
  f.frame = frame;
  f.parameters = static_cast<uint32_t>(loop.objects.size());
  f.registers = f.parameters + 1;
  f.blocks.emplace_back();
  for (uint32_t n = 0; n < f.parameters; n++) {
    program.frames[frame].objects.push_back({8, "address"});
    const Reg at = f.registers++;
    f.blocks[0].insts.push_back({.op = Op::object, .dst = at, .index = n, .where = run.where});
    f.blocks[0].insts.push_back({.op = Op::store, .size = 8, .space = ir::Space::script, .a = Operand::of(at), .b = Operand::of(n + 1), .where = run.where});
  }
  ir::Function body = shared_body(program.functions[run.index], loop.objects, number, frame);
  run.index = number + 1;
  if (run.a.is_reg()) {
    run.a = Operand::of(f.registers++);
    f.blocks[0].insts.push_back({.op = Op::blur, .dst = run.a.as_reg(), .a = Operand::number(loop.turns), .where = run.where});
  }
  run.dst = f.registers++;
  f.blocks[0].insts.push_back(run);
  f.blocks[0].insts.push_back({.op = Op::give_back, .a = Operand::of(run.dst), .where = run.where});
  program.functions.push_back(std::move(f));
  program.functions.push_back(std::move(body));
  return number;
}

// In place of a loop; `behind`: how many instructions were put into its block before.
void call(ir::Program& program, const Loop& loop, uint32_t function, uint32_t behind) {
  ir::Function& f = program.functions[loop.function];
  auto& insts = f.blocks[loop.block].insts;
  Inst& run = insts[loop.inst + behind];
  program.functions[run.index].blocks = {{{{.op = Op::give_back, .a = Operand::number(0), .where = run.where}}}}; // nobody's any more
  Inst made{.op = Op::call, .dst = run.dst, .index = function, .where = run.where};
  std::vector<Inst> addresses;
  Operand* const arguments[] = {&made.a, &made.b, &made.c, &made.d, &made.e};
  for (size_t n = 0; n < loop.objects.size(); n++) {
    *arguments[n] = Operand::of(f.registers);
    addresses.push_back({.op = Op::object, .dst = f.registers++, .index = loop.objects[n], .where = run.where});
  }
  run = made;
  insts.insert(insts.begin() + loop.inst + behind, addresses.begin(), addresses.end());
}

} // namespace

void share_loops(ir::Program& program) {
  if (std::ranges::none_of(program.functions, [](const ir::Function& f) { return f.role == ir::Role::body; })) return;
  struct Call {
    const Loop* loop;
    uint32_t function;
  };
  std::vector<Call> calls;
  const auto found = find_loops(program);
  for (const auto& [key, loops] : found) {
    if (loops.size() < often) continue;
    const uint32_t function = add_function(program, loops.front());
    for (const Loop& l : loops) calls.push_back({&l, function});
  }
  const auto place = [](const Call& c) { return std::tuple(c.loop->function, c.loop->block, c.loop->inst); };
  std::ranges::sort(calls, {}, place);
  uint32_t behind = 0;
  for (size_t n = 0; n < calls.size(); n++) {
    const Loop& l = *calls[n].loop;
    if (n && (calls[n - 1].loop->function != l.function || calls[n - 1].loop->block != l.block)) behind = 0;
    call(program, l, calls[n].function, behind);
    behind += static_cast<uint32_t>(l.objects.size());
  }
}

} // namespace bpf
