/* Numbers of x86-64 that the walker in the kernel needs as well (bpf/lib/), in plain C. All else about the architecture is in
 * arch_x86_64.h. Sources: DWARF's numbers: System V ABI for x86-64, figure 3.36; struct ucontext: the kernel's
 * arch/x86/include/uapi/asm/sigcontext.h; calls: arch/x86/entry/syscalls/syscall_64.tbl. */
#pragma once

enum { /* registers by DWARF's numbers; the last is the instruction pointer */
  ARCH_RAX,
  ARCH_RDX,
  ARCH_RCX,
  ARCH_RBX,
  ARCH_RSI,
  ARCH_RDI,
  ARCH_RBP,
  ARCH_RSP,
  ARCH_R8,
  ARCH_R9,
  ARCH_R10,
  ARCH_R11,
  ARCH_R12,
  ARCH_R13,
  ARCH_R14,
  ARCH_R15,
  ARCH_RIP,
  ARCH_REGISTERS
};

enum { /* bytes into a struct ucontext of the kernel */
  ARCH_UCONTEXT_R8 = 40, /* up to r15 8 bytes each */
  ARCH_UCONTEXT_RDI = 104,
  ARCH_UCONTEXT_RSI = 112,
  ARCH_UCONTEXT_RBP = 120,
  ARCH_UCONTEXT_RBX = 128,
  ARCH_UCONTEXT_RDX = 136,
  ARCH_UCONTEXT_RAX = 144,
  ARCH_UCONTEXT_RCX = 152,
  ARCH_UCONTEXT_RSP = 160,
  ARCH_UCONTEXT_RIP = 168
};

enum { ARCH_CALL_EXECVE = 59, ARCH_CALL_EXECVEAT = 322 };
