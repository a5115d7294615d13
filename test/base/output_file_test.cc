// Results in files: whole or not at all, links and rights kept, lines up to the last whole one.
#include "base/arena.h"
#include "base/output_file.h"
#include "base/result.h"

#include "scratch.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace base {
namespace {

size_t files_in(const std::string& folder) {
  size_t out = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder)) out++;
  return out;
}

TEST(WriteFile, NewAndInPlaceOfAnother) {
  Scratch s;
  ASSERT_TRUE(write_file(s.path("x"), "first").ok());
  EXPECT_EQ(s.read("x"), "first");
  ASSERT_TRUE(write_file(s.path("x"), std::string_view("a\0b", 3)).ok());
  EXPECT_EQ(s.read("x"), std::string("a\0b", 3));
  ASSERT_TRUE(write_file(s.path("x"), "").ok());
  EXPECT_EQ(s.read("x"), "");
  EXPECT_EQ(files_in(s.folder()), 1u); // nothing is left beside it
}

TEST(WriteFile, RightsOfAnExistingFileStay) {
  Scratch s;
  s.write("x", "old");
  ::chmod(s.path("x").c_str(), 0600);
  ASSERT_TRUE(write_file(s.path("x"), "new").ok());
  struct stat about = {};
  ::stat(s.path("x").c_str(), &about);
  EXPECT_EQ(about.st_mode & 07777, 0600u);
}

TEST(WriteFile, NewFilesAreForTheirOwnerAlone) {
  Scratch s;
  ASSERT_TRUE(write_file(s.path("x"), "new").ok());
  struct stat about = {};
  ::stat(s.path("x").c_str(), &about);
  EXPECT_EQ(about.st_mode & 07777, 0600u);
}

// Else whoever can make one in a shared folder chooses what is replaced.
TEST(WriteFile, LinksAreNotFollowed) {
  Scratch s;
  ASSERT_TRUE(s.run("mkdir real && echo old > real/x && ln -s real/x link && ln -s nowhere dangling"));
  for (const char* name : {"link", "dangling"}) {
    for (const Status& status : {check_output(s.path(name)), write_file(s.path(name), "new")}) {
      ASSERT_FALSE(status.ok()) << name;
      EXPECT_NE(status.error().message.find("is a symbolic link"), std::string::npos) << status.error().message;
    }
    EXPECT_FALSE(OutputFile::open(s.path(name)).ok()) << name;
  }
  EXPECT_EQ(s.read("real/x"), "old\n");
  EXPECT_FALSE(std::filesystem::exists(s.path("nowhere")));
}

TEST(WriteFile, LinksToDevicesAre) {
  Scratch s;
  ASSERT_TRUE(s.run("ln -s /dev/null null"));
  EXPECT_TRUE(write_file(s.path("null"), "new").ok());
  EXPECT_TRUE(OutputFile::open(s.path("null")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(s.path("null")));
}

TEST(CreatePrivate, TakesThePlaceOfALink) {
  Scratch s;
  ASSERT_TRUE(s.run("echo old > x && ln -s x part"));
  ASSERT_TRUE(create_private(s.path("part")).ok());
  EXPECT_EQ(s.read("x"), "old\n");
  EXPECT_FALSE(std::filesystem::is_symlink(s.path("part")));
}

// Of two processes that write a file of the same name, the second one does not take the first one's; what a killed one left is nobody's.
TEST(CreatePrivate, LeavesWhatAnotherWrites) {
  Scratch s;
  {
    auto first = create_private(s.path("part"));
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(write_all(first->get(), "half"), 0);
    EXPECT_TRUE(is_being_written(s.path("part")));
    auto second = create_private(s.path("part"));
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().message.find("another process is writing it"), std::string::npos) << second.error().message;
    EXPECT_EQ(s.read("part"), "half");
  }
  EXPECT_FALSE(is_being_written(s.path("part")));
  ASSERT_TRUE(create_private(s.path("part")).ok());
  EXPECT_EQ(s.read("part"), "");
  EXPECT_FALSE(is_being_written(s.path("none")));
}

TEST(Publish, ReplacesOrKeeps) {
  Scratch s;
  s.write("x", "old");
  const auto written = [&] {
    auto file = create_private(s.path("part"));
    EXPECT_TRUE(file.ok() && write_all(file->get(), "new") == 0);
    return std::move(*file);
  };
  EXPECT_EQ(publish(written(), s.path("part"), s.path("x"), Existing::keep), EEXIST);
  EXPECT_EQ(s.read("x"), "old");
  EXPECT_EQ(publish(written(), s.path("part"), s.path("y"), Existing::keep), 0);
  EXPECT_EQ(s.read("y"), "new");
  EXPECT_EQ(publish(written(), s.path("part"), s.path("x")), 0);
  EXPECT_EQ(s.read("x"), "new");
  EXPECT_EQ(publish(written(), s.path("part"), s.path("no/such/x")), ENOENT);
  EXPECT_EQ(files_in(s.folder()), 2u) << "nothing is left beside";
}

TEST(WriteFile, NamesAsLongAsTheyCanBe) {
  Scratch s;
  const std::string name(255, 'n');
  EXPECT_TRUE(check_output(s.path(name)).ok());
  EXPECT_TRUE(write_file(s.path(name), "x").ok());
  EXPECT_EQ(s.read(name), "x");
  EXPECT_FALSE(check_output(s.path(name + "n")).ok());
}

TEST(WriteFile, WhatCannotBeWritten) {
  Scratch s;
  ASSERT_TRUE(s.run("mkdir folder"));
  for (const char* path : {"folder", "new/", "no/such/folder/x", ""}) {
    const std::string whole = *path ? s.path(path) : "";
    EXPECT_FALSE(check_output(whole).ok()) << path;
    EXPECT_FALSE(write_file(whole, "x").ok()) << path;
  }
  EXPECT_EQ(check_output(s.path("folder")).error().message, "cannot write `" + s.path("folder") + "`: Is a directory");
}

TEST(CheckOutput, LeavesNothingBehind) {
  Scratch s;
  s.write("old", "what it had");
  EXPECT_TRUE(check_output(s.path("new")).ok());
  EXPECT_TRUE(check_output(s.path("old")).ok());
  EXPECT_EQ(files_in(s.folder()), 1u);
  EXPECT_EQ(s.read("old"), "what it had");
  EXPECT_TRUE(check_output("/dev/null").ok());
}

TEST(WriteFile, DevicesAndPipesAreWrittenAsTheyAre) {
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  auto full = write_file("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "cannot write `/dev/full`: No space left on device");
}

TEST(OutputFile, ANewFileWithoutResultsGoesAgain) {
  Scratch s;
  {
    auto file = OutputFile::open(s.path("x"));
    ASSERT_TRUE(file.ok());
  }
  EXPECT_EQ(files_in(s.folder()), 0u);
  {
    auto file = OutputFile::open(s.path("x"));
    file->finish(); // there were none
  }
  EXPECT_EQ(files_in(s.folder()), 1u);
}

TEST(OutputFile, AnExistingFileIsKeptUntilTheFirstLine) {
  Scratch s;
  s.write("x", "old results\n");
  {
    auto file = OutputFile::open(s.path("x"));
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(s.read("x"), "old results\n");
  }
  EXPECT_EQ(s.read("x"), "old results\n"); // the session failed before it had any
  auto file = OutputFile::open(s.path("x"));
  EXPECT_EQ(file->write("one\n"), 0);
  EXPECT_EQ(s.read("x"), "one\n"); // others read along
  EXPECT_EQ(file->write("two\n"), 0);
  EXPECT_EQ(s.read("x"), "one\ntwo\n");
  EXPECT_EQ(file->problem(), "");
}

TEST(OutputFile, MovedItGoesOn) {
  Scratch s;
  auto file = OutputFile::open(s.path("x"));
  OutputFile other = std::move(*file);
  EXPECT_EQ(other.write("one\n"), 0);
  EXPECT_EQ(s.read("x"), "one\n");
}

TEST(OutputFile, AFullDeviceIsAnError) {
  auto file = OutputFile::open("/dev/full");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->write("x\n"), ENOSPC);
}

TEST(WriteAll, ThroughANarrowPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  const std::string text(1 << 20, 'x'); // more than a pipe holds
  pid_t reader = ::fork();
  if (!reader) {
    size_t total = 0;
    char buffer[4096];
    ::fcntl(ends[0], F_SETFL, 0);
    while (total < text.size()) {
      const ssize_t n = ::read(ends[0], buffer, sizeof buffer);
      if (n <= 0) break;
      total += static_cast<size_t>(n);
    }
    ::_exit(total == text.size() ? 0 : 1);
  }
  EXPECT_EQ(write_all(ends[1], text), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
  ::close(ends[0]), ::close(ends[1]);
  EXPECT_EQ(write_all(-1, "x"), EBADF);
  EXPECT_EQ(write_all(-1, ""), 0);
}

TEST(Result, AFailureGainsContext) {
  auto inner = []() -> Result<int> { return Error{Failure::permission, "cannot load map"}; };
  auto outer = [&]() -> Result<std::string> {
    ACU_TRY(int n, inner());
    return std::to_string(n);
  };
  auto out = outer();
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(std::move(out.error()).with("probe x").message, "probe x: cannot load map");
  EXPECT_EQ(out.error().kind, Failure::permission);
  EXPECT_EQ(errno_error("x", EACCES).kind, Failure::permission);
  EXPECT_EQ(errno_error("x", EPERM).kind, Failure::permission);
  EXPECT_EQ(errno_error("x", ENOENT).kind, Failure::runtime);
  EXPECT_TRUE(Status().ok());
}

TEST(Arena, EveryPieceIsAlignedAndItsOwn) {
  Arena arena;
  std::vector<std::pair<char*, size_t>> pieces;
  for (size_t i = 0; i < 2000; i++) {
    const size_t align = size_t{1} << i % 7, size = i * 37 % 400 + 1;
    char* at = static_cast<char*>(arena.allocate(size, align));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % align, 0u);
    std::memset(at, static_cast<int>(i % 251), size);
    pieces.emplace_back(at, size);
  }
  for (size_t i = 0; i < pieces.size(); i++)
    for (size_t k = 0; k < pieces[i].second; k++) ASSERT_EQ(static_cast<unsigned char>(pieces[i].first[k]), i % 251);
}

TEST(Arena, LargerThanABlock) {
  Arena arena;
  const std::string large(100'000, 'x');
  const std::string_view small = arena.copy(std::string_view("small")), copy = arena.copy(std::string_view(large)), after = arena.copy(std::string_view("after"));
  EXPECT_EQ(copy, large);
  EXPECT_EQ(small, "small");
  EXPECT_EQ(after, "after");
  EXPECT_TRUE(arena.copy(std::string_view()).empty());
  const std::vector<uint64_t> numbers = {1, 2, 3};
  EXPECT_EQ(arena.copy(numbers)[2], 3u);
  EXPECT_TRUE(arena.copy(std::vector<int>()).empty());
}

} // namespace
} // namespace base
