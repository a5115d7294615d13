// Which processes the walker of the kernel has tables of, while processes fork, execute programs, load libraries and end. No probe is
// attached: whether the stacks are right is tested in test/stacks.
#include "watch/unwinding.h"

#include "bpf/engine.h"
#include "bpf/features.h"
#include "bpf/object.h"
#include "ir/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <functional>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace watch {
namespace {

// A process that says that it is ready, and then waits; it is ended with this.
class Child {
public:
  explicit Child(const std::function<void()>& does) {
    EXPECT_EQ(pipe(ready_) + pipe(go_), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(go_[0], STDIN_FILENO), dup2(ready_[1], STDOUT_FILENO);
      for (const int fd : {ready_[0], ready_[1], go_[0], go_[1]}) close(fd);
      does();
      echo();
      _exit(0);
    }
    close(ready_[1]), close(go_[0]);
    step();
  }
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) end();
    close(ready_[0]), close(go_[1]);
  }
  // Like cat(1): what comes of it is known to be behind all that it did before.
  static void echo() {
    for (char c; read(STDIN_FILENO, &c, 1) == 1;)
      if (write(STDOUT_FILENO, &c, 1) != 1) return;
  }
  void step() {
    char c = 'x';
    ASSERT_EQ(write(go_[1], &c, 1), 1);
    ASSERT_EQ(read(ready_[0], &c, 1), 1);
  }
  void end() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    ended_ = std::exchange(pid_, -1);
  }
  uint32_t id() const { return static_cast<uint32_t>(pid_ > 0 ? pid_ : ended_); }

private:
  pid_t pid_ = -1, ended_ = -1;
  int ready_[2] = {-1, -1}, go_[2] = {-1, -1};
};

void wait_only() {}
void become_python() { execl("/usr/bin/python3", "python3", "-c", "import os\nwhile os.read(0, 1): os.write(1, b'x')", nullptr); }
void become_cat() { execl("/bin/cat", "cat", nullptr); }

class UnwindingProcesses : public testing::Test {
protected:
  void SetUp() override {
    if (!ir::knows_walking) GTEST_SKIP() << "stacks are not walked by tables on this architecture";
    const ir::R process = b.query(ir::Query::pid_tgid);
    b.value(ir::Op::stack, process);
    b.last().index = ir::walked_stack, b.last().imm2 = 127;
    b.give_back();
    b.program.uses_stacks = b.program.walks_stacks = true;
    b.program.events.push_back({.kind = probe::Kind::rawtracepoint, .name = "rawtracepoint:sys_enter", .event = "sys_enter"});
    b.program.probes[b.probe()].context = probe::Context::raw_tracepoint;
    b.program.probes[0].events = {0};
    ASSERT_EQ(ir::verify(b.program), std::vector<std::string>{});
    auto object = bpf::emit(b.program, bpf::options_for(b.program, bpf::features(), {}));
    ASSERT_TRUE(object.ok()) << object.error().message;
    auto loaded = bpf::Engine::load(b.program, *object, {});
    const auto refuses = {base::Failure::permission, base::Failure::unsupported};
    if (!loaded.ok() && std::ranges::count(refuses, loaded.error().kind)) GTEST_SKIP() << loaded.error().message;
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    engine = std::move(*loaded);
    ASSERT_NE(engine->walker(), nullptr);
    watch.emplace(users);
    if (!watch->problem().empty()) GTEST_SKIP() << watch->problem();
  }
  void TearDown() override { unwinding.reset(); }
  void start() { unwinding.emplace(*engine->walker(), users, codes, *watch, machine); }
  // What other processes of the host do is not counted.
  void start_for_family() {
    watch->only(getpid());
    start();
  }
  bool knows(uint32_t pid) const { return engine->walker()->tables().has_process(pid); }
  bool knows(const Child& child) const { return knows(child.id()); }
  uint64_t files() const { return number_before(" files, "); }
  uint64_t processes() const { return number_before(" processes"); }
  uint64_t number_before(const std::string& word) const {
    const std::string text = unwinding->describe();
    const size_t end = text.rfind(word), begin = text.rfind(' ', end - 1) + 1;
    return std::stoull(text.substr(begin, end - begin));
  }

  ir::Builder b;
  type::Table types;
  probe::Machine machine{types};
  std::unique_ptr<bpf::Engine> engine;
  symbol::UserSymbols users;
  runtime::CodeNames codes;
  std::optional<ProcessWatch> watch;
  std::optional<Unwinding> unwinding;
};

const uint32_t self = static_cast<uint32_t>(getpid());

TEST_F(UnwindingProcesses, this_process_is_known_from_the_start) {
  EXPECT_FALSE(knows(self));
  start();
  EXPECT_TRUE(knows(self));
  EXPECT_GE(files(), 2u); // this program and libc
  EXPECT_EQ(unwinding->counts().all(), 0u);
  EXPECT_TRUE(unwinding->describe().starts_with("user stacks: 0, complete 100.00%, unwound outside the kernel 0\nunwind tables: "));
}

TEST_F(UnwindingProcesses, a_child_has_the_files_of_its_parent_until_it_ends) {
  start_for_family();
  const uint64_t before = files();
  Child child(wait_only);
  watch->drain();
  EXPECT_TRUE(knows(child));
  EXPECT_EQ(files(), before);
  child.end();
  watch->drain();
  EXPECT_FALSE(knows(child));
  EXPECT_TRUE(knows(self));
}

TEST_F(UnwindingProcesses, a_child_that_executes_a_program_has_the_files_of_that) {
  start_for_family();
  const uint64_t before = files();
  Child child(become_cat);
  watch->drain();
  EXPECT_TRUE(knows(child));
  EXPECT_GT(files(), before);
  Child second(become_cat);
  const uint64_t with_cat = files();
  watch->drain();
  EXPECT_TRUE(knows(second));
  EXPECT_EQ(files(), with_cat) << "one file has its tables once";
}

TEST_F(UnwindingProcesses, libraries_that_are_loaded_later_are_told) {
  constexpr const char* library = "libresolv.so.2";
  if (dlopen(library, RTLD_NOW | RTLD_NOLOAD)) GTEST_SKIP() << library << " is part of this program";
  start_for_family();
  const uint64_t before = files();
  Child child([] { (void)dlopen(library, RTLD_NOW); });
  watch->drain();
  EXPECT_TRUE(knows(child));
  EXPECT_EQ(files(), before + 1);
}

TEST_F(UnwindingProcesses, what_ran_before_is_looked_at_when_there_is_time) {
  Child child(become_cat);
  start();
  for (int turn = 0; turn < 100'000 && unwinding->work(); turn++) {}
  EXPECT_TRUE(knows(child));
  EXPECT_FALSE(unwinding->work()) << "all have been looked at";
  EXPECT_GE(processes(), 2u);
}

TEST_F(UnwindingProcesses, only_one_process_is_looked_at_where_one_was_asked_for) {
  Child wanted(become_cat), other(become_cat);
  watch->only(static_cast<pid_t>(wanted.id()));
  start();
  for (int turn = 0; turn < 100'000 && unwinding->work(); turn++) {}
  EXPECT_TRUE(knows(wanted));
  EXPECT_FALSE(knows(other));
  EXPECT_FALSE(knows(self));
  EXPECT_EQ(processes(), 1u);
}

// Measurements that share it come and go.
TEST_F(UnwindingProcesses, tables_outlive_the_engine_that_brought_them) {
  const std::shared_ptr<bpf::SharedWalker> shared = engine->shared_walker();
  start_for_family();
  engine.reset();
  std::vector<base::Fd> others; // take the numbers of its descriptors
  while (others.size() < 200) others.emplace_back(memfd_create("other", MFD_CLOEXEC));
  EXPECT_TRUE(shared->walker->tables().has_process(self));
  Child child(wait_only);
  watch->drain();
  EXPECT_TRUE(shared->walker->tables().has_process(child.id()));
  EXPECT_EQ(shared->walker->counts().all(), 0u);
  unwinding.reset();
}

TEST_F(UnwindingProcesses, runtimes_are_told_to_all_who_ask_while_they_do) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/python3";
  start_for_family();
  std::set<uint32_t> first, second;
  unwinding->tell_runtimes(&first, [&](uint32_t pid, const language_table&) { first.insert(pid); });
  Child child(become_python);
  watch->drain();
  EXPECT_EQ(first, std::set{child.id()});
  unwinding->tell_runtimes(&second, [&](uint32_t pid, const language_table&) { second.insert(pid); });
  EXPECT_EQ(second, std::set{child.id()}) << "it is known already";
  unwinding->tell_runtimes(&first, {});
  Child other(become_python);
  watch->drain();
  EXPECT_EQ(first, std::set{child.id()}) << "it was told though nobody asked any more";
  EXPECT_EQ(second, (std::set{child.id(), other.id()}));
}

TEST_F(UnwindingProcesses, events_of_processes_that_nobody_knows_do_no_harm) {
  start_for_family();
  const uint64_t before = processes();
  constexpr uint32_t nobody = 0x7ffffff0; // above the largest id that Linux gives
  using Kind = symbol::ProcessEvent::Kind;
  for (const Kind kind : {Kind::exec, Kind::exit, Kind::mapping, Kind::lost}) {
    unwinding->take({.kind = kind, .pid = nobody});
    unwinding->settle();
  }
  unwinding->take({.kind = Kind::fork, .pid = nobody, .parent = nobody - 1});
  unwinding->settle();
  EXPECT_FALSE(knows(nobody));
  EXPECT_EQ(processes(), before);
}

TEST_F(UnwindingProcesses, a_thread_is_no_process) {
  start_for_family();
  const uint64_t before = processes();
  unwinding->take({.kind = symbol::ProcessEvent::Kind::fork, .pid = self, .parent = self});
  EXPECT_EQ(processes(), before);
}

TEST_F(UnwindingProcesses, processes_may_come_and_go_when_nobody_unwinds_any_more) {
  start_for_family();
  unwinding.reset();
  Child child(wait_only);
  watch->drain();
  EXPECT_FALSE(knows(child));
  start_for_family();
  EXPECT_TRUE(knows(self));
}

} // namespace
} // namespace watch
