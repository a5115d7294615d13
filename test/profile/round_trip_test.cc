// Recordings at random through each format and through one after the other: what a format has a place for is the same afterwards.
#include "profile/formats.h"
#include "profile/tables.h"
#include "profiles.h"

#include "scratch.h"

#include <gtest/gtest.h>

#include <random>

namespace profile {
namespace {

constexpr std::string_view names[] = {"main", "work", "operator()(int, char) const", "std::map<int, std::pair<a, b>>::find", "größe", "a \"b\"", "back\\slash", "f<'x'>", "add", "0", "x y", "#", "(anonymous namespace)::f", "_[x]"};
constexpr std::string_view files[] = {"/bin/app", "/lib/libw.so.1", "/opt/my app (v2)/x", "/usr/bin/old (deleted)", "[vdso]"};
constexpr std::string_view kernel_files[] = {"[kernel]", "[nf_tables]"};
constexpr std::string_view notes[] = {"[waiting]", "[stack ends early: a reason]", "[waits for lock; and more]"};

// Stacks as acu records them: an inlined call is in the file of its caller, and the kernel's frames are the innermost.
Profile random_profile(uint32_t seed) {
  std::mt19937 random(seed);
  auto one_of = [&](auto& list) { return list[random() % std::size(list)]; };
  Profile p;
  p.about.what = "process 17";
  p.about.unit = "ns";
  for (int n = 0; n < 40; n++) {
    std::vector<Step> steps;
    if (random() % 5 == 0) steps.push_back({one_of(notes), "", FrameKind::note});
    for (size_t depth = random() % 6; depth; depth--) {
      const bool is_inlined = random() % 3 == 0 && !steps.empty() && !spec::is_note(steps.back().kind);
      steps.push_back({one_of(names), is_inlined ? steps.back().file : one_of(files), is_inlined ? FrameKind::inlined : FrameKind::user});
    }
    for (size_t depth = random() % 3; depth; depth--) steps.push_back({one_of(names), one_of(kernel_files), FrameKind::kernel});
    if (random() % 4 == 0) steps.push_back({one_of(notes), "", FrameKind::note});
    if (steps.empty()) steps.push_back({"main"}); // without frames `# 5` would be a comment of folded stacks
    const std::string_view who = one_of(names);
    add(p, steps, random() % 100 + 1, random() % 10 + 1, {.process = who, .thread = who, .pid = static_cast<uint32_t>(random() % 3), .tid = static_cast<uint32_t>(random() % 3)});
  }
  return p;
}

struct Case {
  std::string_view format;
  Kept kept;
};
constexpr Case cases[] = {
    {"html", {}},
    {"svg", {}},
    {"acu", {}},
    {"pprof", {}},
    {"speedscope", {}},
    {"perf", {.counts = false}},
    {"folded", {.ids = false, .threads = false, .modules = false, .counts = false}},
};

TEST(RoundTrip, EachFormat) {
  ASSERT_EQ(std::ssize(cases), std::ranges::count_if(formats(), [](const Format& f) { return f.read; })); // a new format needs a row
  for (uint32_t seed = 0; seed < 10; seed++) {
    const Profile p = random_profile(seed);
    for (const Case& c : cases) {
      const Format& format = **format_of_name(c.format);
      const std::string bytes = format.write(p);
      auto again = format.read(bytes);
      ASSERT_TRUE(again.ok()) << c.format << ": " << again.error().message;
      EXPECT_EQ(write_folded(*again), write_folded(p)) << c.format << ", seed " << seed;
      if (c.kept.modules) { // else what becomes the same adds up
        EXPECT_EQ(lines_of(*again, c.kept), lines_of(p, c.kept)) << c.format << ", seed " << seed;
      }
    }
  }
}

// A stack in several requests: formats with a place for them keep each, the others their sum.
TEST(RoundTrip, LinksToRequests) {
  const std::string trace = "0123456789abcdef0123456789abcdef", other = "ffffffffffffffffffffffffffffffff";
  Profile p;
  add(p, {{"main"}, {"work"}}, 5, 5, {.request = {trace, "00000000000000a1"}});
  add(p, {{"main"}, {"work"}}, 6, 6, {.request = {trace, "00000000000000a2"}});
  add(p, {{"main"}, {"work"}}, 7, 7, {.request = {other, "00000000000000a1"}});
  add(p, {{"main"}, {"work"}}, 8, 8);
  add(p, {{"main"}, {"work"}}, 1, 1, {.request = {trace, "00000000000000a1"}});
  ASSERT_EQ(p.samples().size(), 4u);
  ASSERT_EQ(p.samples()[0].weight, 6u);
  int with_links = 0;
  for (const Format& f : formats()) {
    if (!f.read) continue;
    auto again = f.read(f.write(p));
    ASSERT_TRUE(again.ok()) << f.name;
    EXPECT_EQ(again->total(), 27u) << f.name;
    EXPECT_EQ(write_folded(*again), "app;main;work 27\n") << f.name;
    if (f.has_links || f.read == read_embedded) {
      with_links++;
      EXPECT_EQ(lines_of(*again), lines_of(p)) << f.name;
    } else {
      EXPECT_EQ(again->links().size(), 1u) << f.name;
    }
  }
  EXPECT_EQ(with_links, 4); // acu's own, also in a page and an image, and pprof; OpenTelemetry's is only written
}

// The bytes alone tell which format it is.
TEST(RoundTrip, EachFormatIsKnownByItsBytes) {
  Scratch scratch;
  for (uint32_t seed = 0; seed < 10; seed++) {
    const Profile p = random_profile(seed);
    for (const Format& f : formats()) {
      if (!f.read) continue;
      scratch.write("recording", f.write(p));
      auto again = read_profile(scratch.path("recording"));
      ASSERT_TRUE(again.ok()) << f.name << ": " << again.error().message;
      EXPECT_EQ(again->total(), p.total()) << f.name;
      EXPECT_EQ(write_folded(*again), write_folded(p)) << f.name;
    }
  }
}

TEST(RoundTrip, OneAfterTheOther) {
  for (uint32_t seed = 0; seed < 10; seed++) {
    const Profile p = random_profile(seed);
    auto a = read_pprof(write_pprof(p));
    auto b = read_speedscope(write_speedscope(*a));
    auto c = read_recording(write_recording(*b));
    auto d = read_embedded(write_picture_file(*c));
    ASSERT_TRUE(a.ok() && b.ok() && c.ok() && d.ok());
    EXPECT_EQ(lines_of(*d), lines_of(p)) << seed;
    EXPECT_EQ(d->about.unit, p.about.unit);
  }
}

// A sum that does not fit 64 bits is no number.
TEST(RoundTrip, SumsThatAreTooLarge) {
  Scratch scratch;
  scratch.write("sums.folded", "a;f 18446744073709551615\nb;g 2\n");
  auto p = read_profile(scratch.path("sums.folded"));
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().message.find("its weights add up to more than 64 bits hold"), std::string::npos) << p.error().message;
  scratch.write("sums.folded", "a;f 18446744073709551615\na;f 2\n"); // of one stack
  EXPECT_FALSE(read_profile(scratch.path("sums.folded")).ok());
  scratch.write("sums.folded", "a;f 9223372036854775806\nb;g 1\n");
  p = read_profile(scratch.path("sums.folded"));
  ASSERT_TRUE(p.ok()) << p.error().message;
  EXPECT_EQ(p->total(), ~uint64_t{0} >> 1);
}

TEST(Files, TheNameChoosesTheFormat) {
  for (auto [path, format] : {std::pair("x.html", "html"), std::pair("a.b/x.htm", "html"), std::pair("x.pb.gz", "pprof"), std::pair("x.collapsed", "folded"), std::pair("x.acu", "acu"), std::pair("x.json", "speedscope")})
    EXPECT_EQ((*format_of_file(path))->name, format);
  for (const char* path : {"x", "x.gz", "acu", "", "html"}) {
    auto f = format_of_file(path);
    ASSERT_FALSE(f.ok()) << path;
    EXPECT_NE(f.error().message.find(".pb.gz"), std::string::npos); // it lists all
  }
  EXPECT_NE(format_of_name("pprov").error().message.find("did you mean `pprof`?"), std::string::npos);
  EXPECT_NE(format_of_name("zzzzzzzz").error().message.find("formats are "), std::string::npos);
}

TEST(Files, MessagesNameTheFile) {
  Scratch scratch;
  scratch.write("empty", "");
  EXPECT_EQ(read_profile(scratch.path("empty")).error().message, scratch.path("empty") + ": it is empty");
  scratch.write("text", "just some words\n");
  EXPECT_TRUE(read_profile(scratch.path("text")).error().message.starts_with(scratch.path("text") + ": not a recording; acu reads"));
  scratch.write("cut.acu", write_recording(random_profile(1)).substr(0, 50));
  EXPECT_TRUE(read_profile(scratch.path("cut.acu")).error().message.starts_with(scratch.path("cut.acu") + ": the recording is damaged"));
  EXPECT_FALSE(read_profile(scratch.path("none")).ok());
  EXPECT_TRUE(format_of_output(scratch.path("new.html")).ok());
  auto nowhere = format_of_output(scratch.path("no/such/folder/x.html"));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_FALSE(format_of_output(scratch.path("new.xyz")).ok());
}

} // namespace
} // namespace profile
