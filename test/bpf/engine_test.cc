// The kernel engine with programs made by hand: maps of every kind, runs, events, counters, stacks, failures.
#include "bpf/engine.h"

#include "host/cpus.h"
#include "handmade.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

namespace bpf {
namespace {

using test::Assembler;
using test::Handmade;
using test::word;

std::unique_ptr<Engine> load(const Handmade& h, const Engine::Options& options = {}) {
  auto engine = Engine::load(h.program, h.object, options);
  EXPECT_TRUE(engine.ok()) << engine.error().message;
  return engine.ok() ? std::move(*engine) : nullptr;
}

std::vector<ir::Entry> read(Engine& engine, uint32_t map) {
  auto entries = engine.read_map(map);
  EXPECT_TRUE(entries.ok()) << entries.error().message;
  if (!entries.ok()) return {};
  std::sort(entries->begin(), entries->end(),
            [](auto& a, auto& b) { return word(a.key, 0) < word(b.key, 0); });
  return std::move(*entries);
}

TEST(Engine, ScalarMaps) {
  NEEDS_BPF();
  for (auto kind : {ir::MapKind::array, ir::MapKind::percpu_array}) {
    Handmade h = test::counter(kind);
    auto engine = load(h);
    ASSERT_TRUE(engine);
    EXPECT_TRUE(read(*engine, 0).empty()); // never assigned
    for (int i = 0; i < 3; i++) ASSERT_TRUE(engine->run(0).ok());
    auto entries = read(*engine, 0);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_TRUE(entries[0].key.empty());
    uint32_t cpus = kind == ir::MapKind::array ? 1 : host::possible_cpus();
    ASSERT_EQ(entries[0].values.size(), 16u * cpus);
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < cpus; cpu++) sum += word(entries[0].values, cpu * 2);
    EXPECT_EQ(sum, 3u);

    ASSERT_TRUE(engine->zero_map(0).ok());
    entries = read(*engine, 0);
    ASSERT_EQ(entries.size(), 1u); // still assigned
    for (uint32_t cpu = 0; cpu < cpus; cpu++) EXPECT_EQ(word(entries[0].values, cpu * 2), 0u);
    ASSERT_TRUE(engine->clear_map(0).ok());
    EXPECT_TRUE(read(*engine, 0).empty());
  }
}

// Each run adds one to a key that a counter of the state gives: 0, 1, 2, …
Handmade hash_program(ir::MapKind kind, uint32_t max_entries) {
  Handmade h;
  uint32_t map = h.script_map(kind, 8, 8, ~0u, max_entries);
  uint32_t state = h.state(8);
  h.probe(Assembler()
              .value(6, state, 7 * 8)
              .load(1, 6, 0)
              .store(10, -8, 1)
              .add(1, 1)
              .store(6, 0, 1)
              .store(10, -16, 1) // the value: key + 1
              .map(1, map)
              .move(2, 10)
              .add(2, -8)
              .move(3, 10)
              .add(3, -16)
              .set(4, BPF_ANY)
              .call(BPF_FUNC_map_update_elem)
              .leave()
              .code("fill"));
  return h;
}

TEST(Engine, HashMaps) {
  NEEDS_BPF();
  for (auto kind :
       {ir::MapKind::hash, ir::MapKind::percpu_hash, ir::MapKind::lru_hash, ir::MapKind::percpu_lru_hash}) {
    Handmade h = hash_program(kind, 40000);
    auto engine = load(h);
    ASSERT_TRUE(engine);
    EXPECT_TRUE(read(*engine, 0).empty());
    constexpr size_t count = 5000; // more than one batch
    for (size_t i = 0; i < count; i++) ASSERT_TRUE(engine->run(0).ok());
    auto entries = read(*engine, 0);
    ASSERT_EQ(entries.size(), count);
    uint32_t cpus = ir::is_percpu(kind) ? host::possible_cpus() : 1;
    for (size_t i = 0; i < count; i++) {
      ASSERT_EQ(word(entries[i].key, 0), i);
      ASSERT_EQ(entries[i].values.size(), 8u * cpus);
      uint64_t sum = 0;
      for (uint32_t cpu = 0; cpu < cpus; cpu++) sum += word(entries[i].values, cpu);
      ASSERT_EQ(sum, i + 1);
    }
    ASSERT_TRUE(engine->zero_map(0).ok());
    entries = read(*engine, 0);
    ASSERT_EQ(entries.size(), count);
    for (auto& entry : entries) {
      for (uint32_t cpu = 0; cpu < cpus; cpu++) ASSERT_EQ(word(entry.values, cpu), 0u);
    }
    ASSERT_TRUE(engine->clear_map(0).ok());
    EXPECT_TRUE(read(*engine, 0).empty());
  }
}

// Four buckets or fewer: one holds more than the smallest batch.
TEST(Engine, LargeValues) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::hash, 8, 32768, ~0u, 64);
  auto engine = load(h);
  ASSERT_TRUE(engine);
  EXPECT_TRUE(read(*engine, map).empty());
}

// Runs it in a thread of its own, until the kernel knows that one no more: that is a moment after it was joined.
template<class F> void in_thread(F&& run) {
  pid_t thread = 0;
  std::thread([&] {
    thread = static_cast<pid_t>(::syscall(SYS_gettid));
    run();
  }).join();
  while (::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0) std::this_thread::yield();
}

TEST(Engine, TaskStorage) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::task, 8, 24, 16, 4096);
  h.probe(Assembler()
              .call(BPF_FUNC_get_current_task_btf)
              .move(2, 0)
              .map(1, map)
              .set(3, 0)
              .set(4, BPF_LOCAL_STORAGE_GET_F_CREATE)
              .call(BPF_FUNC_task_storage_get)
              .skip_if_zero(0, 5)
              .count()
              .store_number(0, 8, 77)
              .store_number(0, 16, 1)
              .leave()
              .code("mark"));
  auto engine = load(h);
  ASSERT_TRUE(engine);
  EXPECT_TRUE(read(*engine, 0).empty());
  uint64_t other = 0;
  std::vector<ir::Entry> entries;
  in_thread([&] {
    other = static_cast<uint64_t>(::syscall(SYS_gettid));
    ASSERT_TRUE(engine->run(0).ok());
    ASSERT_TRUE(engine->run(0).ok());
    in_thread([&] { ASSERT_TRUE(engine->run(0).ok()); }); // gone with its thread
    ASSERT_TRUE(engine->run(0).ok());
    entries = read(*engine, 0);
  });
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].key.size(), 8u);
  EXPECT_EQ(word(entries[0].key, 0), other);
  ASSERT_EQ(entries[0].values.size(), 24u);
  EXPECT_EQ(word(entries[0].values, 0), 3u);
  EXPECT_EQ(word(entries[0].values, 1), 77u);

  ASSERT_TRUE(engine->run(0).ok());
  ASSERT_TRUE(engine->zero_map(0).ok());
  entries = read(*engine, 0);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(word(entries[0].key, 0), static_cast<uint64_t>(::getpid()));
  EXPECT_EQ(word(entries[0].values, 0), 0u);
  EXPECT_EQ(word(entries[0].values, 1), 0u);
  ASSERT_TRUE(engine->clear_map(0).ok());
  EXPECT_TRUE(read(*engine, 0).empty());
}

TEST(Engine, Counters) {
  NEEDS_BPF();
  Handmade h;
  h.script_map(ir::MapKind::hash, 8, 8, ~0u, 4);
  h.program.sites.resize(2);
  uint32_t state = h.state(state_first_counter + 1 + 2);
  Assembler a;
  for (uint32_t i = 0; i < state_first_counter + 3; i++) {
    a.value(1, state, static_cast<int32_t>(i * 8)).store_number(1, 0, static_cast<int32_t>(10 + i));
  }
  h.probe(a.leave().code("count"));
  auto engine = load(h);
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->counters().lost_events, 0u);
  ASSERT_TRUE(engine->run(0).ok());
  ir::Counters c = engine->counters();
  EXPECT_EQ(c.lost_events, 10u + state_lost_events);
  EXPECT_EQ(c.scratch_busy, 10u + state_scratch_busy);
  EXPECT_EQ(c.stacks_full, 10u + state_stacks_full);
  EXPECT_EQ(c.stacks_busy, 10u + state_stacks_busy);
  constexpr uint64_t first = 10 + state_first_counter;
  EXPECT_EQ(c.map_full, std::vector<uint64_t>{first});
  EXPECT_EQ(c.sites, (std::vector<uint64_t>{first + 1, first + 2}));
  EXPECT_EQ(c.missed_runs, 0u);
}

TEST(Engine, ConstantsAreFrozenAndKnown) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::array, 0, 16, 8, 1);
  std::vector<std::byte> content(16);
  content[8] = std::byte{42};
  uint32_t constants =
      h.add_map({.name = "table", .value_size = 16, .flags = BPF_F_RDONLY_PROG, .content = content});
  // An offset that must be known to be at most 42 for the verifier to let it pass.
  h.probe(Assembler()
              .value(6, map, 0)
              .value(7, constants, 8)
              .load(1, 7, 0)
              .store(6, 0, 1)
              .store_number(6, 8, 1)
              .leave()
              .code("begin"));
  auto engine = load(h);
  ASSERT_TRUE(engine);
  ASSERT_TRUE(engine->run(0).ok());
  auto entries = read(*engine, 0);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(word(entries[0].values, 0), 42u);
}

TEST(Engine, Stacks) {
  NEEDS_BPF();
  Handmade h;
  uint32_t stacks = h.add_map(
      {.name = "acu_stacks", .type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 32, .max_entries = 8});
  h.object.stacks = static_cast<int>(stacks);
  h.probe(Assembler()
              .store_number(10, -8, 5) // id
              .store_number(10, -48, 2)
              .store_number(10, -40, 111)
              .store_number(10, -32, 222)
              .store_number(10, -24, 0)
              .map(1, stacks)
              .move(2, 10)
              .add(2, -8)
              .move(3, 10)
              .add(3, -48)
              .set(4, BPF_ANY)
              .call(BPF_FUNC_map_update_elem)
              .leave()
              .code("begin"));
  auto engine = load(h);
  ASSERT_TRUE(engine);
  ASSERT_TRUE(engine->run(0).ok());
  EXPECT_EQ(engine->stack(5), (std::vector<uint64_t>{111, 222}));
  EXPECT_TRUE(engine->stack(6).empty());
  EXPECT_TRUE(engine->stack(0).empty());
}

// A callback needs types of functions. The loop adds up 0 … 9.
TEST(Engine, Callbacks) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::array, 0, 16, 8, 1);
  Assembler a;
  a.value(6, map, 0).store_number(6, 8, 1).set(1, 10);
  a.raw(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, 0).raw(0, 0, 0, 0, 0);
  size_t reference = a.insns.size() - 2;
  a.move(3, 10).set(4, 0).call(BPF_FUNC_loop).leave();
  auto body = static_cast<uint32_t>(a.insns.size());
  a.insns[reference].imm = static_cast<int32_t>(body - reference - 1);
  a.value(2, map, 0).load(3, 2, 0).raw(BPF_ALU64 | BPF_ADD | BPF_X, 3, 1, 0, 0).store(2, 0, 3).leave();
  Code code = a.code("begin");
  code.has_callbacks = true;
  code.functions = {{0, "begin", 1}, {body, "begin.loop", 2}};
  code.lines = {{0, {0, 5}}};
  h.probe(code);
  base::Source source("stdin", "begin { for ($i : 0..10) { @ += $i } }");
  auto engine = load(h, {.source = &source});
  ASSERT_TRUE(engine);
  ASSERT_TRUE(engine->run(0).ok());
  EXPECT_EQ(word(read(*engine, 0).at(0).values, 0), 45u);
}

TEST(Engine, VerifierFailuresNameTheScriptsLine) {
  NEEDS_BPF();
  Handmade h;
  uint32_t map = h.script_map(ir::MapKind::array, 0, 16, 8, 1);
  Code code = Assembler().store_number(10, -8, 0).lookup(map).count().leave().code("begin");
  base::Source source("stdin", "begin {\n  $a = 1;\n  @x++\n}\n");
  code.lines = {{0, {0, 5}}, {1, {10, 16}}, {6, {20, 24}}};
  h.probe(code);
  auto engine = Engine::load(h.program, h.object, {.source = &source});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().kind, base::Failure::runtime);
  const std::string& message = engine.error().message;
  EXPECT_NE(message.find("map_value_or_null"), message.npos) << message;
  EXPECT_NE(message.find("stdin:3:3-7: `@x++`"), message.npos) << message;
  EXPECT_EQ(message.find('\n'), message.npos) << message;
  auto verbose = Engine::load(h.program, h.object, {.verbose = true, .source = &source});
  ASSERT_FALSE(verbose.ok());
  EXPECT_NE(verbose.error().message.find("\n; @x++"), message.npos) << verbose.error().message;
  auto without_source = Engine::load(h.program, h.object, {});
  ASSERT_FALSE(without_source.ok());
  EXPECT_NE(without_source.error().message.find("instruction 6"), message.npos);
}

TEST(Engine, UnknownHelperIsUnsupported) {
  NEEDS_BPF();
  Handmade h;
  h.probe(Assembler().call(9999).leave().code("begin"));
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().kind, base::Failure::unsupported) << engine.error().message;
}

TEST(Engine, MapFailuresNameTheMap) {
  NEEDS_BPF();
  Handmade h;
  h.script_map(ir::MapKind::hash, 8, 8, ~0u, 0); // no entries
  auto engine = Engine::load(h.program, h.object, {});
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().message.find("@m0"), std::string::npos) << engine.error().message;
}

TEST(Engine, NoPermissionNamesTheCapabilities) {
  NEEDS_BPF();
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give capabilities away";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t child = ::fork();
  if (child == 0) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(3);
    Handmade h = test::counter(ir::MapKind::array);
    auto engine = Engine::load(h.program, h.object, {});
    std::string text = engine.ok() ? "loaded" : engine.error().message;
    if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(3);
    ::_exit(engine.ok() ? 0 : static_cast<int>(engine.error().kind));
  }
  ::close(ends[1]);
  char text[1000] = {};
  EXPECT_GT(::read(ends[0], text, sizeof text - 1), 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(base::Failure::permission)) << text;
  EXPECT_NE(std::string(text).find("CAP_BPF"), std::string::npos) << text;
}

} // namespace
} // namespace bpf
