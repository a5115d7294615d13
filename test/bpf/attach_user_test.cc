// Programs at functions of this test itself: one or many at once, entry and return, one process or all.
#include "host/cpus.h"
#include "bpf/engine.h"
#include "bpf/features.h"
#include "handmade.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>

namespace bpf {
namespace {

using test::Assembler;
using test::Handmade;
using test::word;

// Functions that are called through pointers nobody can see through.
#define FUNCTION(n)                                                                                          \
  extern "C" __attribute__((noinline, used)) int acu_test_function##n(int x) {                               \
    asm volatile("" : "+r"(x));                                                                              \
    return x + n;                                                                                            \
  }
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
using Called = int (*)(int);
volatile Called first = acu_test_function1, second = acu_test_function2, third = acu_test_function3;

// The offset in the file of the code at an address of this process.
uint64_t offset_of(const void* code) {
  uint64_t wanted = reinterpret_cast<uintptr_t>(code), found = 0;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps)) {
    unsigned long begin, end, offset;
    char bits[5];
    if (std::sscanf(line, "%lx-%lx %4s %lx", &begin, &end, bits, &offset) == 4 && wanted >= begin &&
        wanted < end)
      found = wanted - begin + offset;
  }
  if (maps) std::fclose(maps);
  return found;
}

probe::Event at(volatile Called& function, probe::Kind kind = probe::Kind::uprobe) {
  Called code = function;
  return {.kind = kind,
          .name = kind == probe::Kind::uprobe ? "uprobe:test:function" : "uretprobe:test:function",
          .binary = "/proc/self/exe",
          .file_offset = offset_of(reinterpret_cast<const void*>(code))};
}

void add_event(Handmade& h, probe::Event event) {
  h.program.probes[0].events.push_back(static_cast<uint32_t>(h.program.events.size()));
  h.program.events.push_back(std::move(event));
}

Handmade counter() { return test::counter(ir::MapKind::percpu_array, probe::Context::registers); }

std::unique_ptr<Engine> attach(const Handmade& h, const Engine::Options& options = {}) {
  auto engine = Engine::load(h.program, h.object, options);
  EXPECT_TRUE(engine.ok()) << engine.error().message;
  if (!engine.ok()) return nullptr;
  auto attached = (*engine)->attach(0);
  EXPECT_TRUE(attached.ok()) << attached.error().message;
  return std::move(*engine);
}

uint64_t total(Engine& engine) {
  auto entries = engine.read_map(0);
  if (!entries.ok() || entries->empty()) return 0;
  uint64_t sum = 0;
  for (uint32_t cpu = 0; cpu < host::possible_cpus(); cpu++) sum += word((*entries)[0].values, cpu * 2);
  return sum;
}

TEST(AttachUser, CountsCallsWhileAttached) {
  NEEDS_BPF();
  for (probe::Kind kind : {probe::Kind::uprobe, probe::Kind::uretprobe}) {
    Handmade h = counter();
    add_event(h, at(first, kind));
    auto engine = attach(h);
    ASSERT_TRUE(engine);
    EXPECT_EQ(engine->attached_events(), 1u);
    for (int i = 0; i < 10; i++) EXPECT_EQ(first(i), i + 1);
    second(1);
    EXPECT_EQ(total(*engine), 10u);
    engine->detach();
    first(1);
    EXPECT_EQ(total(*engine), 10u);
  }
}

TEST(AttachUser, ManyFunctionsAtOnce) {
  NEEDS_BPF();
  Handmade h = counter();
  add_event(h, at(first));
  add_event(h, at(second));
  add_event(h, at(third));
  auto engine = attach(h);
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->attached_events(), 3u);
  EXPECT_EQ(first(1) + second(1) + third(1), 9);
  EXPECT_EQ(total(*engine), 3u);
}

TEST(AttachUser, OnePlaceThatIsRefusedLeavesTheOthers) {
  NEEDS_BPF();
  Handmade h = counter();
  add_event(h, at(first));
  probe::Event nowhere = at(second);
  nowhere.file_offset = 1ull << 40; // behind the end of the file
  add_event(h, std::move(nowhere));
  add_event(h, at(third));
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  std::vector<std::string> told;
  auto attached = (*engine)->attach(0, [&](base::Error why) -> base::Status {
    told.push_back(why.message);
    return {};
  });
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("can't put a probe on this instruction"), std::string::npos) << told[0];
  EXPECT_EQ((*engine)->attached_events(), 2u);
  first(1), second(1), third(1);
  EXPECT_EQ(total(**engine), 2u);

  auto whole = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE((*whole)->attach(0).ok());
}

TEST(AttachUser, MissingFile) {
  NEEDS_BPF();
  Handmade h = counter();
  probe::Event event = at(first);
  event.binary = "/nonexistent/program";
  add_event(h, std::move(event));
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_TRUE(engine.ok());
  auto attached = (*engine)->attach(0);
  ASSERT_FALSE(attached.ok());
  EXPECT_EQ(attached.error().kind, base::Failure::nothing_matched);
  EXPECT_NE(attached.error().message.find("there is no file /nonexistent/program"), std::string::npos);
}

// Another thread of the process counts too, another process does not.
TEST(AttachUser, OneProcessWithItsThreads) {
  NEEDS_BPF();
  if (!has(Feature::uprobe_multi_pid)) GTEST_SKIP() << "this kernel does not filter by process";
  Handmade h = counter();
  add_event(h, at(first));
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  pid_t other = ::fork();
  if (other == 0) {
    char byte;
    ::close(go[1]);
    while (::read(go[0], &byte, 1) > 0) first(1);
    ::_exit(0);
  }
  ::close(go[0]);
  auto engine = attach(h, {.target_pid = ::getpid()});
  ASSERT_TRUE(engine);
  for (int i = 0; i < 5; i++) EXPECT_EQ(::write(go[1], "x", 1), 1);
  ::close(go[1]);
  int status = 0;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(total(*engine), 0u);
  std::thread([] { first(1); }).join();
  first(1);
  EXPECT_EQ(total(*engine), 2u);
}

TEST(AttachUser, ProcessThatIsGone) {
  NEEDS_BPF();
  Handmade h = counter();
  add_event(h, at(first));
  pid_t other = ::fork();
  if (other == 0) ::_exit(0);
  ::waitpid(other, nullptr, 0);
  auto engine = Engine::load(h.program, h.object, {.target_pid = other});
  ASSERT_TRUE(engine.ok());
  auto attached = (*engine)->attach(0);
  ASSERT_FALSE(attached.ok());
  EXPECT_NE(attached.error().message.find("the process is gone"), std::string::npos)
      << attached.error().message;
}

// The cookie tells the functions apart.
TEST(AttachUser, Cookies) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::array, 0, 16, 8, 1);
  h.probe(Assembler()
              .call(BPF_FUNC_get_attach_cookie)
              .move(6, 0)
              .store_number(10, -8, 0)
              .lookup(map)
              .skip_if_zero(0, 4)
              .load(1, 0, 0)
              .raw(BPF_ALU64 | BPF_ADD | BPF_X, 1, 6, 0, 0)
              .store(0, 0, 1)
              .store_number(0, 8, 1)
              .leave()
              .code("cookie"),
          probe::Context::registers);
  h.program.probes[0].cookies = {100, 10000, 1};
  add_event(h, at(first));
  add_event(h, at(second));
  add_event(h, at(third));
  auto engine = attach(h);
  ASSERT_TRUE(engine);
  first(1), second(1), first(1), third(1);
  auto entries = engine->read_map(0);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(word((*entries)[0].values, 0), 10201u);
}

} // namespace
} // namespace bpf
