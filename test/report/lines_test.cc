// Places of addresses, captured packets, commands, labels of linear histograms.
#include "fake.h"
#include "report/capture.h"
#include "report/effect.h"
#include "report/place.h"
#include "report/time.h"

#include "scratch.h"

#include <rapidjson/document.h>

namespace report {
namespace {

symbol::Place at(uint64_t address) {
  symbol::Place p;
  p.address = address;
  return p;
}
std::string text(const symbol::Place& p, bool with_module = false) {
  std::string out;
  append_place(out, p, with_module);
  return out;
}
std::string json(const symbol::Place& p) {
  std::string out;
  append_place_json(out, p);
  rapidjson::Document parsed;
  parsed.Parse(out.c_str());
  EXPECT_FALSE(parsed.HasParseError()) << out;
  return out;
}

TEST(Place, WhatIsKnownOfIt) {
  symbol::Place p = at(0x401139);
  EXPECT_EQ(text(p), "0x401139: ??\n");
  EXPECT_EQ(json(p), "{\"address\": \"0x401139\"}\n");
  p.module = "/lib/libx.so", p.module_address = 0x1f01;
  EXPECT_EQ(text(p), "0x401139: /lib/libx.so+0x1f01\n");
  EXPECT_EQ(text(p, true), "0x401139: /lib/libx.so+0x1f01\n"); // it is there already
  p.name = "main", p.offset = 41;
  EXPECT_EQ(text(p), "0x401139: main+0x29\n");
  EXPECT_EQ(text(p, true), "0x401139: main+0x29 (/lib/libx.so)\n");
  EXPECT_EQ(json(p), "{\"address\": \"0x401139\", \"module\": \"/lib/libx.so\", \"module_offset\": \"0x1f01\", \"function\": \"main\", \"offset\": 41}\n");
  p.offset = 0;
  EXPECT_EQ(text(p), "0x401139: main\n");
}

TEST(Place, LinesAndInlinedCalls) {
  symbol::Place p = at(0x10);
  p.name = "main", p.module = "/bin/t", p.offset = 1;
  const symbol::Frame frames[] = {{.name = "square", .file = "/src/t.c", .line = 3, .column = 10}, {.name = "", .file = "/src/t.c", .line = 0}, {.name = "main", .file = "/src/t.c", .line = 15, .column = 0}};
  p.frames = frames;
  EXPECT_EQ(text(p, true), "0x10: square at /src/t.c:3:10\n (inlined by) ?? at /src/t.c:?\n (inlined by) main+0x1 at /src/t.c:15 (/bin/t)\n");
  EXPECT_NE(json(p).find("\"frames\": [{\"function\": \"square\", \"file\": \"/src/t.c\", \"line\": 3, \"column\": 10}, {\"file\": \"/src/t.c\"}, "), std::string::npos) << json(p);
  // Without a symbol the debug information names it.
  p.name = "", p.module = "", p.frames = std::span(frames).last(1);
  EXPECT_EQ(text(p), "0x10: main at /src/t.c:15\n");
}

TEST(Place, TheKernelHasNoFile) {
  symbol::Place p = at(0xffffffff81000000);
  p.module = "[kernel]", p.name = "_text";
  EXPECT_EQ(text(p, true), "0xffffffff81000000: _text ([kernel])\n");
  EXPECT_EQ(json(p).find("module_offset"), std::string::npos);
}

// libpcap's file format: a header of 24 bytes, then for each packet 16 bytes and the packet.
TEST(Captures, FilesOfPackets) {
  Scratch s;
  Captures captures;
  const Buffer packet = raw_text("E packet", 8);
  ASSERT_TRUE(captures.add(s.path("a.pcap"), 1'700'000'000'123'456'789, packet).ok());
  ASSERT_TRUE(captures.add(s.path("b.pcap"), 0, {}).ok());
  ASSERT_TRUE(captures.add(s.path("a.pcap"), 1'700'000'001'000'000'999, packet).ok());
  const std::string file = s.read("a.pcap");
  ASSERT_EQ(file.size(), 24u + 2 * (16 + 8));
  auto word = [&](size_t at) {
    uint32_t out = 0;
    std::memcpy(&out, file.data() + at, 4);
    return out;
  };
  EXPECT_EQ(word(0), 0xa1b2c3d4u);
  EXPECT_EQ(word(4), 2u | 4u << 16);
  EXPECT_EQ(word(20), 101u); // LINKTYPE_RAW
  EXPECT_EQ(word(24), 1'700'000'000u);
  EXPECT_EQ(word(28), 123'456u);
  EXPECT_EQ(word(32), 8u);
  EXPECT_EQ(file.substr(40, 8), "E packet");
  EXPECT_EQ(word(52), 0u); // less than a microsecond
  EXPECT_EQ(s.read("b.pcap").size(), 24u + 16);
}

// One message for each file: with a full disk there would be one for each packet.
TEST(Captures, AFileThatCannotBeWritten) {
  Captures captures;
  auto first = captures.add("/dev/full", 0, raw_text("x", 1));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().message, "cannot write /dev/full, it gets no more packets: No space left on device");
  EXPECT_TRUE(captures.add("/dev/full", 0, raw_text("x", 1)).ok());
  EXPECT_FALSE(captures.add("/no/such/folder/x", 0, {}).ok());
}

TEST(Effect, FilesAsFarAsTheyGo) {
  Scratch s;
  s.write("x", std::string(40'000, 'x'));
  std::string out;
  auto take = [&](std::string_view piece) { out += piece; };
  ASSERT_TRUE(read_pieces(s.path("x"), 1 << 20, take).ok());
  EXPECT_EQ(out.size(), 40'000u);
  out.clear();
  ASSERT_TRUE(read_pieces(s.path("x"), 20'000, take).ok());
  EXPECT_EQ(out.size(), 20'000u);
  out.clear();
  ASSERT_TRUE(read_pieces(s.path("x"), 0, take).ok());
  EXPECT_EQ(out, "");
  ASSERT_TRUE(s.run("mkfifo pipe")); // nobody writes to it: it is not waited for
  ASSERT_TRUE(read_pieces(s.path("pipe"), 100, take).ok());
}

TEST(Effect, CommandsOfTheShell) {
  std::string out;
  auto take = [&](std::string_view piece) { out += piece; };
  ASSERT_TRUE(run_command("printf 'a b'; exit 3", take, {}).ok()); // its status is its own
  EXPECT_EQ(out, "a b");
  out.clear();
  ASSERT_TRUE(run_command("exec 2>/dev/null; no-such-command-here", take, {}).ok());
  EXPECT_EQ(out, "");
  ASSERT_TRUE(run_command("printf begun; exec sleep 600", take, [&] { return out.empty() ? -1 : 0; }).ok()); // ended as soon as there is no more patience
  EXPECT_EQ(out, "begun");
}

TEST(Time, SecondsBefore1970AndMicroseconds) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  EXPECT_EQ(format_time("%Y-%m-%d %H:%M:%S.%f", 1'700'000'000'000'001'999), "2023-11-14 22:13:20.000001");
  EXPECT_EQ(format_time("%Y-%m-%d %H:%M:%S.%f", -1), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(format_time("%f%f", 5'000), "000005000005");
  EXPECT_EQ(format_time("%%f %", 0), "%f %");
  EXPECT_EQ(format_time("", 0), "");
  EXPECT_EQ(format_time(std::string(5000, 'x'), 0), std::string(5000, 'x'));
}

// All numbers of a linear histogram have one unit, in which each is whole.
TEST_F(ReportTest, LabelsOfLinearHistograms) {
  auto labels = [&](int64_t low, int64_t high, int64_t step) {
    const type::Type* l = types.lhist(low, high, step);
    std::vector<uint64_t> all(l->count, 1);
    Buffer bytes(l->size);
    std::memcpy(bytes.data(), all.data(), bytes.size());
    std::string out;
    const std::string lines = text(l, bytes);
    for (size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) out += lines.substr(at, lines.find(')', at) + 1 - at) + " ";
    return out;
  };
  EXPECT_EQ(labels(0, 4, 2), "(..., 0) [0, 2) [2, 4) [4, ...) ");
  EXPECT_EQ(labels(0, 2048, 1024), "(..., 0K) [0K, 1K) [1K, 2K) [2K, ...) ");
  EXPECT_EQ(labels(-2097152, 0, 1048576), "(..., -2M) [-2M, -1M) [-1M, 0M) [0M, ...) ");
  EXPECT_EQ(labels(100, 2148, 1024), "(..., 100) [100, 1124) [1124, 2148) [2148, ...) ");
  EXPECT_EQ(labels(0, 1500, 1024), "(..., 0) [0, 1024) [1024, 1500) [1500, ...) ");
}

} // namespace
} // namespace report
