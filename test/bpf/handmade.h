// Programs and maps assembled by hand, for tests of everything behind the emitter.
#pragma once

#include "bpf/object.h"
#include "bpf/syscall.h"

#include "base/fd.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace bpf::test {

// Why tests of the kernel cannot run here; empty if they can.
inline std::string why_not() {
  base::Fd map(map_create({.type = BPF_MAP_TYPE_ARRAY, .name = "acu_test"}));
  return map.valid() ? "" : std::string("bpf(2) is refused: ") + std::strerror(-map.get());
}
#define NEEDS_BPF()                                                                                          \
  if (std::string why = bpf::test::why_not(); !why.empty()) GTEST_SKIP() << why

// Instructions. Registers by number; r10 is the frame.
class Assembler {
public:
  Assembler& raw(uint8_t code, uint8_t dst, uint8_t src, int16_t offset, int32_t imm) {
    insns.push_back({code, static_cast<uint8_t>(dst & 15), static_cast<uint8_t>(src & 15), offset, imm});
    return *this;
  }
  Assembler& set(uint8_t dst, int32_t imm) { return raw(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm); }
  Assembler& move(uint8_t dst, uint8_t src) { return raw(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0); }
  Assembler& add(uint8_t dst, int32_t imm) { return raw(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm); }
  Assembler& load(uint8_t dst, uint8_t src, int16_t offset) {
    return raw(BPF_LDX | BPF_MEM | BPF_DW, dst, src, offset, 0);
  }
  Assembler& store(uint8_t dst, int16_t offset, uint8_t src) {
    return raw(BPF_STX | BPF_MEM | BPF_DW, dst, src, offset, 0);
  }
  Assembler& store_number(uint8_t dst, int16_t offset, int32_t imm) {
    return raw(BPF_ST | BPF_MEM | BPF_DW, dst, 0, offset, imm);
  }
  Assembler& call(int32_t helper) { return raw(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }
  Assembler& skip_if_zero(uint8_t reg, int16_t count) {
    return raw(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, count, 0);
  }
  Assembler& exit() { return raw(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }
  // The descriptor of a map.
  Assembler& map(uint8_t dst, uint32_t index) {
    relocations.push_back({static_cast<uint32_t>(insns.size()), index, false});
    return raw(BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, 0).raw(0, 0, 0, 0, 0);
  }
  // The address of a byte of an array's values.
  Assembler& value(uint8_t dst, uint32_t index, int32_t offset) {
    relocations.push_back({static_cast<uint32_t>(insns.size()), index, true});
    return raw(BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, offset).raw(0, 0, 0, 0, 0);
  }
  // r0 = address of the value of the u64 (or u32 0) at r10-8.
  Assembler& lookup(uint32_t index) {
    return map(1, index).move(2, 10).add(2, -8).call(BPF_FUNC_map_lookup_elem);
  }
  // One more in the u64 at r0+offset.
  Assembler& count(int16_t offset = 0) { return load(1, 0, offset).add(1, 1).store(0, offset, 1); }
  Assembler& leave() { return set(0, 0).exit(); }

  Code code(std::string name) {
    return {.name = std::move(name), .insns = insns, .relocations = relocations};
  }

  std::vector<bpf_insn> insns;
  std::vector<Relocation> relocations;
};

// A program for the kernel and the ir::Program it would stem from, grown together.
struct Handmade {
  ir::Program program;
  Object object;

  // A map of the script; they come first.
  uint32_t script_map(ir::MapKind kind, uint32_t key_size, uint32_t value_size, uint32_t present_offset,
                      uint32_t max_entries) {
    constexpr uint32_t types[] = {BPF_MAP_TYPE_ARRAY,       BPF_MAP_TYPE_PERCPU_ARRAY,
                                  BPF_MAP_TYPE_HASH,        BPF_MAP_TYPE_PERCPU_HASH,
                                  BPF_MAP_TYPE_LRU_HASH,    BPF_MAP_TYPE_LRU_PERCPU_HASH,
                                  BPF_MAP_TYPE_TASK_STORAGE};
    bool is_task = kind == ir::MapKind::task;
    program.maps.push_back({.name = "m" + std::to_string(program.maps.size()),
                            .kind = kind,
                            .key_size = key_size,
                            .value_size = value_size,
                            .present_offset = present_offset,
                            .max_entries = max_entries});
    return add_map({.name = "map",
                    .type = types[static_cast<size_t>(kind)],
                    .key_size = is_task || ir::is_scalar(kind) ? 4 : key_size,
                    .value_size = value_size,
                    .max_entries = is_task ? 0 : max_entries,
                    .flags = is_task ? uint32_t{BPF_F_NO_PREALLOC} : 0,
                    .needs_btf = is_task});
  }
  uint32_t add_map(MapSpec spec) {
    object.maps.push_back(std::move(spec));
    return static_cast<uint32_t>(object.maps.size() - 1);
  }
  uint32_t state(uint32_t words) {
    uint32_t map = add_map({.name = "acu_state", .value_size = words * 8, .flags = BPF_F_MMAPABLE});
    object.state = static_cast<int>(map);
    return map;
  }
  uint32_t ring(uint32_t bytes) {
    object.ring_bytes = bytes;
    uint32_t map = add_map({.name = "acu_ring",
                            .type = BPF_MAP_TYPE_RINGBUF,
                            .key_size = 0,
                            .value_size = 0,
                            .max_entries = bytes});
    object.ring = static_cast<int>(map);
    return map;
  }
  uint32_t probe(Code code, probe::Context context = probe::Context::none) {
    program.probes.push_back({.name = code.name, .context = context});
    object.programs.push_back(std::move(code));
    return static_cast<uint32_t>(object.programs.size() - 1);
  }
};

// A program that counts its runs in a scalar map {u64 value, u64 present}.
inline Handmade counter(ir::MapKind kind, probe::Context context = probe::Context::none) {
  Handmade h;
  uint32_t map = h.script_map(kind, 0, 16, 8, 1);
  h.probe(Assembler()
              .store_number(10, -8, 0)
              .lookup(map)
              .skip_if_zero(0, 4)
              .count()
              .store_number(0, 8, 1)
              .leave()
              .code("count"),
          context);
  return h;
}

inline uint64_t word(const std::vector<std::byte>& bytes, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * 8, 8);
  return value;
}

} // namespace bpf::test
