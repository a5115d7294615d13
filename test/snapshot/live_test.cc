// What is said of a live process that was stopped: its threads and functions as text, JSON and profile; and goroutines, of a program in C
// that has the variables of Go's runtime under their names.
#include "snapshot/goroutines.h"
#include "snapshot/profile.h"
#include "snapshot/summary.h"

#include "scratch.h"
#include "target/live_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <rapidjson/document.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace snapshot {
namespace {

constexpr uint64_t no_limit = 60'000'000'000; // ns

// A child that has written a byte, and waits; it is ended with this.
struct Child {
  pid_t pid = -1;
  int ready = -1;
  template<class Does> explicit Child(Does&& does) {
    int fds[2];
    EXPECT_EQ(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      does(fds[1]);
      _exit(1);
    }
    close(fds[1]);
    ready = fds[0];
  }
  Child(const Child&) = delete;
  ~Child() {
    close(ready);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  bool wait_for(size_t bytes) const {
    char c;
    while (bytes && read(ready, &c, 1) == 1) bytes--;
    return !bytes;
  }
};

extern "C" {
__attribute__((noinline)) void snapshot_test_waits(int fd) {
  (void)!write(fd, "x", 1);
  for (;;) pause();
}
__attribute__((noinline)) int snapshot_test_recurses(int fd, int depth) {
  if (depth > 0) return snapshot_test_recurses(fd, depth - 1) + 1;
  snapshot_test_waits(fd);
  return 0;
}
}

class LiveChild : public testing::Test {
protected:
  // Stops the child once that many of its threads wait.
  void stop(const Child& child, size_t threads) {
    ASSERT_TRUE(child.wait_for(threads));
    auto opened = target::open_live(child.pid, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    live = std::move(*opened);
    const base::Status stopped = live->freeze(no_limit);
    if (!stopped.ok()) GTEST_SKIP() << stopped.error().message;
  }
  std::string text(SummaryOptions options = {}) {
    target::Stacks stacks(*live);
    probe::StoppedProgram stopped(*live, stacks);
    return summarize(stopped, options);
  }
  rapidjson::Document json(SummaryOptions options = {}) {
    options.json = true;
    rapidjson::Document out;
    const std::string all = text(options);
    out.Parse(all.c_str());
    EXPECT_FALSE(out.HasParseError()) << all;
    return out;
  }
  std::unique_ptr<target::LiveTarget> live;
};

// Of each frame of a stack its function, or "…".
std::vector<std::string> functions_of(const rapidjson::Value& stack) {
  std::vector<std::string> out;
  for (const auto& f : stack["frames"].GetArray())
    out.emplace_back(f.HasMember("left_out") ? "…" : f.HasMember("function") ? f["function"].GetString() : "");
  return out;
}

TEST_F(LiveChild, its_stack_as_text_and_json) {
  Child child([](int fd) { snapshot_test_recurses(fd, 2); });
  stop(child, 1);
  if (!live) return;
  const std::string id = std::to_string(child.pid), out = text();
  EXPECT_TRUE(out.starts_with("process " + id + " `test_snapshot`, 1 thread\ncommand   ")) << out;
  EXPECT_NE(out.find("\nthread " + id + " (test_snapshot)\n   0  "), out.npos) << out;
  EXPECT_NE(out.find("  snapshot_test_waits+0x"), out.npos) << out;
  EXPECT_NE(out.find("\nmodules\n"), out.npos) << out;
  EXPECT_EQ(out.find("missing:"), out.npos) << out;
  EXPECT_EQ(out.find("incomplete"), out.npos) << out;
  const rapidjson::Document all = json();
  EXPECT_EQ(all["pid"].GetInt(), child.pid);
  EXPECT_FALSE(all.HasMember("signal"));
  ASSERT_EQ(all["stacks"].Size(), 1u);
  const std::vector<std::string> functions = functions_of(all["stacks"][0]);
  EXPECT_EQ(std::ranges::count(functions, "snapshot_test_recurses"), 3);
  EXPECT_EQ(std::ranges::count(functions, "snapshot_test_waits"), 1);
  EXPECT_EQ(std::ranges::count(functions, "main"), 1);
}

// What is read while it is stopped is in the copy; what is not asked for is not.
TEST_F(LiveChild, memory_that_is_looked_at_while_it_is_stopped) {
  static uint64_t far[2 << 15]; // half a MiB
  far[0] = 41, far[std::size(far) - 1] = 42;
  Child child([](int fd) { snapshot_test_waits(fd); });
  stop(child, 1);
  if (!live) return;
  const auto first = reinterpret_cast<uint64_t>(&far[0]), last = reinterpret_cast<uint64_t>(&far[std::size(far) - 1]);
  live->thaw();
  bool had_time = false;
  const auto look = [&](const target::LiveTarget::HasTime& has_time) {
    had_time = has_time();
    EXPECT_EQ(live->memory().word(last), 42u);
  };
  ASSERT_TRUE(live->freeze(no_limit, look).ok());
  EXPECT_TRUE(had_time);
  EXPECT_EQ(live->memory().word(last), 42u);
  EXPECT_FALSE(live->lacks_pieces());
  EXPECT_EQ(live->memory().word(first), std::nullopt);
  EXPECT_TRUE(live->lacks_pieces());
}

TEST_F(LiveChild, looking_ends_when_the_time_is_over) {
  Child child([](int fd) { snapshot_test_recurses(fd, 200); });
  stop(child, 1);
  if (!live) return;
  target::Stacks stacks(*live);
  const size_t frames = stacks.of(0).frames.size();
  EXPECT_GT(frames, 200u);
  int reads_left = 100;
  stacks.walk_again({}, [&] { return reads_left-- > 0; });
  EXPECT_LT(stacks.of(0).frames.size(), 110u);
  EXPECT_EQ(stacks.of(0).end, UNWIND_UNREADABLE);
  stacks.walk_again({}, [] { return true; });
  EXPECT_EQ(stacks.of(0).frames.size(), frames);
}

TEST_F(LiveChild, deep_recursion_is_cut_in_its_middle) {
  Child child([](int fd) { snapshot_test_recurses(fd, 500); });
  stop(child, 1);
  if (!live) return;
  const std::string cut = text({.most_frames = 60}), whole = text({.most_frames = 10'000});
  EXPECT_NE(cut.find(" frames omitted, all of snapshot_test_recurses\n"), cut.npos) << cut;
  EXPECT_EQ(whole.find("omitted"), whole.npos);
  const rapidjson::Document all = json({.most_frames = 60}), full = json({.most_frames = 10'000});
  const std::vector<std::string> functions = functions_of(all["stacks"][0]), every = functions_of(full["stacks"][0]);
  EXPECT_EQ(std::ranges::count(every, "snapshot_test_recurses"), 501);
  EXPECT_EQ(std::ranges::count(functions, "…"), 1);
  EXPECT_EQ(std::ranges::count(functions, "main"), 1) << "the outermost stay";
  size_t left_out = 0;
  for (const auto& f : all["stacks"][0]["frames"].GetArray()) left_out += f.HasMember("left_out") ? f["left_out"].GetUint64() : 0;
  EXPECT_EQ(functions.size() - 1 + left_out, every.size());
}

TEST_F(LiveChild, threads_with_one_stack_are_a_group_and_as_a_profile_samples) {
  Child child([](int fd) {
    const auto wait_in_thread = [fd](const char* name) {
      prctl(PR_SET_NAME, name);
      snapshot_test_waits(fd);
    };
    std::thread(wait_in_thread, "first").detach();
    std::thread(wait_in_thread, "second").detach();
    snapshot_test_recurses(fd, 1);
  });
  stop(child, 3);
  if (!live) return;
  // Whoever has only just written its byte has another innermost frame than whoever waits.
  const rapidjson::Document all = json();
  size_t threads = 0;
  for (const auto& s : all["stacks"].GetArray()) threads += s["threads"].Size();
  EXPECT_EQ(threads, 3u);
  const std::string out = text();
  EXPECT_NE(out.find(", 3 threads\n"), out.npos);
  EXPECT_NE(out.find("(first)"), out.npos) << out;
  EXPECT_NE(out.find("(second)"), out.npos) << out;

  target::Stacks stacks(*live);
  probe::StoppedProgram stopped(*live, stacks);
  const profile::Profile p = profile_of_stacks(stopped);
  EXPECT_EQ(p.about.samples, 3u);
  EXPECT_EQ(p.about.complete, 3u);
  EXPECT_EQ(p.total(), 3u);
  EXPECT_EQ(p.about.what, "process " + std::to_string(child.pid));
  std::vector<std::string> names;
  for (const auto& t : p.threads()) names.emplace_back(p.texts()[t.name]);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "second", "test_snapshot"}));
  const Scratch scratch;
  ASSERT_TRUE(write_stacks(stopped, scratch.path("stacks.folded")).ok());
  const std::string folded = scratch.read("stacks.folded");
  EXPECT_NE(folded.find("main;"), folded.npos) << folded;
  EXPECT_NE(folded.find("snapshot_test_recurses;snapshot_test_recurses;snapshot_test_waits;"), folded.npos) << folded;
}

TEST_F(LiveChild, a_process_that_has_ended_cannot_be_opened) {
  pid_t ended;
  {
    Child child([](int fd) { snapshot_test_waits(fd); });
    ended = child.pid;
  }
  EXPECT_FALSE(target::open_live(ended, {}).ok());
}

// ---- goroutines

constexpr const char* runtime_in_c = R"(
#include <unistd.h>
struct gobuf { unsigned long sp, pc, bp; };
struct runtime_g {
  struct gobuf sched;
  unsigned long syscallpc, syscallsp;
  unsigned atomicstatus;
  unsigned long goid;
  unsigned char waitreason;
};
__attribute__((noinline)) void parked(void) { __asm__ volatile("nop; nop; nop; nop"); }
__attribute__((noinline)) void in_call(void) { __asm__ volatile("nop; nop; nop; nop"); }
unsigned long stack[8];
#define PARKED .sched = {(unsigned long)stack, (unsigned long)parked + 1, 0}
struct runtime_g all[] = {
    {PARKED, .atomicstatus = 4, .goid = 1, .waitreason = 1},          /* waiting */
    {PARKED, .atomicstatus = 0x1004, .goid = 2, .waitreason = 1},     /* the same, while it is scanned */
    {PARKED, .atomicstatus = 1, .goid = 3},                           /* runnable */
    {PARKED, .atomicstatus = 2, .goid = 4},                           /* running */
    {PARKED, .syscallpc = (unsigned long)in_call + 1, .syscallsp = (unsigned long)stack, .atomicstatus = 3, .goid = 5},
    {PARKED, .atomicstatus = 6, .goid = 6},                           /* dead */
    {PARKED, .atomicstatus = 0, .goid = 7},                           /* idle */
    {PARKED, .atomicstatus = 77, .goid = 8},
    {PARKED, .atomicstatus = 4, .goid = 9, .waitreason = 2},          /* of a reason that is too long */
};
struct runtime_g* pointers[] = {all, all + 1, all + 2, (void*)16, all + 3, all + 4, all + 5, all + 6, all + 7, all + 8};
struct { struct runtime_g** first; long length, capacity; } goroutines __asm__("runtime.allgs") = {pointers, 10, 10};
struct { const char* text; long length; } reasons[] __asm__("runtime.waitReasonStrings") = {{"", 0}, {"chan receive", 12}, {"x", 1000}};
__attribute__((section(".go.buildinfo"), used)) char info[] = "made up";
int main(void) {
  write(1, "x", 1);
  for (;;) pause();
})";

class MadeUpGoroutines : public LiveChild {
protected:
  // With the names that C cannot have. `flags`: of the compiler; `edit`: of the assembler's text, by sed(1).
  void start(const std::string& flags, const std::string& edit = "") {
    scratch.write("go.c", runtime_in_c);
    if (!scratch.run("gcc -O1 -fomit-frame-pointer -no-pie " + flags + " -S go.c -o go.s && sed -i 's/runtime_g/runtime.g/;" + edit +
                     "' go.s && gcc -no-pie go.s -o go"))
      GTEST_SKIP() << "gcc: " << scratch.log();
    child.emplace([&](int fd) {
      dup2(fd, STDOUT_FILENO);
      execl(scratch.path("go").c_str(), "go", nullptr);
    });
    stop(*child, 1);
    if (live) live->thaw(); // it waits for ever: what is asked for now is as it was
  }
  Scratch scratch;
  std::optional<Child> child;
};

TEST_F(MadeUpGoroutines, are_found_with_their_states_and_stacks) {
  start("-g");
  if (!live) return;
  target::Stacks stacks(*live);
  probe::StoppedProgram stopped(*live, stacks);
  type::Table types;
  const auto found = find_goroutines(stopped, types);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->problem, "");
  EXPECT_EQ(found->unreadable, 1u);
  std::vector<std::pair<uint64_t, std::string>> states;
  for (const Goroutine& g : found->all) states.emplace_back(g.id, g.state);
  EXPECT_EQ(states, (std::vector<std::pair<uint64_t, std::string>>{{1, "waiting: chan receive"},
                                                                   {2, "waiting: chan receive"},
                                                                   {3, "runnable"},
                                                                   {4, "running"},
                                                                   {5, "in a system call"},
                                                                   {8, "in state 77"},
                                                                   {9, "waiting"}}));
  for (const Goroutine& g : found->all) EXPECT_EQ(g.walk.frames.empty(), g.state == "running") << g.id;
}

TEST_F(MadeUpGoroutines, are_part_of_the_summary) {
  start("-g");
  if (!live) return;
  const std::string out = text();
  EXPECT_NE(out.find("\n1 goroutine could not be read (memory not mapped)\n"), out.npos) << out;
  EXPECT_NE(out.find("\n2 goroutines 1, 2: waiting: chan receive\n   0  parked+0x1"), out.npos) << out;
  EXPECT_NE(out.find("\ngoroutine 5: in a system call\n   0  in_call+0x1"), out.npos) << out;
  const rapidjson::Document all = json();
  EXPECT_EQ(all["goroutines_unreadable"].GetUint64(), 1u);
  EXPECT_FALSE(all.HasMember("goroutines_not_known"));
  ASSERT_EQ(all["goroutines"].Size(), 6u);
  EXPECT_STREQ(all["goroutines"][0]["state"].GetString(), "waiting: chan receive"); // those that are most first
  EXPECT_EQ(all["goroutines"][0]["ids"].Size(), 2u);
  EXPECT_EQ(functions_of(all["goroutines"][0]).front(), "parked");
}

TEST_F(MadeUpGoroutines, are_not_known_without_debug_information) {
  start("-g0");
  if (!live) return;
  EXPECT_NE(text().find("\ngoroutines not available: the program has no debug information"), std::string::npos) << text();
  EXPECT_STREQ(json()["goroutines_not_known"].GetString(), "the program has no debug information (it was linked with -w or stripped)");
}

TEST_F(MadeUpGoroutines, are_not_known_without_the_list_of_the_runtime) {
  start("-g", "s/runtime.allgs/runtime.others/");
  if (!live) return;
  EXPECT_STREQ(json()["goroutines_not_known"].GetString(), "the debug information lacks the runtime's types or its list of goroutines");
}

TEST_F(MadeUpGoroutines, are_not_known_without_the_types_of_the_runtime) {
  start("-g", "s/goid/gone/");
  if (!live) return;
  EXPECT_NE(text().find("\ngoroutines not available: the debug information lacks the runtime's types"), std::string::npos);
}

TEST_F(LiveChild, programs_of_other_languages_have_no_goroutines) {
  Child child([](int fd) { snapshot_test_waits(fd); });
  stop(child, 1);
  if (!live) return;
  target::Stacks stacks(*live);
  probe::StoppedProgram stopped(*live, stacks);
  type::Table types;
  EXPECT_FALSE(find_goroutines(stopped, types).has_value());
  EXPECT_FALSE(json().HasMember("goroutines"));
}

} // namespace
} // namespace snapshot
