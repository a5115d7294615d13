// Walks through stacks of this process, against what the C++ runtime's own unwinder finds at the same place,
// and through memory made up for the purpose.
#include "live.h"
#include "unwind/compile_rule.h"
#include "unwind/reason.h"

#include "scratch.h"

#include <algorithm>
#include <alloca.h>
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>

namespace unwind {
namespace {

struct Seen {
  std::vector<uint64_t> runtime; // callers of `look`, as the runtime's unwinder tells them
  Walk rows, all;
};
Seen seen;

Registers registers_of(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  Registers out;
  const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                       REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (unsigned i = 0; i < Registers::count; i++) out.set(i, static_cast<uint64_t>(g[order[i]]));
  return out;
}

[[gnu::noinline]] void look() {
  ucontext_t context;
  ::getcontext(&context);
  Registers here = registers_of(context);
  samples::LiveCode code(::getpid());
  seen = {};
  seen.rows = code.walk(here);
  seen.all = code.walk(here, {.all_registers = true});
  void* frames[600];
  int count = ::backtrace(frames, 600);
  for (int i = 1; i < count; i++) seen.runtime.push_back(reinterpret_cast<uint64_t>(frames[i]));
  asm volatile("" ::: "memory");
}

std::vector<uint64_t> callers(const Walk& walk) {
  std::vector<uint64_t> out;
  for (size_t i = 1; i < walk.frames.size(); i++)
    out.push_back(*walk.frames[i].registers.get(Registers::rip));
  return out;
}

void expect_same() {
  EXPECT_GT(seen.runtime.size(), 5u);
  EXPECT_EQ(callers(seen.rows), seen.runtime);
  EXPECT_EQ(callers(seen.all), seen.runtime);
  EXPECT_EQ(seen.rows.end, UNWIND_COMPLETE) << reason_of(seen.rows.end).text;
  EXPECT_EQ(seen.all.end, UNWIND_COMPLETE) << reason_of(seen.all.end).text;
}

// A stack frame that is aligned by the function itself, found through a register that is saved in it.
[[gnu::noinline]] int aligned(int n) {
  alignas(128) volatile char block[256];
  for (int i = 0; i < 256; i++) block[i] = static_cast<char>(i + n);
  look();
  return block[n];
}
// A frame of a size that is not known beforehand.
[[gnu::noinline]] int sized(int n) {
  auto* block = static_cast<volatile char*>(alloca(static_cast<size_t>(n)));
  block[n - 1] = 1;
  int out = n > 40 ? sized(n - 10) : aligned(n);
  return out + block[n - 1];
}

int compare(const void* a, const void* b) {
  static bool looked;
  if (!looked) look();
  looked = true;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void handler(int) { look(); }

} // namespace

TEST(Walk, AsTheRuntimeUnwinds) {
  EXPECT_NE(sized(100), 0);
  expect_same();
}

TEST(Walk, ThroughTheLibrary) {
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof(int), compare);
  expect_same();
}

TEST(Walk, ToTheStartOfAThread) {
  std::thread([] { look(); }).join();
  EXPECT_GT(seen.runtime.size(), 2u);
  EXPECT_EQ(callers(seen.rows), seen.runtime);
  EXPECT_EQ(callers(seen.all), seen.runtime);
  EXPECT_EQ(seen.rows.end, UNWIND_COMPLETE);
}

TEST(Walk, ThroughSignals) {
  for (int flags : {0, SA_ONSTACK}) {
    static char other_stack[1 << 18];
    stack_t stack = {.ss_sp = other_stack, .ss_flags = 0, .ss_size = sizeof other_stack}, old_stack;
    ASSERT_EQ(::sigaltstack(&stack, &old_stack), 0);
    struct sigaction action = {}, old;
    action.sa_handler = handler;
    action.sa_flags = flags;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &old), 0);
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &old, nullptr);
    ::sigaltstack(&old_stack, nullptr);
    expect_same();
    for (const Walk& walk : {seen.rows, seen.all}) {
      auto signal = std::ranges::find_if(walk.frames, &Frame::is_signal);
      ASSERT_NE(signal, walk.frames.end());
      EXPECT_TRUE(signal[1].is_exact);
      // The interrupted frame's registers are all known.
      for (unsigned i = 0; i < Registers::count; i++) EXPECT_TRUE(signal[1].registers.knows(i)) << i;
    }
  }
}

TEST(Walk, KeepsWhatCalleesKeep) {
  sized(60);
  const Frame& outermost = seen.all.frames.back();
  for (unsigned number : {3u, 12u, 13u, 14u, 15u}) EXPECT_TRUE(outermost.registers.knows(number)) << number;
  for (unsigned number : {0u, 2u, 8u, 10u}) EXPECT_FALSE(outermost.registers.knows(number)) << number;
}

// A program that switches stacks by itself.
TEST(Walk, OnAStackOfItsOwn) {
  std::vector<char> stack(1 << 20);
  static ucontext_t here, there;
  ASSERT_EQ(::getcontext(&there), 0);
  there.uc_stack = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  there.uc_link = nullptr; // what lies where a return address should be, and so marks the end
  ::makecontext(
      &there,
      [] {
        look();
        ::setcontext(&here);
      },
      0);
  ASSERT_EQ(::swapcontext(&here, &there), 0);
  EXPECT_GE(seen.runtime.size(), 2u);
  EXPECT_EQ(callers(seen.rows), seen.runtime);
  EXPECT_EQ(callers(seen.all), seen.runtime);
  EXPECT_EQ(seen.rows.end, UNWIND_COMPLETE);
}

// Words of the stack are replaced: whatever comes of it, it ends.
TEST(Walk, CorruptStacks) {
  ucontext_t context;
  ::getcontext(&context);
  Registers here = registers_of(context);
  uint64_t rsp = *here.get(Registers::rsp);
  samples::LiveCode code(::getpid());
  size_t ended_early = 0;
  for (uint64_t round = 0; round < 500; round++)
    for (bool all : {false, true}) {
      auto read = [&](uint64_t address, std::span<std::byte> to) {
        if (!code.read(address, to)) return false;
        uint64_t mixed = (address / 8 + round * 1000003) * 0x9e3779b97f4a7c15u;
        if (mixed >> 60 == 0) // one of sixteen
          for (size_t i = 0; i < to.size(); i++) {
            uint64_t other[] = {mixed, rsp + (mixed >> 52) % 512 * 8, rsp, *here.get(Registers::rip)};
            to[i] = static_cast<std::byte>(other[mixed >> 50 & 3] >> i % 8 * 8);
          }
        return true;
      };
      Walk found = walk(here, read, [&](uint64_t address) { return code.find(address); },
                        {.most_frames = 256, .all_registers = all});
      ASSERT_GE(found.frames.size(), 1u);
      ASSERT_LE(found.frames.size(), 256u);
      ended_early += found.end != UNWIND_COMPLETE;
    }
  EXPECT_GT(ended_early, 50u);
}

namespace {
[[gnu::noinline]] void look_deep() {
  ucontext_t context;
  ::getcontext(&context);
  samples::LiveCode code(::getpid());
  seen.rows = code.walk(registers_of(context), {.most_frames = 100'000});
}
[[gnu::noinline]] int deep(int n) {
  if (n == 0) look_deep();
  volatile int below = n > 0 ? deep(n - 1) : 0;
  return below + 1;
}
} // namespace

TEST(Walk, DeepRecursion) {
  EXPECT_EQ(deep(10'000), 10'001);
  EXPECT_GT(seen.rows.frames.size(), 5'000u); // compilers make one frame of several calls
  EXPECT_EQ(seen.rows.end, UNWIND_COMPLETE);
}

TEST(Walk, EndsAfterAsManyFramesAsAskedFor) {
  samples::LiveCode code(::getpid());
  ucontext_t context;
  ::getcontext(&context);
  Walk cut = code.walk(registers_of(context), {.most_frames = 3});
  EXPECT_EQ(cut.frames.size(), 3u);
  EXPECT_EQ(cut.end, UNWIND_TOO_DEEP);
}

// ---- with memory of our own

namespace {

// Code at 0x1000 to 0x2000 without a file, or with one; a stack from 0x8000 on.
class MadeUp : public testing::Test {
protected:
  static constexpr uint64_t code = 0x1000, stack = 0x8000;
  Walk run(uint64_t rip, uint64_t rsp, uint64_t rbp, const WalkOptions& options = {}) {
    Registers start;
    start.set(Registers::rip, rip);
    start.set(Registers::rsp, rsp);
    start.set(Registers::rbp, rbp);
    return walk(
        start,
        [this](uint64_t address, std::span<std::byte> to) {
          if (address < stack || address + to.size() > stack + 8 * words_.size()) return false;
          std::memcpy(to.data(), reinterpret_cast<std::byte*>(words_.data()) + (address - stack), to.size());
          return true;
        },
        [](uint64_t address) { return CodePlace{.is_code = address >= code && address < 2 * code}; }, options);
  }
  std::vector<uint64_t> words_ = std::vector<uint64_t>(64);
};

} // namespace

TEST_F(MadeUp, FramePointersWithoutTables) {
  words_[4] = stack + 8 * 10; // caller's rbp
  words_[5] = code + 0x20;
  words_[10] = 0;
  words_[11] = code + 0x30;
  Walk found = run(code, stack, stack + 8 * 4);
  ASSERT_EQ(found.frames.size(), 3u);
  EXPECT_EQ(found.end, UNWIND_COMPLETE);
  EXPECT_TRUE(found.frames[0].by_frame_pointer);
  EXPECT_EQ(found.frames[0].cfa, stack + 8 * 6);
  EXPECT_EQ(found.frames[1].look_up(), code + 0x1f);
  EXPECT_EQ(*found.frames[2].registers.get(Registers::rsp), stack + 8 * 12);
}

TEST_F(MadeUp, FramesThatAreCorrected) {
  words_[5] = code + 0x20;
  words_[11] = code + 0x30;
  std::vector<uint64_t> seen;
  const auto correct = [&](Frame& frame, bool has_table) {
    EXPECT_FALSE(has_table);
    seen.push_back(frame.look_up());
    if (frame.is_exact) frame.registers.set(Registers::rbp, stack + 8 * 4);
    if (frame.look_up() == code + 0x1f) frame.registers.set(Registers::rbp, stack + 8 * 10);
  };
  EXPECT_EQ(run(code, stack, 17).frames.size(), 1u);
  const Walk found = run(code, stack, 17, {.all_registers = true, .correct = correct});
  EXPECT_EQ(found.end, UNWIND_COMPLETE);
  EXPECT_EQ(seen, (std::vector<uint64_t>{code, code + 0x1f, code + 0x2f}));
  ASSERT_EQ(found.frames.size(), 3u);
  EXPECT_EQ(found.frames[1].registers.get(Registers::rbp), stack + 8 * 10);
}

TEST_F(MadeUp, NumbersThatAreNoFramePointers) {
  words_[5] = 0x3000; // no code
  for (uint64_t rbp : {uint64_t{0}, uint64_t{17}, stack - 8, stack + 8 * 4, stack + 3, stack + (2 << 20)}) {
    Walk found = run(code, stack, rbp);
    EXPECT_EQ(found.frames.size(), 1u) << rbp;
    EXPECT_EQ(found.end, UNWIND_NO_FRAME_POINTER) << rbp;
  }
  EXPECT_EQ(run(code, stack, stack + 8 * 100).end, UNWIND_UNREADABLE);
}

TEST_F(MadeUp, FramesThatLeadBack) {
  words_[4] = stack + 8 * 4; // to itself
  words_[5] = code + 0x20;
  Walk found = run(code, stack, stack + 8 * 4);
  EXPECT_EQ(found.end, UNWIND_NO_FRAME_POINTER);
  EXPECT_EQ(found.frames.size(), 2u);
}

TEST_F(MadeUp, JumpsToWhereNoCodeIs) {
  words_[0] = code + 0x40;
  words_[4] = 0;
  words_[5] = code + 0x50;
  for (uint64_t nowhere : {uint64_t{0}, uint64_t{0x3000}, stack}) {
    Walk found = run(nowhere, stack, stack + 8 * 4);
    ASSERT_EQ(found.frames.size(), 3u);
    EXPECT_EQ(found.frames[1].look_up(), code + 0x3f);
    EXPECT_EQ(found.end, UNWIND_COMPLETE);
  }
  words_[0] = 0x5000;
  EXPECT_EQ(run(0, stack, 0).end, UNWIND_NO_CODE);
  EXPECT_EQ(run(0, 0x100, 0).end, UNWIND_UNREADABLE);
}

TEST_F(MadeUp, WithoutRegistersThereIsNothing) {
  Walk found = walk(
      {}, [](uint64_t, std::span<std::byte>) { return true; },
      [](uint64_t) { return CodePlace{.is_code = true}; });
  EXPECT_TRUE(found.frames.empty());
  EXPECT_EQ(found.end, UNWIND_NOT_UNDERSTOOD);
}

// A caller that needs a register which rows do not follow, beneath one whose rows are enough.
TEST(Walk, GoesBackForAllRegisters) {
  Scratch scratch;
  scratch.write("odd.s", R"(
.text
.globl f, f_call, g, g_call, h
f: .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbx, -16
f_call: nop
.cfi_endproc
g: .cfi_startproc
  .cfi_def_cfa %rbx, 16
  nop
g_call: nop
.cfi_endproc
h: .cfi_startproc
  .cfi_escape 0x16, 3, 5, 0x77, 0x00, 0x08, 0x29, 0x22 # rbx: rsp + 41
  .cfi_undefined %rip
  nop
  nop
.cfi_endproc
)");
  ASSERT_TRUE(scratch.run("gcc -shared -nostdlib odd.s -o odd.so")) << scratch.log();
  auto file = format::ElfFile::open(scratch.path("odd.so"));
  ASSERT_TRUE(file.ok());
  std::map<std::string, uint64_t> labels;
  file->elf().for_each_symbol(*file->elf().section(".dynsym"),
                              [&](const format::ElfSymbol& s) { labels[std::string(s.name)] = s.value; });
  FileFrames frames(*file, make_tables(*file));
  constexpr uint64_t stack = 0x70000, bias = 0x10000000;
  std::vector<uint64_t> words(32);
  words[0] = stack + 8 * 6; // rbx of g
  words[1] = bias + labels["g_call"];
  words[7] = bias + labels["h"] + 1;
  auto read = [&](uint64_t address, std::span<std::byte> to) {
    if (address < stack || address + to.size() > stack + 8 * words.size()) return false;
    std::memcpy(to.data(), reinterpret_cast<std::byte*>(words.data()) + (address - stack), to.size());
    return true;
  };
  auto find = [&](uint64_t address) {
    return CodePlace{address >= bias, address >= bias ? &frames : nullptr, bias};
  };
  Registers start;
  start.set(Registers::rip, bias + labels["f_call"]);
  start.set(Registers::rsp, stack);
  start.set(3, 5);
  Walk found = walk(start, read, find);
  ASSERT_EQ(found.frames.size(), 3u);
  EXPECT_EQ(found.end, UNWIND_COMPLETE);
  EXPECT_EQ(found.frames[1].registers.get(3), stack + 8 * 6);
  EXPECT_EQ(found.frames[1].cfa, stack + 8 * 8);
  EXPECT_EQ(found.frames[2].look_up(), bias + labels["h"]);

  words[0] = 1; // a CFA below the stack pointer
  EXPECT_EQ(walk(start, read, find).end, UNWIND_UNREADABLE);
  words[0] = stack - 8;
  EXPECT_EQ(walk(start, read, find).end, UNWIND_NO_PROGRESS);
}

} // namespace unwind
