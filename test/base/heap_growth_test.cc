#include "base/heap_growth.h"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace base {
namespace {

size_t resident_pages() {
  size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

TEST(HeapGrowth, makes_room_that_is_taken_when_it_is_used) {
  constexpr size_t room = 64 << 20;
  const char* before = static_cast<char*>(::sbrk(0));
  const size_t resident = resident_pages();
  grow_heap(room);
  const char* after = static_cast<char*>(::sbrk(0));
  EXPECT_GE(after - before, static_cast<ptrdiff_t>(room - (256 << 10))); // with what was left
  EXPECT_LT((resident_pages() - resident) * static_cast<size_t>(::sysconf(_SC_PAGESIZE)), size_t{8} << 20);
  // What grows stays in this room.
  std::vector<char> bytes(1 << 20, 'x');
  for (int n = 0; n < 4; n++) bytes.resize(2 * bytes.size(), 'x');
  EXPECT_LT(bytes.data(), after);
  EXPECT_GT(bytes.data(), before - (1 << 20));
  EXPECT_EQ(::sbrk(0), after);
  EXPECT_EQ(bytes[bytes.size() - 1], 'x');
}

} // namespace
} // namespace base
