// Files in zip archives, by PKWARE's APPNOTE.TXT: stored ones have a place, others a reason.
#include "format/archive.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace format {
namespace {

template<class T> std::string raw(T value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

struct Packed {
  std::string name, bytes;
  uint16_t method = 0; // stored
  std::string extra = {}, local_extra = {}, comment = {};
};

// Local headers with their bytes, the directory, and the end.
std::string archive(const std::vector<Packed>& files, const std::string& comment = {}) {
  std::string out, directory;
  for (const Packed& f : files) {
    const auto size = static_cast<uint32_t>(f.bytes.size()), at = static_cast<uint32_t>(out.size());
    const std::string common = raw<uint16_t>(20) + raw<uint16_t>(0) + raw(f.method) + raw<uint32_t>(0) + raw<uint32_t>(0x1234) + raw(size) + raw(size);
    const auto name = static_cast<uint16_t>(f.name.size());
    out += raw<uint32_t>(0x04034b50) + common + raw(name) + raw(static_cast<uint16_t>(f.local_extra.size())) + f.name + f.local_extra + f.bytes;
    directory += raw<uint32_t>(0x02014b50) + raw<uint16_t>(20) + common + raw(name) + raw(static_cast<uint16_t>(f.extra.size())) + raw(static_cast<uint16_t>(f.comment.size())) + raw<uint16_t>(0) + raw<uint16_t>(0) +
                 raw<uint32_t>(0) + raw(at) + f.name + f.extra + f.comment;
  }
  const auto count = static_cast<uint16_t>(files.size());
  const std::string end = raw<uint32_t>(0x06054b50) + raw<uint16_t>(0) + raw<uint16_t>(0) + raw(count) + raw(count) + raw(static_cast<uint32_t>(directory.size())) + raw(static_cast<uint32_t>(out.size())) +
                          raw(static_cast<uint16_t>(comment.size())) + comment;
  return out + directory + end;
}

// The bytes of a file, or why there are none.
std::string find(const std::string& bytes, std::string_view name) {
  auto found = find_in_archive(std::as_bytes(std::span(bytes)), name);
  return found.ok() ? bytes.substr(found->offset, found->size) : "NOT: " + found.error().message;
}

const std::vector<Packed> sample = {{"lib/arm64/liba.so", "bytes of a"}, {"classes.dex", "code", 8}, {"lib/x86_64/libb.so", "bytes of b", 0, "EXTRA", "OTHER EXTRA", "a comment"}, {"empty.so", ""}};

TEST(Archive, StoredFilesHaveAPlace) {
  const std::string zip = archive(sample);
  EXPECT_EQ(find(zip, "lib/arm64/liba.so"), "bytes of a");
  EXPECT_EQ(find(zip, "lib/x86_64/libb.so"), "bytes of b"); // behind fields that differ in both headers
  EXPECT_EQ(find(zip, "//lib/arm64/liba.so"), "bytes of a");
  EXPECT_EQ(find(zip, "empty.so"), "");
}

TEST(Archive, OthersHaveAReason) {
  const std::string zip = archive(sample);
  EXPECT_EQ(find(zip, "classes.dex"), "NOT: it is compressed in the archive, so that it can't be executed from there");
  EXPECT_EQ(find(zip, "lib/arm64/libaa.so"), "NOT: the archive has no such file; did you mean `lib/arm64/liba.so`?");
  EXPECT_EQ(find(zip, "x"), "NOT: the archive has no such file; it has lib/arm64/liba.so, lib/x86_64/libb.so, empty.so");
  EXPECT_EQ(find(archive({}), "x"), "NOT: the archive has no such file");
  EXPECT_EQ(find("", "x"), "NOT: it is no zip archive");
  EXPECT_EQ(find(std::string(1000, 'P'), "x"), "NOT: it is no zip archive");
}

// The end is looked for from behind: a comment may look like one.
TEST(Archive, CommentsAtTheEnd) {
  EXPECT_EQ(find(archive(sample, "just words"), "lib/arm64/liba.so"), "bytes of a");
  EXPECT_EQ(find(archive(sample, std::string(65535, 'c')), "lib/arm64/liba.so"), "bytes of a");
  const std::string false_end = raw<uint32_t>(0x06054b50) + std::string(8, '\0') + raw<uint32_t>(0x7fffffff) + raw<uint32_t>(0x7fffffff) + std::string(20, 'x');
  EXPECT_EQ(find(archive(sample, false_end), "lib/arm64/liba.so"), "bytes of a");
}

TEST(Archive, PlacesOutsideOfIt) {
  std::string zip = archive({{"a.so", "bytes"}});
  const size_t directory = zip.find(raw<uint32_t>(0x02014b50));
  for (uint32_t place : {0xffffffffu, 5u, static_cast<uint32_t>(zip.size() - 10)}) {
    std::string damaged = zip;
    damaged.replace(directory + 42, 4, raw(place));
    EXPECT_EQ(find(damaged, "a.so"), "NOT: the archive is damaged, or larger than 4 GB");
  }
  std::string larger = zip;
  larger.replace(directory + 20, 4, raw<uint32_t>(1000)), larger.replace(directory + 24, 4, raw<uint32_t>(1000));
  EXPECT_EQ(find(larger, "a.so"), "NOT: the archive is damaged, or larger than 4 GB");
}

TEST(Archive, AnyByteMayBeDamagedOrCut) {
  const std::string whole = archive(sample);
  auto check = [](const std::string& bytes) {
    if (auto found = find_in_archive(std::as_bytes(std::span(bytes)), "lib/x86_64/libb.so"); found.ok()) {
      ASSERT_LE(found->offset, bytes.size());
      ASSERT_LE(found->size, bytes.size() - found->offset);
    }
  };
  for (size_t i = 0; i < whole.size(); i++) {
    check(whole.substr(0, i));
    for (int value : {0, 1, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(value);
      check(bytes);
    }
  }
}

} // namespace
} // namespace format
