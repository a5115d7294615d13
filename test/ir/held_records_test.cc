// Records that were held back: complete ones, one that is still written, and bytes that are none.
#include "ir/builder.h"
#include "ir/held_records.h"

#include <cstring>
#include <gtest/gtest.h>

namespace ir {
namespace {

struct Record { // of an action with one number
  uint32_t action, is_written;
  uint64_t number;
};

struct Taken {
  std::vector<uint64_t> numbers;
  uint64_t incomplete = 0;
};

Taken take(std::span<const std::byte> bytes) {
  Builder b;
  b.action(1);
  Taken taken;
  taken.incomplete = take_held(b.program, bytes, [&](std::span<const std::byte> record) {
    Record r;
    ASSERT_EQ(record.size(), sizeof r);
    std::memcpy(&r, record.data(), sizeof r);
    taken.numbers.push_back(r.number);
  });
  return taken;
}
Taken take(const std::vector<Record>& records) { return take(std::as_bytes(std::span(records))); }

using Numbers = std::vector<uint64_t>;

TEST(HeldRecords, come_in_order) {
  EXPECT_EQ(take({{0, 0, 5}, {0, 0, 6}, {0, 0, 7}}).numbers, (Numbers{5, 6, 7}));
  EXPECT_EQ(take(std::vector<Record>()).incomplete, 0u);
}

TEST(HeldRecords, one_that_is_still_written_is_counted) {
  const Taken taken = take({{0, 0, 5}, {0, 1, 6}, {0, 0, 7}});
  EXPECT_EQ(taken.numbers, (Numbers{5, 7}));
  EXPECT_EQ(taken.incomplete, 1u);
}

TEST(HeldRecords, behind_damaged_bytes_nothing_is_taken) {
  const Taken unknown = take({{0, 0, 5}, {9, 0, 6}, {0, 0, 7}});
  EXPECT_EQ(unknown.numbers, Numbers{5});
  EXPECT_EQ(unknown.incomplete, 1u);
  const std::vector<Record> records = {{0, 0, 5}, {0, 0, 6}};
  const Taken cut = take(std::as_bytes(std::span(records)).first(24));
  EXPECT_EQ(cut.numbers, Numbers{5});
  EXPECT_EQ(cut.incomplete, 1u);
}

} // namespace
} // namespace ir
