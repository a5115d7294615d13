// The lessons' table, and which answers count.
#include "learn/lesson.h"
#include "learn/programs.h"

#include <gtest/gtest.h>
#include <set>

namespace learn {
namespace {

TEST(Answers, MayBeTypedInSeveralWays) {
  EXPECT_TRUE(is_answer("shop_sell", "shop_sell"));
  EXPECT_TRUE(is_answer("  Shop_Sell() ", "shop_sell"));
  EXPECT_TRUE(is_answer("`/tmp/x/stock-12.db`", "stock-12.db"));
  EXPECT_TRUE(is_answer("@[512]", "512"));
  EXPECT_FALSE(is_answer("shop", "shop_sell"));
  EXPECT_FALSE(is_answer("", "shop_sell"));
  EXPECT_FALSE(is_answer("12", "112"));
}

TEST(Lessons, AreTwelveAndDiffer) {
  ASSERT_EQ(lessons().size(), 12u);
  for (const Lesson& lesson : lessons()) {
    EXPECT_NE(lesson.command.find("acu "), std::string::npos) << lesson.title;
    std::set<std::string> answers;
    for (unsigned n = 0; n < numbers; n++) answers.insert(lesson.answer(n));
    EXPECT_GE(answers.size(), 3u) << lesson.title; // cannot be known without measuring
    for (const std::string& answer : answers) {
      EXPECT_TRUE(is_answer(answer, answer)) << answer;
      EXPECT_EQ(std::string(lesson.about).find(answer), std::string::npos) << lesson.title;
    }
  }
}

} // namespace
} // namespace learn
