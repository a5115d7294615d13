// Records of what processes do, as the kernel writes them: made by hand, cut, and those of a process of ours.
#include "symbol/process_events.h"

#include "symbol/jit_code.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace symbol {
namespace {

using Kind = ProcessEvent::Kind;

// Bytes of a record: header, numbers, and a text padded to 8.
struct Record {
  std::vector<std::byte> bytes = std::vector<std::byte>(8);
  template<class T> Record& add(T value) {
    auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof value);
    return *this;
  }
  Record& text(std::string_view text) {
    for (char c : text) bytes.push_back(std::byte(c));
    do bytes.push_back({});
    while (bytes.size() % 8);
    return *this;
  }
  std::vector<std::byte> done(uint32_t type, uint16_t misc, uint64_t time) {
    add(time);
    perf_event_header header = {.type = type, .misc = misc, .size = static_cast<uint16_t>(bytes.size())};
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }
};

std::vector<std::byte> mapping(bool with_build_id) {
  Record r;
  r.add<uint32_t>(7).add<uint32_t>(8).add<uint64_t>(0x1000).add<uint64_t>(0x2000).add<uint64_t>(0x300);
  if (with_build_id)
    r.add<uint32_t>(4).add<uint32_t>(0x04030201).add<uint64_t>(0).add<uint64_t>(0);
  else
    r.add<uint32_t>(8).add<uint32_t>(1).add<uint64_t>(1443).add<uint64_t>(5);
  r.add<uint32_t>(5).add<uint32_t>(2).text("/usr/bin/true");
  return r.done(PERF_RECORD_MMAP2, with_build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0, 99);
}

TEST(ProcessEvent, Mappings) {
  ProcessEvent e = parse_process_event(mapping(false));
  ASSERT_EQ(e.kind, Kind::mapping);
  EXPECT_EQ(e.pid, 7u);
  EXPECT_EQ(e.begin, 0x1000u);
  EXPECT_EQ(e.end, 0x3000u);
  EXPECT_EQ(e.offset, 0x300u);
  EXPECT_EQ(e.path, "/usr/bin/true");
  EXPECT_EQ(e.time, 99u);
  EXPECT_EQ(e.file.inode, 1443u);
  EXPECT_EQ(e.file.generation, 5u);
  EXPECT_EQ(e.file.device, makedev(8, 1));
  e = parse_process_event(mapping(true));
  ASSERT_EQ(e.file.build_id_size, 4u);
  EXPECT_EQ(e.file.build_id[3], std::byte(4));
  EXPECT_EQ(e.file.inode, 0u);
}

TEST(ProcessEvent, Tasks) {
  auto task = [](uint32_t type, uint32_t pid, uint32_t tid) {
    return parse_process_event(
        Record().add(pid).add<uint32_t>(3).add(tid).add<uint32_t>(3).add<uint64_t>(98).done(type, 0, 99));
  };
  ProcessEvent e = task(PERF_RECORD_FORK, 9, 9);
  EXPECT_EQ(e.kind, Kind::fork);
  EXPECT_EQ(e.pid, 9u);
  EXPECT_EQ(e.parent, 3u);
  EXPECT_EQ(task(PERF_RECORD_EXIT, 9, 9).kind, Kind::exit);
  EXPECT_EQ(task(PERF_RECORD_FORK, 9, 10).kind, Kind::none); // a thread
  EXPECT_EQ(task(PERF_RECORD_EXIT, 9, 10).kind, Kind::none);
}

TEST(ProcessEvent, NamesAndLosses) {
  auto comm = [](uint16_t misc) {
    return parse_process_event(
        Record().add<uint32_t>(9).add<uint32_t>(9).text("true").done(PERF_RECORD_COMM, misc, 1));
  };
  EXPECT_EQ(comm(PERF_RECORD_MISC_COMM_EXEC).kind, Kind::exec);
  EXPECT_EQ(comm(0).kind, Kind::none);
  ProcessEvent e =
      parse_process_event(Record().add<uint64_t>(1).add<uint64_t>(12).done(PERF_RECORD_LOST, 0, 1));
  EXPECT_EQ(e.kind, Kind::lost);
  EXPECT_EQ(e.lost, 12u);
}

// Whatever is missing, nothing is read behind the end: each cut record stands at the end of its own memory.
TEST(ProcessEvent, CutRecords) {
  for (bool with_build_id : {false, true}) {
    std::vector<std::byte> whole = mapping(with_build_id);
    for (size_t size = 0; size < whole.size(); size++) {
      std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_EQ(parse_process_event(cut).kind, Kind::none); // the header tells another size
      if (size < 8) continue;
      auto claimed = static_cast<uint16_t>(size);
      std::memcpy(cut.data() + 6, &claimed, sizeof claimed);
      (void)parse_process_event(cut);
    }
  }
}

TEST(ProcessEvents, OfAChild) {
  int cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<int> all;
  for (int cpu = 0; cpu < cpus; cpu++) all.push_back(cpu);
  auto events = ProcessEvents::open(all);
  if (!events.ok()) GTEST_SKIP() << events.error().message;
  pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  ::waitpid(child, nullptr, 0);
  std::string seen;
  uint64_t last = 0;
  bool has_identity = false;
  for (int turn = 0; turn < 100 && seen.find("exit") == seen.npos; turn++) {
    (*events)->drain([&](const ProcessEvent& e) {
      EXPECT_GE(e.time, last);
      last = e.time;
      if (e.pid != static_cast<uint32_t>(child)) return;
      if (e.kind == Kind::fork) seen += "fork ";
      if (e.kind == Kind::exec) seen += "exec ";
      if (e.kind == Kind::exit) seen += "exit ";
      if (e.kind == Kind::mapping && e.path.find("/true") != e.path.npos) {
        seen += "true ";
        has_identity |= e.file.is_known();
      }
      if (e.kind == Kind::mapping && e.path.find("libc.so") != e.path.npos) seen += "libc ";
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(seen, "fork exec true libc exit ");
  EXPECT_TRUE(has_identity);
}

// ---- files of JIT code

class InRoot : public testing::Test {
protected:
  std::string folder;
  int root = -1;
  void SetUp() override {
    char name[] = "/tmp/acu-root-XXXXXX";
    folder = ::mkdtemp(name);
    root = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::mkdir((folder + "/tmp").c_str(), 0755), 0);
    write("/tmp/good");
  }
  void TearDown() override {
    ::close(root);
    std::string command = "rm -rf '" + folder + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  void write(const std::string& path) {
    FILE* file = std::fopen((folder + path).c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs("x\n", file);
    std::fclose(file);
  }
  bool opens(const std::string& path, std::vector<uid_t> users = {::geteuid()}) {
    return open_in_root(root, path, users).valid();
  }
};

TEST_F(InRoot, RegularFilesOfTheRightUser) {
  EXPECT_TRUE(opens("/tmp/good"));
  EXPECT_FALSE(opens("/tmp/none"));
  EXPECT_FALSE(opens("/tmp"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_TRUE(opens("/tmp/good", {})); // of root, which may write everywhere anyway
  ASSERT_EQ(::chown((folder + "/tmp/good").c_str(), 4711, 4711), 0);
  EXPECT_FALSE(opens("/tmp/good"));
  EXPECT_TRUE(opens("/tmp/good", {1, 4711}));
}

TEST_F(InRoot, NoLinksPipesDevices) {
  ASSERT_EQ(::symlink("good", (folder + "/tmp/link").c_str()), 0);
  ASSERT_EQ(::symlink("tmp", (folder + "/linked").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (folder + "/tmp/out").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder + "/tmp/pipe").c_str(), 0600), 0);
  for (const char* path : {"/tmp/link", "/linked/good", "/tmp/out", "/tmp/pipe", "/../../etc/passwd",
                           "/tmp/../../../etc/passwd"})
    EXPECT_FALSE(opens(path)) << path;
}

} // namespace
} // namespace symbol
