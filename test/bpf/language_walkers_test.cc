// Programs that are loaded without walkers of runtimes, and get them while they run: no event is missed and none is counted twice, whatever
// the moment. That the frames are right then is tested in test/languages, for processes that begin later than the script.
#include "bpf/features.h"
#include "bpf/library.h"
#include "ir/builder.h"
#include "ir_builder.h"

#include <atomic>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace bpf {
namespace {

using namespace test;

// Counts the calls of getppid(2) of this process, and walks its stack at each.
struct CallCounter {
  Bench b;

  explicit CallCounter(Languages languages) {
    b.program.uses_stacks = b.program.walks_stacks = true;
    b.program.max_stacks = 1024;
    b.program.events.push_back({.kind = probe::Kind::rawtracepoint, .name = "rawtracepoint:sys_enter", .event = "sys_enter"});
    b.program.probes[0].context = probe::Context::raw_tracepoint;
    b.program.probes[0].events = {0};
    auto f = b.main();
    const Operand ids = f.value({.op = Op::query, .query = ir::Query::pid_tgid});
    const BlockId mine = f.block(), counted = f.block(), leave = f.block();
    f.branch(Cond::eq, f.op(Op::lshr, ids, number(32)), number(::getpid()), mine, leave);
    f.at(leave);
    f.give();
    f.at(mine);
    f.branch(Cond::eq, f.value({.op = Op::load, .size = 8, .space = ir::Space::context, .imm = 8}), number(SYS_getppid), counted, leave);
    f.at(counted);
    const Operand process = f.op(Op::and_, ids, number(-(int64_t{1} << 32)));
    f.value({.op = Op::stack, .a = process, .imm2 = 20, .index = ir::walked_stack});
    f.add({.op = Op::add_memory, .atomic = true, .a = results(f), .b = number(1), .index = 0});
    f.give();
    b.options = options_for(b.program);
    b.options.languages = languages;
  }

  Object object() {
    for (const std::string& mistake : ir::verify(b.program)) ADD_FAILURE() << mistake;
    auto object = emit(b.program, b.options);
    EXPECT_TRUE(object.ok()) << object.error().message;
    return std::move(*object);
  }

  // The walker is that of `other`; none: its own.
  void load(const CallCounter* other = nullptr) {
    Engine::Options options = {.emit = b.options};
    if (other) options.walker = other->b.engine->shared_walker();
    auto loaded = Engine::load(b.program, object(), options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    b.engine = std::move(*loaded);
    auto attached = b.engine->attach(0);
    ASSERT_TRUE(attached.ok()) << attached.error().message;
  }

  uint64_t calls() {
    auto entries = b.engine->read_map(0);
    uint64_t calls = 0;
    if (!entries.ok() || entries->empty()) return ADD_FAILURE() << "no result", 0;
    std::memcpy(&calls, entries->front().values.data(), sizeof calls);
    return calls;
  }
};

// Calls from another thread, until it is ended.
class Caller {
public:
  Caller() : thread_([this] { while (!ends_) (void)::syscall(SYS_getppid), calls_++; }) {}
  uint64_t end() {
    ends_ = true;
    thread_.join();
    return calls_;
  }
  void wait_for(uint64_t more) const {
    for (const uint64_t until = calls_ + more; calls_ < until;) ::usleep(100);
  }

private:
  std::atomic<bool> ends_ = false;
  std::atomic<uint64_t> calls_ = 0;
  std::thread thread_;
};

TEST(LanguageWalkers, AreLeftOutOfProgramsThatDoNotNeedThem) {
  NEEDS_BPF();
  if (!ir::knows_walking) GTEST_SKIP() << "stacks are not walked by tables on this architecture";
  CallCounter with(all_languages), without(no_languages);
  const Object all = with.object(), few = without.object();
  EXPECT_FALSE(all.programs[0].leaves_out_walkers);
  EXPECT_TRUE(few.programs[0].leaves_out_walkers);
  EXPECT_LT(few.programs[0].insns.size(), all.programs[0].insns.size());
  without.b.program.probes[0].context = probe::Context::none;
  EXPECT_FALSE(without.object().programs[0].leaves_out_walkers) << "what is run once cannot get them later";
}

TEST(LanguageWalkers, AreTriedOnce) {
  NEEDS_BPF();
  if (!ir::knows_walking) GTEST_SKIP() << "stacks are not walked by tables on this architecture";
  CallCounter counter(no_languages);
  counter.load();
  Walker& walker = *counter.b.engine->walker();
  int tries = 0;
  walker.add_user(&tries, [&](Languages) -> base::Status {
    tries++;
    return base::Error{base::Failure::runtime, "no room"};
  });
  const uint32_t kind = language_walkers[0].language;
  for (int n = 0; n < 3; n++) {
    const base::Status brought = walker.need_language(kind);
    ASSERT_FALSE(brought.ok());
    EXPECT_EQ(brought.error().message, "no room");
  }
  EXPECT_EQ(tries, 1);
  EXPECT_FALSE(walker.languages() & only(kind));
  walker.remove_user(&tries);
}

TEST(LanguageWalkers, EachCallIsCountedOnceWhileTheyAreBroughtIn) {
  NEEDS_BPF();
  if (!ir::knows_walking) GTEST_SKIP() << "stacks are not walked by tables on this architecture";
  CallCounter first(no_languages), second(no_languages);
  first.load();
  second.load(&first);
  Caller caller;
  Walker& walker = *first.b.engine->walker();
  for (const LanguageWalker& row : language_walkers) {
    caller.wait_for(1000);
    EXPECT_FALSE(walker.languages() & only(row.language));
    const base::Status brought = walker.need_language(row.language);
    ASSERT_TRUE(brought.ok()) << brought.error().message;
    EXPECT_TRUE(walker.languages() & only(row.language));
  }
  caller.wait_for(1000);
  const uint64_t calls = caller.end();
  for (CallCounter* c : {&first, &second}) {
    c->b.engine->detach();
    EXPECT_EQ(c->calls(), calls);
    EXPECT_EQ(c->b.engine->counters().missed_runs, 0u);
  }
}

TEST(LanguageWalkers, AProgramThatEndedIsNotLoadedAgain) {
  NEEDS_BPF();
  if (!ir::knows_walking) GTEST_SKIP() << "stacks are not walked by tables on this architecture";
  CallCounter first(no_languages);
  first.load();
  {
    CallCounter second(no_languages);
    second.load(&first);
  }
  EXPECT_TRUE(first.b.engine->walker()->need_language(LANGUAGE_JAVA).ok());
}

} // namespace
} // namespace bpf
