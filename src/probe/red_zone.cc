// See red_zone.h. The function of the trial fills the 128 bytes below its stack pointer, which the x86-64 ABI
// lets functions without calls use (the red zone), runs over a nop of 5 bytes, and looks whether they are as
// they were. An event of perf without a program is enough: what the kernel writes there is the same for all
// who probe.
#include "probe/red_zone.h"

#include "base/fd.h"
#include "base/text.h"

#include <cstdint>
#include <cstdio>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

#if defined(__x86_64__)

// Returns 0 when all 16 words are as they were; acu_red_zone_nop is the place of the nop.
extern "C" uint64_t acu_red_zone_trial();
extern "C" const char acu_red_zone_nop[];

asm(R"(
.pushsection .text
.balign 64
.globl acu_red_zone_trial, acu_red_zone_nop
.hidden acu_red_zone_trial, acu_red_zone_nop
.type acu_red_zone_trial, @function
acu_red_zone_trial:
  mov $0x1122334455667788, %rax
  mov $-16, %rcx
1:
  mov %rax, (%rsp, %rcx, 8)
  inc %rcx
  jnz 1b
acu_red_zone_nop:
  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
  mov $-16, %rcx
  xor %edx, %edx
2:
  mov (%rsp, %rcx, 8), %rsi
  xor %rax, %rsi
  or %rsi, %rdx
  inc %rcx
  jnz 2b
  mov %rdx, %rax
  ret
.size acu_red_zone_trial, . - acu_red_zone_trial
.popsection
)");

namespace {

// The place of an address of this process in the file that is mapped there; 0: none.
uint64_t file_offset(uintptr_t address) {
  auto maps = base::read_file("/proc/self/maps");
  if (!maps.ok()) return 0;
  for (std::string_view line : base::split(*maps, '\n')) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(std::string(line).c_str(), "%lx-%lx %*4s %lx", &begin, &end, &offset) == 3 &&
        address >= begin && address < end)
      return address - begin + offset;
  }
  return 0;
}

bool try_nop5() {
  auto type = base::read_file("/sys/bus/event_source/devices/uprobe/type");
  auto number = type.ok() ? base::parse_integer(base::trim(*type)) : std::nullopt;
  uint64_t offset = file_offset(reinterpret_cast<uintptr_t>(acu_red_zone_nop));
  if (!number || !offset) return false;
  static const char path[] = "/proc/self/exe";
  perf_event_attr attr{};
  attr.type = static_cast<uint32_t>(*number);
  attr.size = sizeof attr;
  attr.uprobe_path = reinterpret_cast<uintptr_t>(path);
  attr.probe_offset = offset;
  base::Fd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, ::getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event.valid()) return false;
  // The nop is a breakpoint at first, and becomes a call when it was hit.
  constexpr int turns = 8;
  uint64_t changed = 0;
  for (int i = 0; i < turns; i++) changed |= acu_red_zone_trial();
  return changed == 0;
}

} // namespace

bool nop5_keeps_red_zone(host::Environment& host) {
  return host.answer("nop5_keeps_red_zone", false, [] {
    static const bool answer = try_nop5();
    return answer;
  });
}

#else

bool nop5_keeps_red_zone(host::Environment&) { return true; } // only x86-64 has such a nop

#endif

} // namespace probe
