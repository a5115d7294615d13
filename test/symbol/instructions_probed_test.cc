// Instructions with a probe on them do what they do without one, or is_refused() knows that they do not. Each
// is executed in a child, from a file that has nothing but them, with and without a probe; then registers,
// flags, memory and the number of hits are compared.
#include "symbol/instructions.h"

#include "base/fd.h"

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <vector>

#if defined(__x86_64__)

// Registers in the order of their numbers, then the flags.
extern "C" {
struct ProbedRegisters {
  uint64_t r[16], flags;
  unsigned char vectors[4][16];
};
ProbedRegisters probed_in, probed_out;
uint64_t probed_stack, probed_target;
void probed_enter(void* code);
void probed_exit();
}
asm(R"(
.text
probed_enter:
  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
  mov %rsp, probed_stack(%rip)
  mov %rdi, probed_target(%rip)
  movdqu probed_in+136(%rip), %xmm0; movdqu probed_in+152(%rip), %xmm1
  movdqu probed_in+168(%rip), %xmm2; movdqu probed_in+184(%rip), %xmm3
  mov probed_in+32(%rip), %rsp
  pushq probed_in+128(%rip); popfq
  mov probed_in(%rip), %rax; mov probed_in+8(%rip), %rcx; mov probed_in+16(%rip), %rdx; mov probed_in+24(%rip), %rbx
  mov probed_in+40(%rip), %rbp; mov probed_in+48(%rip), %rsi; mov probed_in+56(%rip), %rdi
  mov probed_in+64(%rip), %r8; mov probed_in+72(%rip), %r9; mov probed_in+80(%rip), %r10; mov probed_in+88(%rip), %r11
  mov probed_in+96(%rip), %r12; mov probed_in+104(%rip), %r13; mov probed_in+112(%rip), %r14; mov probed_in+120(%rip), %r15
  jmp *probed_target(%rip)
.globl probed_exit
probed_exit:
  mov %rax, probed_out(%rip); mov %rcx, probed_out+8(%rip); mov %rdx, probed_out+16(%rip); mov %rbx, probed_out+24(%rip)
  mov %rsp, probed_out+32(%rip); mov %rbp, probed_out+40(%rip); mov %rsi, probed_out+48(%rip); mov %rdi, probed_out+56(%rip)
  mov %r8, probed_out+64(%rip); mov %r9, probed_out+72(%rip); mov %r10, probed_out+80(%rip); mov %r11, probed_out+88(%rip)
  mov %r12, probed_out+96(%rip); mov %r13, probed_out+104(%rip); mov %r14, probed_out+112(%rip); mov %r15, probed_out+120(%rip)
  mov probed_stack(%rip), %rsp
  pushfq; popq probed_out+128(%rip)
  movdqu %xmm0, probed_out+136(%rip); movdqu %xmm1, probed_out+152(%rip)
  movdqu %xmm2, probed_out+168(%rip); movdqu %xmm3, probed_out+184(%rip)
  cld
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
  ret
)");

namespace symbol {
namespace {

struct Sample {
  const char* name;
  std::vector<uint8_t> code;
  unsigned at = 0;    // where the probe is
  bool loops = false; // comes back to the probe by itself
};

// What is behind a sample are nops, and then the way out.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      // Carried out by the kernel.
      {"push", {0x55, 0x5d}},
      {"push of r12", {0x41, 0x54, 0x58}},
      {"push of rsp", {0x54, 0x58}},
      {"nop", {0x90}},
      {"nop of 2", {0x66, 0x90}},
      {"pause", {0xf3, 0x90}},
      {"nop of 5", {0x0f, 0x1f, 0x44, 0, 0}},
      {"nop of 9", {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},
      {"jmp", {0xeb, 1, 0xcc}},
      {"jz", {0x74, 0}},
      {"jnz far", {0x0f, 0x85, 0, 0, 0, 0}},
      {"call", {0xe8, 0, 0, 0, 0, 0x58}},
      {"addr32 call", {0x67, 0xe8, 0, 0, 0, 0, 0x58}},
      {"bnd jmp", {0xf2, 0xe9, 0, 0, 0, 0}},
      // Executed elsewhere.
      {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}},
      {"ret", {0xc3}},
      {"popf", {0x6a, 0x46, 0x9d}, 2},
      {"enter", {0xc8, 0x10, 0, 0}},
      {"loop", {0xb9, 3, 0, 0, 0, 0x90, 0xe2, 0xfd}, 6, true},
      {"jrcxz", {0x31, 0xc9, 0xe3, 1, 0x90}, 2},
      {"jmp by register", {0x48, 0x8d, 0x05, 5, 0, 0, 0, 0xff, 0xe0}, 7},
      {"call by register", {0x48, 0x8d, 0x05, 5, 0, 0, 0, 0xff, 0xd0}, 7},
      {"lea from ip", {0x48, 0x8d, 0x05, 5, 0, 0, 0}},
      {"mov to memory", {0x48, 0x89, 0x4e, 0x10}},
      {"movsb", {0xa4}},
      {"cmpps", {0x0f, 0xc2, 0xc1, 0}},
      {"vucomiss", {0xc5, 0xf8, 0x2e, 0xc1}},
      {"vxorps", {0xc5, 0xf0, 0x57, 0xc2}},
      {"vpmulld", {0xc4, 0xe2, 0x79, 0x40, 0xc1}},
      {"vpalignr", {0xc4, 0xe3, 0x79, 0x0f, 0xc1, 4}},
      // Known to do something else with a probe on them.
      {"xchg of r8", {0x49, 0x90}},
      {"pushf", {0x9c, 0x9d}},
      {"rep movsb", {0xb9, 10, 0, 0, 0, 0xf3, 0xa4}, 5},
      {"repne scasb", {0xb9, 10, 0, 0, 0, 0xf2, 0xae}, 5},
      {"syscall and ret", {0xb8, 0x27, 0, 0, 0, 0x0f, 0x05, 0xc3}, 5},
      {"notrack jmp", {0x48, 0x8d, 0x05, 6, 0, 0, 0, 0x3e, 0xff, 0xe0}, 7},
      {"call with a prefix", {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0, 0x58}},
      {"mov to ss", {0x8c, 0xd0, 0x8e, 0xd0}, 2},
      {"vpbroadcastb", {0xc4, 0xe2, 0x79, 0x78, 0xc1}},
      {"vpcmpeqb", {0xc5, 0xf9, 0x74, 0xc1}},
      {"vmovd", {0xc5, 0xf9, 0x7e, 0xc1}},
      {"vzeroupper", {0xc5, 0xf8, 0x77}},
      {"vcmpps", {0xc5, 0xf8, 0xc2, 0xc1, 0}},
      {"vpsubsb", {0xc5, 0xf9, 0xe8, 0xc1}},
      {"vpor", {0xc5, 0xf9, 0xeb, 0xc1}},
      {"vfnmadd132ss", {0xc4, 0xe2, 0x69, 0x9d, 0xc1}},
      {"vcmpps of 256 bits", {0x62, 0xf1, 0x7c, 0x28, 0xc2, 0xc1, 0}},
  };
  return all;
}

constexpr size_t data_size = 8192, slot = 64, way_out = 48, stack_at = 6144;

struct Outcome {
  int signal = 0;
  ProbedRegisters registers = {};
  std::vector<unsigned char> memory;
};

sigjmp_buf back;
volatile int caught;
void on_signal(int s) {
  asm volatile("pushq $0x202; popfq" ::: "cc"); // without single steps
  caught = s;
  siglongjmp(back, 1);
}

class Place {
public:
  // A file of data and code, mapped as programs are.
  explicit Place(const std::string& path) {
    std::vector<unsigned char> bytes(data_size + samples().size() * slot, 0x90);
    for (size_t i = 0; i < samples().size(); i++) {
      unsigned char* code = bytes.data() + data_size + i * slot;
      std::copy(samples()[i].code.begin(), samples()[i].code.end(), code);
      code[way_out] = 0xff, code[way_out + 1] = 0x25; // jmp by way of the last word of the data
      auto distance =
          static_cast<int32_t>(data_size - 8) - static_cast<int32_t>(data_size + i * slot + way_out + 6);
      std::memcpy(code + way_out + 2, &distance, sizeof distance);
    }
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    size_t code_size = bytes.size() - data_size;
    void* all = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
    start_ = static_cast<unsigned char*>(all);
    ::mmap(start_ + data_size, code_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd.get(),
           data_size);
  }
  Outcome run(size_t i) {
    std::memset(start_, 0x5a, data_size - 8);
    uint64_t out = reinterpret_cast<uint64_t>(&probed_exit);
    std::memcpy(start_ + data_size - 8, &out, 8);
    std::memcpy(start_ + stack_at, &out, 8); // for ret
    for (uint64_t r = 0; r < 16; r++) probed_in.r[r] = reinterpret_cast<uint64_t>(start_) + 2048 + 16 * r;
    probed_in.r[4] = reinterpret_cast<uint64_t>(start_) + stack_at;
    probed_in.flags = 0x202;
    for (unsigned k = 0; k < sizeof probed_in.vectors; k++)
      probed_in.vectors[k / 16][k % 16] = static_cast<unsigned char>(k * 37 % 251);
    probed_out = {};
    caught = 0;
    if (sigsetjmp(back, 1) == 0) probed_enter(start_ + data_size + i * slot);
    Outcome o;
    o.signal = caught;
    if (!caught) o.registers = probed_out, o.memory.assign(start_, start_ + stack_at - 256);
    return o;
  }

private:
  unsigned char* start_ = nullptr;
};

int open_probe(const std::string& path, uint64_t offset, uint32_t type) {
  perf_event_attr a = {};
  a.size = sizeof a;
  a.type = type;
  a.config1 = reinterpret_cast<uint64_t>(path.c_str());
  a.config2 = offset;
  return static_cast<int>(::syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

uint64_t hits_of(int fd) {
  uint64_t n = 0;
  return ::read(fd, &n, sizeof n) == sizeof n ? n : 0;
}

// In a child: 0 as it should be; 1 other results; 2 other hits; 3 this processor lacks it; 4 the kernel
// refuses.
int try_out(const std::string& path, size_t i, uint32_t type) {
  std::vector<char> stack(1 << 16);
  stack_t alternative = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&alternative, nullptr);
  for (int s : {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP}) {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    ::sigaction(s, &action, nullptr);
  }
  ::alarm(20);
  Place place(path);
  Outcome plain = place.run(i);
  if (plain.signal) return 3;
  int probe = open_probe(path, data_size + i * slot + samples()[i].at, type);
  if (probe < 0) return 4;
  Outcome probed = place.run(i);
  if (probed.signal || probed.memory != plain.memory) return 1;
  if (std::memcmp(&probed.registers, &plain.registers, sizeof plain.registers) != 0) return 1;
  return hits_of(probe) == 1 || samples()[i].loops ? 0 : 2;
}

TEST(ProbedInstructions, DoTheSameOrAreRefused) {
  std::ifstream file("/sys/bus/event_source/devices/uprobe/type");
  uint32_t type = 0;
  if (!(file >> type) || ::geteuid() != 0) GTEST_SKIP() << "no uprobes by perf here, or no permission";
  size_t tried = 0;
  for (size_t i = 0; i < samples().size(); i++) {
    const Sample& s = samples()[i];
    char path[] = "/var/tmp/acu-probed-XXXXXX";
    base::Fd created(::mkstemp(path));
    ASSERT_TRUE(created.valid());
    pid_t child = ::fork();
    if (!child) ::_exit(try_out(path, i, type));
    int status = 0;
    ::waitpid(child, &status, 0);
    ::unlink(path);
    int result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    base::ByteSpan code(reinterpret_cast<const std::byte*>(s.code.data()), s.code.size());
    bool refused = is_refused(code.subspan(s.at));
    tried += result != 3;
    EXPECT_TRUE(result == 0 || result == 3 || refused) << s.name << ": " << result;
  }
  EXPECT_GT(tried, 30u);
}

} // namespace
} // namespace symbol

#endif
