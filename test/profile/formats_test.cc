// Each format that is read gives back what was written, and whatever else it is given is refused.
#include "profile/formats.h"
#include "profile/slices.h"
#include "profile/tables.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace profile {
namespace {

// main calls work, which calls an inlined helper and the kernel; a second thread's stack ends early.
Profile sample() {
  Profile p;
  p.about.title = "CPU";
  p.about.what = "a test";
  p.about.period_ns = 10'000'000;
  p.about.samples = 12;
  p.about.notes = {"something was lost"};
  uint32_t file = p.text("/bin/program"), kernel = p.text("[kernel]");
  auto under = [&](uint32_t node, const char* name, uint32_t module, FrameKind kind) {
    return p.node(node, p.frame({p.text(name), module, kind}));
  };
  uint32_t main = under(0, "main", file, FrameKind::user), work = under(main, "work", file, FrameKind::user);
  uint32_t helper = under(work, "helper", file, FrameKind::inlined), read = under(work, "vfs_read", kernel, FrameKind::kernel);
  uint32_t note = under(0, "[stack ends early: a reason]", 0, FrameKind::note), lone = under(note, "lone", file, FrameKind::user);
  uint32_t first = p.thread({17, 17, p.text("program"), p.text("program")});
  uint32_t second = p.thread({17, 18, p.text("program"), p.text("worker")});
  p.add(first, helper, 6, 6);
  p.add(first, read, 3, 3);
  p.add(second, lone, 2, 2);
  p.add(second, work, 1, 1);
  return p;
}

std::string shown(const Profile& p) {
  std::string out;
  for (const Row& r : functions_of(p, SortBy::name))
    out += r.name + " " + std::string(spec::row_of(r.kind).name) + " " + std::to_string(r.self) + " " +
           std::to_string(r.total) + "\n";
  return out;
}

TEST(Formats, WhatIsWrittenIsReadBack) {
  Profile p = sample();
  for (const Format& f : formats()) {
    if (!f.read) continue;
    std::string bytes = f.write(p);
    ASSERT_TRUE(f.is_this(bytes)) << f.name;
    auto again = f.read(bytes);
    ASSERT_TRUE(again.ok()) << f.name << ": " << again.error().message;
    EXPECT_EQ(shown(p), shown(*again)) << f.name;
    EXPECT_EQ(p.total(), again->total()) << f.name;
  }
}

TEST(Formats, SlicesAreKept) {
  Profile p = sample();
  p.about.duration_ns = 40;
  p.slice_ns = 10;
  p.add_slice(0, 1, {{1, 3, 3}, {0, 1, 1}});
  p.add_slice(3, 2, {{0, 5, 5}, {2, 2, 2}, {3, 1, 1}, {0, 0, 0}});
  auto again = read_recording(write_recording(p));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->slice_ns, 10u);
  ASSERT_EQ(again->slices.size(), 2u);
  EXPECT_EQ(again->slices[1].number, 3u);
  EXPECT_EQ(again->slices[1].span, 2u);
  EXPECT_EQ(again->slices[1].gains.size(), 3u);
  auto part = [&](TimeRange range, Part which) {
    auto q = read_recording(write_recording(p));
    EXPECT_TRUE(keep_part(*q, range, which).ok());
    EXPECT_EQ(q->slice_ns, 0u);
    return q->total();
  };
  EXPECT_EQ(part({.from = 30, .until = {}}, Part::inside), 8u);
  EXPECT_EQ(part({.from = 30, .until = {}}, Part::outside), 4u);
  EXPECT_EQ(part({.from = {}, .until = 1}, Part::inside), 4u); // a slice is in it if any part of it is
  EXPECT_EQ(part({.from = 10, .until = 30}, Part::inside), 0u);
  EXPECT_EQ(part({.from = 39, .until = 50}, Part::inside), 8u);
  EXPECT_FALSE(keep_part(*again, {.from = 41, .until = {}}).ok());
}

TEST(Formats, OtherFormsAreRefused) {
  std::string bytes = write_recording(sample());
  EXPECT_EQ(bytes[7], '1'); // without slices older ones read it
  bytes[7] = '9';
  auto read = read_recording(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("version 9"), std::string::npos);
}

TEST(Formats, TheOwnOneKeepsEverything) {
  Profile p = sample();
  auto again = read_recording(write_recording(p));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->about.notes, p.about.notes);
  EXPECT_EQ(again->about.period_ns, p.about.period_ns);
  EXPECT_EQ(report_json(p, {}), report_json(*again, {}));
}

TEST(Formats, DamagedOnesAreRefused) {
  std::string whole = write_recording(sample());
  for (size_t size = 8; size < whole.size(); size++) EXPECT_FALSE(read_recording(whole.substr(0, size)).ok()) << size;
  std::string packed = write_pprof(sample());
  for (size_t size = 2; size < packed.size(); size += 3) EXPECT_FALSE(read_pprof(packed.substr(0, size)).ok()) << size;
  EXPECT_FALSE(read_folded("a;b 5\nno weight\n").ok());
}

// Of folded stacks a file that ends with a line is whole: nothing tells how many there were.
TEST(Formats, CutOnesAreRefused) {
  for (const Format& f : formats()) {
    if (!f.read) continue;
    const std::string whole = f.write(sample());
    constexpr size_t ends = 4096; // within a page's libraries one cut is like another
    for (size_t size = 1; size < whole.size(); size += size < ends || whole.size() - size < ends ? 1 : 101) {
      const std::string cut = whole.substr(0, size);
      if (f.name == "folded" && cut.ends_with('\n')) continue;
      if (f.name == "speedscope" && size + 1 == whole.size()) continue; // the line end alone is missing
      for (const Format& reader : formats()) {
        if (!reader.is_this || !reader.is_this(cut)) continue;
        EXPECT_FALSE(reader.read(cut).ok()) << f.name << " read as " << reader.name << ", " << size << " of " << whole.size() << " bytes";
        break;
      }
    }
  }
}

TEST(Formats, ControlCharactersAreEscaped) {
  Profile p;
  p.about.what = "process 17 (a\x1b[2Jb)";
  const uint32_t bad = p.text("one\ntwo\x1b[31m\xff\xc2\x9b");
  EXPECT_EQ(p.texts()[bad], "one\\ntwo\\x1b[31m\\xff\\xc2\\x9b");
  p.add(p.thread({1, 1, bad, bad}), p.node(0, p.frame({bad, p.text("/tmp/ü\tx"), FrameKind::user})), 3, 3);
  std::string all = report_text(p, {}) + report_json(p, {});
  for (const Format& f : formats())
    if (f.name != "acu" && f.name != "pprof" && f.name != "otlp") all += f.write(p);
  for (char c : all) EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') << static_cast<int>(c);
  EXPECT_NE(report_text(p, {}).find("/ü\\tx"), std::string::npos);
  EXPECT_EQ(write_folded(p), "one\\ntwo\\x1b[31m\\xff\\xc2\\x9b;one\\ntwo\\x1b[31m\\xff\\xc2\\x9b 3\n");
}

TEST(Formats, SpeedscopesOfOthersAreRead) {
  auto p = read_speedscope(R"({"profiles": [{"type": "sampled", "name": "worker \u00e9", "unit": "milliseconds", "startValue": 0, "endValue": 3.5,
      "samples": [[0, 1], [0]], "weights": [2.5, 1]}], "shared": {"frames": [{"name": "main", "file": "/bin/app", "line": 7}, {"name": "wo\"rk"}]},
      "$schema": "https://www.speedscope.app/file-format-schema.json"})");
  ASSERT_TRUE(p.ok()) << p.error().message;
  EXPECT_EQ(p->about.unit, "ns");
  EXPECT_EQ(p->total(), 3'500'000u);
  EXPECT_EQ(p->texts()[p->threads()[0].name], "worker é");
  EXPECT_EQ(functions_of(*p, SortBy::name)[1].name, "wo\"rk");
  const std::string head = R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": []}, "profiles": [{"type": )";
  for (const char* rest : {R"("evented"}]})", R"("sampled", "samples": [[1]], "weights": [1]}]})", R"("sampled", "samples": [[]], "weights": []}]})", R"("sampled", "samples": [[}]})"})
    EXPECT_FALSE(read_speedscope(head + rest).ok()) << rest;
}

TEST(Formats, TheTextOfPerfIsRead) {
  auto p = read_perf_script("# a comment\n"
                            "my program  4711/4712 [001]   123.456789:     250000 cpu-clock: \n"
                            "\t    7f2a1c0e12ab helper+0x1b (inlined)\n"
                            "\t    7f2a1c0e12ab hot+0x1b (/usr/bin/sort)\n"
                            "\t    55d0a4b0c2d1 [unknown] (/usr/bin/sort)\n"
                            "\n"
                            "swapper     0 [000]   123.466789: cpu-clock:pppH: \n"
                            "\tffffffff81a1b2c3 vfs_read+0x83 ([kernel.kallsyms])\n\n");
  ASSERT_TRUE(p.ok()) << p.error().message;
  EXPECT_EQ(p->total(), 2u);
  const Thread& t = p->threads()[0];
  EXPECT_EQ(p->texts()[t.name], "my program");
  EXPECT_EQ(t.pid, 4711u);
  EXPECT_EQ(t.tid, 4712u);
  std::string text = shown(*p);
  EXPECT_NE(text.find("hot user 0 1\n"), text.npos) << text;
  EXPECT_NE(text.find("vfs_read kernel 1 1\n"), text.npos) << text;
}

TEST(Tables, AFunctionCountsOnceInAStack) {
  Profile p;
  uint32_t frame = p.frame({p.text("again"), 0, FrameKind::user});
  uint32_t node = 0;
  for (int i = 0; i < 5; i++) node = p.node(node, frame);
  p.add(p.thread({1, 1, 0, 0}), node, 7, 7);
  auto rows = functions_of(p, SortBy::self);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].total, 7u);
  EXPECT_EQ(rows[0].self, 7u);
}

TEST(Tables, OfACallChainTheInnermostFirst) {
  Profile p;
  uint32_t node = 0;
  for (const char* name : {"a_start", "b_main", "z_handle", "y_wait"})
    node = p.node(node, p.frame({p.text(name), 0, FrameKind::user}));
  p.add(p.thread({1, 1, 0, 0}), node, 7, 7);
  std::string order;
  for (const Row& r : functions_of(p, SortBy::self)) order += r.name + " ";
  EXPECT_EQ(order, "y_wait z_handle b_main a_start ");
}

TEST(Tables, CallersAndCallees) {
  Profile p = sample();
  std::vector<Row> rows = functions_of(p, SortBy::total);
  auto work = std::ranges::find(rows, "work", &Row::name);
  ASSERT_NE(work, rows.end());
  EXPECT_EQ(work->total, 10u);
  auto callers = callers_of(p, *work), callees = callees_of(p, *work);
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].name, "main");
  ASSERT_EQ(callees.size(), 2u);
  EXPECT_EQ(callees[0].name, "helper");
  EXPECT_EQ(callees[0].total, 6u);
}

// f calls g, which calls f, which calls g: each pair counts once.
TEST(Tables, NoPartIsMoreThanTheWhole) {
  Profile p;
  uint32_t node = 0;
  for (int i = 0; i < 4; i++) node = p.node(node, p.frame({p.text(i % 2 ? "g" : "f"), 0, FrameKind::user}));
  p.add(p.thread({1, 1, 0, 0}), node, 7, 7);
  std::vector<Row> rows = functions_of(p, SortBy::name);
  for (const Row& row : rows) {
    EXPECT_EQ(row.total, 7u) << row.name;
    for (const Row& r : callers_of(p, row)) EXPECT_EQ(r.total, 7u) << r.name << " calls " << row.name;
    for (const Row& r : callees_of(p, row)) EXPECT_EQ(r.total, 7u) << row.name << " calls " << r.name;
  }
}

TEST(Tables, BytesHaveTheirUnits) {
  About about;
  about.unit = "bytes";
  EXPECT_EQ(amount(about, 1000), "1000 B");
  EXPECT_EQ(amount(about, 1024), "1.0 KiB");
  EXPECT_EQ(amount(about, 3 << 20), "3.0 MiB");
}

// Of waits the first row is the program's function, or what it waits for; of the CPU it is where the CPU was.
TEST(Tables, WaitsAreThoseOfTheProgram) {
  auto first = [](std::string unit, std::initializer_list<std::pair<const char*, const char*>> stack, std::string title = "Waiting") {
    Profile p;
    p.about.title = title, p.about.unit = unit;
    uint32_t node = 0;
    for (auto [name, file] : stack) {
      const std::string_view of = file;
      const FrameKind kind = of.empty() ? FrameKind::note : of == "[kernel]" ? FrameKind::kernel : FrameKind::user;
      node = p.node(node, p.frame({p.text(name), p.text(file), kind}));
    }
    p.add(p.thread({1, 1, 0, 0}), node, 7, 7);
    const Row row = functions_of(p, SortBy::self).front();
    EXPECT_EQ(row.self, 7u);
    return row.name;
  };
  const char *app = "/bin/app", *libc = "/lib/libc.so.6", *kernel = "[kernel]";
  EXPECT_EQ(first("ns", {{"main", app}, {"serve", app}, {"poll", libc}, {"do_syscall_64", kernel}, {"schedule", kernel}, {"[waiting]", ""}}), "serve");
  EXPECT_EQ(first("ns", {{"main", app}, {"pthread_mutex_lock", libc}, {"futex_wait", kernel}, {"[waits for big_lock]", ""}}), "[waits for big_lock]");
  EXPECT_EQ(first("bytes", {{"main", app}, {"malloc", libc}, {"[new P]", ""}}), "[new P]");
  EXPECT_EQ(first("ns", {{"main", app}, {"vfs_read", kernel}, {"mutex_lock", kernel}, {"[waits for a mutex]", ""}}), "main");
  EXPECT_EQ(first("ns", {{"main", app}, {"read", libc}, {"schedule", kernel}, {"[woken by nginx]", ""}, {"try_to_wake_up", kernel}, {"send", libc}}), "[woken by nginx]");
  EXPECT_EQ(first("bytes", {{"[stack ends early: a reason]", ""}, {"fill", app}, {"malloc", "/usr/lib/libjemalloc.so.2"}, {"[touched]", ""}}), "fill");
  EXPECT_EQ(first("bytes", {{"main", app}, {"write", libc}, {"vfs_write", kernel}, {"[writes /var/log/x]", ""}}), "[writes /var/log/x]");
  EXPECT_EQ(first("ns", {{"kthread", kernel}, {"kswapd", kernel}, {"schedule", kernel}, {"__schedule", kernel}, {"[waiting]", ""}}), "kswapd");
  EXPECT_EQ(first("ns", {{"[no user stack]", ""}}), "[no user stack]");
  EXPECT_EQ(first("samples", {{"main", app}, {"memcpy", libc}}), "memcpy");
  EXPECT_EQ(first("ns", {{"main", app}, {"memcpy", libc}}, "CPU"), "memcpy"); // of a store, or of another tool
  EXPECT_EQ(first("ns", {{"main", app}, {"memcpy", libc}}), "main");
}

} // namespace
} // namespace profile
