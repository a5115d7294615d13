// Records: the printf family, print of a value, time, join, cat and system.
#include "fake.h"

#include <cstdio>
#include <cstdlib>

namespace report {
namespace {

using ir::ActionKind;

class Format : public ReportTest {
protected:
  std::string format(std::string text, std::vector<const type::Type*> elements = {},
                     const Buffer& payload = {}) {
    return print({.kind = ActionKind::printf,
                  .text = std::move(text),
                  .payload = elements.empty() ? nullptr : tuple(elements)},
                 payload);
  }
  std::string number(std::string text, int64_t n) {
    return format(std::move(text), {types.int64()}, words({n}));
  }
};

TEST_F(Format, Text) {
  EXPECT_EQ(format("plain\ttext 100%%\n"), "plain\ttext 100%\n");
  EXPECT_EQ(format(""), "");
}

TEST_F(Format, WithoutLengthTheLow32BitsCount) {
  EXPECT_EQ(number("%d", int64_t{1} << 33), "0");
  EXPECT_EQ(number("%x", 0x1ffffffff), "ffffffff");
  EXPECT_EQ(number("%ld", int64_t{1} << 33), "8589934592");
  EXPECT_EQ(number("%d", 4294967295), "-1");
  EXPECT_EQ(number("%u", -1), "4294967295");
  EXPECT_EQ(number("%i", -1), "-1");
}

TEST_F(Format, Lengths) {
  EXPECT_EQ(number("%hhu", 300), "44");
  EXPECT_EQ(number("%hhd", 200), "-56");
  EXPECT_EQ(number("%hd", 65537), "1");
  EXPECT_EQ(number("%hx", -1), "ffff");
  for (const char* spec : {"%ld", "%lld", "%jd", "%zd", "%td"})
    EXPECT_EQ(number(spec, INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(number("%llu", -1), "18446744073709551615");
  EXPECT_EQ(number("%lx", -1), "ffffffffffffffff");
}

TEST_F(Format, IntegersAreAsInC) {
  for (const char* flags : {"", "-", "0", "-0", "+", " ", "#", "+0"})
    for (const char* width : {"", "1", "7", "30"})
      for (const char* precision : {"", ".0", ".9"})
        for (const char conversion : {'d', 'i', 'u', 'x', 'X', 'o'})
          for (const int64_t n : {int64_t{0}, int64_t{7}, int64_t{-7}, int64_t{123456}, INT64_MAX, INT64_MIN, int64_t{-1}}) {
            const std::string spec = std::string("%") + flags + width + precision + "ll" + conversion;
            char expected[64];
            std::snprintf(expected, sizeof expected, spec.c_str(), static_cast<long long>(n));
            EXPECT_EQ(number(spec, n), expected) << spec << " of " << n;
          }
}

TEST_F(Format, FlagsWidthAndPrecision) {
  EXPECT_EQ(number("[%5d]", 42), "[   42]");
  EXPECT_EQ(number("[%-5d]", 42), "[42   ]");
  EXPECT_EQ(number("[%05d]", 42), "[00042]");
  EXPECT_EQ(number("[%+d]", 42), "[+42]");
  EXPECT_EQ(number("[% d]", 42), "[ 42]");
  EXPECT_EQ(number("[%#x]", 42), "[0x2a]");
  EXPECT_EQ(number("[%X]", 42), "[2A]");
  EXPECT_EQ(number("[%o]", 42), "[52]");
  EXPECT_EQ(number("[%8.3d]", 5), "[     005]");
  EXPECT_EQ(number("%300d", 7), std::string(299, ' ') + "7");
}

TEST_F(Format, NumbersOfOtherTypes) {
  EXPECT_EQ(format("%d", {types.boolean()}, raw<uint8_t>(1)), "1");
  EXPECT_EQ(format("%d", {types.integer(1, true)}, raw<int8_t>(-3)), "-3");
  EXPECT_EQ(format("%u", {types.integer(1, false)}, raw<uint8_t>(253)), "253");
  EXPECT_EQ(format("%lx", {types.pointer(nullptr, type::Space::kernel)}, words({0xff00ff00ff})),
            "ff00ff00ff");
  EXPECT_EQ(format("%d", {types.simple(Kind::avg, true)}, words({-6, 2})), "-3");
}

TEST_F(Format, CharactersAndPointers) {
  EXPECT_EQ(number("[%c]", 'A'), "[A]");
  EXPECT_EQ(number("[%3c]", 'A'), "[  A]");
  EXPECT_EQ(number("[%c]", 0), std::string("[\0]", 3));
  EXPECT_EQ(number("%p", 0xdead), "0xdead");
  EXPECT_EQ(number("[%8p]", 0xff), "[    0xff]");
}

TEST_F(Format, Strings) {
  auto string = [&](std::string spec, std::string_view value) {
    return format(std::move(spec), {types.string(16)}, raw_text(value, 16));
  };
  EXPECT_EQ(string("[%s]", "ab"), "[ab]");
  EXPECT_EQ(string("[%5s]", "ab"), "[   ab]");
  EXPECT_EQ(string("[%-5s]", "ab"), "[ab   ]");
  EXPECT_EQ(string("[%.1s]", "ab"), "[a]");
  EXPECT_EQ(string("[%.0s]", "ab"), "[]");
  EXPECT_EQ(string("[%1s]", "abc"), "[abc]");
  EXPECT_EQ(string("%s", "0123456789abcdef"), "0123456789abcde..");
}

TEST_F(Format, EverythingPrintsAsText) {
  EXPECT_EQ(format("%s", {types.boolean()}, raw<uint8_t>(1)), "true");
  EXPECT_EQ(format("%s", {types.int64()}, words({-1})), "-1");
  EXPECT_EQ(format("%s", {tuple({types.int64(), types.int64()})}, words({1, 2})), "(1, 2)");
  EXPECT_EQ(format("%10s|", {types.simple(Kind::ksym)}, words({0x1000})), "     k_one|");
  EXPECT_EQ(format("<%s>", {types.stack(Kind::kstack, type::StackMode::bpftrace, 1)}, words({7})),
            "<\n        k_one+1\n>");
}

TEST_F(Format, Buffers) {
  const type::Type* b = types.buffer(4);
  Buffer bytes = joined({raw<uint32_t>(3), raw_text("a\x01z!", 4)});
  EXPECT_EQ(format("%r", {b}, bytes), "a\\x01z");
  EXPECT_EQ(format("%rx", {b}, bytes), "\\x61\\x01\\x7a");
  EXPECT_EQ(format("%rh.", {b}, bytes), "61 01 7a.");
  EXPECT_EQ(format("%s", {b}, bytes), "a\\x01z");
}

TEST_F(Format, SeveralArguments) {
  EXPECT_EQ(format("%s=%d,%s\n", {types.string(4), types.int64(), types.string(4)},
                   joined({raw_text("a", 8), words({5}), raw_text("z", 4)})),
            "a=5,z\n");
}

TEST_F(Format, Messages) {
  const type::Type* one = tuple({types.int64()});
  EXPECT_EQ(
      print({.kind = ActionKind::errorf, .text = "bad %d", .payload = one}, words({10}), "stdin:1:9-62"), "");
  EXPECT_EQ(sink.messages, "stdin:1:9-62: ERROR: bad 10\n");
  sink.messages.clear();
  print({.kind = ActionKind::warnf, .text = "odd"}, {}, "x.bt:2:1-5");
  EXPECT_EQ(sink.messages, "x.bt:2:1-5: WARNING: odd\n");
}

TEST_F(ReportTest, PrintOfAValue) {
  EXPECT_EQ(print({.kind = ActionKind::print_value, .payload = tuple({types.string(8)})}, raw_text("abc", 8)),
            "abc\n");
  EXPECT_EQ(
      print({.kind = ActionKind::print_value, .payload = tuple({tuple({types.int64(), types.int64()})})},
            words({1, 2})),
      "(1, 2)\n");
}

TEST_F(ReportTest, Time) {
  std::string year = print({.kind = ActionKind::time, .text = "%Y\n"});
  EXPECT_EQ(year.size(), 5u);
  EXPECT_GT(std::atoi(year.c_str()), 2020);
  EXPECT_EQ(print({.kind = ActionKind::time, .text = ""}), "");
}

TEST_F(ReportTest, Join) {
  ir::Action join{.kind = ActionKind::join, .text = " ", .items = 3, .string_size = 8};
  Buffer payload =
      joined({raw<uint32_t>(2), raw<uint32_t>(0), raw_text("ls", 8), raw_text("-l", 8), raw_text("old", 8)});
  EXPECT_EQ(print(join, payload), "ls -l\n");
  EXPECT_EQ(json(join, payload), "{\"type\": \"join\", \"data\": \"ls -l\\n\"}\n");
}

TEST_F(ReportTest, Cat) {
  options.max_cat_bytes = 6;
  EXPECT_EQ(print({.kind = ActionKind::cat, .text = "/proc/version"}), "Linux ");
  EXPECT_EQ(print({.kind = ActionKind::cat, .text = "/proc/%s", .payload = tuple({types.string(8)})},
                  raw_text("version", 8)),
            "Linux ");
  EXPECT_EQ(json({.kind = ActionKind::cat, .text = "/proc/version"}),
            "{\"type\": \"cat\", \"data\": \"Linux \"}\n");
}

TEST_F(ReportTest, CatOfAFileThatCannotBeRead) {
  EXPECT_EQ(print({.kind = ActionKind::cat, .text = "/no/such/file"}, {}, "stdin:1:9-29"), "");
  EXPECT_EQ(sink.messages,
            "stdin:1:9-29: ERROR: cat: cannot open `/no/such/file`: No such file or directory\n");
  sink.messages.clear();
  EXPECT_EQ(json({.kind = ActionKind::cat, .text = "/proc"}), "");
  EXPECT_EQ(sink.messages, "ERROR: cat: cannot read `/proc`: Is a directory\n");
}

TEST_F(ReportTest, System) {
  ir::Action echo{.kind = ActionKind::system, .text = "echo %d", .payload = tuple({types.int64()})};
  EXPECT_EQ(print(echo, words({5})), "5\n");
  EXPECT_EQ(json(echo, words({5})), "{\"type\": \"syscall\", \"data\": \"5\\n\"}\n");
}

} // namespace
} // namespace report
