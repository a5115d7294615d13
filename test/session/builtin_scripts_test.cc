// The scripts of the commands: complete as they are, none without use, and correct with whatever a command puts into them.
#include "base/text.h"
#include "flame/script.h"
#include "format/tracefs.h"
#include "scripts/scripts.h"
#include "session/runner.h"

#include <gtest/gtest.h>

#include <set>

namespace session {
namespace {

#define NEEDS_TRACEFS \
  if (auto fs = format::Tracefs::open(); !fs.ok()) GTEST_SKIP() << fs.error().message

std::string imported(std::string_view line) {
  constexpr std::string_view word = "import \"";
  line = base::trim(line);
  return line.starts_with(word) ? std::string(line.substr(word.size(), line.find('"', word.size()) - word.size())) : std::string();
}
std::vector<std::string> imports(const scripts::Script& s) {
  std::vector<std::string> out;
  for (std::string_view line : base::split(s.text, '\n'))
    if (std::string file = imported(line); !file.empty()) out.push_back(std::move(file));
  return out;
}
bool is_there(std::string_view file) {
  return std::ranges::any_of(scripts::all(), [&](const scripts::Script& s) { return s.name == file; });
}

TEST(BuiltinScripts, WhatTheyImportIsThere) {
  for (const scripts::Script& s : scripts::all())
    for (const std::string& file : imports(s)) EXPECT_TRUE(is_there(file)) << s.name << " imports " << file;
}

TEST(BuiltinScripts, EachHasAUse) {
  std::set<std::string> used = {"trace.bt", "trace_counts.bt", "slow.bt", "wait_graph.bt", "graph.bt", "allocation_counts.bt", "why_signal_counts.bt", "flight.bt"}; // of commands
  for (std::string_view measurement : {"processes", "syscalls", "births", "interrupts", "block_io", "files", "connections", "page_faults", "timers", "crashes", "heap", "exceptions", "collectors", "packets", "signals"}) used.insert("why_" + std::string(measurement) + ".bt");
  for (const spec::ProfileKind& k : spec::profile_kinds) used.insert(std::string(k.script) + ".bt");
  used.insert("flame_probe.bt"); // of probes that a user names
  for (size_t before = 0; before != used.size();) {
    before = used.size();
    for (const scripts::Script& s : scripts::all())
      if (used.contains(std::string(s.name)))
        for (std::string& file : imports(s)) used.insert(std::move(file));
  }
  for (const scripts::Script& s : scripts::all()) EXPECT_TRUE(used.contains(std::string(s.name))) << s.name;
}

TEST(BuiltinScripts, KindsOfRecordingsHaveTheirs) {
  for (const spec::ProfileKind& k : spec::profile_kinds) {
    EXPECT_TRUE(is_there(std::string(k.script) + ".bt")) << k.name;
    EXPECT_EQ(k.needs.empty(), k.needs.find(':') == k.needs.npos) << k.name << ": a tracepoint";
    EXPECT_TRUE(k.is_sampled || k.duty_cycle.probes.empty()) << k.name << ": only weights of samples stand for gaps";
    EXPECT_EQ(k.min_period & (k.min_period - 1), 0u) << k.name << ": a power of two";
    EXPECT_EQ(spec::find_profile_kind(k.name), &k) << k.name << " is there once";
  }
}

// A map in braces of a note must be one of the script or what it imports.
TEST(BuiltinScripts, NotesNameMapsOfTheScript) {
  for (const spec::ProfileKind& k : spec::profile_kinds) {
    std::string all;
    for (const scripts::Script& s : scripts::all()) all += s.text;
    for (std::string_view rest = k.notes; rest.find('{') != rest.npos;) {
      rest.remove_prefix(rest.find('{') + 1);
      const std::string map(rest.substr(0, rest.find('}')));
      EXPECT_NE(all.find("@" + map), std::string::npos) << k.name << ": " << map;
    }
  }
}

// ---- with what commands put into them

base::Status compiled(BuiltinScript script) {
  Runner runner({.aim = "test", .script = std::move(script), .filters_itself = true});
  return runner.compile();
}

std::vector<TargetFilter> filters() {
  return {{}, {.pids = {1, 2}}, {.threads = {7, 8}}, {.user = "root", .cpus = {0, 1}, .expression = "comm != \"x\" && pid > 1"}, {.include_idle = true}};
}

TEST(BuiltinScripts, EachKindCompilesForEachTarget) {
  NEEDS_TRACEFS;
  for (const spec::ProfileKind& k : spec::profile_kinds) {
    if (k.allocator != spec::AllocatorCalls::none) continue; // its functions are those of a process
    if (!k.needs.empty() && !format::Tracefs::open()->has(k.needs.substr(0, k.needs.find(':')), k.needs.substr(k.needs.find(':') + 1))) continue;
    bool is_exact = false;
    for (const TargetFilter& f : filters()) {
      auto script = flame::make_sampling_script(k, f, 99, is_exact = !is_exact && k.is_sampled, 1'000'000'000);
      ASSERT_TRUE(script.ok()) << k.name << ": " << script.error().message;
      for (const char* probe : {"parking0", "resuming0", "later_parking", "later_resuming"})
        if (k.is_of_goroutines) script->script.set_places(probe, "uprobe:libc:malloc"); // no Go program is needed
      const base::Status status = compiled(std::move(script->script));
      EXPECT_TRUE(status.ok()) << k.name << " " << script->what << ": " << status.error().message;
    }
  }
}

TEST(BuiltinScripts, MistakesInAnExpressionAreTheUsers) {
  NEEDS_TRACEFS;
  for (const char* wrong : {"nothing_such", "pid ==", "comm + 1", "1; exit()", "} begin { exit() }", "pid == 1 // x"}) {
    auto script = flame::make_sampling_script(*spec::find_profile_kind("cpu"), {.expression = wrong}, 99, false, 0);
    ASSERT_TRUE(script.ok());
    const base::Status status = compiled(std::move(script->script));
    if (std::string_view(wrong).ends_with("// x")) continue; // a comment may stand there
    ASSERT_FALSE(status.ok()) << wrong;
    EXPECT_EQ(status.error().kind, base::Failure::usage) << wrong;
    EXPECT_NE(status.error().message.find("--filter"), std::string::npos) << status.error().message;
    EXPECT_EQ(status.error().message.find("flame_cpu"), std::string::npos) << status.error().message;
  }
}

TEST(BuiltinScripts, PlacesAreListsOfProbes) {
  EXPECT_EQ(listed("uprobe:", {}), "");
  EXPECT_EQ(listed("uprobe:", {"a:f"}), "uprobe:a:f");
  EXPECT_EQ(listed("uprobe:", {"a:f", "b:g"}), "uprobe:a:f,uprobe:b:g");
}

// Names of files and functions may have any characters: they are quoted.
TEST(BuiltinScripts, NamesInPlacesAreQuoted) {
  EXPECT_EQ(user_place("uprobe", "/a b", "f"), "uprobe:\"/a b\":\"f\"");
  EXPECT_EQ(user_place("uprobe", "", "0x10"), "uprobe:\"\":\"0x10\"");
  EXPECT_EQ(user_place("uprobe", "/a\"b\\", "f"), "uprobe:\"/a\\\"b\\\\\":\"f\"");
  EXPECT_EQ(user_place("uretprobe", "/a", "cpp:\"ns::f(int)\""), "uretprobe:\"/a\":cpp:\"ns::f(int)\"");
}

TEST(BuiltinScripts, AnImportIsReplaced) {
  BuiltinScript s("graph");
  s.set_import("graph_values.bt", "// mine\n");
  size_t found = 0;
  for (const lang::Insert& i : s.parts.imports) found += i.name == "graph_values.bt" && i.text == "// mine\n";
  EXPECT_EQ(found, 1u);
  EXPECT_TRUE(std::ranges::none_of(s.parts.imports, [](const lang::Insert& i) { return i.name == "graph.bt"; })) << "it does not import itself";
}

// flight.bt has maps, C macros and prints of these names: a user's script and what belongs to it are apart.
TEST(BuiltinScripts, AUsersScriptHasNamesOfItsOwn) {
  NEEDS_TRACEFS;
  BuiltinScript script("flight");
  script.set_users_script("flight_user.bt", "#define AT 3\n#define NOW(a) a\ninterval:s:1 { @triggers = count(); @called[\"x\"] = hist(NOW(AT)); printf(\"%d\", AT); print((trigger = 1)); }", "mine.bt");
  script.set_import("flight_triggers.bt", "when_1 = interval:s:9 { TRIGGER(1) }\nmacro when_2() { true }\ninterval:s:1 /when_2()/ { TRIGGER(2) }\n");
  script.set_users_places("when_1", "interval:s:2 /@triggers > 5/", "--when");
  script.set_users_expression("when_2", "p99(@called[\"x\"]) > AT", "--when");
  Runner runner({.aim = "test", .script = std::move(script), .filters_itself = true});
  const base::Status status = runner.compile();
  ASSERT_TRUE(status.ok()) << status.error().message;
  std::multiset<std::string> maps;
  for (const ir::Map& m : runner.program().maps) maps.insert(m.name);
  for (const char* name : {"triggers", "called", "flight.triggers", "flight.called", "flight.left"}) EXPECT_EQ(maps.count(name), 1u) << name;
  size_t users = 0;
  for (const ir::Action& a : runner.program().actions) {
    if (!a.is_users) continue;
    users++;
    ASSERT_EQ(a.payload->fields().size(), 1u + ir::stamp_fields);
    EXPECT_EQ(runner.source().name(a.where.begin), "mine.bt");
  }
  EXPECT_EQ(users, 2u);
}

TEST(BuiltinScripts, MistakesInAUsersScriptAreThere) {
  NEEDS_TRACEFS;
  const auto message = [](std::string text, std::string condition) {
    BuiltinScript script("flight");
    script.set_users_script("flight_user.bt", std::move(text), "mine.bt");
    script.set_import("flight_triggers.bt", "macro when_1() { true }\ninterval:s:1 /when_1()/ { TRIGGER(1) }\n");
    script.set_users_expression("when_1", std::move(condition), "--when");
    const base::Status status = compiled(std::move(script));
    return status.ok() ? std::string() : status.error().message;
  };
  EXPECT_EQ(message("", "true"), "");
  EXPECT_NE(message("interval:s:1 { @a = }", "true").find("mine.bt:1:"), std::string::npos);
  EXPECT_NE(message("interval:s:1 { @a = IDS(curtask) }", "true").find("mine.bt:1:"), std::string::npos) << "a macro of flight.bt";
  EXPECT_NE(message("import \"waits.bt\"", "true").find("file not found"), std::string::npos) << "acu's imports are not the user's";
  EXPECT_NE(message("interval:s:1 { @a = 1 }", "@left > 1").find("--when:1:"), std::string::npos) << "a map of flight.bt";
}

TEST(BuiltinScripts, ADurationIsAnInterval) {
  const auto before = [](uint64_t ns) {
    BuiltinScript s("flame_cpu");
    s.set_whose({.text = "true", .before = {}, .what = {}}, {}, ns);
    for (const lang::Insert& i : s.parts.imports)
      if (i.name == "whose.bt") return i.text.substr(std::min(i.text.find("interval:"), i.text.size()));
    return std::string("none");
  };
  EXPECT_EQ(before(0), "");
  EXPECT_EQ(before(1'500'000'000), "interval:us:1500000 { exit() }\n");
  EXPECT_EQ(before(1), "interval:us:1 { exit() }\n") << "an interval of 0 is none";
}

} // namespace
} // namespace session
