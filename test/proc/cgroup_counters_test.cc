// Control groups of both versions, as files in a folder.
#include "proc/cgroup_counters.h"

#include "proc/process_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace proc;

namespace {

class Folder {
public:
  Folder() {
    char name[] = "/tmp/acu-cgroups-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + file).parent_path());
    std::ofstream(path_ + "/" + file) << text;
  }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace

TEST(CgroupMounts, OfBothVersions) {
  const auto mounts = find_cgroup_mounts("cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"
                                         "cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\ntmpfs /tmp tmpfs rw 0 0\nbroken\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_TRUE(mounts[0].is_v2);
  EXPECT_TRUE(mounts[1].has_cpu && mounts[1].has_cpuacct && !mounts[1].has_memory);
}

TEST(CgroupCounters, Limits) {
  EXPECT_DOUBLE_EQ(read_cpu_max("20000 100000\n"), 0.2);
  EXPECT_EQ(read_cpu_max("max 100000\n"), 0);
  EXPECT_EQ(read_cpu_max("-1 100000"), 0);
  EXPECT_EQ(read_cpu_max("5 0"), 0);
  EXPECT_EQ(read_cpu_max(""), 0);
  EXPECT_EQ(read_memory_limit("1048576\n"), 1048576u);
  EXPECT_EQ(read_memory_limit("max\n"), 0u);
  EXPECT_EQ(read_memory_limit("9223372036854771712\n"), 0u);
}

TEST(CgroupCounters, OfVersion2) {
  const Folder root;
  root.write("cpu.stat", "usage_usec 10\n");
  root.write("a/b/cpu.stat", "usage_usec 5000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 700\n");
  root.write("a/b/cpu.max", "50000 100000\n");
  root.write("a/b/memory.current", "4096\n");
  root.write("a/b/memory.max", "8192\n");
  root.write("a/b/memory.events", "low 0\nhigh 3\nmax 2\noom 1\noom_kill 1\n");
  root.write("a/b/io.pressure", "some avg10=0.00 total=9\nfull avg10=0.00 total=8\n");
  CgroupReader reader({{.folder = root.path(), .is_v2 = true}});
  reader.find(10);
  const auto groups = reader.read();
  ASSERT_EQ(groups.size(), 3u); // "/", "/a", "/a/b"
  const CgroupCounters& b = groups.at("/a/b");
  EXPECT_EQ(b.cpu_ns, 5'000'000u);
  EXPECT_DOUBLE_EQ(b.quota, 0.5);
  EXPECT_EQ(b.throttled_periods, 4u);
  EXPECT_EQ(b.throttled_ns, 700'000u);
  EXPECT_EQ(b.memory, 4096u);
  EXPECT_EQ(b.memory_limit, 8192u);
  EXPECT_EQ(b.high_events, 3u);
  EXPECT_EQ(b.max_events, 2u);
  EXPECT_EQ(b.oom_kills, 1u);
  EXPECT_EQ(b.pressure.at("io").full_us, 8u);
  EXPECT_EQ(b.pressure.count("cpu"), 0u);
  EXPECT_EQ(groups.at("/a").cpu_ns, 0u);
}

TEST(CgroupCounters, OnlyGroupsThatRanAreReadAgain) {
  const Folder root;
  for (const char* name : {"busy", "idle"}) {
    root.write(std::string(name) + "/cpu.stat", "usage_usec 5\n");
    root.write(std::string(name) + "/memory.current", "1\n");
  }
  CgroupReader reader({{.folder = root.path(), .is_v2 = true}});
  reader.find(10);
  const auto before = reader.read();
  root.write("busy/cpu.stat", "usage_usec 6\n");
  for (const char* name : {"busy", "idle"}) root.write(std::string(name) + "/memory.current", "2\n");
  const auto after = reader.read_again(before);
  EXPECT_EQ(after.at("/busy").memory, 2u);
  EXPECT_EQ(after.at("/idle").memory, 1u);
}

TEST(CgroupCounters, OfVersion1) {
  const Folder root;
  root.write("cpu/a/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 700\n");
  root.write("cpu/a/cpu.cfs_quota_us", "20000\n");
  root.write("cpu/a/cpu.cfs_period_us", "100000\n");
  root.write("memory/a/memory.usage_in_bytes", "4096\n");
  root.write("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  CgroupReader reader({{.folder = root.path() + "/cpu", .has_cpu = true}, {.folder = root.path() + "/memory", .has_memory = true}});
  reader.find(10);
  const auto groups = reader.read();
  const CgroupCounters& a = groups.at("/a");
  EXPECT_DOUBLE_EQ(a.quota, 0.2);
  EXPECT_EQ(a.throttled_ns, 700u);
  EXPECT_EQ(a.memory, 4096u);
  EXPECT_EQ(a.memory_limit, 0u);
  EXPECT_EQ(a.oom_kills, 2u);
}

TEST(CgroupCounters, NoMoreGroupsThanAskedFor) {
  const Folder root;
  for (int i = 0; i < 20; i++) root.write("g" + std::to_string(i) + "/cpu.stat", "");
  CgroupReader reader({{.folder = root.path(), .is_v2 = true}});
  reader.find(5);
  EXPECT_EQ(reader.read().size(), 5u);
}

TEST(ProcessFiles, CgroupOfEitherVersion) {
  EXPECT_EQ(cgroup_of("0::/system.slice/a.service\n"), "/system.slice/a.service");
  EXPECT_EQ(cgroup_of("4:memory:/m\n2:cpu,cpuacct:/c\n0::/u\n"), "/c");
  EXPECT_EQ(cgroup_of("4:memory:/m\n0::/u\n"), "/u");
  EXPECT_EQ(cgroup_of("0::/a:b\n"), "/a:b");
  EXPECT_EQ(cgroup_of("damaged\n"), "");
}

TEST(ProcessFiles, LanguagesByFileName) {
  EXPECT_EQ(language_of_file("/usr/lib/jvm/java-17/lib/server/libjvm.so"), "java");
  EXPECT_EQ(language_of_file("/usr/bin/python3.11"), "python");
  EXPECT_EQ(language_of_file("/usr/lib/libpython3.11.so.1.0"), "python");
  EXPECT_EQ(language_of_file("/usr/bin/ruby3.1"), "ruby");
  EXPECT_EQ(language_of_file("/usr/bin/node"), "node");
  EXPECT_EQ(language_of_file("/usr/sbin/php-fpm8.2"), "php");
  EXPECT_EQ(language_of_file("/usr/lib/x86_64-linux-gnu/libc.so.6"), "");
  EXPECT_EQ(language_of_file("/usr/bin/pythonic-server"), "");
}
