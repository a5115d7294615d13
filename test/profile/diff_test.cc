// What two recordings have in common is found although paths, versions and ids differ.
#include "profile/diff.h"
#include "profile/formats.h"
#include "profile/matching.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace profile {
namespace {

struct Step {
  const char *name, *file;
};

// A recording of stacks, each a list of functions from the outermost on.
Profile recording(const char* process, std::initializer_list<std::pair<std::initializer_list<Step>, uint64_t>> stacks) {
  Profile p;
  p.about.period_ns = 10'000'000;
  p.about.duration_ns = 10'000'000'000;
  for (const auto& [steps, weight] : stacks) {
    uint32_t node = 0;
    for (const Step& s : steps) node = p.node(node, p.frame({p.text(s.name), p.text(s.file)}));
    p.add(p.thread({17, 17, p.text(process), p.text(process)}), node, weight, weight);
    p.about.samples += weight;
  }
  return p;
}

Change find(const std::vector<Change>& rows, std::string_view name) {
  auto at = std::ranges::find(rows, name, &Change::name);
  return at == rows.end() ? Change() : *at;
}

TEST(Matching, VersionsAreNoNames) {
  for (auto [name, bare] : {std::pair("libfoo.so.1.2", "libfoo.so"), std::pair("libfoo.so", "libfoo.so"), std::pair("libc-2.36.so", "libc.so"), std::pair("app-1.2", "app"),
                            std::pair("app-v1.2.3", "app"), std::pair("python3.11", "python"), std::pair("app2", "app2"), std::pair("app (deleted)", "app"),
                            std::pair("libsomething-64.so", "libsomething-64.so"), std::pair("perf-4711.map", "perf.map"), std::pair("1.2", "1.2"), std::pair("a.out", "a.out")})
    EXPECT_EQ(without_version(name), bare);
}

TEST(Matching, CopiesOfAFunctionAreIt) {
  EXPECT_EQ(function_of_copy("parse.constprop.0"), "parse");
  EXPECT_EQ(function_of_copy("parse.part.0.isra.1"), "parse");
  EXPECT_EQ(function_of_copy("parse(int) [clone .cold]"), "parse(int)");
  EXPECT_EQ(function_of_copy(".cold"), ".cold");
  EXPECT_EQ(function_of_copy("call<a.cold>(int)"), "call<a.cold>(int)");
}

TEST(Diff, ReleasesInTwoFolders) {
  Profile a = recording("app", {{{{"main", "/srv/app-1.2/bin/app"}, {"work", "/srv/app-1.2/lib/libwork.so.1.2"}}, 300}, {{{"main", "/srv/app-1.2/bin/app"}, {"old", "/srv/app-1.2/bin/app"}}, 100}});
  Profile b = recording("app", {{{{"main", "/srv/app-1.3/bin/app"}, {"work", "/srv/app-1.3/lib/libwork.so.1.3"}}, 350}, {{{"main", "/srv/app-1.3/bin/app"}, {"fresh", "/srv/app-1.3/bin/app"}}, 70}});
  auto d = compare(a, b, "a.acu", "b.acu");
  ASSERT_TRUE(d.ok());
  const std::vector<Change> rows = changes_of(*d);
  EXPECT_EQ(rows.size(), 4u);
  EXPECT_EQ(find(rows, "work").self, 50);
  EXPECT_EQ(find(rows, "work").where, "/srv/app-1.3/lib/libwork.so.1.3");
  EXPECT_EQ(find(rows, "main").total, 20);
  EXPECT_TRUE(find(rows, "old").is_only_in_a());
  EXPECT_TRUE(find(rows, "fresh").is_only_in_b());
  EXPECT_EQ(d->renamed.size(), 2u);
  const std::string text = difference_text(*d, 20);
  for (const char* part : {"A  a.acu: CPU, 10.00 s, 400 samples", "B  b.acu: CPU, 10.00 s, 420 samples", "not scaled: both have the same duration", "old  app  (only in A)",
                           "treated as the same file: A /srv/app-1.2/bin/app, B /srv/app-1.3/bin/app", "only in A (including callees)\n    1.00 s  old"})
    EXPECT_NE(text.find(part), text.npos) << part << " in\n" << text;
}

// Two plugins of one name are two, as long as the other recording has both.
TEST(Diff, FilesOfOneNameStayApart) {
  Profile a = recording("app", {{{{"init", "/opt/1.0/x/plugin.so"}}, 10}, {{{"init", "/opt/1.0/y/plugin.so"}}, 20}});
  Profile b = recording("app", {{{{"init", "/opt/1.1/x/plugin.so"}}, 11}, {{{"init", "/opt/1.1/y/plugin.so"}}, 22}});
  EXPECT_EQ(changes_of(*compare(a, b)).size(), 2u);
  Profile one = recording("app", {{{{"init", "/srv/plugin.so"}}, 40}});
  const std::vector<Change> rows = changes_of(*compare(a, one));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].self, 10);
}

// The functions of modules of one name, with their files and what they were before and after.
std::string files_of(const Difference& d) {
  std::string out;
  std::vector<Change> rows = changes_of(d);
  std::ranges::sort(rows, {}, &Change::where);
  for (const Change& c : rows) out += c.where + " " + std::to_string(c.before) + " " + std::to_string(c.after) + "\n";
  return out;
}

// A source file that is new has the name of others: they are what they were, wherever the release is.
TEST(Diff, AFileOfTheSameNameIsAdded) {
  for (const bool is_elsewhere : {false, true}) {
    const std::string folder = is_elsewhere ? "/srv/shop-1.3/" : "/srv/shop-1.2/";
    const std::string orders = folder + "orders/utils.py", users = folder + "users/utils.py", cart = folder + "cart/utils.py";
    Profile a = recording("app", {{{{"get", "/srv/shop-1.2/orders/utils.py"}}, 10}, {{{"get", "/srv/shop-1.2/users/utils.py"}}, 20}});
    Profile b = recording("app", {{{{"get", orders.c_str()}}, 11}, {{{"get", users.c_str()}}, 22}, {{{"get", cart.c_str()}}, 5}});
    auto d = compare(a, b);
    ASSERT_TRUE(d.ok());
    EXPECT_EQ(files_of(*d), cart + " 0 5\n" + orders + " 10 11\n" + users + " 20 22\n");
    EXPECT_EQ(d->renamed.size(), is_elsewhere ? 2u : 0u);
    const std::string both = "/srv/shop-1.2/orders/utils.py 11 10\n/srv/shop-1.2/users/utils.py 22 20\n", gone = cart + " 5 0\n";
    EXPECT_EQ(files_of(*compare(b, a)), is_elsewhere ? both + gone : gone + both);
  }
}

TEST(Diff, FilesThatOnlyOneHasAreApart) {
  Profile a = recording("app", {{{{"get", "/srv/orders/index.js"}}, 10}, {{{"get", "/srv/users/index.js"}}, 20}, {{{"get", "/srv/old/index.js"}}, 3}});
  Profile b = recording("app", {{{{"get", "/srv/orders/index.js"}}, 11}, {{{"get", "/srv/cart/index.js"}}, 4}, {{{"get", "/srv/pay/index.js"}}, 5}});
  auto d = compare(a, b);
  EXPECT_EQ(files_of(*d), "/srv/cart/index.js 0 4\n/srv/old/index.js 3 0\n/srv/orders/index.js 10 11\n/srv/pay/index.js 0 5\n/srv/users/index.js 20 0\n");
  EXPECT_TRUE(d->renamed.empty());
  Profile none = recording("app", {{{{"main", "/srv/app"}}, 10}});
  EXPECT_EQ(files_of(*compare(a, none)), "/srv/app 0 10\n/srv/old/index.js 3 0\n/srv/orders/index.js 10 0\n/srv/users/index.js 20 0\n");
}

// A host and its containers have a library each; one container was replaced.
TEST(Diff, ALibraryOfTheHostIsNotThatOfAContainer) {
  Profile a = recording("app", {{{{"f", "/usr/lib/libx.so.1"}}, 10}, {{{"f", "/var/lib/containers/3f/usr/lib/libx.so.1"}}, 20}});
  Profile b = recording("app", {{{{"f", "/usr/lib/libx.so.1"}}, 11}, {{{"f", "/var/lib/containers/8a/usr/lib/libx.so.1"}}, 22}});
  EXPECT_EQ(files_of(*compare(a, b)), "/usr/lib/libx.so.1 10 11\n/var/lib/containers/8a/usr/lib/libx.so.1 20 22\n");
}

// The number in its file's name is that of a process, and tells nothing of the code.
TEST(Diff, CodeMadeAtRunTimeIsOne) {
  Profile a = recording("node", {{{{"f", "/tmp/perf-10.map"}}, 10}, {{{"f", "/tmp/perf-11.map"}}, 20}, {{{"f", "/tmp/perf-12.map"}}, 30}});
  Profile b = recording("node", {{{{"f", "/tmp/perf-11.map"}}, 20}, {{{"f", "/tmp/perf-13.map"}}, 50}, {{{"f", "/tmp/perf-14.map"}}, 1}});
  EXPECT_EQ(files_of(*compare(a, b)), "/tmp/perf-11.map 60 71\n");
}

// Whatever it is called, a file with the same build id is the same.
TEST(Diff, BuildIdsTellTheSameFile) {
  Profile a = recording("app", {{{{"main", "/srv/server.old"}}, 10}, {{{"init", "/a/x.so"}}, 5}, {{{"init", "/b/x.so"}}, 7}});
  Profile b = recording("app", {{{{"main", "/srv/server"}}, 12}, {{{"init", "/c/x.so"}}, 5}, {{{"init", "/d/x.so"}}, 7}});
  for (auto [path, id] : {std::pair("/srv/server.old", "1111"), std::pair("/a/x.so", "2222"), std::pair("/b/x.so", "3333")}) a.build_ids[a.text(path)] = id;
  for (auto [path, id] : {std::pair("/srv/server", "1111"), std::pair("/c/x.so", "2222"), std::pair("/d/x.so", "3333")}) b.build_ids[b.text(path)] = id;
  for (bool is_packed : {false, true}) {
    auto first = is_packed ? read_pprof(write_pprof(a)) : read_recording(write_recording(a)), second = is_packed ? read_pprof(write_pprof(b)) : read_recording(write_recording(b));
    auto d = compare(*first, *second);
    ASSERT_TRUE(d.ok());
    const std::vector<Change> rows = changes_of(*d);
    ASSERT_EQ(rows.size(), 1u) << difference_text(*d, 20); // what did not change is no row
    EXPECT_EQ(rows[0].name, "main");
    EXPECT_EQ(rows[0].self, 2);
    EXPECT_EQ(d->renamed.size(), 3u);
  }
}

// The old release was kept under another name.
TEST(Diff, AFileThatWasMovedIsTheSame) {
  Profile a = recording("app", {{{{"main", "/srv/server"}}, 10}});
  Profile b = recording("app", {{{{"main", "/srv/server"}}, 3}, {{{"main", "/srv/server.old"}}, 9}});
  a.build_ids[a.text("/srv/server")] = "1111";
  b.build_ids[b.text("/srv/server")] = "2222", b.build_ids[b.text("/srv/server.old")] = "1111";
  EXPECT_EQ(files_of(*compare(a, b)), "/srv/server 0 3\n/srv/server.old 10 9\n");
  b.build_ids.erase(b.text("/srv/server.old"));
  EXPECT_EQ(files_of(*compare(a, b)), "/srv/server 10 3\n/srv/server.old 0 9\n"); // rebuilt
}

TEST(Diff, ACanaryHasAnotherName) {
  Profile a = recording("server", {{{{"main", "/bin/server"}}, 10}}), b = recording("server-canary", {{{{"main", "/bin/server"}}, 12}});
  auto d = compare(a, b);
  ASSERT_EQ(d->changes.size(), 1u);
  EXPECT_EQ(d->changes[0], 2);
}

TEST(Diff, TheScaleIsShown) {
  Profile a = recording("app", {{{{"main", "/app"}}, 100}}), b = recording("app", {{{{"main", "/app"}}, 30}});
  b.about.duration_ns *= 2;
  b.about.period_ns *= 10; // a tenth of the samples
  auto d = compare(a, b, "a", "b");
  ASSERT_TRUE(d.ok());
  EXPECT_DOUBLE_EQ(d->scale, 0.2);
  EXPECT_EQ(d->before, 20u);
  std::string text = difference_text(*d, 5);
  EXPECT_NE(text.find("A is scaled by 0.200: B is 2.000 times as long; B was sampled every 100.00 ms, A every 10.00 ms"), text.npos) << text;
  a.about.duration_ns = 0;
  text = difference_text(*compare(a, b), 5);
  EXPECT_NE(text.find("the duration of A is not known"), text.npos) << text;
}

// The page holds what only A has, with its weight.
TEST(Diff, WhatVanishedIsDrawn) {
  Profile a = recording("app", {{{{"main", "/app"}, {"old", "/app"}}, 100}}), b = recording("app", {{{{"main", "/app"}}, 100}});
  const std::string page = difference_page(*compare(a, b, "a.acu", "b.acu"));
  for (const char* part : {"[only in A]", "A  a.acu: ", "B  b.acu: ", "not scaled"}) EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_NE(page.find("\"parents\":[0,0,1,2]"), page.npos) << page.substr(page.find("\"parents\":["), 60); // main, the note, old
  EXPECT_NE(page.find("\"samples\":[0,1,100,0,3,100]"), page.npos) << page.substr(page.find("\"samples\":["), 60);
  EXPECT_NE(page.find("\"changes\":[100,-100]"), page.npos);
}

// Recordings count samples; profiles of other tools and of a store count ns.
TEST(Diff, SamplesAndTimeOfTheCpu) {
  Profile a = recording("app", {{{{"main", "/app"}}, 100}}), b = recording("app", {{{{"main", "/app"}}, 1'234'567'890}});
  b.about.unit = "ns", b.about.period_ns = 0, b.about.duration_ns *= 2;
  auto d = compare(a, b);
  ASSERT_TRUE(d.ok()) << d.error().message;
  EXPECT_EQ(d->profile.about.unit, "ns");
  EXPECT_EQ(d->before, 2'000'000'000u);
  EXPECT_EQ(d->after, 1'234'567'890u);
  EXPECT_EQ(changes_of(*d)[0].self, 1'234'567'890 - 2'000'000'000);
  EXPECT_NE(difference_text(*d, 5).find("A is scaled by 2.000: B is 2.000 times as long\n"), std::string::npos) << difference_text(*d, 5);
  EXPECT_EQ(compare(b, a)->before, 617'283'945u);
  EXPECT_EQ(compare(b, a)->after, 1'000'000'000u);
  b.about.title = "Waiting";
  EXPECT_EQ(compare(a, b).error().message, "the recordings cannot be compared: A counts CPU time, B ns");
}

TEST(Diff, OtherWeightsAreRefused) {
  Profile a = recording("app", {}), b = recording("app", {});
  b.about.unit = "bytes", b.about.period_ns = 0;
  auto d = compare(a, b);
  ASSERT_FALSE(d.ok());
  EXPECT_NE(d.error().message.find("A counts CPU time, B bytes"), std::string::npos) << d.error().message;
}

} // namespace
} // namespace profile
