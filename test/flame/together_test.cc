// Several measurements at once in one process: each counts what it counts alone, and they share the tables that user stacks are walked
// by. Needs the kernel.
#include "base/clock.h"
#include "flame/script.h"
#include "session/runner.h"
#include "session/script_maps.h"
#include "session/stack_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
// Probed by their names.
[[gnu::noinline]] void together_wait() {
  const timespec pause = {0, 3'000'000};
  ::nanosleep(&pause, nullptr);
  asm volatile("");
}
[[gnu::noinline]] void together_burn() {
  for (int i = 0; i < 2'000'000; i++) asm volatile("");
}
}

namespace {

constexpr double around = 10; // turns while probes are attached and detached
constexpr uint64_t calls_in_turn = 50, run_ns = 1'000'000'000, hz = 499;

// A process that burns CPU time, waits, and makes calls, turn by turn.
class Load {
public:
  Load() : turns_(static_cast<std::atomic<uint64_t>*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (;; ++*turns_) {
      together_burn();
      together_wait();
      for (uint64_t i = 0; i < calls_in_turn; i++) ::syscall(SYS_getppid);
    }
  }
  ~Load() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(turns_, 4096);
  }
  pid_t pid() const { return pid_; }
  double turns() const { return static_cast<double>(turns_->load()); }
  double cpu_ns() const {
    clockid_t clock;
    timespec t = {};
    if (::clock_getcpuclockid(pid_, &clock) == 0) ::clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  }

private:
  std::atomic<uint64_t>* turns_;
  pid_t pid_ = -1;
};

session::TargetFilter only(const Load& load) { return {.pid = load.pid(), .pids = {load.pid()}}; }

session::Measurement cpu_samples(const Load& load) {
  const spec::ProfileKind* kind = spec::find_profile_kind("cpu");
  return {.aim = "record",
          .script = flame::make_sampling_script(*kind, only(load), hz, false, 0)->script,
          .filter = only(load),
          .follows_processes = true,
          .records_may_wait = true};
}

session::Measurement waits_of_function(const Load& load) {
  session::BuiltinScript script;
  script.name = "waits";
  static const std::string text = "uprobe:\"/proc/self/exe\":\"together_wait\" { @since[tid] = nsecs; @from[ustack] = count(); }\n"
                                  "uretprobe:\"/proc/self/exe\":\"together_wait\" /@since[tid]/ { @waits[(int64)1] = stats(nsecs - @since[tid]); }\n";
  script.text = text;
  return {.aim = "follow that", .script = script, .filter = only(load), .functions_of = load.pid(), .follows_processes = true};
}

session::Measurement system_calls(const Load& load) {
  session::BuiltinScript script("trace_counts");
  script.set_whose({.text = "pid == " + std::to_string(load.pid())}, {}, 0);
  return {.aim = "trace", .script = script, .filter = only(load)};
}

// What one of them found, against what the load did meanwhile.
struct Found {
  double cpu = 0;   // time by samples / CPU time
  double waits = 0; // waits / turns
  double calls = 0; // calls of getppid / calls made
};

double sum_of(session::Runner& runner, std::string_view map, int64_t key = -1) {
  auto entries = runner.read(map);
  double sum = 0;
  for (const ir::Entry& e : *entries) {
    int64_t number = 0;
    std::memcpy(&number, e.key.data(), std::min(e.key.size(), sizeof number));
    if (key >= 0 && number != key) continue;
    profile::RawSample values;
    session::add_values(runner.program().maps[*session::find_map(runner.program(), map)], e, values);
    sum += static_cast<double>(values.count);
  }
  return sum;
}

class Together : public testing::Test {
protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to load programs into the kernel";
  }

  // Ready to start.
  static std::unique_ptr<session::Runner> ready(session::Measurement what, std::shared_ptr<session::Shared> shared = std::make_shared<session::Shared>(),
                                                session::Runner::Take take = {}) {
    auto runner = std::make_unique<session::Runner>(std::move(what), std::move(take), std::move(shared));
    base::Status status = runner->compile();
    if (status.ok()) status = runner->load({});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    return runner;
  }

  // What the load did while one of them was attached.
  struct Ran {
    double turns = 0, cpu_ns = 0;
  };
  // All of them for a second.
  std::vector<Ran> run(const std::vector<session::Runner*>& runners) {
    std::vector<session::Regular> ends(runners.size());
    std::vector<Ran> out(runners.size());
    for (size_t i = 0; i < runners.size(); i++) {
      ends[i].tick = [] { return false; };
      ends[i].end = [&, i] { out[i] = {load_.turns() - out[i].turns, load_.cpu_ns() - out[i].cpu_ns}; };
      const base::Status status = runners[i]->start(output_, {&ends[i]});
      EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
      out[i] = {load_.turns(), load_.cpu_ns()};
    }
    for (session::Regular& r : ends) r.next_ns = base::clock_ns() + run_ns;
    session::Runner::run(runners);
    for (session::Runner* r : runners) EXPECT_TRUE(r->outcome().ok());
    return out;
  }

  Load load_;
  session::Output output_{STDERR_FILENO, session::Buffering::full, false};
};

TEST_F(Together, ThreeCountWhatEachCountsAlone) {
  auto shares = [](session::Runner& cpu, session::Runner& waits, session::Runner& calls, const Ran& c, const Ran& w, const Ran& s) {
    return Found{sum_of(cpu, "") * 1e9 / hz / c.cpu_ns, sum_of(waits, "waits") / w.turns, sum_of(calls, "calls", SYS_getppid) / (s.turns * calls_in_turn)};
  };
  Found alone;
  {
    auto cpu = ready(cpu_samples(load_)), waits = ready(waits_of_function(load_)), calls = ready(system_calls(load_));
    const Ran c = run({cpu.get()}).front(), w = run({waits.get()}).front(), s = run({calls.get()}).front();
    alone = shares(*cpu, *waits, *calls, c, w, s);
  }
  auto shared = std::make_shared<session::Shared>();
  auto cpu = ready(cpu_samples(load_), shared);
  auto waits = ready(waits_of_function(load_), shared);
  auto calls = ready(system_calls(load_), shared);
  const std::vector<Ran> ran = run({cpu.get(), waits.get(), calls.get()});
  const Found together = shares(*cpu, *waits, *calls, ran[0], ran[1], ran[2]);

  // Counted: the same but for the turns while probes are attached and detached. Sampled: some hundred samples, whose clock may beat with the turns.
  ASSERT_GT(ran[1].turns, 40);
  const double ends = around / ran[1].turns;
  EXPECT_NEAR(together.waits, 1, ends);
  EXPECT_NEAR(together.waits, alone.waits, 2 * ends);
  EXPECT_NEAR(together.calls, 1, ends);
  EXPECT_NEAR(together.calls, alone.calls, 2 * ends);
  EXPECT_NEAR(together.cpu, alone.cpu, 0.5);
  EXPECT_NEAR(together.cpu, 1, 0.5);

  // Both walk user stacks, by one set of tables.
  ASSERT_TRUE(shared->unwinding());
  EXPECT_EQ(cpu->backend().walker(), shared->walker()->walker.get());
  EXPECT_EQ(waits->backend().walker(), shared->walker()->walker.get());
  EXPECT_GT(shared->unwinding()->counts().complete(), 0u);
  auto from = waits->read("from");
  ASSERT_TRUE(from.ok());
  ASSERT_EQ(from->size(), 1u);
}

TEST_F(Together, TwoOnTheSameProbe) {
  auto shared = std::make_shared<session::Shared>();
  auto one = ready(waits_of_function(load_), shared), two = ready(waits_of_function(load_), shared);
  const std::vector<Ran> ran = run({one.get(), two.get()});
  EXPECT_NEAR(sum_of(*one, "waits"), ran[0].turns, around);
  EXPECT_NEAR(sum_of(*two, "waits"), ran[1].turns, around);
}

TEST_F(Together, OneIsCancelledWhileItAttaches) {
  auto shared = std::make_shared<session::Shared>();
  session::Measurement what = waits_of_function(load_);
  static const std::string text = "begin { print((int64)1) }\n" + std::string(what.script.text);
  what.script.text = text;
  session::Runner* cancelled = nullptr;
  auto one = ready(std::move(what), shared, [&](const type::Type&, std::span<const std::byte>) { cancelled->stop(); });
  cancelled = one.get();
  auto other = ready(system_calls(load_), shared);
  const std::vector<Ran> ran = run({one.get(), other.get()});
  EXPECT_EQ(sum_of(*one, "waits"), 0);
  EXPECT_NEAR(sum_of(*other, "calls", SYS_getppid), ran[1].turns * calls_in_turn, around * calls_in_turn);
}

TEST_F(Together, OneFailsAndTheOtherGoesOn) {
  auto shared = std::make_shared<session::Shared>();
  auto one = ready(waits_of_function(load_), shared), other = ready(system_calls(load_), shared);
  session::Regular fails, ends;
  fails.tick = []() -> base::Result<bool> { return base::Error{base::Failure::runtime, "no more"}; };
  ends.tick = [] { return false; };
  ASSERT_TRUE(one->start(output_, {&fails}).ok());
  ASSERT_TRUE(other->start(output_, {&ends}).ok());
  const double before = load_.turns();
  fails.next_ns = base::clock_ns() + run_ns / 10;
  ends.next_ns = base::clock_ns() + run_ns;
  session::Runner* both[] = {one.get(), other.get()};
  session::Runner::run(both);
  const double turns = load_.turns() - before;
  ASSERT_FALSE(one->outcome().ok());
  EXPECT_EQ(one->outcome().error().message, "no more");
  EXPECT_TRUE(other->outcome().ok());
  EXPECT_LT(one->detached_ns(), other->detached_ns() - run_ns / 2);
  EXPECT_NEAR(sum_of(*other, "calls", SYS_getppid), turns * calls_in_turn, around * calls_in_turn);
}

} // namespace
