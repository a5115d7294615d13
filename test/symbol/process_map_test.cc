// Maps of processes.
#include "symbol/process_map.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace symbol {
namespace {

constexpr std::string_view sample =
    "55d0c0a00000-55d0c0a02000 r--p 00000000 08:01 1442   /usr/bin/a program\n"
    "55d0c0a02000-55d0c0a05000 r-xp 00002000 08:01 1442   /usr/bin/a program\n"
    "55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0      [heap]\n"
    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
    "7f0000002000-7f0000003000 r-xp 00010000 08:01 77     /tmp/lib.so (deleted)\n"
    "7f0000004000-7f0000005000 r-xp 00000000 08:01 78     /tmp/two\\012lines\n"
    "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0      [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
    "no line\n"
    "12-x r-xp\n";

TEST(ProcessMap, OnlyCodeIsKept) {
  auto map = parse_process_map(sample);
  ASSERT_EQ(map.size(), 6u);
  EXPECT_EQ(map[0].begin, 0x55d0c0a02000u);
  EXPECT_EQ(map[0].end, 0x55d0c0a05000u);
  EXPECT_EQ(map[0].offset, 0x2000u);
  EXPECT_EQ(map[0].device, makedev(8, 1));
  EXPECT_EQ(map[0].inode, 1442u);
  EXPECT_EQ(map[0].path, "/usr/bin/a program");
  EXPECT_TRUE(map[0].is_file());
  EXPECT_TRUE(map[1].path.empty());
  EXPECT_FALSE(map[1].is_file());
  EXPECT_EQ(map[3].path, "/tmp/two\nlines");
  EXPECT_EQ(map[4].path, "[vdso]");
  EXPECT_EQ(map[5].end, 0xffffffffff601000u);
}

TEST(ProcessMap, DeletedFiles) {
  auto map = parse_process_map(sample);
  EXPECT_FALSE(map[0].deleted);
  EXPECT_TRUE(map[2].deleted);
  EXPECT_EQ(map[2].path, "/tmp/lib.so");
}

TEST(ProcessMap, FindsTheMappingOfAnAddress) {
  auto map = parse_process_map(sample);
  EXPECT_EQ(find_mapping(map, 0x55d0c0a01fff), nullptr);
  EXPECT_EQ(find_mapping(map, 0x55d0c0a02000), &map[0]);
  EXPECT_EQ(find_mapping(map, 0x55d0c0a04fff), &map[0]);
  EXPECT_EQ(find_mapping(map, 0x55d0c0a05000), nullptr);
  EXPECT_EQ(find_mapping(map, 0), nullptr);
  EXPECT_EQ(find_mapping({}, 5), nullptr);
}

TEST(ProcessMap, UnsortedAndEmptyTexts) {
  auto map = parse_process_map("20-30 r-xp 0 0:0 0 /b\n10-20 r-xp 0 0:0 0 /a");
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map[0].path, "/a");
  EXPECT_TRUE(parse_process_map("").empty());
  EXPECT_TRUE(parse_process_map("30-20 r-xp 0 0:0 0 /b\n").empty());
}

TEST(ProcessMap, OfThisProcess) {
  auto map = read_process_map(::getpid());
  const Mapping* m = find_mapping(map, reinterpret_cast<uint64_t>(&parse_process_map));
  ASSERT_NE(m, nullptr);
  EXPECT_NE(m->path.find("test_symbol"), std::string::npos);
  EXPECT_TRUE(read_process_map(-1).empty());
}

} // namespace
} // namespace symbol
