// Names of JIT code: the table in which later functions count, perf maps and jitdumps, growing, damaged and
// huge.
#include "symbol/jit_table.h"
#include "symbol/jitdump.h"
#include "symbol/perf_map_file.h"

#include "scratch.h"

#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace symbol {
namespace {

// A file that grows.
class Growing {
public:
  Growing() : path_(scratch_.path("file")) {
    fd_ = base::Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  void append(std::string_view text) {
    EXPECT_EQ(::pwrite(fd_.get(), text.data(), text.size(), static_cast<off_t>(size_)),
              static_cast<ssize_t>(text.size()));
    size_ += text.size();
  }
  void cut(size_t size) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(size)), 0);
    size_ = size;
  }
  base::Fd open() const { return base::Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }

private:
  Scratch scratch_;
  std::string path_;
  base::Fd fd_;
  size_t size_ = 0;
};

uint64_t place(JitTable& table, uint64_t address) {
  auto found = table.find(address);
  return found ? found->place : 0;
}

TEST(JitTable, LaterFunctionsCount) {
  JitTable table;
  table.add(0x1000, 0x100, 1);
  table.add(0x2000, 0x100, 2);
  EXPECT_EQ(place(table, 0x10ff), 1u);
  table.add(0x10f0, 0x20, 3); // on the end of the first
  table.add(0x1ff0, 0x20, 4); // on the begin of the second, which is gone then
  EXPECT_EQ(place(table, 0x10ef), 1u);
  EXPECT_EQ(place(table, 0x10f0), 3u);
  EXPECT_EQ(place(table, 0x110f), 3u);
  EXPECT_EQ(place(table, 0x1110), 0u);
  EXPECT_EQ(place(table, 0x2000), 4u);
  EXPECT_EQ(place(table, 0x2010), 0u);
  table.add(0x1000, 0x1000, 5); // on all
  EXPECT_EQ(place(table, 0x1fff), 5u);
  EXPECT_EQ(place(table, 0x1010), 5u);
}

TEST(JitTable, OrderOfAddingDoesNotMatter) {
  JitTable table;
  for (uint64_t i = 1000; i > 0; i--) table.add(0x1000 + i * 16, 16, 2000 - i);
  for (uint64_t i = 1; i <= 1000; i++) ASSERT_EQ(place(table, 0x1000 + i * 16 + 5), 2000 - i);
  EXPECT_EQ(table.size(), 1000u);
  table.add(0, 0, 1); // none
  table.add(~uint64_t{0} - 1, 100, 1);
  EXPECT_EQ(place(table, 0), 0u);
}

std::string name(PerfMapFile& map, uint64_t address) {
  auto found = map.find(address);
  return found ? std::string(found->name) + "+" + std::to_string(address - found->start) : "";
}

TEST(PerfMapFile, LinesOfAllKinds) {
  Growing file;
  file.append("7f0010 20 LazyCompile:~foo bar.js:10:5\n"
              "0x7f0040 0x10 with 0x\n"
              "no line\n"
              "\n"
              "7f0100 10\n"
              "7f0200 10 \n"
              "7f0060 10 crlf\r\n");
  PerfMapFile map(file.open());
  EXPECT_EQ(name(map, 0x7f0015), "LazyCompile:~foo bar.js:10:5+5");
  EXPECT_EQ(name(map, 0x7f0040), "with 0x+0");
  EXPECT_EQ(name(map, 0x7f0061), "crlf+1");
  EXPECT_EQ(name(map, 0x7f0100), "");
  EXPECT_EQ(name(map, 0x7f0030), "");
  EXPECT_EQ(map.size(), 3u);
}

TEST(PerfMapFile, GrowsWhileItIsRead) {
  Growing file;
  PerfMapFile map(file.open());
  EXPECT_EQ(name(map, 0x1000), "");
  file.append("1000 10 one\n2000 1");
  EXPECT_EQ(name(map, 0x1004), "one+4");
  EXPECT_EQ(name(map, 0x2004), ""); // the line is not complete
  file.append("0 two\n");
  EXPECT_EQ(name(map, 0x2004), "two+4");
  file.append("1000 10 other\n"); // new code in the same place; found when something unknown is asked for
  EXPECT_EQ(name(map, 0x5000), "");
  EXPECT_EQ(name(map, 0x1004), "other+4");
}

TEST(PerfMapFile, WrittenAnew) {
  Growing file;
  file.append("1000 10 a longer name to be gone\n");
  PerfMapFile map(file.open());
  EXPECT_EQ(name(map, 0x1000), "a longer name to be gone+0");
  file.cut(0);
  file.append("3000 10 new\n");
  EXPECT_EQ(name(map, 0x3000), "new+0");
  EXPECT_EQ(name(map, 0x1000), "");
}

TEST(PerfMapFile, LongAndBinaryFiles) {
  Growing file;
  file.append(std::string(1 << 20, 'x')); // no line in sight
  file.append("\n1000 10 after\n");
  file.append(std::string(1000, '\0'));
  PerfMapFile map(file.open());
  EXPECT_EQ(name(map, 0x1000), "after+0");
  PerfMapFile none((base::Fd()));
  EXPECT_EQ(name(none, 0x1000), "");
}

TEST(PerfMapFile, AMillionLines) {
  Growing file;
  std::string text;
  char line[64];
  for (uint64_t i = 0; i < 1000000; i++) {
    std::snprintf(line, sizeof line, "%lx 40 function_%lu\n", 0x10000 + i * 64, i);
    text += line;
  }
  file.append(text);
  auto start = std::chrono::steady_clock::now();
  PerfMapFile map(file.open());
  EXPECT_EQ(name(map, 0x10000 + 777777 * 64 + 1), "function_777777+1");
  EXPECT_EQ(map.size(), 1000000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(5)); // 0.1 s, with room for sanitizers
}

// ---- jitdump

template<class T> void put(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string header() {
  std::string out;
  for (uint32_t n : {0x4a695444u, 1u, 40u, 62u, 0u, 4711u}) put(out, n);
  put<uint64_t>(out, 1);
  put<uint64_t>(out, 0);
  return out;
}

std::string record(uint32_t id, const std::string& content) {
  std::string out;
  put(out, id);
  put(out, static_cast<uint32_t>(content.size() + 16));
  put<uint64_t>(out, 5);
  return out + content;
}

std::string load(uint64_t address, uint64_t size, uint64_t index, const std::string& name) {
  std::string out;
  put<uint32_t>(out, 4711);
  put<uint32_t>(out, 4711);
  for (uint64_t n : {address, address, size, index}) put(out, n);
  return record(0, out + name + '\0' + std::string(size, '\xcc'));
}

std::string move(uint64_t from, uint64_t to, uint64_t size, uint64_t index) {
  std::string out;
  put<uint32_t>(out, 4711);
  put<uint32_t>(out, 4711);
  for (uint64_t n : {to, from, to, size, index}) put(out, n);
  return record(1, out);
}

struct LineOf {
  uint64_t address;
  uint32_t line;
  const char* file;
};

std::string lines(uint64_t address, const std::vector<LineOf>& entries) {
  std::string out;
  put(out, address);
  put<uint64_t>(out, entries.size());
  for (const LineOf& e : entries) {
    put(out, e.address);
    put(out, e.line);
    put<uint32_t>(out, 0);
    out += e.file;
    out += '\0';
  }
  return record(2, out);
}

std::string sample() {
  return header() +
         lines(0x1000, {{0x1000, 10, "/src/a.js"}, {0x1010, 12, "\xff"}, {0x1020, 3, "/src/b.js"}}) +
         load(0x1000, 0x40, 1, "first") + record(4, std::string(100, 'u')) +
         load(0x2000, 0x20, 2, "_ZN1A1fEv") + move(0x1000, 0x3000, 0x40, 1) + record(3, "");
}

std::string name(JitDump& dump, uint64_t address) {
  auto found = dump.find(address);
  return found ? std::string(found->name) + "+" + std::to_string(address - found->start) : "";
}

TEST(JitDump, LoadsMovesAndLines) {
  Growing file;
  file.append(sample());
  JitDump dump(file.open());
  EXPECT_EQ(name(dump, 0x1008), "first+8");
  EXPECT_EQ(name(dump, 0x2008), "_ZN1A1fEv+8");
  EXPECT_EQ(name(dump, 0x3008), "first+8");
  EXPECT_EQ(name(dump, 0x4000), "");
  EXPECT_EQ(dump.size(), 3u);
  auto at = [&](uint64_t address) {
    JitDump::Line line = dump.line(*dump.find(address), address);
    return line.file + ":" + std::to_string(line.line);
  };
  EXPECT_EQ(at(0x1004), "/src/a.js:10");
  EXPECT_EQ(at(0x1010), "/src/a.js:12");
  EXPECT_EQ(at(0x3024), "/src/b.js:3"); // moved
  EXPECT_EQ(at(0x2004), ":0");
}

TEST(JitDump, GrowsWhileItIsRead) {
  Growing file;
  std::string all = sample();
  JitDump dump(file.open());
  for (char c : all) {
    file.append({&c, 1});
    (void)dump.find(0x1008);
  }
  EXPECT_EQ(name(dump, 0x3008), "first+8");
}

TEST(JitDump, CutAndDamaged) {
  std::string all = sample();
  Growing file;
  auto ask = [&](const std::string& content) {
    file.cut(0);
    file.append(content);
    JitDump dump(file.open());
    for (uint64_t address : {0x1008u, 0x2008u, 0x3008u})
      if (auto found = dump.find(address)) (void)dump.line(*found, address);
    return dump.size();
  };
  for (size_t size = 0; size < all.size(); size++) EXPECT_LE(ask(all.substr(0, size)), 3u);
  for (size_t at = 0; at + 4 <= all.size(); at += 4) {
    std::string damaged = all;
    damaged.replace(at, 4, "\xff\xff\xff\xff");
    EXPECT_LE(ask(damaged), 4u);
  }
}

} // namespace
} // namespace symbol
