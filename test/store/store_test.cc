// The embedded store: what is written is read again, merged, deleted, and refused where it is damaged or newer.
#include "scratch.h"
#include "store/import.h"
#include "store/schema.h"
#include "store/select.h"
#include "store/sqlite_store.h"
#include "store/writer_lock.h"

#include <cmath>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace store {
namespace {

constexpr uint64_t ten_seconds = 10'000'000'000;
Slot of_host(int64_t slot, uint64_t covered_ns = ten_seconds) { return {.source = "host", .begin = slot, .covered_ns = covered_ns}; }

// One thread with two stacks: main > parse and main > parse > read.
struct Recorded {
  profile::Profile profile;
  std::vector<profile::Gain> gains;
  Slot slot;
  Batch batch;

  explicit Recorded(int64_t begin, uint64_t weight = 100, const std::string& service = "web.service", uint32_t pid = 17) {
    auto frame = [&](const char* name, profile::FrameKind kind) { return profile.frame({.name = profile.text(name), .module = profile.text("/usr/bin/web"), .kind = kind}); };
    const uint32_t thread = profile.thread({.pid = pid, .tid = pid, .process = profile.text("web"), .name = profile.text("worker")});
    const uint32_t top = profile.node(0, frame("main", profile::FrameKind::user)), parse = profile.node(top, frame("parse", profile::FrameKind::inlined));
    const uint32_t read = profile.node(parse, frame("read", profile::FrameKind::kernel));
    gains = {{profile.add(thread, parse, 1, 1), weight, 1}, {profile.add(thread, read, 1, 1), 3 * weight, 3}};
    slot = {.source = "cpu", .begin = begin, .covered_ns = ten_seconds};
    batch = {.profile = &profile, .gains = gains, .services = {{service, ServiceType::unit}}};
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
    ASSERT_TRUE(store->write(recorded.slot, {}, &recorded.batch).ok());
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
  EXPECT_EQ(names, "main parse main parse read ");
  for (const profile::Frame& f : profile->frames()) EXPECT_EQ(f.kind == profile::FrameKind::inlined, profile->name(f) == "parse");
  EXPECT_EQ(rows(*store, "stacks"), 2); // once, whatever the number of slots
  EXPECT_EQ(rows(*store, "frames"), 3);
}

TEST(Store, SelectsByServiceProcessAndThread) {
  auto store = in_memory();
  const Recorded first(1000, 100, "a.service", 17), second(1000, 10, "b.service", 18);
  ASSERT_TRUE(store->write(first.slot, {}, &first.batch).ok());
  ASSERT_TRUE(store->write(second.slot, {}, &second.batch).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .service = "b.service"})->total(), 40u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .pid = 17})->total(), 400u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .thread = "worker"})->total(), 440u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 2000}, .process = "none"})->total(), 0u);
  EXPECT_EQ(store->profile({.kind = "offcpu", .range = {0, 2000}})->total(), 0u);
}

TEST(Store, WritingASlotAgainAddsToIt) {
  auto store = in_memory();
  const Recorded recorded(1000);
  ASSERT_TRUE(store->write(recorded.slot, {{{}, "busy", 0.5}}, &recorded.batch).ok());
  ASSERT_TRUE(store->write(recorded.slot, {{{}, "busy", 0.25}}, &recorded.batch).ok());
  auto profile = store->profile({.kind = "cpu", .range = {1000, 1010}});
  EXPECT_EQ(profile->total(), 800u);
  EXPECT_EQ(profile->about.duration_ns, 2 * ten_seconds);
  EXPECT_DOUBLE_EQ(*store->series("", {"busy"}, {1000, 1010}, 10)->values[0][0], 0.375);
}

// A sampler that began 5 s before a minute's end: that minute's means are those of 5 s.
TEST(Store, MeansAreOverWhatWasRecordedAlsoOfMergedSlots) {
  auto store = in_memory();
  ASSERT_TRUE(store->write(of_host(6050, ten_seconds / 2), {{{}, "busy", 0.8}}).ok());
  for (int64_t slot = 6060; slot < 6120; slot += 10) ASSERT_TRUE(store->write(of_host(slot), {{{}, "busy", slot < 6090 ? 0.4 : 0.8}}).ok());
  for (int pass = 0; pass < 2; pass++) {
    auto series = store->series("", {"busy"}, {6000, 6120}, 2);
    ASSERT_EQ(series->step, 60);
    EXPECT_NEAR(*series->values[0][0], 0.8, 1e-6) << pass;
    EXPECT_NEAR(*series->values[0][1], 0.6, 1e-6) << pass;
    EXPECT_NEAR(store->services({6000, 6120})->at(0).metric("busy"), (0.8 * 5 + 0.6 * 60) / 65, 1e-6) << pass;
    ASSERT_TRUE(store->keep_within({}, 6120 + 3600 + 60).ok());
  }
  EXPECT_EQ(rows(*store, "slots"), 2 + 1); // minutes, and the hour
}

// The one that records waits writes later than the one that reads /proc.
TEST(Store, ASourceThatHasNotWrittenYetDoesNotLowerItsMeans) {
  auto store = in_memory();
  const Service web = {"web", ServiceType::process};
  for (int64_t slot : {1000, 1010}) ASSERT_TRUE(store->write(of_host(slot), {{web, "cpu", 0.5}}).ok());
  ASSERT_TRUE(store->write({.source = "offcpu", .begin = 1000, .covered_ns = ten_seconds}, {{web, "offcpu", 3}}).ok());
  auto use = store->services({1000, 1020});
  EXPECT_DOUBLE_EQ(use->at(0).metric("offcpu"), 3);
  EXPECT_DOUBLE_EQ(use->at(0).metric("cpu"), 0.5);
  auto series = store->series("web", {"cpu", "offcpu"}, {1000, 1020}, 10);
  EXPECT_TRUE(series->values[0][1].has_value());
  EXPECT_FALSE(series->values[1][1].has_value());
}

TEST(Store, LossesAreThoseOfTheKindAndTheRange) {
  auto store = in_memory();
  for (int64_t slot : {1000, 1010, 1020}) {
    const Recorded recorded(slot);
    ASSERT_TRUE(store->write(recorded.slot, {{{}, "own_lost", 2}}, &recorded.batch).ok());
    ASSERT_TRUE(store->write({.source = "offcpu", .begin = slot, .covered_ns = ten_seconds}, {{{}, "own_lost", 7}}).ok());
  }
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {1000, 1030}})->about.lost, 60u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {1005, 1020}})->about.lost, 40u); // the slot in which the range begins counts whole
  EXPECT_DOUBLE_EQ(store->services({1000, 1030})->at(0).metric("own_lost"), 9);
}

TEST(Store, SeriesAreMeansWhereSlotsAreAndNothingElsewhere) {
  auto store = in_memory();
  for (int64_t slot : {1200, 1210, 1230}) ASSERT_TRUE(store->write(of_host(slot), {{{"web", ServiceType::process}, "cpu", slot == 1210 ? 0.0 : 3.0}}).ok());
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
    ASSERT_TRUE(store->write(recorded.slot, {{{}, "busy", 0.5}}, &recorded.batch).ok());
  }
  const int64_t before = rows(*store, "samples");
  const base::Status kept = store->keep_within({}, 6120 + 3600 + 60);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(before, 24);
  EXPECT_EQ(rows(*store, "samples"), 4);
  EXPECT_EQ(rows(*store, "slots"), 2 + 1); // minutes, and the hour
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {6000, 6120}})->total(), 12u * 400u);
  auto series = store->series("", {"busy"}, {6000, 6120}, 100);
  EXPECT_EQ(series->step, 60);
  EXPECT_DOUBLE_EQ(*series->values[0][1], 0.5);
  EXPECT_TRUE(store->check()->empty());
}

TEST(Store, DeletesByAgeWithTheStacksThatNobodyRefersTo) {
  auto store = in_memory();
  const Recorded recorded(1000);
  ASSERT_TRUE(store->write(recorded.slot, {}, &recorded.batch).ok());
  ASSERT_TRUE(store->write(Finding{.time = 1000, .cause = "lock"}).ok());
  ASSERT_TRUE(store->keep_within({.keep_seconds = 86400}, 1000 + 2 * 86400).ok());
  EXPECT_EQ(rows(*store, "samples"), 0);
  EXPECT_EQ(rows(*store, "stacks"), 0);
  EXPECT_EQ(rows(*store, "findings"), 0);
  const Recorded again(200'000); // numbers that were remembered are forgotten
  ASSERT_TRUE(store->write(again.slot, {}, &again.batch).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {200'000, 200'010}})->total(), 400u);
  EXPECT_TRUE(store->check()->empty());
}

TEST(Store, DeletesTheOldestBeyondItsSize) {
  const Scratch scratch;
  auto store = open_sqlite(scratch.path("store.db"), Mode::write);
  ASSERT_TRUE(store.ok());
  for (int64_t slot = 0; slot < 2000; slot += 10) {
    std::vector<Point> points;
    for (int i = 0; i < 800; i++) points.push_back({{"service " + std::to_string(i / 8), ServiceType::process}, "metric " + std::to_string(i % 8), 0.123 + i});
    ASSERT_TRUE((*store)->write(of_host(slot + 1'000'000), points).ok());
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
  const Batch batch = {.profile = &many, .gains = gains, .services = {{"p", ServiceType::process}}};
  ASSERT_TRUE(store->write({.source = "cpu", .begin = 10, .covered_ns = ten_seconds}, {}, &batch).ok());
  EXPECT_EQ(rows(*store, "stacks"), 2001);
  auto profile = store->profile({.kind = "cpu", .range = {0, 100}});
  EXPECT_EQ(profile->total(), 4999u + 1000u); // none is lost
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 100}, .process = "p"})->total(), 4999u + 1000u);
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {0, 100}, .pid = 1})->about.samples, 2000u);
}

// As many names as fit into no cache, into a file that may not grow so far: SQLite rolls the transaction back in the middle of it.
TEST(Store, ALostWriteLeavesNothing) {
  const Scratch scratch;
  auto store = open_sqlite(scratch.path("store"), Mode::write);
  const Recorded first(1000);
  ASSERT_TRUE((*store)->write(first.slot, {}, &first.batch).ok());
  profile::Profile many;
  const uint32_t thread = many.thread({.pid = 1, .tid = 1, .process = many.text("p"), .name = many.text("t")});
  std::vector<profile::Gain> gains;
  for (int i = 0; i < 1990; i++) gains.push_back({many.add(thread, many.node(0, many.frame({.name = many.text(std::string(3000, 'n') + std::to_string(i))})), 1, 1), 1u, 1});
  const Batch batch = {.profile = &many, .gains = gains, .services = {{"p", ServiceType::process}}};
  for (const rlim_t most : {2 << 20, 3 << 20, 5 << 20, 7 << 20}) {
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small = {most, before.rlim_max};
    const auto old = ::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool is_written = (*store)->write({.source = "cpu", .begin = 2000, .covered_ns = ten_seconds}, {}, &batch).ok();
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, old);
    EXPECT_FALSE(is_written) << most;
    const auto faults = (*store)->check();
    ASSERT_TRUE(faults.ok()) << faults.error().message;
    EXPECT_TRUE(faults->empty()) << most << ": " << faults->front();
    EXPECT_EQ(rows(**store, "stacks"), 2) << most;
  }
  const Recorded second(2000);
  ASSERT_TRUE((*store)->write(second.slot, {}, &second.batch).ok());
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {1000, 3000}})->total(), 800u);
}

TEST(Store, FailuresThatPassAreKnownByTheirSentence) {
  const Scratch scratch;
  scratch.write("locked disk is full", "this is no store, and its name says nothing about that");
  const auto refused = open_sqlite(scratch.path("locked disk is full"), Mode::write);
  ASSERT_FALSE(refused.ok());
  EXPECT_FALSE(is_passing(refused.error())) << refused.error().message;
}

TEST(Store, AFileBehindALinkIsPrivate) {
  const Scratch scratch;
  const mode_t before = ::umask(022);
  ASSERT_EQ(::symlink(scratch.path("target").c_str(), scratch.path("link").c_str()), 0);
  EXPECT_TRUE(open_sqlite(scratch.path("link"), Mode::write).ok());
  ::umask(before);
  struct stat about = {};
  ASSERT_EQ(::stat(scratch.path("target").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

// Hours are kept beside the slots that they are made of: both give the same sums, also where the range has parts of hours.
TEST(Store, HoursHaveTheSumsOfTheirSlots) {
  auto store = in_memory();
  for (int64_t slot = 7200; slot < 7200 + 3 * 3600; slot += 10) {
    const Recorded recorded(slot, 100, slot < 7200 + 3600 ? "a" : "b");
    ASSERT_TRUE(store->write(recorded.slot, {{{}, "own_lost", 0.5}}, &recorded.batch).ok());
    ASSERT_TRUE(store->write(of_host(slot), {{{"a", ServiceType::unit}, "cpu", slot < 7200 + 3600 ? 1.0 : 0.0}}).ok());
  }
  auto totals = [&] {
    std::vector<uint64_t> out;
    for (const Range range : {Range{7200, 18000}, Range{7200, 10800}, Range{9000, 15000}, Range{10800, 18000}, Range{8040, 8640}}) {
      auto profile = store->profile({.kind = "cpu", .range = range});
      out.insert(out.end(), {profile->total(), profile->about.samples, profile->about.lost, profile->about.duration_ns / ten_seconds});
      out.push_back(store->profile({.kind = "cpu", .range = range, .service = "b"})->total());
      out.push_back(static_cast<uint64_t>(std::llround(1000 * store->services(range)->at(0).metric("cpu"))));
    }
    return out;
  };
  const std::vector<uint64_t> before = totals();
  EXPECT_EQ(before[0], 1080u * 400);
  ASSERT_TRUE(store->keep_within({}, 18000 + 130).ok());
  EXPECT_EQ(rows(*store, "slots"), 2 * (122 + 348 + 3)); // of each source: minutes until 14,520, slots until 18,000, hours
  const std::vector<uint64_t> after = totals();
  for (size_t i = 0; i < before.size(); i++) EXPECT_NEAR(static_cast<double>(after[i]), static_cast<double>(before[i]), 1) << i;
  // What is written late is in its hour, too.
  const Recorded late(9000, 100, "a");
  ASSERT_TRUE(store->write(late.slot, {}, &late.batch).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {7200, 18000}})->total(), 1081u * 400);
  ASSERT_TRUE(store->keep_within({}, 18000 + 190).ok());
  EXPECT_EQ(store->profile({.kind = "cpu", .range = {7200, 18000}})->total(), 1081u * 400);
}

TEST(Store, DeletesAllThatNothingRefersTo) {
  const Scratch scratch;
  auto store = open_sqlite(scratch.path("store.db"), Mode::write);
  ASSERT_TRUE(store.ok());
  profile::Profile many; // 3,000 functions that are seen once
  std::vector<uint32_t> samples;
  const uint32_t thread = many.thread({.pid = 7, .tid = 7, .process = many.text("old process"), .name = many.text("old thread")});
  for (int i = 0; i < 3000; i++) samples.push_back(many.add(thread, many.node(0, many.frame({.name = many.text("function " + std::to_string(i) + std::string(100, 'x'))})), 1, 1));
  for (int i = 0; i < 30; i++) {
    std::vector<profile::Gain> gains;
    for (int n = 0; n < 100; n++) gains.push_back({samples[static_cast<size_t>(100 * i + n)], 1, 1});
    const Batch batch = {.profile = &many, .gains = gains, .services = {{"old service " + std::to_string(i), ServiceType::process}}};
    ASSERT_TRUE((*store)->write({.source = "cpu", .begin = 1000 + 10 * i, .covered_ns = ten_seconds}, {{{"old service", ServiceType::unit}, "old metric", 1}}, &batch).ok());
  }
  const Recorded recent(101'000);
  ASSERT_TRUE((*store)->write(recent.slot, {}, &recent.batch).ok());
  const uint64_t before = (*store)->sizes()->bytes;
  ASSERT_TRUE((*store)->keep_within({.keep_seconds = 3600}, 101'010).ok());
  EXPECT_EQ(rows(**store, "stacks"), 2);
  EXPECT_EQ(rows(**store, "frames"), 3);
  EXPECT_EQ(rows(**store, "threads"), 1);
  EXPECT_EQ(rows(**store, "services"), 1);
  EXPECT_EQ(rows(**store, "names"), 6); // main, parse, read, /usr/bin/web, web, worker
  EXPECT_LT((*store)->sizes()->bytes, before / 2);
  EXPECT_TRUE((*store)->check()->empty());
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {101'000, 101'010}})->total(), 400u);
}

// Another connection remembers numbers of rows that are deleted meanwhile.
TEST(Store, AWriterForgetsRowsThatAnotherOneDeleted) {
  const Scratch scratch;
  auto one = open_sqlite(scratch.path("store.db"), Mode::write), two = open_sqlite(scratch.path("store.db"), Mode::write);
  const Recorded old(1000), same(100'000);
  ASSERT_TRUE((*one)->write(old.slot, {}, &old.batch).ok());
  ASSERT_TRUE((*two)->keep_within({.keep_seconds = 3600}, 100'000).ok());
  EXPECT_EQ(rows(**two, "stacks"), 0);
  ASSERT_TRUE((*one)->write(same.slot, {}, &same.batch).ok());
  EXPECT_EQ((*two)->profile({.kind = "cpu", .range = {100'000, 100'010}})->total(), 400u);
  EXPECT_TRUE((*two)->check()->empty());
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
      ASSERT_TRUE((*store)->write(recorded.slot, {}, &recorded.batch).ok());
    }
    ASSERT_TRUE((*store)->compact({.keep_seconds = 1'000'000}, 3000).ok());
  }
  std::string bytes = scratch.read("store");
  ASSERT_GT(bytes.size(), 8u * 4096);
  for (size_t i = 4096; i < bytes.size(); i += 64) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
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
  ASSERT_TRUE((*one)->write(first.slot, {}, &first.batch).ok());
  ASSERT_TRUE((*two)->write(second.slot, {}, &second.batch).ok());
  EXPECT_EQ((*reader)->profile({.kind = "cpu", .range = {1000, 1010}})->total(), 800u);
}

TEST(Store, AQueryEndsWhenItsTimeIsOver) {
  const Scratch scratch;
  {
    auto store = open_sqlite(scratch.path("store"), Mode::write);
    const Recorded recorded(1000);
    ASSERT_TRUE((*store)->write(recorded.slot, {}, &recorded.batch).ok());
  }
  auto store = open_sqlite(scratch.path("store"), Mode::read, 1); // ns
  ASSERT_TRUE(store.ok());
  auto profile = (*store)->profile({.kind = "cpu", .range = {0, 2000}});
  ASSERT_FALSE(profile.ok());
  EXPECT_TRUE(is_time_limit(profile.error())) << profile.error().message;
  EXPECT_TRUE(is_time_limit((*store)->services({0, 2000}).error()));
  EXPECT_TRUE(is_time_limit((*store)->series("", {"busy"}, {0, 2000}, 10).error()));
}

base::Status write(Import& import, const Recorded& recorded) { return import.write(recorded.slot.begin, recorded.slot.covered_ns, {}, recorded.batch); }

TEST(Import, IsSeenWholeOrNotAtAll) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  auto store = open_sqlite(path, Mode::write);
  auto total = [&] { return (*store)->profile({.kind = "cpu", .range = {0, 20'000}})->total(); };
  // Hours that were made of what was there are made again.
  const Recorded before(7210);
  ASSERT_TRUE((*store)->write(before.slot, {}, &before.batch).ok());
  ASSERT_TRUE((*store)->keep_within({}, 10'800 + 200).ok());
  for (const bool is_complete : {false, true}) {
    auto import = Import::begin(path, "cpu");
    ASSERT_TRUE(import.ok()) << import.error().message;
    for (int64_t slot = 7300; slot < 10'800; slot += 10) ASSERT_TRUE(write(*import, Recorded(slot)).ok());
    EXPECT_EQ(total(), 400u);
    EXPECT_EQ(rows(**store, "samples"), 2);
    ASSERT_TRUE((*store)->keep_within({}, 10'800 + 200).ok()); // touches nothing of what is arriving
    EXPECT_EQ(total(), 400u);
    if (is_complete) {
      ASSERT_TRUE(import->commit().ok());
    }
  }
  EXPECT_EQ(total(), 351u * 400);
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {7200, 10'800}})->total(), 351u * 400);
  EXPECT_EQ(select(path, "select max(length) from slots where slot >= 7300", 1, ten_seconds)->rows.at(0).at(0), "10");
  ASSERT_TRUE((*store)->keep_within({}, 10'800 + 200).ok());
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {7200, 10'800}})->total(), 351u * 400); // of the hour
  EXPECT_TRUE((*store)->check()->empty());
}

// As after SIGKILL: rows, and no process that holds the lock.
TEST(Import, WhatWasInterruptedIsDeleted) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  auto store = open_sqlite(path, Mode::write);
  auto slots_left = [&] { return rows(**store, "slots"); };
  auto interrupt = [&] {
    auto raw = SqliteStore::open(path, Mode::write);
    for (int64_t slot = 1000; slot < 5000; slot += 10) {
      const Recorded recorded(slot);
      ASSERT_TRUE((*raw)->write(arriving, recorded.slot, {}, &recorded.batch).ok());
    }
  };
  interrupt();
  EXPECT_EQ(slots_left(), 400);
  ASSERT_TRUE((*store)->keep_within({.keep_seconds = 1'000'000, .max_bytes = 1}, 5000).ok()); // by upkeep
  EXPECT_EQ(slots_left(), 0);
  interrupt();
  {
    auto import = Import::begin(path, "cpu"); // by the next one
    ASSERT_TRUE(import.ok());
    EXPECT_EQ(slots_left(), 0);
    for (int64_t slot = 1000; slot < 3000; slot += 10) ASSERT_TRUE(write(*import, Recorded(slot)).ok());
    ASSERT_TRUE((*store)->keep_within({.keep_seconds = 1'000'000, .max_bytes = 1}, 5000).ok()); // it still runs
    EXPECT_EQ(slots_left(), 200);
    EXPECT_NE(lock_import(path, 0).error().message.find("another import"), std::string::npos);
    ASSERT_TRUE(import->commit().ok());
  }
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {0, 5000}})->total(), 200u * 400);
}

// A slot may have numbers and no samples, and may be merged already.
TEST(Import, AddsToSlotsThatAreThere) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  auto store = open_sqlite(path, Mode::write);
  const Slot idle = {.source = "cpu", .begin = 1200, .covered_ns = ten_seconds};
  ASSERT_TRUE((*store)->write(idle, {{{}, "own_lost", 2}}).ok());
  ASSERT_TRUE((*store)->keep_within({}, 90'000).ok()); // ten minutes from 1200 on
  {
    auto import = Import::begin(path, "cpu");
    for (int64_t slot = 1190; slot < 1220; slot += 10) ASSERT_TRUE(write(*import, Recorded(slot)).ok());
    ASSERT_TRUE(import->commit().ok());
  }
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {1000, 2000}})->total(), 3u * 400);
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {1000, 2000}})->about.duration_ns, 4 * ten_seconds);
  EXPECT_EQ((*store)->profile({.kind = "cpu", .range = {1000, 2000}})->about.lost, 20u);
  EXPECT_EQ(rows(**store, "slots"), 2);
  EXPECT_TRUE((*store)->check()->empty());
}

TEST(Lock, NamesWhoHasIt) {
  const Scratch scratch;
  const std::string path = scratch.path("lock");
  {
    auto mine = lock_writer(path, "taken", "--store FILE");
    ASSERT_TRUE(mine.ok()) << mine.error().message;
    auto second = lock_writer(path, "taken", "--store FILE");
    ASSERT_FALSE(second.ok());
    EXPECT_TRUE(second.error().message.starts_with("taken: process " + std::to_string(::getpid()) + " (test_store")) << second.error().message;
  }
  EXPECT_TRUE(lock_writer(path, "taken", "--store FILE").ok());
}

TEST(Packed, RowsComeBack) {
  const std::vector<SampleRow> samples = {{1, 5, 1000, 1}, {1, 9, 3000, 3}, {7, 2, 2000, 2}, {900'000, 5'000'000'000, 500, 1}};
  const std::string bytes = pack(std::vector<SampleRow>{samples[3], samples[1], samples[0], samples[2]});
  const auto back = unpack_samples(bytes);
  ASSERT_EQ(back.size(), 4u);
  for (size_t i = 0; i < 4; i++) {
    EXPECT_EQ(back[i].thread, samples[i].thread);
    EXPECT_EQ(back[i].stack, samples[i].stack);
    EXPECT_EQ(back[i].weight, samples[i].weight);
    EXPECT_EQ(back[i].count, samples[i].count);
  }
  const auto points = unpack_points(pack(std::vector<PointRow>{{2, 3, 0.25}, {1, 9, 1e9}, {2, 1, -1}}));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].value, 1e9);
  EXPECT_EQ(points[2].service * 10 + points[2].metric, 23);
  EXPECT_EQ(points[2].value, 0.25);
  EXPECT_TRUE(pack(std::vector<SampleRow>()).empty());
}

TEST(Packed, DamagedRowsEndEarly) {
  const std::string samples = pack(std::vector<SampleRow>{{1, 5, 1000, 1}, {1, 900, 3000, 3}}), points = pack(std::vector<PointRow>{{1, 2, 3.0}, {1, 3, 4.0}});
  for (size_t n = 0; n < samples.size(); n++) EXPECT_LT(unpack_samples(std::string_view(samples).substr(0, n)).size(), 2u);
  for (size_t n = 0; n < points.size(); n++) EXPECT_LT(unpack_points(std::string_view(points).substr(0, n)).size(), 2u);
  for (int c = 0; c < 256; c++) {
    const std::string bytes(100, static_cast<char>(c));
    EXPECT_LE(unpack_samples(bytes).size() + unpack_points(bytes).size(), 100u);
  }
}

TEST(Select, OnlyReadsInBoundedTimeAndRows) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  {
    auto store = open_sqlite(path, Mode::write);
    const Recorded recorded(1000);
    ASSERT_TRUE((*store)->write(recorded.slot, {}, &recorded.batch).ok());
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

// Packed rows are tables for queries.
TEST(Select, SamplesAndSeriesAreTables) {
  const Scratch scratch;
  const std::string path = scratch.path("store");
  {
    auto store = open_sqlite(path, Mode::write);
    for (int64_t slot : {1000, 1010, 1020}) {
      const Recorded recorded(slot);
      ASSERT_TRUE((*store)->write(recorded.slot, {{{}, "busy", 0.5}}, &recorded.batch).ok());
    }
  }
  constexpr uint64_t second = 1'000'000'000;
  auto cells = [&](const std::string& text) {
    auto rows = select(path, text, 100, second);
    EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
    std::string out;
    if (rows.ok())
      for (const auto& row : rows->rows) {
        for (const std::string& cell : row) out += cell + " ";
        out += "| ";
      }
    return out;
  };
  EXPECT_EQ(cells("select count(*), sum(weight), sum(count) from samples"), "6 1200 12 | ");
  EXPECT_EQ(cells("select slot, sum(weight) from samples where slot >= 1010 and slot < 1020 group by slot"), "1010 400 | ");
  EXPECT_EQ(cells("select slot from samples where slot = 1020 and weight > 100"), "1020 | ");
  EXPECT_EQ(cells("select v.name, s.pid, count(*) from samples x join threads s on s.id = x.thread join services v on v.id = s.service group by 1, 2"), "\"web.service\" 17 6 | ");
  EXPECT_EQ(cells("select slot, n.text, value, length from series join names n on n.id = metric where slot > 1000 order by slot desc"), "1020 \"busy\" 0.5 10 | 1010 \"busy\" 0.5 10 | ");
}

TEST(Frames, EncodeAndDecode) {
  const std::vector<int64_t> frames = {1, 127, 128, 300'000, 5'000'000'000};
  EXPECT_EQ(decode_frames(encode_frames(frames)), frames);
  EXPECT_TRUE(decode_frames("\xff\xff\xff").empty()); // cut short
}

} // namespace
} // namespace store
