// Names of code in processes: this one, its libraries, one that has ended, and code without a file.
#include "symbol/user_symbols.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" __attribute__((noinline)) int acu_known_function(int n) {
  __asm__ volatile("" : "+r"(n));
  return n + 1;
}

namespace symbol {
__attribute__((noinline)) int known_method(int n) {
  __asm__ volatile("" : "+r"(n));
  return n + 2;
}

namespace {

void seen(UserSymbols& users, pid_t pid, uint64_t address) { users.seen(pid, std::span(&address, 1)); }

uint64_t address_of(auto* function) { return reinterpret_cast<uint64_t>(function); }

TEST(UserSymbols, OfThisProcess) {
  UserSymbols users;
  auto found = users.find(::getpid(), address_of(&acu_known_function) + 2);
  EXPECT_EQ(found.name, "acu_known_function");
  EXPECT_EQ(found.offset, 2u);
  EXPECT_NE(found.module.find("test_symbol"), std::string_view::npos);
}

TEST(UserSymbols, CppNames) {
  UserSymbols users;
  EXPECT_EQ(users.find(::getpid(), address_of(&known_method)).name, "symbol::known_method(int)");
  users.set_demangle(false);
  EXPECT_EQ(users.find(::getpid(), address_of(&known_method)).name, "_ZN6symbol12known_methodEi");
}

TEST(UserSymbols, OfALibraryWithoutItsOwnTable) { // Debian's libc has .dynsym only
  UserSymbols users;
  void* libc = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD); // itself: sanitizers put functions of theirs before it
  ASSERT_NE(libc, nullptr);
  void* at = ::dlsym(libc, "qsort");
  ASSERT_NE(at, nullptr);
  auto found = users.find(::getpid(), reinterpret_cast<uint64_t>(at) + 1);
  EXPECT_EQ(found.name, "qsort");
  EXPECT_EQ(found.offset, 1u);
}

TEST(UserSymbols, OfTheVdso) {
  uint64_t at = ::getauxval(AT_SYSINFO_EHDR);
  if (!at) GTEST_SKIP() << "no vdso here";
  UserSymbols users;
  bool named = false;
  for (uint64_t a = at; a < at + 4096 && !named; a += 16) named = !users.find(::getpid(), a).name.empty();
  EXPECT_TRUE(named);
  EXPECT_EQ(users.find(::getpid(), at).module, "[vdso]");
}

TEST(UserSymbols, NothingIsThere) {
  UserSymbols users;
  auto found = users.find(::getpid(), 16);
  EXPECT_TRUE(found.name.empty());
  EXPECT_TRUE(found.module.empty());
  EXPECT_TRUE(users.find(0, 0x401000).name.empty());
  EXPECT_TRUE(users.find(-5, 0x401000).name.empty());
}

TEST(UserSymbols, ProcessesThatWereSeenMayEnd) {
  pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  UserSymbols users, late;
  seen(users, pid, address_of(&acu_known_function));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(users.find(pid, address_of(&acu_known_function)).name, "acu_known_function");
  EXPECT_EQ(late.find(pid, address_of(&acu_known_function)).name, "");
}

TEST(UserSymbols, CodeWithoutAFile) {
  void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto address = reinterpret_cast<uint64_t>(at);
  std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  FILE* map = std::fopen(path.c_str(), "w");
  ASSERT_NE(map, nullptr);
  std::fprintf(map, "%lx 10 script:1 main\n", address);
  std::fclose(map);
  UserSymbols users;
  auto found = users.find(::getpid(), address + 3);
  EXPECT_EQ(found.name, "script:1 main");
  EXPECT_EQ(found.offset, 3u);
  EXPECT_TRUE(users.find(::getpid(), address + 0x20).name.empty());
  ::unlink(path.c_str());
  ::munmap(at, 4096);
}

// Code that is mapped after the process was looked at.
TEST(UserSymbols, NewMappingsAreSeen) {
  UserSymbols users;
  seen(users, ::getpid(), address_of(&acu_known_function));
  int fd = ::open("/proc/self/exe", O_RDONLY);
  ASSERT_GE(fd, 0);
  void* image = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  ::close(fd);
  ASSERT_NE(image, MAP_FAILED);
  auto address = reinterpret_cast<uint64_t>(image);
  seen(users, ::getpid(), address);
  EXPECT_NE(users.find(::getpid(), address).module.find("test_symbol"), std::string_view::npos);
  ::munmap(image, 4096);
}

TEST(UserSymbols, ManyFramesAreQuick) {
  UserSymbols users;
  (void)users.find(::getpid(), address_of(&acu_known_function)); // the file is read
  auto start = std::chrono::steady_clock::now();
  size_t named = 0;
  for (int i = 0; i < 10000; i++)
    named +=
        !users.find(::getpid(), address_of(&acu_known_function) + static_cast<uint64_t>(i % 3)).name.empty();
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(named, 10000u);
  EXPECT_LT(std::chrono::duration<double>(took).count(), 2); // a few milliseconds when nothing else runs; more than that for one file read again each time
}

} // namespace
} // namespace symbol
