// User stacks that acu's programs walk are those that the kernel's helper takes: two engines see the same
// system calls of real programs, one walks, the other asks the kernel, and both must count the same stacks as
// often.
//
// ACU_STACK_TURNS makes the loads longer (1: a few seconds for all).
#include "bpf/features.h"
#include "bpf/library.h"
#include "format/btf.h"
#include "ir_builder.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bpf {
namespace {

using namespace test;

constexpr gid_t traced_group = 54321;

int turns() {
  const char* text = std::getenv("ACU_STACK_TURNS");
  return text ? std::max(1, std::atoi(text)) : 1;
}

struct Counted {
  std::map<std::vector<uint64_t>, uint64_t> stacks; // { process, frames… } -> events
  uint64_t events = 0, lost = 0;
};

// By the kernel's helper; walked, from the registers that a helper gives; walked, without it where the kernel
// can.
enum class Way { taken, called, cast };

// Counts the stacks of all processes of the group.
struct StackCounter {
  Bench b;
  uint32_t counts;

  StackCounter(Way way, uint32_t depth, uint32_t max_stacks) {
    type::Table types;
    probe::Machine machine(types);
    const type::Type* task = machine.kernel_type("struct", "task_struct");
    if (task && machine.btf())
      b.program.task = {.self_exec_id = task->find("self_exec_id")->offset,
                        .stack = task->find("stack")->offset,
                        .pid = task->find("pid")->offset,
                        .tgid = task->find("tgid")->offset,
                        .registers_id = machine.btf()->find("pt_regs", format::BtfKind::structure),
                        .cast_id = machine.btf()->find("bpf_rdonly_cast", format::BtfKind::function)};
    b.program.max_stacks = max_stacks;
    b.program.events.push_back(
        {.kind = probe::Kind::rawtracepoint, .name = "rawtracepoint:sys_enter", .event = "sys_enter"});
    b.program.probes[0].context = probe::Context::raw_tracepoint;
    b.program.probes[0].events = {0};
    counts = b.map(ir::MapKind::hash, 16, 8, 1 << 18);
    auto f = b.main();
    Operand group = f.op(Op::lshr, f.value({.op = Op::query, .query = ir::Query::uid_gid}), number(32));
    const BlockId mine = f.block(), found = f.block(), leave = f.block();
    f.branch(Cond::eq, group, number(traced_group), mine, leave);
    f.at(leave);
    f.give();
    f.at(mine);
    Operand ids = f.value({.op = Op::query, .query = ir::Query::pid_tgid});
    Operand process = f.op(Op::and_, ids, number(-(int64_t{1} << 32)));
    Operand id = f.value({.op = Op::stack, .a = process, .imm2 = depth, .index = 1});
    Operand key = f.object(16);
    f.store(key, 0, id);
    f.store(key, 8, process);
    Operand slot = f.value({.op = Op::map_slot, .a = key, .index = counts});
    f.branch(Cond::ne, slot, number(0), found, leave);
    f.at(found);
    f.add({.op = Op::add_memory, .atomic = true, .a = slot, .b = number(1), .index = counts});
    f.give();
    b.options = options_for(b.program);
    if (way == Way::taken) b.options.has_task_registers = false;
    if (way == Way::called) b.options.registers_at = 0;
    (void)b.run(0);
  }

  Counted read() {
    Counted result;
    auto entries = b.engine->read_map(counts);
    if (!entries.ok()) return ADD_FAILURE() << entries.error().message, result;
    for (const ir::Entry& e : *entries) {
      uint64_t key[2], count;
      std::memcpy(key, e.key.data(), sizeof key);
      std::memcpy(&count, e.values.data(), sizeof count);
      std::vector<uint64_t> stack = b.engine->stack(key[0]);
      stack.insert(stack.begin(), key[1] >> 32);
      result.stacks[stack] += count;
      result.events += count;
    }
    const ir::Counters counters = b.engine->counters();
    result.lost =
        counters.stacks_full + counters.stacks_busy + counters.map_full[counts] + counters.missed_runs;
    return result;
  }
};

// A command as a member of the traced group.
pid_t start(const std::string& command) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, 0), ::dup2(nowhere, 1);
    if (::setgroups(0, nullptr) != 0 || ::setgid(traced_group) != 0) ::_exit(125);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  return child;
}

// Its status.
int run(const std::string& command) {
  int status = 0;
  ::waitpid(start(command), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string folder() {
  static const std::string made = [] {
    char name[] = "/tmp/acu_stack_testXXXXXX";
    std::string path = ::mkdtemp(name);
    return ::chmod(path.c_str(), 0777), path;
  }();
  return made;
}

std::string written(const std::string& name, const std::string& text) {
  std::string path = folder() + "/" + name;
  FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return ADD_FAILURE() << path, path;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  return path;
}

class Stacks : public testing::Test {
protected:
  void SetUp() override {
    NEEDS_BPF();
    if (!has(Feature::task_registers) || !has(Feature::loop))
      GTEST_SKIP() << "the kernel walks all user stacks here";
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  // `different`: of a thousand events, so many may be other stacks: what a stray frame pointer leads to may
  // be changed by another thread between the two programs.
  void compare(const std::string& command, uint32_t depth = 127, double different = 0) {
    StackCounter taken(Way::taken, depth, 1 << 17), called(Way::called, depth, 1 << 17),
        cast(Way::cast, depth, 1 << 17);
    for (StackCounter* c : {&taken, &called, &cast}) {
      ASSERT_TRUE(c->b.engine);
      auto attached = c->b.engine->attach(0);
      ASSERT_TRUE(attached.ok()) << attached.error().message;
    }
    ASSERT_EQ(run(command), 0) << command;
    for (StackCounter* c : {&taken, &called, &cast}) c->b.engine->detach();
    const Counted wanted = taken.read();
    EXPECT_GT(wanted.events, 1000u);
    for (StackCounter* c : {&called, &cast}) expect_same(c->read(), wanted, different);
  }

  static void expect_same(const Counted& walked, const Counted& wanted, double different) {
    // The kernel may have no memory at hand for a new stack, which is told.
    const uint64_t lost = walked.lost + wanted.lost;
    EXPECT_LE(std::max(walked.events, wanted.events) - std::min(walked.events, wanted.events), lost);
    EXPECT_LE(lost, wanted.events / 1000);
    uint64_t other = 0, frames = 0;
    for (const auto& [stack, count] : wanted.stacks) {
      auto found = walked.stacks.find(stack);
      other += count - (found == walked.stacks.end() ? 0 : std::min(found->second, count));
      frames = std::max<uint64_t>(frames, stack.size() - 1);
    }
    printf("%lu events, %zu stacks of up to %lu frames, %lu events with another stack, %lu lost\n",
           wanted.events, wanted.stacks.size(), frames, other, lost);
    EXPECT_LE(static_cast<double>(other),
              static_cast<double>(wanted.events) / 1000 * different + static_cast<double>(lost));
  }
};

constexpr const char* deep_source = R"(
#include <stdlib.h>
#include <sys/syscall.h>
static void call(void) { long r; __asm__ volatile("syscall" : "=a"(r) : "0"(SYS_getppid) : "rcx", "r11", "memory"); }
__attribute__((noinline)) void deep(long n) {
  volatile char room[ROOM];
  room[0] = 1;
  if (n > 0) deep(n - 1); else call();
  room[0] = 2;
}
int main(int c, char** v) { for (long t = atol(v[1]); t > 0; t--) for (long n = 0; n < 300; n++) deep(n); }
)";

// Of 512 bytes; a return probe that formats text with a dozen values needs the others.
TEST(Walker, LeavesStackToScripts) {
  for (const char* walk : {"acu_walk", "acu_walk_bounded"}) EXPECT_LE(library_stack(library_index(walk)), 224u) << walk;
}

TEST_F(Stacks, WithFramePointers) {
  const std::string source = written("deep.c", deep_source);
  for (const char* room : {"1", "100", "3000"}) {
    const std::string program = folder() + "/deep" + room;
    const std::string build = std::string("gcc -O1 -fno-omit-frame-pointer -DROOM=") + room;
    ASSERT_EQ(std::system((build + " -o " + program + " " + source).c_str()), 0);
    for (const uint32_t depth : {1, 2, 5, 100, 127})
      compare(program + " " + std::to_string(10 * turns()), depth);
  }
}

TEST_F(Stacks, GoWhenTheyAreNotSeenAgain) {
  const std::string source = written("again.c", deep_source), program = folder() + "/again";
  ASSERT_EQ(std::system(("gcc -O1 -fno-omit-frame-pointer -DROOM=1 -o " + program + " " + source).c_str()), 0);
  StackCounter counter(Way::cast, 127, 1 << 17);
  Engine& engine = *counter.b.engine;
  ASSERT_TRUE(engine.attach(0).ok());
  const pid_t child = start("exec " + program + " 1000000000");
  constexpr useconds_t some_turns = 300'000;
  ::usleep(some_turns);
  const auto entries = engine.read_map(counter.counts);
  ASSERT_TRUE(entries.ok());
  const auto count_known = [&] {
    return std::ranges::count_if(*entries, [&](const ir::Entry& e) {
      uint64_t key[2] = {};
      std::memcpy(key, e.key.data(), sizeof key);
      return key[1] >> 32 == static_cast<uint64_t>(child) && !engine.stack(key[0]).empty();
    });
  };
  constexpr int most_depths = 120; // of 127, whose stacks differ
  EXPECT_GT(count_known(), most_depths);
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(engine.begin_stacks().ok());
    ::usleep(some_turns);
  }
  EXPECT_GT(count_known(), most_depths);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(engine.begin_stacks().ok());
  EXPECT_GT(count_known(), most_depths); // of the generation before
  ASSERT_TRUE(engine.begin_stacks().ok());
  EXPECT_EQ(count_known(), 0);
}

#if defined(__x86_64__)
constexpr const char* stray_source = R"(
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
static void call(const void* frame) {
  long r = SYS_getppid;
  __asm__ volatile("push %%rbp\n mov %1, %%rbp\n syscall\n pop %%rbp" : "+a"(r) : "r"(frame) : "rcx", "r11", "memory");
}
int main(int c, char** v) {
  // Two pages, and nothing behind them. Frames that point in circles, backwards, over the border of the pages, to
  // their end, beyond it, to addresses that are no word, and to where no memory may be.
  char* at = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(at + 2 * 4096, 4096);
  for (long t = atol(v[1]); t > 0; t--)
    for (long o = 0; o < 4096 + 4096 - 16; o += 13) {
      unsigned long next[] = {0, 1, 4095, 4096, (unsigned long)at + o, (unsigned long)at, (unsigned long)at + 4088,
                              (unsigned long)at + 4081, (unsigned long)at + 8176, (unsigned long)at + 8192,
                              (unsigned long)at + 8184, (unsigned long)at + (o + 4000) % 8000, 1ul << 47,
                              0x7ffffffffff0, 0x7fffffffeff0, 0x8000000000000000, 0xffffffffff600000, -8ul};
      for (int i = 0; i < sizeof next / sizeof *next; i++) {
        memset(at, 0, 8192);
        unsigned long link[2] = {next[i], 0x1234 + i};
        memcpy(at + 1000, link, 16);
        memcpy(at + 4088, link, 16);
        memcpy(at + o, link, 16);
        call(at + o);
        call((void*)next[i]);
      }
    }
}
)";

TEST_F(Stacks, WithStrayFramePointers) {
  const std::string source = written("stray.c", stray_source), program = folder() + "/stray";
  ASSERT_EQ(std::system(("gcc -O1 -w -o " + program + " " + source).c_str()), 0);
  compare(program + " " + std::to_string(turns()));
}

constexpr const char* small_source = R"(
static void call(void) { int r = 64; __asm__ volatile("int $0x80" : "+a"(r) : : "memory"); }
__attribute__((noinline)) void deep(int n) { volatile char room[20]; room[0] = 1; if (n) deep(n - 1); else call(); room[0] = 2; }
void _start(void) {
  for (int t = 0; t < 100; t++) for (int n = 0; n < 50; n++) deep(n);
  int r = 1; __asm__ volatile("int $0x80" : "+a"(r) : "b"(0));
}
)";

TEST_F(Stacks, Of32Bits) {
  const std::string source = written("small.c", small_source), program = folder() + "/small";
  const std::string build =
      "gcc -m32 -O1 -fno-omit-frame-pointer -fno-pie -no-pie -nostdlib -static -fno-stack-protector -o ";
  ASSERT_EQ(std::system((build + program + " " + source).c_str()), 0);
  constexpr int cannot_execute = 126; // of the shell
  if (run(program) == cannot_execute) GTEST_SKIP() << "this kernel runs no programs of 32 bits";
  compare(program);
}
#endif

TEST_F(Stacks, OfCompiler) {
  const std::string source =
      written("long.c", std::string("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n") +
                            "int main(void) { return printf(\"%d\", rand()); }\n");
  compare("for n in 1 2 3 4 5; do gcc -O2 -c -o /dev/null " + source + " || exit 1; done");
}

TEST_F(Stacks, OfPython) {
  compare("python3 -c 'import os, json, re\nfor i in range(" + std::to_string(20000 * turns()) +
          "): os.getppid(); i % 100 or [json.dumps({\"a\": [i]}), os.listdir(\"/\"), re.sub(\"a\", lambda m: "
          "str(os.getppid()), \"banana\")]'");
}

TEST_F(Stacks, OfPerl) {
  compare("perl -e 'sub f { my $n = shift; $n ? f($n - 1) : getppid() } for my $i (1.." +
          std::to_string(20000 * turns()) + ") { f($i % 20); -e \"/tmp\"; }'");
}

TEST_F(Stacks, OfNode) {
  if (std::system("node -e 0 2>/dev/null") != 0) GTEST_SKIP() << "there is no node";
  compare("node -e 'const fs = require(\"fs\"); for (let i = 0; i < " + std::to_string(5000 * turns()) +
              "; i++) fs.existsSync(\"/tmp\" + i % 7)'",
          127, 10);
}

} // namespace
} // namespace bpf
