// How a value of the traced program is got where a probe fires: a program for a small stack machine over the
// thread's registers and its memory, in which everything that is known beforehand is settled. Arguments of
// user probes, of USDT and whatever debug information describes come as recipes; ir lowers them, so both
// engines run them.
#pragma once

#include "spec/arch.h"

#include <cstdint>
#include <vector>

namespace probe {

// Probes of a stopped program have struct user_regs_struct as their context; there stands the
// thread's base (fs_base).
inline constexpr uint32_t stopped_thread_base = spec::arch.thread_base * 8;
// Behind it stand xmm0 … xmm15; they are known of frames with Event::has_vectors.
inline constexpr uint32_t stopped_vectors = spec::arch.user_registers * 8, vector_bytes = 16;
// The size of both. Behind it stand those of the frames above, where an event has callers.
inline constexpr uint32_t stopped_registers = stopped_vectors + spec::arch.vectors * vector_bytes;

struct Step {
  enum Op : uint8_t {
    constant,    // push `value`
    reg,         // push the register at `value`, its place in struct pt_regs (spec/arch_traits.h)
    load,        // pop an address; push the `size` bytes there (user memory), extended by `is_signed`
    code_start,  // push where the code of the thread's main program begins: mm->start_code
    thread_base, // push what the thread's variables are addressed from (x86-64: fs)
    // Pop b, then a; push a op b. Divisions by 0 give 0; comparisons 1 or 0.
    add,
    sub,
    mul,
    udiv,
    sdiv,
    umod,
    and_,
    or_,
    xor_,
    shl,
    lshr,
    ashr,
    eq,
    ne,
    slt,
    sle,
    sgt,
    sge,
    // Pop a; push.
    neg,
    not_,
    abs,
    zext,
    sext, // the low `size` bytes, extended
    // The stack itself.
    pick, // push a copy of the value `value` below the top
    drop,
    swap,
    rot,    // the top goes below the two under it
    branch, // pop; if it is not 0 pass over the next `value` steps, never back
    skip,   // pass over the next `value` steps
  };
  Op op = constant;
  uint8_t size = 8; // bytes: 1, 2, 4 or 8
  bool is_signed = false;
  int64_t value = 0;
  bool operator==(const Step&) const = default;
};

// A value that is spread over several places.
struct Piece {
  std::vector<Step> steps;
  bool is_address =
      false;          // what the steps leave is where the bytes stand in user memory; else it is the bytes
  uint32_t bytes = 8; // of the value that are here; without steps they are gone, and read as 0
  bool operator==(const Piece&) const = default;
};

struct Recipe {
  enum Kind : uint8_t {
    none,
    value,   // `steps` leave the value itself (at most 8 bytes)
    address, // they leave where it stands in user memory
    pieces,  // it is put together, in the order of memory
  };
  Kind kind = none;
  std::vector<Step> steps;
  std::vector<Piece> pieces_of; // of `pieces`
  bool operator==(const Recipe&) const = default;
};

} // namespace probe
