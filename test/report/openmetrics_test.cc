// Maps as metrics.
#include "fake.h"

#include "report/openmetrics.h"

namespace report {
namespace {

class Metrics : public ReportTest {
protected:
  // Without the lines before the samples.
  std::string samples(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t top = 0) {
    std::string out, all = metrics(map, entries, top);
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.find('\n', at) + 1;
      if (all[at] != '#') out += all.substr(at, end - at);
      at = end;
    }
    return out;
  }
  std::string metrics(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t top = 0) {
    program.maps = {map};
    return Printer(program, engine, names, sink, options).metrics(0, entries, top, "acu_m");
  }
  ir::Map keyed(const type::Type* key, std::vector<std::string> key_names, const type::Type* value) {
    ir::Map out = map_of("m", key, value);
    out.key_names = std::move(key_names);
    return out;
  }
};

TEST_F(Metrics, KindsOfValues) {
  EXPECT_EQ(metrics(map_of("m", nullptr, types.simple(Kind::count), ir::MapKind::percpu_array), {{{}, words({2, 3})}}),
            "# TYPE acu_m counter\n# HELP acu_m The map @m.\nacu_m_total 5\n");
  EXPECT_EQ(metrics(map_of("m", nullptr, types.simple(Kind::sum, false), ir::MapKind::percpu_array), {{{}, words({-1})}}),
            "# TYPE acu_m counter\n# HELP acu_m The map @m.\nacu_m_total 18446744073709551615\n");
  EXPECT_EQ(metrics(map_of("m", nullptr, types.simple(Kind::sum, true), ir::MapKind::percpu_array), {{{}, words({-1})}}),
            "# TYPE acu_m gauge\n# HELP acu_m The map @m.\nacu_m -1\n");
  EXPECT_EQ(metrics(map_of("m", nullptr, types.int64(), ir::MapKind::array), {{{}, words({-7})}}), "# TYPE acu_m gauge\n# HELP acu_m The map @m.\nacu_m -7\n");
  EXPECT_EQ(metrics(map_of("m", nullptr, types.simple(Kind::stats, true), ir::MapKind::percpu_array), {{{}, words({-6, 3})}}),
            "# TYPE acu_m summary\n# HELP acu_m The map @m.\nacu_m_count 3\nacu_m_sum -6\n");
  EXPECT_EQ(samples(map_of("m", nullptr, types.simple(Kind::max, true), ir::MapKind::percpu_array), {{{}, words({4, 1})}}), "acu_m 4\n");
  EXPECT_EQ(samples(map_of("m", nullptr, types.simple(Kind::max, true), ir::MapKind::percpu_array), {{{}, words({0, 0})}}), ""); // there was no value
  EXPECT_EQ(samples(map_of("m", nullptr, types.boolean(), ir::MapKind::array), {{{}, raw<uint64_t>(1)}}), "acu_m 1\n");
}

TEST_F(Metrics, LabelsAreThePartsOfTheKey) {
  EXPECT_EQ(samples(keyed(types.int64(), {"pid"}, types.int64()), {{words({7}), words({1})}}), "acu_m{pid=\"7\"} 1\n");
  const type::Type* key = tuple({types.string(8), types.int64()});
  const Buffer bytes = joined({raw_text("a\"b\\\n", 8), words({-2})});
  EXPECT_EQ(samples(keyed(key, {"comm", "fd"}, types.int64()), {{bytes, words({1})}}), "acu_m{comm=\"a\\\"b\\\\\\\\n\",fd=\"-2\"} 1\n");
  // Without a name, with one that is taken, or one that belongs to histograms.
  EXPECT_EQ(samples(keyed(key, {"", "fd"}, types.int64()), {{bytes, words({1})}}), "acu_m{key0=\"a\\\"b\\\\\\\\n\",fd=\"-2\"} 1\n");
  EXPECT_EQ(samples(keyed(tuple({types.int64(), types.int64()}), {"x", "x"}, types.int64()), {{words({1, 2}), words({3})}}), "acu_m{x=\"1\",key1=\"2\"} 3\n");
  EXPECT_EQ(samples(keyed(types.int64(), {"le"}, types.int64()), {{words({7}), words({1})}}), "acu_m{key0=\"7\"} 1\n");
  EXPECT_EQ(samples(keyed(types.int64(), {}, types.int64()), {{words({7}), words({1})}}), "acu_m{key0=\"7\"} 1\n");
}

// All keys have the same buckets, and each bucket has those below it.
TEST_F(Metrics, Histograms) {
  const type::Type* h = types.hist(0);
  auto buckets = [&](std::vector<std::pair<size_t, int64_t>> counts) {
    Buffer out(h->size);
    for (auto [index, count] : counts) std::memcpy(out.data() + index * 8, &count, 8);
    return out;
  };
  EXPECT_EQ(samples(keyed(types.int64(), {"k"}, h), {{words({1}), buckets({{0, 1}, {1, 2}, {3, 4}})}, {words({2}), buckets({{2, 5}})}}),
            "acu_m_bucket{k=\"2\",le=\"-1\"} 0\nacu_m_bucket{k=\"2\",le=\"0\"} 0\nacu_m_bucket{k=\"2\",le=\"1\"} 5\nacu_m_bucket{k=\"2\",le=\"3\"} 5\nacu_m_bucket{k=\"2\",le=\"+Inf\"} 5\n"
            "acu_m_bucket{k=\"1\",le=\"-1\"} 1\nacu_m_bucket{k=\"1\",le=\"0\"} 3\nacu_m_bucket{k=\"1\",le=\"1\"} 3\nacu_m_bucket{k=\"1\",le=\"3\"} 7\nacu_m_bucket{k=\"1\",le=\"+Inf\"} 7\n");
  const type::Type* l = types.lhist(0, 20, 10);
  EXPECT_EQ(samples(map_of("m", nullptr, l, ir::MapKind::percpu_array), {{{}, words({1, 2, 3, 4})}}),
            "acu_m_bucket{le=\"-1\"} 1\nacu_m_bucket{le=\"9\"} 3\nacu_m_bucket{le=\"19\"} 6\nacu_m_bucket{le=\"+Inf\"} 10\n");
}

TEST_F(Metrics, OnlyTheLargestKeys) {
  const ir::Map m = keyed(types.int64(), {"k"}, types.int64());
  EXPECT_EQ(samples(m, {{words({1}), words({30})}, {words({2}), words({10})}, {words({3}), words({20})}}, 2), "acu_m{k=\"3\"} 20\nacu_m{k=\"1\"} 30\n");
}

// Members that are numbers are families of their own; one that is text is a label of an info, beside those of the key.
TEST_F(Metrics, PartsOfValues) {
  const ir::Map pairs = keyed(types.int64(), {"pid"}, tuple({types.int64(), types.int64()}));
  EXPECT_EQ(metrics(pairs, {{words({7}), words({1, -2})}}),
            "# TYPE acu_m_value0 gauge\n# HELP acu_m_value0 The map @m.\nacu_m_value0{pid=\"7\"} 1\n"
            "# TYPE acu_m_value1 gauge\n# HELP acu_m_value1 The map @m.\nacu_m_value1{pid=\"7\"} -2\n");
  EXPECT_EQ(samples(pairs, {{words({7}), words({1, 2})}, {words({8}), words({3, 4})}}),
            "acu_m_value0{pid=\"7\"} 1\nacu_m_value0{pid=\"8\"} 3\nacu_m_value1{pid=\"7\"} 2\nacu_m_value1{pid=\"8\"} 4\n");
  EXPECT_EQ(metrics(keyed(types.int64(), {"pid"}, types.string(8)), {{words({7}), raw_text("a\"b", 8)}}),
            "# TYPE acu_m info\n# HELP acu_m The map @m.\nacu_m_info{pid=\"7\",value=\"a\\\"b\"} 1\n");
  const type::Type* mixed = tuple({types.string(8), types.int64()});
  EXPECT_EQ(samples(map_of("m", nullptr, mixed, ir::MapKind::array), {{{}, joined({raw_text("x", 8), words({5})})}}), "acu_m_value1 5\nacu_m_info{value0=\"x\"} 1\n");
  // A key has the name already.
  EXPECT_EQ(samples(keyed(types.int64(), {"value0"}, mixed), {{words({7}), joined({raw_text("x", 8), words({5})})}}),
            "acu_m_value1{value0=\"7\"} 5\nacu_m_info{value0=\"7\",value0_value=\"x\"} 1\n");
  EXPECT_EQ(metrics(pairs, {}), "# TYPE acu_m_value0 gauge\n# HELP acu_m_value0 The map @m.\n# TYPE acu_m_value1 gauge\n# HELP acu_m_value1 The map @m.\n");
}

TEST_F(Metrics, WhatIsNone) {
  const type::Type* stack = types.stack(Kind::ustack, type::StackMode::bpftrace, 9);
  EXPECT_EQ(not_a_metric(map_of("m", tuple({types.int64(), stack}), types.simple(Kind::count))), "its keys are stacks");
  EXPECT_EQ(not_a_metric(map_of("m", types.int64(), tuple({types.int64(), stack}))), "its values are stacks");
  EXPECT_EQ(not_a_metric(map_of("m", types.int64(), types.simple(Kind::count))), "");
  EXPECT_EQ(metric_name("read-bytes.2"), "read_bytes_2");
  EXPECT_EQ(metric_name("2nd"), "_2nd");
}

} // namespace
} // namespace report
