// Why a user stack ends before its outermost frame, as shown in the last line of the stack. By number: enum unwind_end
// (unwind/rule.h); numbers from 32 on come only from the walker in the kernel (bpf/lib/walk.h).
#pragma once

#include "spec/stack_entry.h"

#include <cstdint>
#include <string_view>

namespace spec {

struct StackEnd {
  uint32_t number;
  std::string_view name;
  bool is_none = false; // there is no stack: nothing is missing
};

inline constexpr StackEnd stack_ends[] = {
    {0, "[complete]"},
    {1, "[code without unwind tables]"},
    {2, "[stack not readable]"},
    {3, "[unwind tables not understood]"},
    {4, "[return address is not code]"},
    {5, "[stack damaged]"},
    {6, "[more than 512 frames]"},
    {7, "[stack deeper than copied]"},
    {32, "[process not known yet]"},
    {33, "[code not known yet]"},
    {34, "[unwind tables not understood]"},
    {35, "[not finished]"},
    {36, "[exiting]", true},
    {37, "[executing another program]", true},
};

constexpr std::string_view name_of_stack_end(uint64_t number) {
  for (const StackEnd& e : stack_ends)
    if (e.number == number) return e.name;
  return "[unknown]";
}
// Of the word at the end of a stack.
constexpr bool is_stack_end(uint64_t word) { return word >= STACK_END; }
constexpr std::string_view text_of_stack_end(uint64_t word) { return name_of_stack_end(word - STACK_END); }
constexpr bool is_no_stack(uint64_t word) {
  for (const StackEnd& e : stack_ends)
    if (e.number == word - STACK_END) return e.is_none;
  return false;
}

} // namespace spec
