// OpenTelemetry's profiles: the sums of each stack, found by the fields of opentelemetry-proto 1.11.0. test/exports reads them with
// Google's protocol buffers.
#include "base/protobuf.h"
#include "profile/formats.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <map>

namespace profile {
namespace {

using Message = std::multimap<uint32_t, base::ProtoReader>;

Message fields_of(base::ByteSpan bytes) {
  base::ProtoReader in(bytes);
  Message out;
  while (in.next()) out.emplace(in.field(), in);
  EXPECT_TRUE(in.ok());
  return out;
}
Message fields_of(const std::string& bytes) { return fields_of(std::as_bytes(std::span(bytes))); }

uint64_t number(const Message& m, uint32_t field) {
  auto at = m.find(field);
  return at == m.end() ? 0 : at->second.number();
}
std::vector<uint64_t> numbers(const Message& m, uint32_t field) {
  std::vector<uint64_t> out;
  for (auto [at, end] = m.equal_range(field); at != end; ++at) at->second.append_to(out);
  return out;
}
std::vector<base::ProtoReader> all(const Message& m, uint32_t field) {
  std::vector<base::ProtoReader> out;
  for (auto [at, end] = m.equal_range(field); at != end; ++at) out.push_back(at->second);
  return out;
}

TEST(Otlp, StacksHaveTheirSums) {
  Profile p;
  p.about.title = "off-CPU";
  p.about.unit = "ns";
  p.about.start_ns = 1'700'000'000'123'456'789;
  p.build_ids[p.text("/bin/app")] = "abcd";
  add(p, {{"main"}, {"work"}, {"helper", "/bin/app", FrameKind::inlined}}, 6, 1);
  add(p, {{"main"}, {"handler", "app.py", FrameKind::python}}, 5, 1, {.process = "other", .thread = "t", .pid = 18, .tid = 19});
  add(p, {{"main"}, {"vfs_read", "[kernel]", FrameKind::kernel}}, 3, 1);
  const std::string bytes = write_otlp(p);
  const Message request = fields_of(bytes);
  const Message dictionary = fields_of(all(request, 2).at(0).bytes());
  const auto texts = all(dictionary, 5), locations = all(dictionary, 2), functions = all(dictionary, 3), stacks = all(dictionary, 7),
             attributes = all(dictionary, 6), mappings = all(dictionary, 1);
  for (uint32_t table = 1; table <= 7; table++) EXPECT_TRUE(all(dictionary, table).at(0).bytes().empty()) << table;
  const auto attribute = [&](uint64_t at) {
    const Message m = fields_of(attributes.at(at).bytes());
    return std::string(texts.at(number(m, 1)).text()) + "=" + std::string(all(fields_of(all(m, 2).at(0).bytes()), 1).at(0).text());
  };
  std::map<std::string, uint64_t> sums;
  ASSERT_EQ(all(request, 1).size(), 2u); // processes
  for (const base::ProtoReader& resource : all(request, 1)) {
    const Message profile = fields_of(all(fields_of(all(fields_of(resource.bytes()), 2).at(0).bytes()), 2).at(0).bytes());
    const Message type = fields_of(all(profile, 1).at(0).bytes());
    EXPECT_EQ(texts.at(number(type, 1)).text(), "off_cpu");
    EXPECT_EQ(texts.at(number(type, 2)).text(), "nanoseconds");
    EXPECT_EQ(number(profile, 3), p.about.start_ns);
    for (const base::ProtoReader& each : all(profile, 2)) {
      const Message sample = fields_of(each.bytes());
      std::string stack;
      for (uint64_t l : numbers(fields_of(stacks.at(number(sample, 1)).bytes()), 1)) {
        const Message location = fields_of(locations.at(l).bytes());
        for (const base::ProtoReader& line : all(location, 3))
          stack.append(texts.at(number(fields_of(functions.at(number(fields_of(line.bytes()), 1)).bytes()), 1)).text()) += " ";
        stack += "(" + attribute(numbers(location, 4).at(0)) + ") ";
      }
      sums[stack] += numbers(sample, 4).at(0);
    }
  }
  const std::string main = "main (profile.frame.type=native) ";
  const std::map<std::string, uint64_t> expected = {{"helper work (profile.frame.type=native) " + main, 6},
                                                    {"handler (profile.frame.type=cpython) " + main, 5},
                                                    {"vfs_read (profile.frame.type=kernel) " + main, 3}};
  EXPECT_EQ(sums, expected);
  EXPECT_EQ(attribute(numbers(fields_of(mappings.at(1).bytes()), 5).at(0)), "process.executable.build_id.gnu=abcd");
}

// A link has bytes, is there once, and is found by its number.
TEST(Otlp, SamplesLinkToSpans) {
  const std::string trace = "000102030405060708090a0b0c0d0eff";
  Profile p;
  add(p, {{"main"}}, 3, 3, {.request = {trace, "00000000000000a1"}});
  add(p, {{"main"}}, 4);
  add(p, {{"main"}, {"work"}}, 5, 5, {.request = {trace, "00000000000000a1"}});
  add(p, {{"main"}}, 6, 6, {.request = {trace, "00000000000000a2"}});
  const std::string bytes = write_otlp(p);
  const Message request = fields_of(bytes);
  const auto links = all(fields_of(all(request, 2).at(0).bytes()), 4);
  ASSERT_EQ(links.size(), 3u);
  EXPECT_TRUE(links[0].bytes().empty());
  const Message profile = fields_of(all(fields_of(all(fields_of(all(request, 1).at(0).bytes()), 2).at(0).bytes()), 2).at(0).bytes());
  std::map<std::string, uint64_t> sums; // by the last byte of the span
  for (const base::ProtoReader& each : all(profile, 2)) {
    const Message sample = fields_of(each.bytes());
    const Message link = fields_of(links.at(number(sample, 3)).bytes());
    const std::string id(link.empty() ? "" : all(link, 1).at(0).text()), span(link.empty() ? "" : all(link, 2).at(0).text());
    EXPECT_EQ(id, link.empty() ? "" : std::string("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\377", 16));
    sums[span] += numbers(sample, 4).at(0);
  }
  const std::string zeros(7, '\0');
  EXPECT_EQ(sums, (std::map<std::string, uint64_t>{{"", 4}, {zeros + "\xa1", 8}, {zeros + "\xa2", 6}}));
}

// Samples of the CPU are time.
TEST(Otlp, SamplesAreTime) {
  Profile p;
  p.about.period_ns = 10'000'000;
  add(p, {{"main"}}, 3);
  const std::string bytes = write_otlp(p);
  const Message request = fields_of(bytes);
  const Message profile = fields_of(all(fields_of(all(fields_of(all(request, 1).at(0).bytes()), 2).at(0).bytes()), 2).at(0).bytes());
  EXPECT_EQ(numbers(fields_of(all(profile, 2).at(0).bytes()), 4), std::vector<uint64_t>{30'000'000});
  EXPECT_EQ(number(profile, 6), 10'000'000u);
}

} // namespace
} // namespace profile
