// The store of derived files: what goes in comes out, and nothing else does.
#include "symbol/cache.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace symbol {
namespace {

base::ByteSpan span_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string_view text_of(base::ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-cache-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top_ = name;
    folder_ = top_ + "/deep/acu";
  }
  void TearDown() override {
    for (const std::string& name : files()) ::unlink((folder_ + "/" + name).c_str());
    ::rmdir(folder_.c_str());
    ::rmdir((top_ + "/deep").c_str());
    ::rmdir(top_.c_str());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    DIR* list = ::opendir(folder_.c_str());
    while (const dirent* e = list ? ::readdir(list) : nullptr)
      if (std::string_view name = e->d_name; name != "." && name != "..") out.emplace_back(name);
    if (list) ::closedir(list);
    return out;
  }
  static CacheKey key(std::string_view id, uint64_t source = 7) { return {"names", 3, span_of(id), source}; }

  std::string top_, folder_;
};

TEST_F(CacheTest, WhatGoesInComesOut) {
  Cache cache(folder_);
  EXPECT_FALSE(cache.find(key("id")));
  for (size_t size : {0u, 1u, 31u, 32u, 33u, 4096u, 100000u}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; i++) text[i] = static_cast<char>(i * 7);
    std::vector<base::ByteSpan> parts = {span_of(text).first(size / 3), {}, span_of(text).subspan(size / 3)};
    auto stored = cache.store(key("id"), parts);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
    auto found = cache.find(key("id"));
    ASSERT_TRUE(found) << size;
    EXPECT_EQ(text_of(found->bytes()), text);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->bytes().data()) % 8, 0u);
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, WhatIsMadeInPlaceComesOut) {
  Cache cache(folder_);
  const std::string text = "what is made piece by piece";
  {
    auto made = cache.make(key("id"), text.size());
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(text_of(made->bytes()), std::string(text.size(), '\0'));
    std::ranges::copy(span_of(text), made->bytes().begin());
    EXPECT_FALSE(cache.find(key("id")));
    auto finished = made->finish(true);
    ASSERT_TRUE(finished.ok()) << finished.error().message;
    EXPECT_EQ(text_of(finished->bytes()), text);
  }
  auto found = cache.find(key("id"));
  ASSERT_TRUE(found);
  EXPECT_EQ(text_of(found->bytes()), text);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, WhatIsNotFinishedWasNeverThere) {
  Cache cache(folder_);
  std::optional<CachedFile> finished;
  {
    auto left = cache.make(key("one"), 5000), unwanted = cache.make(key("two"), 5000);
    ASSERT_TRUE(left.ok() && unwanted.ok());
    unwanted->bytes()[4999] = std::byte{7};
    if (auto file = unwanted->finish(false); file.ok()) finished.emplace(std::move(*file));
  }
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->bytes()[4999], std::byte{7}); // though the file is gone
  EXPECT_TRUE(files().empty());
}

// To write to a mapping of a file for which the disk has no room would end the process.
TEST_F(CacheTest, RoomThatIsNotThereIsToldBefore) {
  Cache cache(folder_);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto made = cache.make(key("id"), 1 << 20);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(made.ok());
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, OnlyWhatFitsTheKey) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  EXPECT_TRUE(cache.find(key("id")));
  EXPECT_FALSE(cache.find(key("ie")));
  EXPECT_FALSE(cache.find(key("id", 8)));
  EXPECT_FALSE(cache.find({"names", 4, span_of("id"), 7}));
  EXPECT_FALSE(cache.find({"name", 3, span_of("id"), 7}));
  EXPECT_FALSE(cache.find({"../names", 3, span_of("id"), 7}));
}

TEST_F(CacheTest, KeysThatCannotBe) {
  Cache cache(folder_);
  EXPECT_FALSE(cache.store({"names", 1, {}}, span_of("text")).ok());
  EXPECT_FALSE(cache.store({"", 1, span_of("id")}, span_of("text")).ok());
  std::string longer(65, 'x');
  EXPECT_FALSE(cache.store(key(longer), span_of("text")).ok());
  EXPECT_FALSE(Cache("").store(key("id"), span_of("text")).ok());
  EXPECT_FALSE(Cache("").make(key("id"), 4).ok());
  EXPECT_FALSE(Cache(folder_, 1000).make(key("id"), 1001).ok());
  EXPECT_FALSE(Cache("").find(key("id")));
}

// Every byte of a file matters, and so does its length and its name.
TEST_F(CacheTest, DamagedFilesAreAbsent) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("some text that is longer than a block of the sum")).ok());
  std::string path = folder_ + "/" + files().at(0);
  struct stat st;
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  for (off_t at = 0; at < st.st_size; at++) {
    int fd = ::open(path.c_str(), O_RDWR);
    unsigned char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
    EXPECT_FALSE(cache.find(key("id"))) << at;
    byte ^= 0x10;
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
    ::close(fd);
  }
  EXPECT_TRUE(cache.find(key("id")));
  for (off_t size = st.st_size; size-- > 0;) {
    ASSERT_EQ(::truncate(path.c_str(), size), 0);
    EXPECT_FALSE(cache.find(key("id"))) << size;
  }
  ASSERT_TRUE(cache.store(key("id"), span_of("again")).ok());
  std::string other = folder_ + "/" + "6965.names3.7";
  ASSERT_EQ(::rename(path.c_str(), other.c_str()), 0);
  EXPECT_FALSE(cache.find(key("ie")));
}

TEST_F(CacheTest, OtherThingsInItsPlace) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  std::string path = folder_ + "/" + files().at(0), aside = top_ + "/deep/aside";
  ASSERT_EQ(::rename(path.c_str(), aside.c_str()), 0);
  ASSERT_EQ(::symlink(aside.c_str(), path.c_str()), 0);
  EXPECT_FALSE(cache.find(key("id")));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(key("id"))); // and does not wait
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  EXPECT_TRUE(cache.find(key("id")));
  ASSERT_EQ(::unlink(aside.c_str()), 0);
}

TEST_F(CacheTest, FoldersThatOthersMayWriteToAreNotUsed) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(cache.find(key("id")));
  auto stored = cache.store(key("id"), span_of("text"));
  ASSERT_FALSE(stored.ok());
  EXPECT_NE(stored.error().message.find("chmod go-w"), std::string::npos);
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  EXPECT_TRUE(cache.find(key("id")));
}

TEST_F(CacheTest, TheLongestUnusedIsRemovedFirst) {
  Cache cache(folder_, 10 * 1064);
  std::string text(1000, 'x');
  auto id = [](int i) { return "id" + std::to_string(i); };
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(cache.store(key(id(i)), span_of(text)).ok());
    std::string name;
    for (const std::string& file : files())
      if (!file.starts_with(".") && file.find(i < 10 ? "6964" + std::to_string(30 + i) : "") == 0)
        name = file;
    timespec past[2] = {{1'000'000'000 + i, 0}, {1'000'000'000 + i, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ + "/" + name).c_str(), past, 0), 0) << name;
  }
  EXPECT_TRUE(cache.find(key(id(0)))); // used now
  ASSERT_TRUE(cache.store(key("idx"), span_of(text)).ok());
  EXPECT_TRUE(cache.find(key("idx")));
  EXPECT_TRUE(cache.find(key(id(0))));
  EXPECT_FALSE(cache.find(key(id(1))));
  EXPECT_FALSE(cache.find(key(id(2))));
  EXPECT_TRUE(cache.find(key(id(3))));
  EXPECT_FALSE(cache.store(key("big"), span_of(std::string(20000, 'x'))).ok());
}

TEST_F(CacheTest, LeftBehindFilesGo) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  std::string old = folder_ + "/.new-1-0-1", fresh = folder_ + "/.new-1-0-2";
  for (const std::string& path : {old, fresh}) ::close(::open(path.c_str(), O_CREAT | O_WRONLY, 0644));
  timespec past[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), past, 0), 0);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  EXPECT_NE(::access(old.c_str(), F_OK), 0);
  EXPECT_EQ(::access(fresh.c_str(), F_OK), 0);
}

// Processes that store, read and clean up at once see whole files or none.
TEST_F(CacheTest, ManyAtTheSameTime) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; child++) {
    pid_t pid = ::fork();
    if (pid == 0) {
      Cache cache(folder_, 30 * 1024);
      bool good = true;
      for (int i = 0; i < 200; i++) {
        std::string id = "id" + std::to_string(i % 10);
        std::string text(3000 + 500 * static_cast<size_t>(child), static_cast<char>('a' + child));
        (void)cache.store(key(id), span_of(text));
        if (auto found = cache.find(key(id))) {
          std::string_view got = text_of(found->bytes());
          good = good && got.size() >= 3000 && got.find_first_not_of(got[0]) == std::string_view::npos &&
                 got.size() == 3000 + 500 * static_cast<size_t>(got[0] - 'a');
        }
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(CacheTest, TheUsersFolder) {
  const char* was = std::getenv("ACU_CACHE");
  std::string before = was ? was : "";
  ::setenv("ACU_CACHE", folder_.c_str(), 1);
  EXPECT_EQ(Cache::of_user().folder(), folder_);
  ::setenv("ACU_CACHE", "", 1);
  EXPECT_EQ(Cache::of_user().folder(), "");
  ::unsetenv("ACU_CACHE");
  if (::geteuid() == 0) {
    EXPECT_EQ(Cache::of_user().folder(), "/var/cache/acu");
  }
  if (was) ::setenv("ACU_CACHE", before.c_str(), 1);
}

TEST_F(CacheTest, NumbersOfSources) {
  Cache cache(folder_);
  ASSERT_TRUE(cache.store(key("id"), span_of("text")).ok());
  std::string path = folder_ + "/" + files().at(0);
  int fd = ::open(path.c_str(), O_RDWR);
  uint64_t first = source_number(fd);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(source_number(fd), first);
  ASSERT_EQ(::ftruncate(fd, 3), 0);
  EXPECT_NE(source_number(fd), first);
  ::close(fd);
  EXPECT_EQ(source_number(-1), 0u);
  EXPECT_NE(combine(1, 2), combine(2, 1));
}

} // namespace
} // namespace symbol
