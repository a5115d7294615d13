// What acu has to know of an architecture: one struct Arch each, arch_x86_64.h and arch_aarch64.h. Code takes names and numbers
// of registers from there; arch.h has the one of this machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spec {

// A register that scripts may name.
struct Register {
  std::string_view name;
  uint32_t offset;          // in struct pt_regs, which struct user_regs_struct begins with; 8 bytes each
  int16_t dwarf = -1;       // DWARF's number; -1: it has none
  int16_t in_ucontext = -1; // bytes into a struct ucontext of the kernel
  bool is_kept = false;     // functions give it back as they found it
};

// More registers by DWARF's numbers, which struct pt_regs does not have: "xmm0" and the following.
struct RegisterRange {
  std::string_view prefix;
  uint16_t first, count; // DWARF's numbers
  uint16_t from = 0;     // the number behind the prefix of the first
};

// Which bits of a register tell that user code was running.
struct UserMode {
  std::string_view reg;
  uint32_t mask, value;
};

struct Arch {
  std::string_view name;
  uint16_t elf_machine; // EM_…
  std::span<const Register> registers;
  std::span<const RegisterRange> others; // vectors come first
  uint32_t dwarf_registers;              // those that are followed from frame to frame have the numbers below

  std::string_view ip, sp, frame_pointer;
  UserMode user_mode;
  std::string_view code_register; // tells code of 64 bits from other code: …
  int32_t user_code;              // … it has this value; -1: it is not told so

  // Calls.
  std::span<const std::string_view> arguments, results; // in their order
  uint32_t return_address_bytes; // that a call puts on the stack
  uint32_t red_zone;             // bytes below the stack pointer that functions may use
  uint32_t trap_bytes;           // how far behind a probe's trap the instruction pointer is

  // System calls.
  std::string_view syscall_number;
  std::span<const std::string_view> syscall_arguments, syscall_arguments_32; // of code of 32 bits

  // struct user_regs_struct, in words.
  uint32_t user_registers;
  uint32_t thread_base; // what variables of threads are addressed from
  uint32_t vectors;     // registers that PTRACE_GETFPREGS and cores have besides, 16 bytes each

  constexpr const Register* find(std::string_view wanted) const {
    for (const Register& r : registers)
      if (r.name == wanted) return &r;
    return nullptr;
  }
  constexpr const Register* by_dwarf(uint64_t number) const {
    for (const Register& r : registers)
      if (r.dwarf >= 0 && static_cast<uint64_t>(r.dwarf) == number) return &r;
    return nullptr;
  }
  // Of registers that have one.
  constexpr unsigned dwarf_of(std::string_view wanted) const { return static_cast<unsigned>(find(wanted)->dwarf); }
  constexpr uint32_t word_of(std::string_view wanted) const { return find(wanted)->offset / 8; }
  constexpr uint32_t pt_regs_bytes() const { return registers.back().offset + 8; }
};

// A value of each register that is followed from frame to frame, by DWARF's numbers.
template<size_t count, class Of> constexpr auto each_dwarf_register(const Arch& arch, Of of) {
  std::array<decltype(of(arch.registers[0])), count> out = {};
  for (size_t n = 0; n < count; n++) out[n] = of(*arch.by_dwarf(n));
  return out;
}

} // namespace spec
