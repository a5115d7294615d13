// The traits of this machine's architecture against what the system's headers say.
#include "spec/arch.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <elf.h>
#include <sys/user.h>
#include <ucontext.h>

namespace spec {
namespace {

TEST(Arch, NamesAreOfRegistersThatAreThere) {
  for (std::string_view name : {arch.ip, arch.sp, arch.frame_pointer, arch.user_mode.reg, arch.code_register, arch.syscall_number})
    EXPECT_TRUE(arch.find(name)) << name;
  for (auto names : {arch.arguments, arch.results, arch.syscall_arguments, arch.syscall_arguments_32})
    for (std::string_view name : names) EXPECT_TRUE(arch.find(name)) << name;
  EXPECT_FALSE(arch.find("eax"));
}

TEST(Arch, EachOfDwarfsNumbersIsOneRegister) {
  for (unsigned n = 0; n < arch.dwarf_registers; n++) {
    size_t count = 0;
    for (const Register& r : arch.registers) count += r.dwarf == static_cast<int>(n);
    EXPECT_EQ(count, 1u) << n;
  }
}

#if defined(__x86_64__)
TEST(Arch, PlacesAreThoseOfTheSystem) {
  using User = user_regs_struct;
  EXPECT_EQ(sizeof(User), arch.user_registers * 8);
  EXPECT_EQ(offsetof(User, fs_base), arch.thread_base * 8);
  EXPECT_EQ(arch.elf_machine, EM_X86_64);
  EXPECT_EQ(arch.pt_regs_bytes(), offsetof(User, fs_base));
  const struct {
    const char* name;
    size_t offset;
    int in_ucontext; // of gregs
  } known[] = {{"ax", offsetof(User, rax), REG_RAX},   {"bx", offsetof(User, rbx), REG_RBX},   {"cx", offsetof(User, rcx), REG_RCX},
               {"dx", offsetof(User, rdx), REG_RDX},   {"si", offsetof(User, rsi), REG_RSI},   {"di", offsetof(User, rdi), REG_RDI},
               {"bp", offsetof(User, rbp), REG_RBP},   {"sp", offsetof(User, rsp), REG_RSP},   {"r8", offsetof(User, r8), REG_R8},
               {"r9", offsetof(User, r9), REG_R9},     {"r10", offsetof(User, r10), REG_R10},  {"r11", offsetof(User, r11), REG_R11},
               {"r12", offsetof(User, r12), REG_R12},  {"r13", offsetof(User, r13), REG_R13},  {"r14", offsetof(User, r14), REG_R14},
               {"r15", offsetof(User, r15), REG_R15},  {"ip", offsetof(User, rip), REG_RIP},   {"cs", offsetof(User, cs), -1},
               {"ss", offsetof(User, ss), -1},         {"flags", offsetof(User, eflags), -1},  {"orig_ax", offsetof(User, orig_rax), -1}};
  EXPECT_EQ(std::size(known), arch.registers.size());
  for (const auto& k : known) {
    const Register* r = arch.find(k.name);
    ASSERT_TRUE(r) << k.name;
    EXPECT_EQ(r->offset, k.offset) << k.name;
    if (k.in_ucontext < 0)
      EXPECT_EQ(r->in_ucontext, -1) << k.name;
    else
      EXPECT_EQ(static_cast<size_t>(r->in_ucontext), offsetof(ucontext_t, uc_mcontext.gregs) + 8 * static_cast<size_t>(k.in_ucontext)) << k.name;
  }
}
#endif

} // namespace
} // namespace spec
