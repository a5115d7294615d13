// Batches: what is packed comes out again; damage of any byte is an error, never a crash.
#include "fleet/batch.h"
#include "fleet/clickhouse.h"
#include "fleet/rows.h"
#include "fleet/schema.h"

#include <gtest/gtest.h>

namespace {

base::ByteSpan bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

struct Recorded {
  profile::Profile profile;
  std::vector<profile::Gain> gains;
  std::vector<store::Service> services;
  Recorded() {
    const uint32_t main = profile.frame({.name = profile.text("main"), .module = profile.text("/bin/app")});
    const uint32_t work = profile.frame({.name = profile.text("work"), .module = profile.text("/bin/app"), .kind = profile::FrameKind::python, .named = false});
    const uint32_t outer = profile.node(0, main), inner = profile.node(outer, work);
    const uint32_t thread = profile.thread({.pid = 17, .tid = 18, .process = profile.text("app"), .name = profile.text("worker")});
    gains = {{profile.add(thread, inner, 5, 5), 3, 3}, {profile.add(thread, outer, 9, 9), 2, 2}};
    services = {{"app.service", store::ServiceType::unit}};
  }
  fleet::Content content(const std::vector<store::Point>& points = {}) const {
    const store::Batch batch = {.profile = &profile, .gains = gains, .services = services, .scale = 1000};
    return fleet::content_of({.source = "cpu", .begin = 1000, .covered_ns = 9'000'000'000}, points, &batch);
  }
};

TEST(FleetBatch, ComesOutAsItWentIn) {
  const Recorded recorded;
  const std::string packed = fleet::pack(recorded.content({{{"app.service", store::ServiceType::unit}, "offcpu", 1.5}, {{}, "own_lost", 0.25}}), 1000);
  auto head = fleet::read_head(bytes_of(packed));
  ASSERT_TRUE(head.ok()) << head.error().message;
  EXPECT_EQ(head->slot, 1000);
  EXPECT_EQ(head->samples, 5u);
  auto content = fleet::unpack(*head);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->texts[content->source], "cpu");
  EXPECT_EQ(content->covered_ns, 9'000'000'000u);
  ASSERT_EQ(content->samples.size(), 2u);
  uint64_t weight = 0, longest = 0;
  for (const fleet::Content::Sample& s : content->samples) weight += s.weight, longest = std::max<uint64_t>(longest, content->stacks[s.stack].size());
  EXPECT_EQ(weight, 5000u);
  EXPECT_EQ(longest, 2u);
  ASSERT_EQ(content->threads.size(), 1u);
  EXPECT_EQ(content->threads[0].pid, 17u);
  ASSERT_EQ(content->points.size(), 2u);
  EXPECT_EQ(content->points[0].value, 1.5);
  EXPECT_EQ(content->services[content->points[0].service].type, store::ServiceType::unit);
}

TEST(FleetBatch, DamageIsAnError) {
  const Recorded recorded;
  const std::string packed = fleet::pack(recorded.content({{{}, "own_lost", 0.25}}), 1000);
  size_t refused = 0;
  for (size_t at = 0; at < packed.size(); at++)
    for (int bit = 0; bit < 8; bit++) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      auto head = fleet::read_head(bytes_of(damaged));
      refused += !head.ok() || !fleet::unpack(*head).ok();
    }
  EXPECT_GT(refused, packed.size() * 4); // a changed letter of a name is no damage that shows
  for (size_t size = 0; size < packed.size(); size++) {
    const std::string cut = packed.substr(0, size);
    auto head = fleet::read_head(bytes_of(cut));
    EXPECT_TRUE(!head.ok() || !fleet::unpack(*head).ok()) << size;
  }
}

TEST(FleetBatch, IdsDependOnEveryPart) {
  const Recorded recorded;
  auto id = [&](std::string_view host, uint64_t spool, uint64_t number) { return fleet::rows_of(host, spool, number, 1000, recorded.content()).batch_id; };
  EXPECT_EQ(id("a", 1, 2), id("a", 1, 2));
  EXPECT_NE(id("a", 1, 2), id("b", 1, 2));
  EXPECT_NE(id("a", 1, 2), id("a", 2, 2));
  EXPECT_NE(id("a", 1, 2), id("a", 1, 3));
  const fleet::BatchRows one = fleet::rows_of("a", 1, 2, 1000, recorded.content()), other = fleet::rows_of("b", 9, 9, 2000, recorded.content());
  EXPECT_EQ(one.stacks, other.stacks); // hosts share stacks
  EXPECT_EQ(one.threads, other.threads);
}

TEST(FleetBatch, RowsHaveAMarker) {
  const Recorded recorded;
  const fleet::BatchRows batch = fleet::rows_of("a", 1, 2, 1000, recorded.content({{{}, "own_lost", 0.5}, {{}, "own_samples", 0}}));
  EXPECT_EQ(fleet::stored_metric("busy", "host"), "busy");
  EXPECT_EQ(fleet::stored_metric("own_lost", "cpu"), "own_lost.cpu");
  fleet::RowWriter samples, series;
  fleet::add_samples(samples, batch, 15);
  fleet::add_series(series, batch, 112);
  EXPECT_EQ(samples.rows(), 3u);                                            // the marker and two stacks
  EXPECT_EQ(series.rows(), 3u);                                             // the marker, the seconds, and the number that is not 0
  EXPECT_EQ(samples.bytes().substr(0, 3), std::string("\x0f\x01#"));        // targets, length and text of the kind
  EXPECT_EQ(fleet::all_targets, 127);
}

TEST(FleetAddress, PartsAndMistakes) {
  ::unsetenv("CLICKHOUSE_PASSWORD");
  auto address = fleet::read_address("clickhouse://me:secret@db1:9123/acu_1");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->endpoint.host, "db1");
  EXPECT_EQ(address->endpoint.port, 9123);
  EXPECT_EQ(address->user, "me");
  EXPECT_EQ(address->password, "secret");
  EXPECT_EQ(address->shown(), "clickhouse://db1:9123/acu_1");
  address = fleet::read_address("clickhouse://[::1]/acu");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->endpoint.host, "::1");
  EXPECT_EQ(address->endpoint.port, 8123);
  for (const char* wrong : {"clickhouse://", "clickhouse://db1", "clickhouse://db1/", "clickhouse://db1:0/a", "clickhouse://db1:x/a", "clickhouse://db1/a b", "clickhouse://db1/1", "http://db1/a", "clickhouse:///a"})
    EXPECT_FALSE(fleet::read_address(wrong).ok()) << wrong;
  EXPECT_EQ(fleet::quoted("it's \\ here"), "'it\\'s \\\\ here'");
}

} // namespace
