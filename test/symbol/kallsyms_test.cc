// Kernel symbols: from files written here, and from the machine's own list where it is readable.
#include "symbol/kallsyms.h"

#include "scratch.h"

#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

namespace symbol {
namespace {

// A file with this content, gone with the object.
class File {
public:
  explicit File(std::string_view content) {
    int fd = ::mkstemp(path_);
    EXPECT_EQ(::write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::close(fd);
  }
  ~File() { ::unlink(path_); }
  const char* path() const { return path_; }

private:
  char path_[32] = "/tmp/acu-kallsyms-XXXXXX";
};

constexpr std::string_view sample = "ffffffff81000000 T _stext\n"
                                    "ffffffff81000000 T _text\n"
                                    "ffffffff81000100 t do_one\n"
                                    "ffffffff81000180 W weak_two\n"
                                    "ffffffff81000200 D some_data\n"
                                    "ffffffffc0000400 t mod_b\t[mod]\n"
                                    "ffffffffc0000300 t mod_a\t[mod]\n"
                                    "not a line\n"
                                    "ffffffff81000190 t\n";

std::string name(Kallsyms& k, uint64_t address) {
  auto s = k.find(address);
  return s ? std::string(s->name) + "+" + std::to_string(s->offset) : "";
}

TEST(Kallsyms, FindsTheFunctionThatHoldsAnAddress) {
  File file(sample);
  Kallsyms k(file.path());
  EXPECT_EQ(name(k, 0xffffffff81000100), "do_one+0");
  EXPECT_EQ(name(k, 0xffffffff8100017f), "do_one+127");
  EXPECT_EQ(name(k, 0xffffffff81000210), "weak_two+144"); // data is not known
  EXPECT_EQ(name(k, 0xffffffff81000004), "_text+4");      // the last of several names
  EXPECT_EQ(k.size(), 6u);
}

TEST(Kallsyms, ModulesHaveTheBareName) {
  File file(sample);
  Kallsyms k(file.path());
  EXPECT_EQ(name(k, 0xffffffffc0000301), "mod_a+1");
  EXPECT_EQ(name(k, 0xffffffffc0000400), "mod_b+0");
}

TEST(Kallsyms, FarFromAnySymbolThereIsNoName) {
  File file(sample);
  Kallsyms k(file.path());
  EXPECT_EQ(name(k, 0xffffffff80ffffff), "");
  EXPECT_EQ(name(k, 0x401000), "");
  EXPECT_EQ(name(k, 0xffffffff90000000), "");
  EXPECT_EQ(name(k, 0xffffffffffffffff), "");
}

TEST(Kallsyms, AddressOfAName) {
  File file(sample);
  Kallsyms k(file.path());
  EXPECT_EQ(k.address("some_data"), 0xffffffff81000200);
  EXPECT_EQ(k.address("mod_b"), 0xffffffffc0000400);
  EXPECT_EQ(k.address("mod"), std::nullopt);
}

TEST(Kallsyms, HiddenAddressesGiveNoNames) {
  File file("0000000000000000 T _text\n0000000000000000 T do_one\n");
  Kallsyms k(file.path());
  EXPECT_EQ(k.size(), 0u);
  EXPECT_EQ(name(k, 0xffffffff81000100), "");
  EXPECT_EQ(k.address("do_one"), std::nullopt);
}

TEST(Kallsyms, OddFiles) {
  Kallsyms missing("/nonexistent/kallsyms");
  EXPECT_EQ(missing.size(), 0u);
  File empty("");
  EXPECT_EQ(Kallsyms(empty.path()).size(), 0u);
  File cut("ffffffff81000100 t do_one\nffffffff810002");
  EXPECT_EQ(Kallsyms(cut.path()).size(), 1u);
  File endless(std::string(200000, 'a'));
  EXPECT_EQ(Kallsyms(endless.path()).size(), 0u);
}

TEST(Kallsyms, LinesAcrossReads) {
  std::string content;
  char line[64];
  for (int i = 0; i < 20000; i++) {
    std::snprintf(line, sizeof line, "%016llx t function_%d\n", 0xffffffff81000000ull + i * 16, i);
    content += line;
  }
  File file(content);
  Kallsyms k(file.path());
  ASSERT_EQ(k.size(), 20000u);
  for (int i = 0; i < 20000; i += 7)
    ASSERT_EQ(name(k, 0xffffffff81000000ull + i * 16 + 3), "function_" + std::to_string(i) + "+3");
}

TEST(Kallsyms, AKeptListThatDoesNotFitIsMadeAnew) {
  const std::string notes = "/sys/kernel/notes";
  const std::vector<std::byte> id = kernel_build_id(notes);
  if (id.empty()) GTEST_SKIP() << "this kernel tells no build-id";
  Scratch folder;
  const Cache cache(folder.folder());
  ASSERT_TRUE(cache.store({.kind = "kernel", .version = 1, .build_id = id}, std::vector<std::byte>(100)).ok());
  File file(sample);
  for (int run = 0; run < 2; run++) {
    Kallsyms k(file.path(), notes, cache);
    EXPECT_EQ(name(k, 0xffffffff81000100), "do_one+0");
  }
}

TEST(Kallsyms, ThisMachine) {
  Kallsyms k;
  auto start = std::chrono::steady_clock::now();
  if (k.size() == 0) GTEST_SKIP() << "/proc/kallsyms shows no addresses";
  auto took = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  auto address = k.address("vfs_read");
  ASSERT_TRUE(address);
  EXPECT_EQ(name(k, *address + 1), "vfs_read+1");
}

} // namespace
} // namespace symbol
