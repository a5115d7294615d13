// arm64, as far as it is known: probes and their arguments; stacks by frame pointers of the kernel's helpers. Sources:
// arch/arm64/include/uapi/asm/ptrace.h; the AAPCS64; DWARF for the Arm 64-bit Architecture, section 4.1.
#pragma once

#include "spec/arch_traits.h"

namespace spec {

namespace parts_of_aarch64 {

inline constexpr std::array registers{
    Register{"r0", 0, 0},          Register{"r1", 8, 1},          Register{"r2", 16, 2},         Register{"r3", 24, 3},
    Register{"r4", 32, 4},         Register{"r5", 40, 5},         Register{"r6", 48, 6},         Register{"r7", 56, 7},
    Register{"r8", 64, 8},         Register{"r9", 72, 9},         Register{"r10", 80, 10},       Register{"r11", 88, 11},
    Register{"r12", 96, 12},       Register{"r13", 104, 13},      Register{"r14", 112, 14},      Register{"r15", 120, 15},
    Register{"r16", 128, 16},      Register{"r17", 136, 17},      Register{"r18", 144, 18},      Register{"r19", 152, 19, -1, true},
    Register{"r20", 160, 20, -1, true}, Register{"r21", 168, 21, -1, true}, Register{"r22", 176, 22, -1, true}, Register{"r23", 184, 23, -1, true},
    Register{"r24", 192, 24, -1, true}, Register{"r25", 200, 25, -1, true}, Register{"r26", 208, 26, -1, true}, Register{"r27", 216, 27, -1, true},
    Register{"r28", 224, 28, -1, true}, Register{"r29", 232, 29, -1, true}, Register{"r30", 240, 30},      Register{"sp", 248, 31},
    Register{"pc", 256, 32},       Register{"pstate", 264},
};
inline constexpr std::array others{RegisterRange{"v", 64, 32}};
inline constexpr std::array<std::string_view, 8> arguments = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
inline constexpr std::array<std::string_view, 2> results = {"r0", "r1"};
inline constexpr std::array<std::string_view, 6> syscall_arguments = {"r0", "r1", "r2", "r3", "r4", "r5"};

} // namespace parts_of_aarch64

inline constexpr Arch aarch64 = {.name = "aarch64",
                                 .elf_machine = 183,
                                 .registers = parts_of_aarch64::registers,
                                 .others = parts_of_aarch64::others,
                                 .dwarf_registers = 33,
                                 .ip = "pc",
                                 .sp = "sp",
                                 .frame_pointer = "r29",
                                 .user_mode = {"pstate", 0xf, 0}, // EL0
                                 .code_register = "pstate",
                                 .user_code = -1,
                                 .arguments = parts_of_aarch64::arguments,
                                 .results = parts_of_aarch64::results,
                                 .return_address_bytes = 0,
                                 .red_zone = 0,
                                 .trap_bytes = 0,
                                 .syscall_number = "r8",
                                 .syscall_arguments = parts_of_aarch64::syscall_arguments,
                                 .syscall_arguments_32 = parts_of_aarch64::syscall_arguments,
                                 .user_registers = 34,
                                 .thread_base = 0,
                                 .vectors = 0};

} // namespace spec
