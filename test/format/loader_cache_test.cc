// The cache of the dynamic loader: this machine's, made ones, damaged ones.
#include "format/loader_cache.h"

#include "base/file_map.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace format {
namespace {

base::ByteSpan bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

void number(std::string& to, uint64_t value, size_t size) {
  to.append(reinterpret_cast<const char*>(&value), size);
}

std::string made() {
  std::string out = "glibc-ld.so.cache1.1";
  number(out, 2, 4);  // entries
  number(out, 0, 24); // the rest of the header
  out.resize(48);
#if defined(__aarch64__)
  uint32_t ours = 0x0a03;
#else
  uint32_t ours = 0x0303;
#endif
  for (uint32_t flags : {ours, 0x0803u}) { // of another machine: x32
    number(out, flags, 4);
    number(out, 96, 4);
    number(out, 106, 4);
    number(out, 0, 12);
  }
  out.append("libx.so.1", 10).append("/lib/libx.so.1", 15);
  return out;
}

TEST(LoaderCache, Made) {
  std::string cache = made();
  auto all = read_loader_cache(bytes(cache));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "libx.so.1");
  EXPECT_EQ(all[0].path, "/lib/libx.so.1");
  std::string old = "ld.so-1.7.0";
  old.push_back('\0');
  number(old, 1, 4);
  old.resize(16 + 12 + 4); // one entry, and up to the next multiple of 8
  old += cache;
  EXPECT_EQ(read_loader_cache(bytes(old)).size(), 1u);
}

TEST(LoaderCache, Damaged) {
  std::string cache = made();
  for (size_t size = 0; size < cache.size(); size++)
    EXPECT_TRUE(read_loader_cache(bytes(cache.substr(0, size))).empty()) << size;
  std::string many = cache;
  many.replace(20, 4, "\xff\xff\xff\xff");
  EXPECT_LE(read_loader_cache(bytes(many)).size(), 4u);
  EXPECT_TRUE(read_loader_cache(bytes("text")).empty());
}

TEST(LoaderCache, OfThisMachine) {
  auto map = base::FileMap::open("/etc/ld.so.cache");
  if (!map.ok()) GTEST_SKIP() << map.error().message;
  auto all = read_loader_cache(map->bytes());
  auto libc = std::find_if(all.begin(), all.end(), [](auto& l) { return l.name == "libc.so.6"; });
  ASSERT_NE(libc, all.end());
  EXPECT_TRUE(libc->path.ends_with("/libc.so.6"));
}

} // namespace
} // namespace format
