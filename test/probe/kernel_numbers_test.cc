#include "probe/kernel_numbers.h"

#include "scratch.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

std::vector<std::byte> id_of(uint8_t n) { return std::vector<std::byte>(20, std::byte{n}); }

TEST(KernelNumbers, AreAskedForOnce) {
  Scratch folder;
  int asked = 0;
  auto ask = [&] { return ++asked, 7u; };
  {
    KernelNumbers numbers(symbol::Cache(folder.folder()), id_of(1));
    EXPECT_EQ(numbers.get("a", ask), 7u);
    EXPECT_EQ(numbers.get("a", ask), 7u);
    EXPECT_EQ(numbers.get("none", [] { return 0u; }), 0u);
    EXPECT_EQ(asked, 1);
    numbers.store();
  }
  KernelNumbers again(symbol::Cache(folder.folder()), id_of(1));
  EXPECT_EQ(again.get("a", ask), 7u);
  EXPECT_EQ(again.get("none", ask), 0u);
  EXPECT_EQ(asked, 1);
  KernelNumbers other(symbol::Cache(folder.folder()), id_of(2));
  EXPECT_EQ(other.get("a", ask), 7u);
  EXPECT_EQ(asked, 2);
}

TEST(KernelNumbers, WorkWithoutAPlaceToKeepThem) {
  KernelNumbers numbers(symbol::Cache(""), id_of(1));
  EXPECT_EQ(numbers.get("a", [] { return 3u; }), 3u);
  Scratch folder;
  {
    KernelNumbers unknown(symbol::Cache(folder.folder()), {});
    EXPECT_EQ(unknown.get("a", [] { return 3u; }), 3u);
    unknown.store();
  }
  KernelNumbers again(symbol::Cache(folder.folder()), {});
  EXPECT_EQ(again.get("a", [] { return 4u; }), 4u);
}

} // namespace
} // namespace probe
