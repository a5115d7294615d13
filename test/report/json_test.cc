// JSON: one object a line.
#include "fake.h"

#include "report/names.h"

namespace report {
namespace {

class Json : public ReportTest {
protected:
  void SetUp() override { options.json = true; }
  std::string map(const ir::Map& m, const std::vector<ir::Entry>& entries, uint64_t top = 0,
                  uint64_t div = 0) {
    return print_map(m, entries, top, div);
  }
  std::string value(const type::Type* type, const Buffer& bytes) {
    std::string line = json_value(type, bytes);
    constexpr std::string_view start = "{\"type\": \"value\", \"data\": ";
    EXPECT_TRUE(line.starts_with(start) && line.ends_with("}\n"));
    return line.substr(start.size(), line.size() - start.size() - 2);
  }
  std::string string(std::string_view s) { return value(types.string(64), raw_text(s, 64)); }
};

TEST_F(Json, Numbers) {
  EXPECT_EQ(value(types.int64(), words({-1})), "-1");
  EXPECT_EQ(value(types.int64(), words({int64_t{1} << 53})), "9007199254740992");
  EXPECT_EQ(value(types.int64(), words({-(int64_t{1} << 53)})), "-9007199254740992");
  EXPECT_EQ(value(types.int64(), words({(int64_t{1} << 53) + 1})), "\"9007199254740993\"");
  EXPECT_EQ(value(types.int64(), words({INT64_MIN})), "\"-9223372036854775808\"");
  EXPECT_EQ(value(types.uint64(), words({-1})), "\"18446744073709551615\"");
  EXPECT_EQ(value(types.boolean(), raw<uint8_t>(1)), "true");
  EXPECT_EQ(value(types.pointer(nullptr, type::Space::kernel), words({50})), "50");
}

TEST_F(Json, Strings) {
  EXPECT_EQ(string("tab\tquote\" back\\ bell\x07"), "\"tab\\tquote\\\" back\\\\ bell\\u0007\"");
  EXPECT_EQ(string("\b\f\n\r\x7f"), "\"\\b\\f\\n\\r\\u007f\"");
  EXPECT_EQ(string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(string("\xff\xc3(\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"),
            "\"\\u00ff\\u00c3(\\u00c0\\u0080\\u00ed\\u00a0\\u0080\\u00f4\\u0090\\u0080\\u0080\"");
  EXPECT_EQ(string("cut \xe2\x82"), "\"cut \\u00e2\\u0082\"");
}

TEST_F(Json, CompoundValues) {
  const type::Type* t = tuple({types.int64(), types.string(8), tuple({types.int64(), types.boolean()})});
  EXPECT_EQ(value(t, joined({words({1}), raw_text("b", 8), words({2, 1})})), "[1,\"b\",[2,true]]");
  EXPECT_EQ(value(types.array(types.integer(2, true), 2), raw<uint32_t>(0xffff0001)), "[1,-1]");
  EXPECT_EQ(
      value(record_of({types.int64(), types.string(8)}, {"a", "b"}), joined({words({1}), raw_text("x", 8)})),
      "{ \"a\": 1, \"b\": \"x\" }");
  EXPECT_EQ(value(types.simple(Kind::stats), words({6, 3})), "{\"count\": 3, \"average\": 2, \"total\": 6}");
  EXPECT_EQ(value(types.stack(Kind::kstack, type::StackMode::bpftrace, 9), words({8})),
            "\"\\n        k_one+0\\n\"");
  EXPECT_EQ(value(types.simple(Kind::mac), Buffer(6)), "\"00:00:00:00:00:00\"");
}

TEST_F(Json, Maps) {
  EXPECT_EQ(
      map(map_of("a", types.int64(), types.int64()), {{words({2}), words({5})}, {words({1}), words({-2})}}),
      "{\"type\": \"map\", \"data\": {\"@a\": {\"1\": -2, \"2\": 5}}}\n");
  EXPECT_EQ(
      map(map_of("", nullptr, types.simple(Kind::count), ir::MapKind::percpu_array), {{{}, words({2, 3})}}),
      "{\"type\": \"map\", \"data\": {\"@\": 5}}\n");
  EXPECT_EQ(map(map_of("a", types.int64(), types.int64()), {}), "");
  EXPECT_EQ(map(map_of("a", types.int64(), types.int64()),
                {{words({2}), words({50})}, {words({1}), words({2})}}, 1, 10),
            "{\"type\": \"map\", \"data\": {\"@a\": {\"2\": 5}}}\n");
}

TEST_F(Json, Keys) {
  ir::Map m = map_of("t", tuple({types.int64(), types.string(8)}), types.string(8));
  EXPECT_EQ(map(m, {{joined({words({1}), raw_text("a\"", 8)}), raw_text("v", 8)}}),
            "{\"type\": \"map\", \"data\": {\"@t\": {\"1,a\\\"\": \"v\"}}}\n");
  EXPECT_EQ(map(map_of("n", tuple({types.int64(), tuple({types.int64(), types.int64()})}), types.int64()),
                {{words({1, 2, 3}), words({4})}}),
            "{\"type\": \"map\", \"data\": {\"@n\": {\"1,[2,3]\": 4}}}\n");
  EXPECT_EQ(map(map_of("b", types.uint64(), types.int64()), {{words({-1}), words({4})}}),
            "{\"type\": \"map\", \"data\": {\"@b\": {\"18446744073709551615\": 4}}}\n");
}

TEST_F(Json, Stats) {
  EXPECT_EQ(
      map(map_of("a", nullptr, types.simple(Kind::avg), ir::MapKind::percpu_array), {{{}, words({8, 2})}}),
      "{\"type\": \"stats\", \"data\": {\"@a\": 4}}\n");
  EXPECT_EQ(
      map(map_of("t", types.string(8), types.simple(Kind::stats), ir::MapKind::percpu_hash),
          {{raw_text("z", 8), words({3, 1})}}),
      "{\"type\": \"stats\", \"data\": {\"@t\": {\"z\": {\"count\": 1, \"average\": 3, \"total\": 3}}}}\n");
}

TEST_F(Json, Histograms) {
  std::vector<uint64_t> counts(types.hist(0)->count);
  counts[0] = counts[3] = 1;
  Buffer bytes(types.hist(0)->size);
  std::memcpy(bytes.data(), counts.data(), bytes.size());
  EXPECT_EQ(map(map_of("h", nullptr, types.hist(0), ir::MapKind::percpu_array), {{{}, bytes}}),
            "{\"type\": \"hist\", \"data\": {\"@h\": [{\"max\": -1, \"count\": 1}, {\"min\": 0, \"max\": 0, "
            "\"count\": 0}, "
            "{\"min\": 1, \"max\": 1, \"count\": 0}, {\"min\": 2, \"max\": 3, \"count\": 1}]}}\n");
  ir::Map l = map_of("l", types.string(8), types.lhist(0, 4, 2), ir::MapKind::percpu_hash);
  EXPECT_EQ(map(l, {{raw_text("x", 8), words({1, 0, 2, 1})}}),
            "{\"type\": \"hist\", \"data\": {\"@l\": {\"x\": [{\"max\": -1, \"count\": 1}, {\"min\": 0, "
            "\"max\": 1, \"count\": 0}, "
            "{\"min\": 2, \"max\": 3, \"count\": 2}, {\"min\": 4, \"count\": 1}]}}}\n");
}

TEST_F(Json, Records) {
  EXPECT_EQ(print({.kind = ir::ActionKind::printf, .text = "5 \"%s\"\n", .payload = tuple({types.string(8)})},
                  raw_text("x", 8)),
            "{\"type\": \"printf\", \"data\": \"5 \\\"x\\\"\\n\"}\n");
  EXPECT_EQ(print({.kind = ir::ActionKind::time, .text = "now\n"}),
            "{\"type\": \"time\", \"data\": \"now\\n\"}\n");
}

TEST_F(Json, ProbesAndLosses) {
  Printer printer(program, engine, names, sink, options);
  printer.attached(1);
  printer.lost(12);
  EXPECT_EQ(sink.results, "{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n"
                          "{\"type\": \"lost_events\", \"data\": {\"events\": 12}}\n");
  sink.results.clear();
  Printer(program, engine, names, sink, {}).attached(1);
  EXPECT_EQ(sink.results, "");
}

TEST(SystemNames, UnknownAddresses) {
  SystemNames names;
  EXPECT_EQ(names.kernel(0x10, true), "0x10");
  EXPECT_EQ(names.user(1, 0x55550000, true), "0x55550000");
}

} // namespace
} // namespace report
