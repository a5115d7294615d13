// Compressed sections that are kept plain: stored when they were decompressed, and taken from there by whoever
// comes later, as long as the file is the same.
#include "symbol/kept_sections.h"

#include "dwarf/sections.h"
#include "format/elf_builder.h"

#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <zstd.h>

namespace symbol {
namespace {

class KeptSectionsTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-kept-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    compile("int answer;");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void compile(const std::string& source) {
    std::ofstream out(folder_ + "/sample.c");
    out << source << "\n";
    for (int i = 0; i < 200; i++) out << "int v" << i << ";\n"; // less is not made smaller, and stays as it is
    out.close();
    std::string line = "gcc -g -gz=zlib -shared -Wl,--build-id=0x1234 " + folder_ + "/sample.c -o " + path();
    ASSERT_EQ(std::system(line.c_str()), 0);
  }
  std::string path() const { return folder_ + "/sample.so"; }

  std::string info(const KeptSizes& sizes) const {
    auto file = format::ElfFile::open(path());
    if (!file.ok()) return file.error().message;
    base::ByteSpan bytes = keep_sections(*file, Cache(folder_ + "/cache"), sizes).section(".debug_info");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> out;
    if (!std::filesystem::exists(folder_ + "/cache")) return out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/cache"))
      if (entry.path().string().find(".plain1.") != std::string::npos) out.push_back(entry.path());
    return out;
  }
  // Puts other bytes in the place of those kept.
  void replace(const std::string& bytes) const {
    std::string source = kept().at(0).extension().string().substr(1);
    const std::byte id[] = {std::byte{0x12}, std::byte{0x34}};
    CacheKey key{"plain", 1, id, std::stoull(source, nullptr, 16)};
    ASSERT_TRUE(Cache(folder_ + "/cache").store(key, std::as_bytes(std::span(bytes))).ok());
  }

  static constexpr KeptSizes all{0, 1 << 20};
  std::string folder_;
};

TEST_F(KeptSectionsTest, AreDecompressedOnce) {
  std::string plain = info({1 << 20, 1 << 20});
  ASSERT_GT(plain.size(), 20u);
  EXPECT_TRUE(kept().empty()); // too small
  EXPECT_EQ(info(all), plain);
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_EQ(info(all), plain);
  std::string other(plain.size(), 'x');
  replace(other);
  EXPECT_EQ(info(all), other);
  EXPECT_EQ(info({0, plain.size() - 1}), plain); // too large: nothing kept is looked for
}

TEST_F(KeptSectionsTest, DoNotServeAnotherFile) {
  std::string plain = info(all);
  replace(plain + "more"); // not as long as the file says
  EXPECT_EQ(info(all), plain);
  replace(std::string(plain.size(), 'x'));
  compile("int answer, more;");
  std::string other = info(all);
  EXPECT_NE(other, plain);
  EXPECT_NE(other, std::string(other.size(), 'x'));
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(KeptSectionsTest, NoRoomForThemIsNoHarm) {
  std::string plain = info({1 << 20, 1 << 20});
  auto file = format::ElfFile::open(path());
  ASSERT_TRUE(file.ok());
  base::ByteSpan bytes = keep_sections(*file, Cache(folder_ + "/cache", 100), all).section(".debug_info");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), plain);
  EXPECT_TRUE(kept().empty());
}

// Bytes that cannot be made smaller, as a file with all kinds of sections.
class LargeSectionsTest : public KeptSectionsTest {
protected:
  void SetUp() override {
    KeptSectionsTest::SetUp();
    std::mt19937_64 random(1);
    for (size_t n = 0; n < size / 8; n++) info_ += ElfBuilder::number<uint64_t>(random());
  }
  void write(const std::string& packed) {
    ElfBuilder b;
    b.add_build_id("0123456789abcdefghij");
    for (const char* name : {".debug_info", ".debug_line"})
      b.add(name, ElfBuilder::compression_header(2, info_.size()) + packed, SHT_PROGBITS, SHF_COMPRESSED);
    std::ofstream(folder_ + "/large", std::ios::binary) << b.build();
  }
  std::string packed() const {
    std::string out(ZSTD_compressBound(info_.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), info_.data(), info_.size(), 1));
    return out;
  }
  std::pair<std::string, std::string> read(std::vector<std::string>& problems) const {
    auto file = format::ElfFile::open(folder_ + "/large");
    if (!file.ok()) return {};
    auto sections = dwarf::sections_of(keep_sections(*file, Cache(folder_ + "/cache")));
    problems = file->problems();
    return {std::string(reinterpret_cast<const char*>(sections.info.data()), sections.info.size()),
            std::string(reinterpret_cast<const char*>(sections.line.data()), sections.line.size())};
  }

  static constexpr size_t size = 5 << 20; // enough for two threads
  std::string info_;
  std::vector<std::string> problems_;
};

TEST_F(LargeSectionsTest, AreMadeInTwoThreads) {
  write(packed());
  for (int turn = 0; turn < 2; turn++) { // made, and found
    auto [info, line] = read(problems_);
    EXPECT_TRUE(info == info_ && line == info_) << info.size() << " " << line.size();
    EXPECT_EQ(problems_, std::vector<std::string>());
    EXPECT_EQ(kept().size(), 2u);
  }
}

TEST_F(LargeSectionsTest, DamagedOnesLeaveNothing) {
  std::string bytes = packed();
  bytes.resize(bytes.size() - 1000);
  write(bytes);
  auto [info, line] = read(problems_);
  EXPECT_TRUE(info.empty() && line.empty());
  EXPECT_EQ(problems_.size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/cache"));
}

} // namespace
} // namespace symbol
