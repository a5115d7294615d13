// Builds IR by hand for tests: one function at a time, instructions appended to the current block. Registers
// are handed out in order; numbers and registers both convert to operands where they stand: reg(3), 17.
#pragma once

#include "ir/ops.h"

#include <string>

namespace ir {

struct R { // a register as an operand
  Reg id;
  operator Operand() const { return Operand::of(id); }
};
struct Value : Operand {
  Value() = default;
  Value(int64_t n) : Operand(Operand::number(n)) {}
  Value(int n) : Operand(Operand::number(n)) {}
  Value(R r) : Operand(Operand::of(r.id)) {}
};

class Builder {
public:
  // Starts with one probe, "main", and its entry block.
  Builder() { function("main", Role::probe); }

  uint32_t function(std::string name, Role role, uint32_t parameters = 0, uint32_t parent = ~0u) {
    Function f{.name = std::move(name), .role = role, .parameters = parameters, .registers = parameters + 1};
    f.parent = parent;
    if (role == Role::body)
      f.frame = program.functions[parent].frame;
    else {
      f.frame = static_cast<uint32_t>(program.frames.size());
      program.frames.emplace_back();
    }
    f.blocks.resize(1);
    program.functions.push_back(std::move(f));
    current_ = static_cast<uint32_t>(program.functions.size() - 1);
    block_ = 0;
    return current_;
  }
  void enter(uint32_t function, BlockId block = 0) { current_ = function, block_ = block; }
  Function& now() { return program.functions[current_]; }
  Frame& frame() { return program.frames[now().frame]; }

  BlockId block() {
    now().blocks.emplace_back();
    return static_cast<BlockId>(now().blocks.size() - 1);
  }
  void at(BlockId b) { block_ = b; }
  BlockId current() const { return block_; }
  R reg() { return {now().registers++}; }

  Inst& emit(Op op) { return now().blocks[block_].insts.emplace_back(Inst{.op = op}); }
  R value(Op op, Value a = {}, Value b = {}, Value c = {}) {
    const R r = reg();
    emit_to(r, op, a, b, c);
    return r;
  }
  Inst& emit_to(R dst, Op op, Value a = {}, Value b = {}, Value c = {}) {
    Inst& i = emit(op);
    i.dst = dst.id, i.a = a, i.b = b, i.c = c;
    return i;
  }
  Inst& last() { return now().blocks[block_].insts.back(); }

  uint32_t object(uint32_t size, std::string name = {}) {
    frame().objects.push_back({size, std::move(name)});
    return static_cast<uint32_t>(frame().objects.size() - 1);
  }
  R address(uint32_t object, int64_t offset = 0) {
    const R r = value(Op::object);
    last().index = object, last().imm = offset;
    return r;
  }
  R load(Value base, int64_t offset = 0, uint8_t size = 8, bool is_signed = false) {
    const R r = value(Op::load, base);
    last().imm = offset, last().size = size, last().is_signed = is_signed;
    return r;
  }
  void store(Value base, Value v, int64_t offset = 0, uint8_t size = 8) {
    Inst& i = emit(Op::store);
    i.a = base, i.b = v, i.imm = offset, i.size = size;
  }
  R query(Query q) {
    const R r = value(Op::query);
    last().query = q;
    return r;
  }
  R on_map(Op op, uint32_t map, Value a = {}, Value b = {}) {
    const R r = value(op, a, b);
    last().index = map;
    return r;
  }
  void jump(BlockId to) { emit(Op::jump).target = to; }
  void branch(Value a, Cond cond, Value b, BlockId yes, BlockId no) {
    Inst& i = emit(Op::branch);
    i.a = a, i.b = b, i.cond = cond, i.target = yes, i.other = no;
  }
  void give_back(Value v = 0) { emit(Op::give_back).a = v; }

  // A hash of `key`-byte keys and `value`-byte values.
  uint32_t map(MapKind kind, uint32_t key, uint32_t value, uint64_t entries = 16, uint32_t present = ~0u) {
    Map m{.name = "m" + std::to_string(program.maps.size()), .kind = kind};
    m.key_size = key, m.value_size = value, m.max_entries = entries, m.present_offset = present;
    program.maps.push_back(std::move(m));
    return static_cast<uint32_t>(program.maps.size() - 1);
  }
  // An action whose payload is `numbers` 8-byte numbers.
  uint32_t action(uint32_t numbers) {
    std::vector<const type::Type*> elements(numbers, types.int64());
    program.actions.push_back(
        {.kind = ActionKind::printf, .payload = numbers ? types.tuple(elements) : nullptr});
    return static_cast<uint32_t>(program.actions.size() - 1);
  }
  // Sends `v` as the record of a new action.
  void output(Value v) {
    const uint32_t a = action(1);
    const R room = value(Op::event);
    last().index = a, last().imm2 = program.actions[a].record_size();
    const BlockId some = block(), done = block();
    branch(room, Cond::ne, 0, some, done);
    at(some);
    store(room, v, 8);
    emit(Op::send).a = Value(room);
    jump(done);
    at(done);
  }
  uint32_t site(Fault fault) {
    program.sites.push_back({.fault = fault});
    return static_cast<uint32_t>(program.sites.size() - 1);
  }
  uint32_t probe(uint32_t function = 0) {
    program.probes.push_back({.name = program.functions[function].name, .function = function});
    return static_cast<uint32_t>(program.probes.size() - 1);
  }

  type::Table types;
  Program program;

private:
  uint32_t current_ = 0;
  BlockId block_ = 0;
};

} // namespace ir
