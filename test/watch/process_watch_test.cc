// Processes that fork, execute programs, map files and end while they are watched.
#include "watch/process_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace watch {
namespace {

using symbol::ProcessEvent;
using Kind = ProcessEvent::Kind;

struct Recorder : ProcessWatch::Follower {
  std::vector<ProcessEvent> events;
  size_t settled = 0;
  bool has_work = false;

  void take(const ProcessEvent& event) override { events.push_back(event); }
  void settle() override { settled++; }
  bool work() override { return has_work; }

  std::vector<ProcessEvent> of(pid_t pid) const {
    std::vector<ProcessEvent> out;
    std::ranges::copy_if(events, std::back_inserter(out), [&](const ProcessEvent& e) { return e.pid == static_cast<uint32_t>(pid); });
    return out;
  }
  // Kinds in their order; mappings of one program or library after the other count once.
  std::vector<Kind> kinds(pid_t pid) const {
    std::vector<Kind> out;
    for (const ProcessEvent& e : of(pid))
      if (out.empty() || out.back() != e.kind) out.push_back(e.kind);
    return out;
  }
  bool maps(pid_t pid, std::string_view end_of_path) const {
    return std::ranges::any_of(of(pid), [&](const ProcessEvent& e) { return e.kind == Kind::mapping && e.path.ends_with(end_of_path); });
  }
};

class ProcessWatching : public testing::Test {
protected:
  void SetUp() override {
    if (!watch.problem().empty()) GTEST_SKIP() << watch.problem();
    watch.add_follower(&recorder);
  }
  // A process that does this and has ended.
  static pid_t child(const std::function<void()>& does) {
    const pid_t pid = fork();
    if (pid == 0) does(), _exit(0);
    int status = 0;
    waitpid(pid, &status, 0);
    return pid;
  }
  static void execute_true() { execl("/bin/true", "true", nullptr); }

  symbol::UserSymbols users;
  ProcessWatch watch{users};
  Recorder recorder;
};

TEST_F(ProcessWatching, child_that_only_ends) {
  const pid_t pid = child([] {});
  EXPECT_GT(watch.drain(), 0u);
  EXPECT_EQ(recorder.kinds(pid), (std::vector{Kind::fork, Kind::exit}));
  EXPECT_EQ(recorder.of(pid)[0].parent, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(recorder.settled, 1u);
}

TEST_F(ProcessWatching, child_that_executes_a_program) {
  const pid_t pid = child(execute_true);
  watch.drain();
  EXPECT_EQ(recorder.kinds(pid), (std::vector{Kind::fork, Kind::exec, Kind::mapping, Kind::exit}));
  EXPECT_TRUE(recorder.maps(pid, "/true"));
  EXPECT_TRUE(recorder.maps(pid, "libc.so.6"));
}

TEST_F(ProcessWatching, mapped_files_are_known_by_what_they_are) {
  const pid_t pid = child(execute_true);
  watch.drain();
  size_t files = 0;
  for (const ProcessEvent& e : recorder.of(pid))
    if (e.kind == Kind::mapping && e.path.starts_with("/")) {
      files++;
      EXPECT_TRUE(e.file.is_known()) << e.path;
      EXPECT_LT(e.begin, e.end) << e.path;
      EXPECT_EQ(e.begin % 4096, 0u) << e.path;
    }
  EXPECT_GE(files, 3u); // the program, its loader, libc
}

TEST_F(ProcessWatching, only_memory_that_may_be_executed_is_told) {
  const std::string path = "/proc/self/exe";
  const pid_t pid = child([&] {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    mmap(nullptr, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
  });
  watch.drain();
  EXPECT_EQ(recorder.kinds(pid), (std::vector{Kind::fork, Kind::mapping, Kind::exit}));
  const auto events = recorder.of(pid);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].end - events[1].begin, 8192u);
  EXPECT_EQ(events[1].offset, 4096u);
}

TEST_F(ProcessWatching, events_are_in_the_order_of_time) {
  for (int n = 0; n < 20; n++) child(execute_true);
  watch.drain();
  EXPECT_TRUE(std::ranges::is_sorted(recorder.events, {}, &ProcessEvent::time));
}

TEST_F(ProcessWatching, nothing_is_told_twice) {
  const pid_t pid = child(execute_true);
  watch.drain();
  const size_t before = recorder.of(pid).size();
  watch.drain();
  EXPECT_EQ(recorder.of(pid).size(), before);
}

TEST_F(ProcessWatching, only_one_family) {
  watch.only(getpid());
  pid_t grandchild = 0;
  int pipe_of[2];
  ASSERT_EQ(pipe(pipe_of), 0);
  const pid_t pid = child([&] {
    const pid_t inner = child(execute_true);
    (void)!write(pipe_of[1], &inner, sizeof inner);
  });
  ASSERT_EQ(read(pipe_of[0], &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
  close(pipe_of[0]);
  close(pipe_of[1]);
  watch.drain();
  EXPECT_EQ(recorder.kinds(pid), (std::vector{Kind::fork, Kind::exit}));
  EXPECT_TRUE(recorder.maps(grandchild, "/true"));
  EXPECT_EQ(watch.only(), static_cast<uint32_t>(getpid()));
}

TEST_F(ProcessWatching, others_than_the_family_are_left_out) {
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) + pipe(go), 0);
  const pid_t other = fork(); // its children are the ones that nobody asked for
  if (other == 0) {
    char c = 0;
    (void)!read(go[0], &c, 1);
    const pid_t inner = child(execute_true);
    (void)!write(ready[1], &inner, sizeof inner);
    _exit(0);
  }
  watch.drain();
  const pid_t wanted = fork();
  if (wanted == 0) {
    char c = 0;
    (void)!read(go[0], &c, 1);
    _exit(0);
  }
  watch.only(wanted);
  recorder.events.clear();
  (void)!write(go[1], "gg", 2);
  pid_t inner = 0;
  ASSERT_EQ(read(ready[0], &inner, sizeof inner), ssize_t{sizeof inner});
  waitpid(other, nullptr, 0);
  waitpid(wanted, nullptr, 0);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
  watch.drain();
  EXPECT_TRUE(recorder.of(inner).empty());
  EXPECT_TRUE(recorder.of(other).empty());
  EXPECT_EQ(recorder.kinds(wanted).back(), Kind::exit);
  watch.all();
  EXPECT_FALSE(watch.only().has_value());
  const pid_t later = child([] {});
  watch.drain();
  EXPECT_EQ(recorder.kinds(later), (std::vector{Kind::fork, Kind::exit}));
}

TEST_F(ProcessWatching, work_of_the_follower_comes_first) {
  recorder.has_work = true;
  EXPECT_TRUE(watch.work());
}

TEST_F(ProcessWatching, is_readable_when_something_happened) {
  watch.drain();
  ASSERT_GE(watch.wait_fd(), 0);
  child(execute_true);
  EXPECT_GT(watch.drain(), 0u);
  EXPECT_NE(watch.describe().find(" events, 0 lost"), std::string::npos) << watch.describe();
}

} // namespace
} // namespace watch
