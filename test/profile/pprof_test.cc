// pprof's format: messages as other tools write them, by the fields of github.com/google/pprof/proto/profile.proto.
#include "base/protobuf.h"
#include "profile/formats.h"
#include "profile/tables.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <random>

namespace profile {
namespace {

// A profile.proto message under construction; texts are numbered as they come.
class Message {
public:
  Message() { text(""); }
  uint64_t text(std::string_view t) {
    for (size_t i = 0; i < texts_.size(); i++)
      if (texts_[i] == t) return i;
    texts_.emplace_back(t);
    return texts_.size() - 1;
  }
  void value_type(std::string_view type, std::string_view unit, uint32_t field = 1) {
    base::ProtoWriter m;
    m.number(1, text(type)), m.number(2, text(unit));
    out_.bytes(field, m.text());
  }
  void mapping(uint64_t id, uint64_t start, uint64_t limit, uint64_t offset, std::string_view file) {
    base::ProtoWriter m;
    m.number(1, id), m.number(2, start), m.number(3, limit), m.number(4, offset), m.number(5, text(file));
    out_.bytes(3, m.text());
  }
  void function(uint64_t id, std::string_view name) {
    base::ProtoWriter m;
    m.number(1, id), m.number(2, text(name)), m.number(3, text(name));
    out_.bytes(5, m.text());
  }
  // Functions: the innermost first.
  void location(uint64_t id, uint64_t mapping, uint64_t address, const std::vector<uint64_t>& functions) {
    base::ProtoWriter m;
    m.number(1, id), m.number(2, mapping), m.number(3, address);
    for (uint64_t f : functions) {
      base::ProtoWriter line;
      line.number(1, f), line.number(2, 7); // line 7 of the source
      m.bytes(4, line.text());
    }
    out_.bytes(4, m.text());
  }
  void sample(const std::vector<uint64_t>& locations, const std::vector<uint64_t>& values, bool is_packed = true) {
    base::ProtoWriter m;
    if (is_packed) {
      m.packed(1, locations), m.packed(2, values);
    } else {
      for (uint64_t l : locations) m.number(1, l);
      for (uint64_t v : values) m.number(2, v);
    }
    out_.bytes(2, m.text());
  }
  void number(uint32_t field, uint64_t value) { out_.number(field, value); }
  std::string bytes() const {
    base::ProtoWriter all = out_;
    for (const std::string& t : texts_) all.bytes(6, t);
    return all.text();
  }

private:
  base::ProtoWriter out_;
  std::vector<std::string> texts_;
};

std::string read(const Message& m) {
  auto p = read_pprof(m.bytes());
  return p.ok() ? lines_of(*p) : "FAILED: " + p.error().message;
}

// main calls work, into which helper is inlined.
Message small() {
  Message m;
  m.value_type("samples", "count");
  m.value_type("cpu", "nanoseconds");
  m.mapping(1, 0x400000, 0x500000, 0, "/bin/app");
  m.function(1, "main"), m.function(2, "work"), m.function(3, "helper");
  m.location(1, 1, 0x400100, {1}), m.location(2, 1, 0x400200, {3, 2});
  return m;
}

TEST(Pprof, CallsThatWereInlined) {
  Message m = small();
  m.sample({2, 1}, {3, 30'000'000});
  m.number(12, 10'000'000), m.value_type("cpu", "nanoseconds", 11);
  EXPECT_EQ(read(m), "||0/0 > main user in /bin/app > work user in /bin/app > helper inlined in /bin/app = 3 of 3\n");
}

// A profile of Go's locks counts what was waited, and its period counts events: no time of a clock.
TEST(Pprof, OnlyAPeriodOfTimeMakesSamples) {
  for (auto [unit, wanted] : {std::pair("count", "500 ns"), std::pair("nanoseconds", "50 samples")}) {
    Message m;
    m.value_type("contentions", "count"), m.value_type("delay", "nanoseconds"), m.value_type("contentions", unit, 11);
    m.function(1, "main");
    m.location(1, 0, 0, {1});
    m.sample({1}, {3, 500});
    m.number(12, 10);
    auto p = read_pprof(m.bytes());
    ASSERT_TRUE(p.ok());
    EXPECT_EQ(std::to_string(p->total()) + " " + p->about.unit, wanted);
    EXPECT_EQ(p->about.samples, 3u);
  }
}

// Values of a merged or a weighted profile are no multiples of its period: nothing of them is lost, however small.
TEST(Pprof, PartsOfAPeriodAreKept) {
  for (const bool are_whole : {false, true}) {
    Message m = small();
    m.sample({1}, {1, are_whole ? 10'000'000u : 4'000'000u});
    m.sample({2, 1}, {1, are_whole ? 20'000'000u : 3'000'000u});
    m.sample({2}, {1, 10'000'000});
    m.number(12, 10'000'000), m.value_type("cpu", "nanoseconds", 11);
    auto p = read_pprof(m.bytes());
    ASSERT_TRUE(p.ok());
    EXPECT_EQ(std::to_string(p->total()) + " " + p->about.unit, are_whole ? "4 samples" : "17000000 ns");
    EXPECT_EQ(p->about.period_ns, are_whole ? 10'000'000u : 0u);
    EXPECT_EQ(p->about.samples, 3u);
    EXPECT_EQ(functions_of(*p, SortBy::self).size(), 3u);
    EXPECT_EQ(p->about.title, "CPU");
  }
}

TEST(Pprof, NumbersMayBePackedOrNot) {
  for (bool is_packed : {false, true}) {
    Message m = small();
    m.sample({1}, {3, 30}, is_packed);
    EXPECT_EQ(read(m), "||0/0 > main user in /bin/app = 30 of 3\n") << is_packed;
  }
}

// Go's profiles of the heap have four values; the one that counts is named, else it is the last.
TEST(Pprof, TheDefaultSampleTypeCounts) {
  auto heap = [](std::string_view wanted) {
    Message m;
    for (auto [type, unit] : {std::pair("alloc_objects", "count"), std::pair("alloc_space", "bytes"), std::pair("inuse_objects", "count"), std::pair("inuse_space", "bytes")})
      m.value_type(type, unit);
    m.function(1, "main");
    m.location(1, 0, 0, {1});
    m.sample({1}, {10, 1000, 2, 200});
    if (!wanted.empty()) m.number(14, m.text(wanted));
    auto p = read_pprof(m.bytes());
    return p.ok() ? std::to_string(p->total()) + " " + p->about.unit : p.error().message;
  };
  EXPECT_EQ(heap(""), "200 bytes");
  EXPECT_EQ(heap("alloc_space"), "1000 bytes");
  EXPECT_EQ(heap("alloc_objects"), "10 alloc_objects");
  EXPECT_EQ(heap("no such type"), "200 bytes");
}

// Without symbols a location has an address and its mapping: the place in the file is what is known.
TEST(Pprof, PlacesWithoutFunctions) {
  Message m = small();
  m.mapping(2, 0x7f0000001000, 0x7f0000009000, 0x2000, "/usr/lib/libx.so.1");
  m.location(3, 2, 0x7f0000001234, {}), m.location(4, 0, 0x1234, {}), m.location(5, 1, 0x400300, {9}); // a function that is not there
  m.sample({3, 1}, {1, 1});
  m.sample({4}, {2, 2});
  m.sample({5}, {3, 3});
  EXPECT_EQ(read(m), "||0/0 > 0x1234 user in  (no name) = 2 of 2\n"
                     "||0/0 > app+0x300 user in /bin/app (no name) = 3 of 3\n"
                     "||0/0 > main user in /bin/app > libx.so.1+0x2234 user in /usr/lib/libx.so.1 (no name) = 1 of 1\n");
}

// `pprof -diff_base` writes them: what became less is below zero.
TEST(Pprof, ComparisonsAreRefused) {
  Message m = small();
  m.sample({1}, {static_cast<uint64_t>(-1), static_cast<uint64_t>(-10)});
  EXPECT_EQ(read(m), "FAILED: the profile has negative values: it is a comparison of two profiles");
}

TEST(Pprof, ReferencesToNothing) {
  Message m = small();
  m.sample({9}, {1, 1});
  EXPECT_EQ(read(m), "FAILED: the profile is damaged: a sample has an invalid reference");
  m = small();
  m.sample({1}, {1}); // a value is missing
  EXPECT_EQ(read(m), "FAILED: the profile is damaged: a sample has an invalid reference");
}

TEST(Pprof, UnitsOfOthers) {
  auto unit = [](std::string_view type, std::string_view unit) {
    Message m;
    m.value_type(type, unit);
    return read_pprof(m.bytes())->about.unit;
  };
  EXPECT_EQ(unit("contentions", "count"), "contentions");
  EXPECT_EQ(unit("delay", "nanoseconds"), "ns");
  EXPECT_EQ(unit("space", "bytes"), "bytes");
  EXPECT_EQ(unit("wall", "microseconds"), "microseconds");
  EXPECT_EQ(unit("", ""), "samples");
}

TEST(Pprof, WhatAcuWritesIsReadBack) {
  Profile p;
  p.about.period_ns = 10'101'010;
  p.about.start_ns = 1'700'000'000'000'000'000, p.about.duration_ns = 5;
  add(p, {{"main"}, {"work", "/lib/w.so"}, {"helper", "/lib/w.so", FrameKind::inlined}, {"inner", "/lib/w.so", FrameKind::inlined}}, 5, 2);
  add(p, {{"[stack ends early: a reason]", "", FrameKind::note}, {"lone"}, {"w.so+0x1f", "/lib/w.so", FrameKind::user, false}}, 3);
  add(p, {{"handler", "/srv/app.test", FrameKind::test}, {"vfs_read", "[kernel]", FrameKind::kernel}, {"nft", "[nf_tables]", FrameKind::kernel}}, 1, 1, {.thread = "größe", .tid = 18});
  add(p, {{"__vdso_time", "[vdso]"}}, 2, 2, {.process = "", .thread = "", .pid = 0, .tid = 0});
  add(p, {{"main"}, {"main"}, {"main"}}, 7);
  p.build_ids[p.text("/lib/w.so")] = "00ff12";
  auto again = read_pprof(write_pprof(p));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(lines_of(*again), lines_of(p));
  EXPECT_EQ(again->about.period_ns, p.about.period_ns);
  EXPECT_EQ(again->about.start_ns, p.about.start_ns);
  EXPECT_EQ(again->about.samples, p.about.samples);
  EXPECT_EQ(again->build_ids[again->text("/lib/w.so")], "00ff12");
}

// Folded stacks and others have them; an empty list of locations is still packed.
TEST(Pprof, ASampleWithoutAStack) {
  Profile p;
  add(p, {}, 3);
  add(p, {{"main"}}, 1);
  auto again = read_pprof(write_pprof(p));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(lines_of(*again), lines_of(p));
}

// Code in mappings that are no files is a program's own.
TEST(Pprof, CodeOutsideOfFilesIsNotTheKernels) {
  for (const char* module : {"[vdso]", "[vsyscall]", "[heap]", "[stack]"}) {
    Profile p;
    add(p, {{"f", module}}, 1);
    EXPECT_EQ(lines_of(*read_pprof(write_pprof(p))), lines_of(p));
  }
}

TEST(Pprof, UnitsAreKept) {
  for (const char* unit : {"samples", "ns", "bytes", "faults", "wake-ups"}) {
    Profile p;
    p.about.unit = unit;
    add(p, {{"f"}}, 1000, 3);
    auto again = read_pprof(write_pprof(p));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->about.unit, unit);
    EXPECT_EQ(lines_of(*again), lines_of(p)) << unit;
  }
}

TEST(Pprof, WhatWasRecordedIsKept) {
  for (auto [title, unit] : {std::pair("CPU", "samples"), std::pair("Waiting", "ns"), std::pair("Memory growth", "bytes"), std::pair("Page faults", "faults"), std::pair("reads of files", "hits")}) {
    Profile p;
    p.about.title = title, p.about.unit = unit, p.about.what = "process 17 (cat of Alice)";
    add(p, {{"f"}}, 1000, 3);
    auto again = read_pprof(write_pprof(p));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->about.title + " of " + again->about.what, p.about.title + " of " + p.about.what);
    EXPECT_EQ(again->about.unit, unit);
  }
}

// Files of older ones have the comment alone; others write what they like into it.
TEST(Pprof, TitlesAreThoseOfAcuOrOfTheValues) {
  auto title = [](std::string_view type, std::string_view unit, std::string_view comment = {}) {
    Message m;
    m.value_type("samples", "count"), m.value_type(type, unit);
    if (!comment.empty()) m.number(13, m.text(comment));
    const About about = read_pprof(m.bytes())->about;
    return about.title + "|" + about.what;
  };
  EXPECT_EQ(title("time", "nanoseconds", "Waiting of process 17"), "Waiting|process 17");
  EXPECT_EQ(title("time", "nanoseconds", "CPU of "), "CPU|");
  EXPECT_EQ(title("cpu", "nanoseconds", "profile of a server"), "CPU|");
  EXPECT_EQ(title("inuse_space", "bytes", "written by some tool"), "inuse_space|");
  EXPECT_EQ(title("inuse_space", "bytes"), "inuse_space|");
  EXPECT_EQ(title("delay", "nanoseconds"), "delay|");
  EXPECT_EQ(title("cpu", "nanoseconds"), "CPU|");
  EXPECT_EQ(title("cycles_event", "count"), "CPU|");
  EXPECT_EQ(title("samples", "count"), "CPU|");
  EXPECT_EQ(title("", ""), "CPU|");
  EXPECT_EQ(title("", "nanoseconds"), "time|");
}

// Nothing that a damaged message says makes it crash or take long, whether or not it is refused.
TEST(Pprof, AnyByteMayBeDamaged) {
  Message m = small();
  m.mapping(2, 0x7f0000001000, 0x7f0000009000, 0x2000, "/usr/lib/libx.so.1");
  m.location(3, 2, 0x7f0000001234, {});
  m.sample({2, 1}, {3, 30}), m.sample({3, 1}, {1, 10}, false);
  m.number(12, 10);
  const std::string whole = m.bytes();
  for (size_t i = 0; i < whole.size(); i++)
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(value);
      if (auto p = read_pprof(bytes); p.ok()) report_json(*p, {});
    }
}

TEST(Pprof, GzipBombsAreNotUnpackedWhole) {
  const std::string packed = write_pprof(Profile());
  ASSERT_TRUE(is_pprof(packed));
  EXPECT_FALSE(read_pprof(packed.substr(0, packed.size() / 2)).ok());
  EXPECT_FALSE(read_pprof("\x1f\x8b").ok());
  EXPECT_FALSE(read_pprof("").ok());
}

TEST(Protobuf, VarintsAtTheirLimits) {
  const uint64_t numbers[] = {1, 127, 128, 16383, 16384, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}};
  base::ProtoWriter out;
  for (uint64_t n : numbers) out.number(3, n);
  out.packed(4, {std::begin(numbers), std::end(numbers)});
  out.number(5, 0); // what is 0 is left out
  base::ProtoReader in(std::as_bytes(std::span(out.text())));
  for (uint64_t n : numbers) {
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.field(), 3u);
    EXPECT_EQ(in.number(), n);
  }
  ASSERT_TRUE(in.next());
  std::vector<uint64_t> packed;
  in.append_to(packed);
  EXPECT_TRUE(std::ranges::equal(packed, numbers));
  EXPECT_FALSE(in.next());
  EXPECT_TRUE(in.ok());
}

TEST(Protobuf, FixedNumbersAndUnknownFieldsArePassedOver) {
  const std::string message("\x09\x01\x02\x03\x04\x05\x06\x07\x08" // field 1, 8 bytes
                            "\x15\x01\x00\x00\x00"                 // field 2, 4 bytes
                            "\x1a\x03"
                            "abc",
                            19);
  base::ProtoReader in(std::as_bytes(std::span(message)));
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.number(), 0x0807060504030201u);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.number(), 1u);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.text(), "abc");
  EXPECT_FALSE(in.next());
  for (const char* wrong : {"\x0b", "\x0c", "\x0e"}) { // groups, and what there is not
    base::ProtoReader bad(std::as_bytes(std::span(wrong, 1)));
    EXPECT_FALSE(bad.next());
    EXPECT_FALSE(bad.ok());
  }
}

// Labels of others that are no identifiers of Trace Context link to nothing.
TEST(Pprof, OnlyIdentifiersAreLinks) {
  const std::string trace(32, 'a'), span(16, 'b');
  const auto links_with = [](const std::string& trace_id, const std::string& span_id) {
    base::ProtoWriter out, sample;
    const std::vector<std::string> texts = {"", "samples", "count", "trace_id", "span_id", trace_id, span_id};
    base::ProtoWriter type;
    type.number(1, 1), type.number(2, 2);
    out.bytes(1, type.text());
    sample.packed(2, {1});
    for (uint64_t label : {3, 4}) {
      base::ProtoWriter m;
      m.number(1, label), m.number(2, label + 2);
      sample.bytes(3, m.text());
    }
    out.bytes(2, sample.text());
    for (const std::string& t : texts) out.bytes(6, t);
    auto p = read_pprof(out.text());
    EXPECT_TRUE(p.ok());
    return p.ok() ? p->links().size() - 1 : 99;
  };
  EXPECT_EQ(links_with(trace, span), 1u);
  EXPECT_EQ(links_with(trace, ""), 0u);
  EXPECT_EQ(links_with(trace + "a", span), 0u);
  EXPECT_EQ(links_with(std::string(32, 'x'), span), 0u);
  EXPECT_EQ(links_with("7", "8"), 0u);
}

} // namespace
} // namespace profile
