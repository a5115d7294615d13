// What test/exports does not ask other programs: the order of events, the choice of a format, and files that are not finished.
#include "recording/described.h"
#include "recording/export_file.h"
#include "recording/exports.h"
#include "recordings.h"

#include <unistd.h>

namespace recording {
namespace {

struct Exports : testing::Test {
  Scratch scratch;
  Written written;

  base::Result<Reader> sample(size_t events) {
    const std::string path = scratch.path("r.acu");
    EXPECT_TRUE(write_sample(path, written, events).ok());
    return Reader::open(path);
  }
};

// More events than one window holds, kinds that overlap in time.
TEST_F(Exports, EachEventComesOnceInTheOrderOfTimes) {
  auto reader = sample(50'000);
  ASSERT_TRUE(reader.ok());
  uint64_t last = 0;
  std::vector<size_t> next(kind_rows.size());
  auto done = each_in_order(*reader, {}, [&](const Event& e) {
    EXPECT_GE(e.time, last);
    last = e.time;
    const Batch& b = written.batches[e.kind];
    const size_t i = next[e.kind]++;
    EXPECT_TRUE(e.time == b.times[i] && e.cpu == b.cpus[i] && e.thread == b.threads[i]);
    for (size_t c = 0; c < b.columns.size(); c++) EXPECT_EQ(e.values[c], b.columns[c][i]);
    return base::Status();
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(next, std::vector<size_t>(kind_rows.size(), 50'000));
}

// A window cannot be shorter than a nanosecond.
TEST_F(Exports, EventsOfOneTimeAreOneWindow) {
  const std::string path = scratch.path("r.acu");
  auto writer = Writer::create(path, {});
  ASSERT_TRUE(writer.ok());
  writer->add_kind(kind_of(Kind::process_exit));
  const size_t count = 300'000;
  Batch batch = {.kind = 0, .times = std::vector<uint64_t>(count, 5), .cpus = std::vector<uint32_t>(count), .threads = std::vector<uint32_t>(count), .columns = {}};
  ASSERT_TRUE(writer->add(batch, Names()).ok() && writer->finish({}, {}).ok());
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  size_t found = 0;
  ASSERT_TRUE(each_in_order(*reader, {}, [&](const Event&) { return found++, base::Status(); }).ok());
  EXPECT_EQ(found, count);
}

TEST_F(Exports, APartIsAPart) {
  auto reader = sample(300);
  ASSERT_TRUE(reader.ok());
  size_t found = 0;
  const Part part = {.from_ns = 1'002'010'000, .until_ns = 1'002'019'000, .kinds = {2, 3}};
  auto done = each_in_order(*reader, part, [&](const Event& e) {
    EXPECT_EQ(e.kind, 2u);
    found++;
    return base::Status();
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(found, 20u);
}

TEST_F(Exports, AFailureEndsIt) {
  auto reader = sample(300);
  ASSERT_TRUE(reader.ok());
  size_t found = 0;
  auto done = each_in_order(*reader, {}, [&](const Event&) { return ++found < 7 ? base::Status() : base::Error{base::Failure::runtime, "no room"}; });
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(found, 7u);
}

TEST_F(Exports, TheEndingChooses) {
  for (const auto& [path, name] : {std::pair("a.pftrace", "perfetto"), {"a.perfetto", "perfetto"}, {"a.json", "chrome"}, {"a.ctf", "ctf"}, {"a.ctf/", "ctf"}}) {
    const Export* found = export_of_file(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->name, name);
  }
  EXPECT_FALSE(export_of_file("a.html"));
}

// Durations longer than the clock has run, texts that are empty, all numbers that a recording may have.
TEST_F(Exports, AllFormatsTakeOddValues) {
  auto reader = sample(300);
  ASSERT_TRUE(reader.ok());
  for (const Export& e : exports()) {
    auto done = e.write(*reader, {}, scratch.path("x." + std::string(e.name)));
    EXPECT_TRUE(done.ok()) << e.name << ": " << done.error().message;
  }
}

TEST_F(Exports, AFileAppearsWhenItIsComplete) {
  const std::string path = scratch.path("x.json");
  {
    auto file = ExportFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->add("abc").ok());
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_NE(::access((path + ".part").c_str(), F_OK), 0);
  auto file = ExportFile::create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->add("abc").ok() && file->finish().ok());
  EXPECT_EQ(scratch.read("x.json"), "abc");
}

TEST(Described, TitlesAndThreads) {
  Names names;
  names.texts = {"", "worker", "sda", "write"};
  names.threads.push_back({.pid = 5, .tid = 6, .process = 1, .name = 1});
  names.threads.push_back({.pid = 5, .tid = 7, .process = 1, .name = 0});
  const EventKind io = kind_of(Kind::block_io), lock = kind_of(Kind::lock);
  const std::vector<uint64_t> values = {3, 2, 3, 4096, 0};
  const Event event = {.time = 10, .values = values};
  EXPECT_EQ(title_of(event, io, names), "sda write");
  EXPECT_EQ(title_of(event, lock, names), "lock");
  EXPECT_EQ(begin_of(event, io), 7u);
  EXPECT_EQ(begin_of(event, kind_of(Kind::mark)), 10u);
  EXPECT_EQ(thread_text(names, 0), "idle");
  EXPECT_EQ(thread_text(names, 1), "worker (6)");
  EXPECT_EQ(thread_text(names, 2), "7");
}

} // namespace
} // namespace recording
