// IR programs built by hand, run in the kernel once; results come back in a map of words.
#pragma once

#include "host/cpus.h"
#include "bpf/engine.h"
#include "bpf/object.h"
#include "handmade.h"
#include "ir/ops.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace bpf::test {

using ir::BlockId;
using ir::Cond;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Reg;

// One function under construction; instructions go to the end of the current block.
class FunctionBuilder {
public:
  FunctionBuilder(ir::Program& program, uint32_t index) : program_(program), index_(index) {
    if (f().blocks.empty()) f().blocks.emplace_back();
  }
  ir::Function& f() { return program_.functions[index_]; }
  uint32_t index() const { return index_; }
  Reg fresh() { return f().registers++; }
  BlockId block() { return f().blocks.emplace_back(), static_cast<BlockId>(f().blocks.size() - 1); }
  void at(BlockId b) { at_ = b; }
  void add(Inst i) { f().blocks[at_].insts.push_back(std::move(i)); }
  Operand value(Inst i) { return i.dst = fresh(), add(i), Operand::of(i.dst); }
  Operand op(Op o, Operand a, Operand b = {}, uint8_t size = 8) {
    return value({.op = o, .size = size, .a = a, .b = b});
  }
  Operand object(uint32_t size) {
    auto& objects = program_.frames[f().frame].objects;
    objects.push_back({size, "o" + std::to_string(objects.size())});
    return address(static_cast<uint32_t>(objects.size() - 1));
  }
  Operand address(uint32_t object) { return value({.op = Op::object, .index = object}); }
  void store(Operand to, int64_t offset, Operand v, uint8_t size = 8) {
    add({.op = Op::store, .size = size, .a = to, .b = v, .imm = offset});
  }
  Operand load(Operand from, int64_t offset, uint8_t size = 8, bool is_signed = false) {
    return value({.op = Op::load, .size = size, .is_signed = is_signed, .a = from, .imm = offset});
  }
  void text(Operand to, std::string_view t) {
    for (size_t i = 0; i < t.size(); i++) store(to, static_cast<int64_t>(i), Operand::number(t[i]), 1);
  }
  void jump(BlockId to) { add({.op = Op::jump, .target = to}); }
  void branch(Cond c, Operand a, Operand b, BlockId yes, BlockId no) {
    add({.op = Op::branch, .cond = c, .a = a, .b = b, .target = yes, .other = no});
  }
  void give(Operand v = Operand::number(0)) { add({.op = Op::give_back, .a = v}); }

private:
  ir::Program& program_;
  uint32_t index_;
  BlockId at_ = 0;
};

inline Operand number(int64_t n) { return Operand::number(n); }

// A program with one probe; map 0 takes the results.
struct Bench {
  static constexpr uint32_t words = 64;
  ir::Program program;
  EmitOptions options;
  std::vector<FunctionBuilder> builders;

  Bench() {
    program.frames.emplace_back();
    program.functions.push_back({.name = "probe"});
    program.maps.push_back({.name = "out", .kind = ir::MapKind::array, .value_size = words * 8});
    program.probes.push_back({.name = "test", .function = 0});
    options.ring_bytes = 1 << 16;
    options.possible_cpus = host::possible_cpus();
  }
  FunctionBuilder main() { return {program, 0}; }
  FunctionBuilder function(ir::Role role, uint32_t parameters, uint32_t frame, uint32_t parent = ~0u) {
    program.functions.push_back({.name = "f" + std::to_string(program.functions.size()),
                                 .role = role,
                                 .frame = frame,
                                 .parameters = parameters,
                                 .registers = parameters + 1,
                                 .parent = parent});
    return {program, static_cast<uint32_t>(program.functions.size() - 1)};
  }
  uint32_t map(ir::MapKind kind, uint32_t key_size, uint32_t value_size, uint64_t entries = 16) {
    program.maps.push_back({.name = "m" + std::to_string(program.maps.size()),
                            .kind = kind,
                            .key_size = key_size,
                            .value_size = value_size,
                            .max_entries = ir::is_scalar(kind) ? 1 : entries});
    return static_cast<uint32_t>(program.maps.size() - 1);
  }
  uint32_t site() { return program.sites.push_back({}), static_cast<uint32_t>(program.sites.size() - 1); }

  std::string dump() {
    auto object = emit(program, options);
    return object.ok() ? to_string(*object, base::Source("test", "")) : object.error().message;
  }

  std::unique_ptr<Engine> engine; // after run()
  // Words of map 0 after `times` runs.
  std::vector<int64_t> run(int times = 1) {
    for (const std::string& mistake : ir::verify(program)) ADD_FAILURE() << mistake;
    std::vector<int64_t> result(words, -1);
    auto object = emit(program, options);
    if (!object.ok()) return ADD_FAILURE() << object.error().message, result;
    auto loaded = Engine::load(program, *object, {.verbose = true});
    if (!loaded.ok()) {
      ADD_FAILURE() << loaded.error().message.substr(0, 3000) << "\n"
                    << to_string(*object, base::Source("test", ""));
      return result;
    }
    engine = std::move(*loaded);
    for (int i = 0; i < times; i++)
      if (auto s = engine->run(0); !s.ok()) ADD_FAILURE() << s.error().message;
    auto entries = engine->read_map(0);
    if (!entries.ok() || entries->empty()) return ADD_FAILURE() << "no result", result;
    std::memcpy(result.data(), entries->front().values.data(), words * 8);
    return result;
  }
};

// Operand of the results' address.
inline Operand results(FunctionBuilder& b) { return b.value({.op = Op::map_slot, .index = 0}); }

// A value that the compiler cannot know: loaded back from memory.
inline Operand opaque(FunctionBuilder& f, Operand memory, int64_t n) {
  f.store(memory, 0, Operand::number(n));
  return f.load(memory, 0);
}

} // namespace bpf::test
