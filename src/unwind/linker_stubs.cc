#include "unwind/linker_stubs.h"

#include "unwind/compile_rule.h"

#include <algorithm>
#include <string_view>

namespace unwind {

using namespace std::string_view_literals;

namespace {

enum class Effect : uint8_t {
  none,
  push,
  leave,     // what follows is jumped to from elsewhere
  from_call, // as `leave`, and it is reached by a call
};

struct Instruction {
  std::string_view begins;
  uint8_t size = 0; // with operands
  Effect effect = Effect::none;
};

constexpr Instruction instructions[] = {
    {"\xff\x25"sv, 6, Effect::leave},                 // jmp *function(%rip)
    {"\x68"sv, 5, Effect::push},                      // push $index
    {"\xe9"sv, 5, Effect::leave},                     // jmp first
    {"\xf3\x0f\x1e\xfa"sv, 4},                        // endbr64
    {"\x41\xbb"sv, 6},                                // mov $index, %r11d
    {"\xff\x35"sv, 6, Effect::push},                  // push module(%rip)
    {"\xf2\xff\x25"sv, 7, Effect::leave},             // bnd jmp *function(%rip)
    {"\xf2\xe9"sv, 6, Effect::leave},                 // bnd jmp first
    {"\x41\x53"sv, 2, Effect::push},                  // push %r11
    {"\x4c\x8b\x1d"sv, 7},                            // mov function(%rip), %r11
    {"\xe8"sv, 5, Effect::leave},                     // call retpoline, which never returns
    {"\x4c\x89\x1c\x24\xc3"sv, 5, Effect::from_call}, // retpoline: mov %r11, (%rsp); ret
    {"\xf3\x90"sv, 2},                                // pause
    {"\x0f\xae\xe8"sv, 3},                            // lfence
    {"\xeb"sv, 2, Effect::leave},                     // jmp
    {"\xcc"sv, 1, Effect::leave},                     // padding from here on
    {"\x90"sv, 1},
    {"\x66\x90"sv, 2},
    {"\x0f\x1f\x00"sv, 3},
    {"\x0f\x1f\x40\x00"sv, 4},
    {"\x0f\x1f\x44\x00\x00"sv, 5},
    {"\x66\x0f\x1f\x44\x00\x00"sv, 6},
    {"\x0f\x1f\x80\x00\x00\x00\x00"sv, 7},
};

constexpr uint64_t alignment = 16;
constexpr int32_t called = 8, pushed = 8; // bytes between rsp and the CFA after a call, and what a push adds

const Instruction* instruction_at(std::string_view code) {
  const auto* found =
      std::ranges::find_if(instructions, [&](const Instruction& i) { return code.starts_with(i.begins); });
  return found == std::end(instructions) || found->size > code.size() ? nullptr : found;
}

void add(std::vector<KnownCode>& to, uint64_t begin, uint64_t end, int32_t depth) {
  const unwind_rule rule = rule_of(UNWIND_CFA_RSP, depth);
  if (!to.empty() && to.back().end == begin && bits_of(to.back().rule) == bits_of(rule))
    to.back().end = end;
  else
    to.push_back({begin, end, rule});
}

} // namespace

std::vector<KnownCode> rules_of_stubs(uint64_t address, base::ByteSpan code) {
  constexpr std::string_view push_module("\xff\x35");
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  std::vector<KnownCode> out;
  // The stub that asks for a function by its number begins with the number on the stack, if no register has
  // it.
  int32_t depth = text.starts_with(push_module) ? called + pushed : called;
  for (uint64_t at = 0; at < text.size();) {
    const Instruction* found = instruction_at(text.substr(at));
    if (!found) {
      at = at / alignment * alignment + alignment;
      depth = called;
      continue;
    }
    if (found->effect == Effect::from_call) depth = called + pushed;
    add(out, address + at, address + at + found->size, depth);
    if (found->effect == Effect::push) depth += pushed;
    if (found->effect == Effect::leave || found->effect == Effect::from_call) depth = called;
    at += found->size;
  }
  return out;
}

} // namespace unwind
