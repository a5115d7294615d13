// The embedded store: what is written is read again, merged, deleted, and refused where it is damaged or newer.
#include "scratch.h"
#include "store/schema.h"
#include "store/select.h"
#include "store/sqlite_store.h"

#include <gtest/gtest.h>

namespace store {
namespace {

// One thread with two stacks: main > parse and main > parse > read.
struct Recorded {
  profile::Profile profile;
  std::vector<profile::Gain> gains;
  Batch batch;

  explicit Recorded(int64_t slot, uint64_t weight = 100, const std::string& service = "web.service", uint32_t pid = 17) {
    auto frame = [&](const char* name, profile::FrameKind kind) { return profile.frame({.name = profile.text(name), .module = profile.text("/usr/bin/web"), .kind = kind}); };
    const uint32_t thread = profile.thread({.pid = pid, .tid = pid, .process = profile.text("web"), .name = profile.text("worker")});
    const uint32_t top = profile.node(0, frame("main", profile::FrameKind::user)), parse = profile.node(top, frame("parse", profile::FrameKind::inlined));
    const uint32_t read = profile.node(parse, frame("read", profile::FrameKind::kernel));
    gains = {{profile.add(thread, parse, 1, 1), weight, 1}, {profile.add(thread, read, 1, 1), 3 * weight, 3}};
    batch = {.kind = "cpu", .slot = slot, .profile = &profile, .gains = gains, .services = {{service, ServiceType::unit}}};
  }
};

std::unique_ptr<Store> in_memory() {
  auto store = open_sqlite(":memory:", Mode::write);
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
  return std::move(*store);
}

int64_t rows(Store& store, std::string_view table) {
  const Sizes sizes = *store.sizes();
  for (const auto& [name, n] : sizes.rows)
    if (name == table) return static_cast<int64_t>(n);
  return -1;
}

TEST(Store, GivesBackStacksOfARange) {
  auto store = in_memory();
  for (int64_t slot : {1000, 1010, 1020}) {
    const Recorded recorded(slot);
    ASSERT_TRUE(store->write({recorded.batch}, slot, {}).ok());
  }
  auto profile = store->profile({.kind = "cpu", .range = {1000, 1020}});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->total(), 800u);
  EXPECT_EQ(profile->about.samples, 8u);
  EXPECT_EQ(profile->about.duration_ns, 20'000'000'000u);
  ASSERT_EQ(profile->threads().size(), 1u);
  EXPECT_EQ(profile->texts()[profile->threads()[0].name], "worker");
  std::string names;
  for (const profile::Sample& s : profile->samples())
    for (uint32_t frame : profile->stack(s.node)) names += std::string(profile->name(profile->frames()[frame])) + " ";
  EXPECT_EQ(names, "main parse read main parse "); // the heavier was written first
  for (const profile::Frame& f : profile->frames()) EXPECT_EQ(f.kind == profile::FrameKind::inlined, profile->name(f) == "parse");
  EXPECT_EQ(rows(*store, "stacks"), 2); // once, whatever the number of slots
  EXPECT_EQ(rows(*store, "frames"), 3);
}

TEST(Store, SelectsByServiceProcessAndThread) {
  auto store = in_memory();
  const Recorded first(1000, 100, "a.service", 17), second(1000, 10, "b.service", 18);
  ASSERT_TRUE(store->write({first.batch, second.batch}, 1000, {}).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .service = "b.service"})->total(), 40u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .pid = 17})->total(), 400u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .thread = "worker"})->total(), 440u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .process = "none"})->total(), 0u);
  EXPECT_EQ(store->profile({.kind = "offcpu", .range = {0, 2000}})->total(), 0u);
}

TEST(Store, WritingASlotAgainAddsToIt) {
  auto store = in_memory();
  const Recorded recorded(1000);
  ASSERT_TRUE(store->write({recorded.batch}, 1000, {{{}, "own_lost", 2, true}, {{}, "busy", 0.5}}).ok());
  ASSERT_TRUE(store->write({recorded.batch}, 1000, {{{}, "own_lost", 3, true}, {{}, "busy", 0.25}}).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {1000, 1010}})->total(), 800u);
  auto series = store->series("", {"own_lost", "busy"}, {1000, 1010}, 10);
  EXPECT_DOUBLE_EQ(*series->values[0][0], 5);
  EXPECT_DOUBLE_EQ(*series->values[1][0], 0.25);
}

TEST(Store, SeriesAreMeansWhereSlotsAreAndNothingElsewhere) {
  auto store = in_memory();
  for (int64_t slot : {1200, 1210, 1230}) ASSERT_TRUE(store->write({}, slot, {{{"web", ServiceType::process}, "cpu", slot == 1210 ? 0.0 : 3.0}}).ok());
  auto fine = store->series("web", {"cpu"}, {1200, 1240}, 100);
  ASSERT_EQ(fine->times, (std::vector<int64_t>{1200, 1210, 1220, 1230}));
  EXPECT_DOUBLE_EQ(*fine->values[0][0], 3);
  EXPECT_DOUBLE_EQ(*fine->values[0][1], 0);
  EXPECT_FALSE(fine->values[0][2].has_value());
  auto coarse = store->series("web", {"cpu"}, {1200, 1240}, 2);
  EXPECT_EQ(coarse->step, 20);
  EXPECT_DOUBLE_EQ(*coarse->values[0][0], 1.5);
  EXPECT_DOUBLE_EQ(*coarse->values[0][1], 3);
  auto services = store->services({1200, 1240});
  ASSERT_EQ(services->size(), 1u);
  EXPECT_DOUBLE_EQ((*services)[0].metric("cpu"), 2);
}

TEST(Store, OldSlotsAreMergedAndKeepTheirSums) {
  auto store = in_memory();
  for (int64_t slot = 6000; slot < 6120; slot += 10) {
    const Recorded recorded(slot);
    ASSERT_TRUE(store->write({recorded.batch}, slot, {{{}, "busy", 0.5}}).ok());
  }
  const int64_t before = rows(*store, "samples");
  const base::Status kept = store->keep_within({}, 6120 + 3600 + 60);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(before, 24);
  EXPECT_EQ(rows(*store, "samples"), 4);
  EXPECT_EQ(rows(*store, "slots"), 2);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {6000, 6120}})->total(), 12u * 400u);
  auto series = store->series("", {"busy"}, {6000, 6120}, 100);
  EXPECT_EQ(series->step, 60);
  EXPECT_DOUBLE_EQ(*series->values[0][1], 0.5);
  EXPECT_TRUE(store->check()->empty());
}

TEST(Store, DeletesByAgeWithTheStacksThatNobodyRefersTo) {
  auto store = in_memory();
  const Recorded recorded(1000);
  ASSERT_TRUE(store->write({recorded.batch}, 1000, {}).ok());
  ASSERT_TRUE(store->write(Finding{.time = 1000, .cause = "lock"}).ok());
  ASSERT_TRUE(store->keep_within({.keep_seconds = 86400}, 1000 + 2 * 86400).ok());
  EXPECT_EQ(rows(*store, "samples"), 0);
  EXPECT_EQ(rows(*store, "stacks"), 0);
  EXPECT_EQ(rows(*store, "findings"), 0);
  const Recorded again(200'000); // numbers that were remembered are forgotten
  ASSERT_TRUE(store->write({again.batch}, 200'000, {}).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {200'000, 200'010}})->total(), 400u);
  EXPECT_TRUE(store->check()->empty());
}

TEST(Store, DeletesTheOldestBeyondItsSize) {
  const Scratch scratch;
  auto store = open_sqlite(scratch.path("store.db"), Mode::write);
  ASSERT_TRUE(store.ok());
  for (int64_t slot = 0; slot < 2000; slot += 10) {
    std::vector<Point> points;
    for (int i = 0; i < 100; i++) points.push_back({{"service " + std::to_string(i), ServiceType::process}, "cpu", 0.123 + i});
    ASSERT_TRUE((*store)->write({}, slot + 1'000'000, points).ok());
  }
  const uint64_t before = (*store)->sizes()->bytes;
  const uint64_t limit = before / 2;
  ASSERT_TRUE((*store)->keep_within({.max_bytes = limit}, 1'002'000).ok());
  const Sizes after = *(*store)->sizes();
  EXPECT_LE(after.bytes, limit);
  EXPECT_GT(after.from, 1'000'000);
  EXPECT_EQ(after.to, 1'002'000);
}

TEST(Store, KeepsTheHeaviestOfVeryManyStacks) {
  auto store = in_memory();
  profile::Profile many;
  const uint32_t thread = many.thread({.pid = 1, .tid = 1, .process = many.text("p"), .name = many.text("t")});
  std::vector<profile::Gain> gains;
  for (int i = 0; i < 5000; i++) {
    const uint32_t node = many.node(0, many.frame({.name = many.text("f" + std::to_string(i))}));
    gains.push_back({many.add(thread, node, 1, 1), i == 4000 ? 1000u : 1u, 1});
  }
  const Batch batch = {.kind = "cpu", .slot = 10, .profile = &many, .gains = gains, .services = {{"p", ServiceType::process}}};
  ASSERT_TRUE(store->write({batch}, 10, {}).ok());
  EXPECT_EQ(rows(*store, "stacks"), 2001);
  auto profile = store->profile({.kind = "cpu", .range = {0, 100}});
  EXPECT_EQ(profile->total(), 4999u + 1000u); // none is lost
}

TEST(Store, FindingsAreTheNewestFirst) {
  auto store = in_memory();
  for (int64_t time : {5, 7, 6}) ASSERT_TRUE(store->write(Finding{.time = time, .service = time == 7 ? "a" : "b", .verdict = "likely", .cause = "c", .summary = "s", .detail = "{}"}).ok());
  auto all = store->findings({0, 100}, "", 2);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].time, 7);
  EXPECT_EQ((*all)[1].time, 6);
  EXPECT_EQ(store->findings({0, 100}, "b", 9)->size(), 2u);
}

TEST(Store, WhatIsNoStoreIsRefusedAndNotTouched) {
  const Scratch scratch;
  scratch.write("text", std::string(5000, 'x'));
  auto text = open_sqlite(scratch.path("text"), Mode::write);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("is not a store"), std::string::npos) << text.error().message;
  EXPECT_EQ(scratch.read("text"), std::string(5000, 'x'));
  {
    auto other = Connection::open(scratch.path("other"), Access::write);
    ASSERT_TRUE(other->run("CREATE TABLE t(a)").ok());
  }
  EXPECT_NE(open_sqlite(scratch.path("other"), Mode::write).error().message.find("another program's database"), std::string::npos);
  EXPECT_NE(open_sqlite(scratch.path("none"), Mode::read).error().message.find("cannot open"), std::string::npos);
}

TEST(Store, ANewerVersionIsRefused) {
  const Scratch scratch;
  { ASSERT_TRUE(open_sqlite(scratch.path("store"), Mode::write).ok()); }
  {
    auto raw = Connection::open(scratch.path("store"), Access::write);
    ASSERT_TRUE(raw->run("PRAGMA user_version = " + std::to_string(schema_version + 1)).ok());
  }
  auto newer = open_sqlite(scratch.path("store"), Mode::write);
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().kind, base::Failure::unsupported);
  EXPECT_NE(newer.error().message.find("hint: use the newer acu"), std::string::npos);
}

TEST(Store, DamagedPagesAreFound) {
  const Scratch scratch;
  {
    auto store = open_sqlite(scratch.path("store"), Mode::write);
    for (int64_t slot = 0; slot < 3000; slot += 10) {
      const Recorded recorded(slot, 100, "s" + std::to_string(slot));
      ASSERT_TRUE((*store)->write({recorded.batch}, slot, {}).ok());
    }
    ASSERT_TRUE((*store)->compact({.keep_seconds = 1'000'000}, 3000).ok());
  }
  std::string bytes = scratch.read("store");
  ASSERT_GT(bytes.size(), 4u * 8192);
  for (size_t i = 8192; i < bytes.size(); i += 64) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  scratch.write("store", bytes);
  auto store = open_sqlite(scratch.path("store"), Mode::read);
  if (!store.ok()) {
    EXPECT_NE(store.error().message.find("damaged"), std::string::npos) << store.error().message;
    return;
  }
  auto faults = (*store)->check();
  EXPECT_TRUE(!faults.ok() || !faults->empty());
}

TEST(Store, WritersAndReadersShareAFile) {
  const Scratch scratch;
  auto one = open_sqlite(scratch.path("store"), Mode::write), two = open_sqlite(scratch.path("store"), Mode::write), reader = open_sqlite(scratch.path("store"), Mode::read);
  const Recorded first(1000), second(1000);
  ASSERT_TRUE((*one)->write({first.batch}, 1000, {}).ok());
  ASSERT_TRUE((*two)->write({second.batch}, 1000, {}).ok());
  EXPECT_EQ((*reader)->profile({.kind = "cpu", .range = {1000, 1010}})->total(), 800u);
}

TEST(Select, OnlyReadsInBoundedTimeAndRows) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  {
    auto store = open_sqlite(path, Mode::write);
    const Recorded recorded(1000);
    ASSERT_TRUE((*store)->write({recorded.batch}, 1000, {}).ok());
  }
  constexpr uint64_t second = 1'000'000'000;
  auto rows = select(path, "select name, 1.5, null from services order by 1", 10, second);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->columns[0], "name");
  EXPECT_EQ(rows->rows.at(0), (std::vector<std::string>{"\"web.service\"", "1.5", "null"}));
  EXPECT_TRUE(select(path, "with recursive n(i) as (select 1 union all select i + 1 from n limit 50) select i from n", 10, second)->is_truncated);
  for (const char* text : {"delete from samples", "attach '/etc/passwd' as a", "pragma user_version = 9", "create table t(a)", "vacuum into '/tmp/x'"})
    EXPECT_NE(select(path, text, 10, second).error().message.find("only queries that read"), std::string::npos) << text << ": " << select(path, text, 10, second).error().message;
  EXPECT_NE(select(path, "select missing from services", 10, second).error().message.find("no such column"), std::string::npos) << select(path, "select missing from services", 10, second).error().message;
  EXPECT_NE(select(path, "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", 10, second / 5).error().message.find("took longer"), std::string::npos);
  EXPECT_FALSE(select(path, "", 10, second).ok());
}

TEST(Frames, EncodeAndDecode) {
  const std::vector<int64_t> frames = {1, 127, 128, 300'000, 5'000'000'000};
  EXPECT_EQ(decode_frames(encode_frames(frames)), frames);
  EXPECT_TRUE(decode_frames("\xff\xff\xff").empty()); // cut short
}

} // namespace
} // namespace store
