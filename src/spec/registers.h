// The registers that scripts may name, with their place in the kernel's struct pt_regs; those that hold the
// arguments of a call and its result. One table for each architecture. Sources: arch/x86/include/asm/ptrace.h and
// the System V ABI for x86-64; arch/arm64/include/uapi/asm/ptrace.h and the AAPCS64.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spec {

struct Register {
  std::string_view name;
  uint32_t offset; // in struct pt_regs; 8 bytes each
};

#if defined(__x86_64__)
inline constexpr std::string_view architecture = "x86_64";
inline constexpr std::array registers{
    Register{"r15", 0},  Register{"r14", 8},       Register{"r13", 16},  Register{"r12", 24},   Register{"bp", 32},
    Register{"bx", 40},  Register{"r11", 48},      Register{"r10", 56},  Register{"r9", 64},    Register{"r8", 72},
    Register{"ax", 80},  Register{"cx", 88},       Register{"dx", 96},   Register{"si", 104},   Register{"di", 112},
    Register{"orig_ax", 120}, Register{"ip", 128}, Register{"cs", 136},  Register{"flags", 144}, Register{"sp", 152},
    Register{"ss", 160},
};
inline constexpr std::array<std::string_view, 6> argument_registers = {"di", "si", "dx", "cx", "r8", "r9"};
inline constexpr std::string_view result_register = "ax", ip_register = "ip";
#elif defined(__aarch64__)
inline constexpr std::string_view architecture = "aarch64";
inline constexpr std::array registers{
    Register{"r0", 0},    Register{"r1", 8},    Register{"r2", 16},   Register{"r3", 24},   Register{"r4", 32},
    Register{"r5", 40},   Register{"r6", 48},   Register{"r7", 56},   Register{"r8", 64},   Register{"r9", 72},
    Register{"r10", 80},  Register{"r11", 88},  Register{"r12", 96},  Register{"r13", 104}, Register{"r14", 112},
    Register{"r15", 120}, Register{"r16", 128}, Register{"r17", 136}, Register{"r18", 144}, Register{"r19", 152},
    Register{"r20", 160}, Register{"r21", 168}, Register{"r22", 176}, Register{"r23", 184}, Register{"r24", 192},
    Register{"r25", 200}, Register{"r26", 208}, Register{"r27", 216}, Register{"r28", 224}, Register{"r29", 232},
    Register{"r30", 240}, Register{"sp", 248},  Register{"pc", 256},  Register{"pstate", 264},
};
inline constexpr std::array<std::string_view, 8> argument_registers = {"r0", "r1", "r2", "r3",
                                                                       "r4", "r5", "r6", "r7"};
inline constexpr std::string_view result_register = "r0", ip_register = "pc";
#else
#error "acu does not know the registers of this architecture"
#endif

// The place of a register; nothing if there is none of this name.
constexpr std::optional<uint32_t> find_register(std::string_view name) {
  for (const Register& r : registers)
    if (r.name == name) return r.offset;
  return std::nullopt;
}

} // namespace spec
