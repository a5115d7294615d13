#include "base/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace {

struct Row {
  std::string_view name;
  int number = 0;
  std::string_view remark = {};
};
using Table = base::TextTable<Row, &Row::name, &Row::remark>;
constexpr Row written[] = {{"one", 1}, {"", 2, "has no name"}, {"three", 3, "odd"}};
constexpr Table rows = Table::of<written>();

TEST(TextTable, RowsAreAsWritten) {
  ASSERT_EQ(rows.size(), std::size(written));
  size_t number = 0;
  for (const Row& row : rows) {
    EXPECT_EQ(row.name, written[number].name);
    EXPECT_EQ(row.number, written[number].number);
    EXPECT_EQ(row.remark, written[number++].remark);
  }
  EXPECT_EQ(number, std::size(written));
  static_assert(rows[2].remark == "odd");
}

TEST(TextTable, TextsStayAndEndWithNul) {
  const std::string_view name = rows[0].name, empty = rows[0].remark; // of rows that are gone
  EXPECT_EQ(std::strlen(name.data()), name.size());
  EXPECT_EQ(std::strlen(empty.data()), 0u);
}

TEST(TextTable, IsARangeAndMayBeEmpty) {
  EXPECT_TRUE(std::ranges::any_of(rows, [](const Row& row) { return row.number == 3; }));
  EXPECT_EQ(std::ranges::find_if(rows, [](const Row& row) { return row.number == 4; }), rows.end());
  constexpr Table none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
}

} // namespace
