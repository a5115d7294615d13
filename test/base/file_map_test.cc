// Files in memory: what is refused, what happens when one is cut meanwhile, names within another root.
#include "base/file_map.h"

#include "scratch.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace base {
namespace {

constexpr size_t page = 4096;

bool all_are(ByteSpan bytes, char c) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return b == static_cast<std::byte>(c); });
}

TEST(FileMap, BytesOfAFile) {
  Scratch s;
  s.write("file", "some bytes");
  auto map = FileMap::open(s.path("file"));
  ASSERT_TRUE(map.ok()) << map.error().message;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(map->bytes().data()), map->bytes().size()),
            "some bytes");
  EXPECT_EQ(map->id().size, 10);
  EXPECT_FALSE(map->damaged());
  const std::byte* at = map->bytes().data();
  FileMap moved = std::move(*map);
  EXPECT_EQ(moved.bytes().data(), at);
  EXPECT_TRUE(map->bytes().empty());
  moved.release_pages();
  EXPECT_EQ(moved.bytes()[0], std::byte{'s'});
}

TEST(FileMap, TheSameFileIsKnownAgain) {
  Scratch s;
  s.write("file", "some bytes");
  s.write("other", "some bytes");
  ASSERT_TRUE(s.run("ln file link"));
  auto a = FileMap::open(s.path("file")), b = FileMap::open(s.path("link")),
       c = FileMap::open(s.path("other"));
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(a->id(), b->id());
  EXPECT_NE(a->id(), c->id());
}

TEST(FileMap, EmptyFile) {
  Scratch s;
  s.write("file", "");
  auto map = FileMap::open(s.path("file"));
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(map->bytes().empty());
  EXPECT_FALSE(map->damaged());
}

TEST(FileMap, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  Scratch s;
  ASSERT_EQ(::mkfifo(s.path("pipe").c_str(), 0600), 0);
  auto message = [](const std::string& path) {
    auto map = FileMap::open(path);
    return map.ok() ? "opened" : map.error().message;
  };
  EXPECT_EQ(message(s.path("pipe")), s.path("pipe") + ": it is a pipe, not a regular file");
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: it is a device, not a regular file");
  EXPECT_EQ(message(s.folder()), s.folder() + ": it is a folder, not a regular file");
  EXPECT_EQ(message(s.path("none")), "cannot open " + s.path("none") + ": No such file or directory");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(FileMap::of(ends[0]).ok());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(FileMap, HugeFileIsNotRead) {
  Scratch s;
  s.write("huge", "x");
  constexpr off_t size = off_t{5} << 30;
  ASSERT_EQ(::truncate(s.path("huge").c_str(), size), 0);
  auto map = FileMap::open(s.path("huge"));
  ASSERT_TRUE(map.ok()) << map.error().message;
  EXPECT_EQ(map->bytes().size(), static_cast<size_t>(size));
  EXPECT_EQ(map->bytes().back(), std::byte{0});
}

TEST(FileMap, CutWhileItIsMapped) {
  Scratch s;
  s.write("file", std::string(8 * page, 'x'));
  s.write("whole", std::string(8 * page, 'y'));
  auto map = FileMap::open(s.path("file")), whole = FileMap::open(s.path("whole"));
  ASSERT_TRUE(map.ok() && whole.ok());
  ASSERT_EQ(::truncate(s.path("file").c_str(), 2 * page), 0);
  EXPECT_TRUE(all_are(map->bytes().first(2 * page), 'x'));
  EXPECT_FALSE(map->damaged());
  EXPECT_TRUE(all_are(map->bytes().subspan(2 * page), '\0'));
  EXPECT_TRUE(map->damaged());
  EXPECT_TRUE(all_are(map->bytes().first(2 * page), 'x'));
  EXPECT_TRUE(all_are(whole->bytes(), 'y'));
  EXPECT_FALSE(whole->damaged());
  FileMap moved = std::move(*map);
  EXPECT_TRUE(moved.damaged());
}

// Many threads fault in files of their own, while others are opened and closed.
TEST(FileMap, CutInManyThreads) {
  Scratch s;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      std::string name = "file" + std::to_string(t);
      for (int round = 0; round < 4; round++) {
        s.write(name, std::string(16 * page, 'x'));
        std::vector<FileMap> maps;
        for (int i = 0; i < 60; i++) {
          auto map = FileMap::open(s.path(name));
          if (map.ok()) maps.push_back(std::move(*map));
        }
        if (::truncate(s.path(name).c_str(), 5 * page) != 0 || maps.size() != 60) return;
        for (const FileMap& m : maps)
          right += all_are(m.bytes().first(5 * page), 'x') && all_are(m.bytes().subspan(5 * page), '\0') &&
                   m.damaged();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 4 * 4 * 60);
}

// A fault that is none of ours ends the program as it always did.
TEST(FileMapDeath, OtherFaultsStayWhatTheyAre) {
  auto fault = [] {
    Scratch s;
    s.write("ours", std::string(page, 'x'));
    auto map = FileMap::open(s.path("ours"));
    s.write("other", std::string(2 * page, 'x'));
    int fd = ::open(s.path("other").c_str(), O_RDWR);
    auto* at = static_cast<volatile char*>(::mmap(nullptr, 2 * page, PROT_READ, MAP_SHARED, fd, 0));
    if (::ftruncate(fd, 0) != 0 || !map.ok()) std::_Exit(3);
    s.run("rm -rf " + s.folder());
    std::_Exit(at[page]);
  };
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(fault(), "");
#else
  EXPECT_EXIT(fault(), ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(((void)FileMap::open("/proc/self/exe"), ::raise(SIGBUS)), ::testing::KilledBySignal(SIGBUS),
              "");
#endif
}

TEST(OpenRegular, WithinAnotherRoot) {
  Scratch s;
  ASSERT_TRUE(s.run("mkdir -p root/usr/lib && echo inside > root/usr/lib/file && ln -s /usr/lib root/lib && "
                    "ln -s ../../../../../../../../../../etc/passwd root/usr/lib/escape && "
                    "echo outside > file"))
      << s.log();
  std::string root = s.path("root");
  EXPECT_TRUE(open_regular("/usr/lib/file", root).ok());
  auto through_link = FileMap::open("/lib/file", root); // the link is absolute: it begins at that root
  ASSERT_TRUE(through_link.ok()) << through_link.error().message;
  EXPECT_EQ(through_link->bytes().size(), 7u);
  EXPECT_FALSE(open_regular("/usr/lib/escape", root).ok());
  EXPECT_FALSE(open_regular("/../file", root).ok());
  EXPECT_FALSE(open_regular("/usr/lib/file", s.path("no-such-root")).ok());
  EXPECT_TRUE(open_regular("/usr/lib/file", "/proc/self/root" + root).ok());
}

} // namespace
} // namespace base
