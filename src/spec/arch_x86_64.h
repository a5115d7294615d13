// x86-64. Sources: arch/x86/include/asm/ptrace.h and <sys/user.h>; the System V ABI for x86-64, sections 3.2.1 and 3.2.3;
// syscall(2); segments: arch/x86/include/asm/segment.h.
#pragma once

#include "spec/arch_traits.h"
#include "spec/arch_x86_64_numbers.h"

namespace spec {

namespace parts_of_x86_64 {

inline constexpr std::array registers{
    Register{"r15", 0, ARCH_R15, ARCH_UCONTEXT_R8 + 56, true},
    Register{"r14", 8, ARCH_R14, ARCH_UCONTEXT_R8 + 48, true},
    Register{"r13", 16, ARCH_R13, ARCH_UCONTEXT_R8 + 40, true},
    Register{"r12", 24, ARCH_R12, ARCH_UCONTEXT_R8 + 32, true},
    Register{"bp", 32, ARCH_RBP, ARCH_UCONTEXT_RBP, true},
    Register{"bx", 40, ARCH_RBX, ARCH_UCONTEXT_RBX, true},
    Register{"r11", 48, ARCH_R11, ARCH_UCONTEXT_R8 + 24},
    Register{"r10", 56, ARCH_R10, ARCH_UCONTEXT_R8 + 16},
    Register{"r9", 64, ARCH_R9, ARCH_UCONTEXT_R8 + 8},
    Register{"r8", 72, ARCH_R8, ARCH_UCONTEXT_R8},
    Register{"ax", 80, ARCH_RAX, ARCH_UCONTEXT_RAX},
    Register{"cx", 88, ARCH_RCX, ARCH_UCONTEXT_RCX},
    Register{"dx", 96, ARCH_RDX, ARCH_UCONTEXT_RDX},
    Register{"si", 104, ARCH_RSI, ARCH_UCONTEXT_RSI},
    Register{"di", 112, ARCH_RDI, ARCH_UCONTEXT_RDI},
    Register{"orig_ax", 120},
    Register{"ip", 128, ARCH_RIP, ARCH_UCONTEXT_RIP},
    Register{"cs", 136},
    Register{"flags", 144},
    Register{"sp", 152, ARCH_RSP, ARCH_UCONTEXT_RSP},
    Register{"ss", 160},
};
inline constexpr std::array others{RegisterRange{"xmm", 17, 16}, RegisterRange{"st", 33, 8}, RegisterRange{"xmm", 67, 16, 16}};
inline constexpr std::array<std::string_view, 6> arguments = {"di", "si", "dx", "cx", "r8", "r9"};
inline constexpr std::array<std::string_view, 2> results = {"ax", "dx"};
inline constexpr std::array<std::string_view, 6> syscall_arguments = {"di", "si", "dx", "r10", "r8", "r9"};
inline constexpr std::array<std::string_view, 6> syscall_arguments_32 = {"bx", "cx", "dx", "si", "di", "bp"};

} // namespace parts_of_x86_64

inline constexpr Arch x86_64 = {.name = "x86_64",
                                .elf_machine = 62,
                                .registers = parts_of_x86_64::registers,
                                .others = parts_of_x86_64::others,
                                .dwarf_registers = ARCH_REGISTERS,
                                .ip = "ip",
                                .sp = "sp",
                                .frame_pointer = "bp",
                                .user_mode = {"cs", 3, 3}, // the selector's privilege
                                .code_register = "cs",
                                .user_code = 0x33,
                                .arguments = parts_of_x86_64::arguments,
                                .results = parts_of_x86_64::results,
                                .return_address_bytes = 8,
                                .red_zone = 128,
                                .trap_bytes = 1,
                                .syscall_number = "orig_ax",
                                .syscall_arguments = parts_of_x86_64::syscall_arguments,
                                .syscall_arguments_32 = parts_of_x86_64::syscall_arguments_32,
                                .user_registers = 27,
                                .thread_base = 21, // fs_base
                                .vectors = 16};

} // namespace spec
