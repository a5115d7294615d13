// Which memory of a call's arguments a probe copies: up to two arguments, strings
// first.
#pragma once

#include "trace/values.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace trace {

// How the two are copied; the order of the branches in the script (scripts/trace.bt). The last two: what the one points to is
// copied too, an iovec with its contents, or a message with its parts.
enum class Shape : uint8_t { nothing, text, memory, two_texts, text_and_memory, two_memories, vectors, message };

struct Plan {
  struct Slot {
    uint8_t argument = 0;
    bool is_out = false; // only when the call did not fail
    uint8_t counted = 0; // 0: once; 1 … 6: as often as that argument (from 1) says; 7: as the result says
    uint16_t bytes = 0;  // each
  };
  static constexpr uint8_t by_result = 7;
  Shape shape = Shape::nothing;
  std::array<Slot, 2> slots = {};
  bool is_32 = false; // of a 32-bit program: arguments are in other registers
  bool returns = true;
  bool counts_entries = false;      // of a folder; their number takes the place of the last register
  // A timeout, which is packed at the entry in place of its address: one that is written over, or one
  // more than there are slots.
  std::optional<uint8_t> timeout;
  std::optional<uint8_t> word;      // one more than there are slots, of 8 bytes at most: it takes the place of the last register
  bool takes_descriptor = false;    // what the new descriptor is takes the place of the last register
  bool is_seen_at_begin = false;    // something of it is needed that is gone when it returns, or was not there
  bool takes_path_at_entry = false; // execve: its memory is gone when it has succeeded

  // As a number for the probe. 0 is no plan. Arguments become the places of their registers in struct pt_regs, in words.
  uint64_t pack() const;
};

// Replaces the address of a timeout: bit 63, seconds, 30 bits of their fraction. Otherwise the address.
struct Timeout {
  uint64_t seconds = 0, fraction = 0;
};
std::optional<Timeout> unpack_timeout(uint64_t argument);

// Where an argument is in struct pt_regs, in words.
uint64_t register_of(size_t argument, bool is_32);

// select and pselect6: their sets are copied at the entry and at the return. rt_sigreturn: its mask is taken at the entry.
constexpr int select_number = 23, pselect_number = 270, sigreturn_number = 15;

// Those of 32-bit programs (Call::first_of_32) that have the names of these, which are sorted; `all`: also those whose names no other has.
std::vector<int> calls_of_32_bits(const std::vector<int>& like, bool all);

// Whether it changes what descriptors refer to.
bool changes_descriptors(int number);

Plan plan_of(std::string_view call);
const Plan& plan_of(int number); // worked out once; also of 32-bit programs, see Call::first_of_32

} // namespace trace
