// What is written is read back; files that are cut are read up to the cut; damaged ones are refused or read as they were.
#include "recording/chunks.h"
#include "recordings.h"

#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

namespace recording {
namespace {

struct Files : testing::Test {
  Scratch scratch;
  Written written;
  std::string path = scratch.path("r.acu");

  std::string sample(size_t events = 300) {
    auto status = write_sample(path, written, events);
    EXPECT_TRUE(status.ok());
    return scratch.read("r.acu");
  }
  // How many events of each kind are as they were written, from the first one on; fails if any is not.
  size_t count_as_written(const Reader& reader) {
    auto batches = read_all(reader);
    EXPECT_TRUE(batches.ok());
    if (!batches.ok()) return 0;
    size_t out = 0;
    for (const Batch& b : *batches) {
      if (!b.size()) continue;
      const Batch& whole = written.batches[b.kind];
      EXPECT_LE(b.size(), whole.size());
      for (size_t i = 0; i < b.size(); i++) {
        EXPECT_EQ(b.times[i], whole.times[i]);
        for (size_t c = 0; c < b.columns.size(); c++) EXPECT_EQ(b.columns[c][i], whole.columns[c][i]);
      }
      out += b.size();
    }
    return out;
  }
};

TEST_F(Files, WhatIsWrittenIsReadBack) {
  sample();
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_TRUE(reader->is_complete());
  EXPECT_EQ(reader->about().what, "all processes");
  EXPECT_EQ(reader->about().begin_wall_ns, 77u);
  EXPECT_EQ(reader->about().notes, std::vector<std::string>{"lost 3 events"});
  EXPECT_EQ(reader->names().texts, written.names.texts);
  EXPECT_EQ(reader->names().stacks.size(), written.names.stacks.size());
  EXPECT_EQ(reader->names().threads[3].tid, written.names.threads[3].tid);
  ASSERT_EQ(reader->kinds().size(), kind_rows.size());
  for (size_t i = 0; i < kind_rows.size(); i++) {
    EXPECT_EQ(reader->kinds()[i].name, kind_rows[i].name);
    EXPECT_EQ(reader->kinds()[i].fields.size(), written.kinds[i].fields.size());
    EXPECT_EQ(reader->counts()[i].sent, 307u);
    EXPECT_EQ(reader->counts()[i].lost, 3u);
  }
  auto batches = read_all(*reader);
  ASSERT_TRUE(batches.ok());
  for (size_t i = 0; i < written.batches.size(); i++) EXPECT_TRUE(same((*batches)[i], written.batches[i])) << kind_rows[i].name;
}

TEST_F(Files, APartIsChosenByTimeAndKind) {
  sample();
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  auto batches = read_all(*reader, {.from_ns = 1'002'010'000, .until_ns = 1'002'019'000, .kinds = {2, 3}});
  ASSERT_TRUE(batches.ok());
  EXPECT_EQ((*batches)[2].size(), 20u); // two every microsecond
  EXPECT_EQ((*batches)[2].times.front(), 1'002'010'000u);
  EXPECT_EQ((*batches)[3].size(), 0u); // begins later
  EXPECT_EQ((*batches)[1].size(), 0u);
}

TEST_F(Files, LargeBatchesAreSplit) {
  sample(100'000);
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  size_t chunks = 0;
  ASSERT_TRUE(reader->each({.kinds = {0}}, [&](const Batch& b) { return chunks++, b.size() <= max_events; }).ok());
  EXPECT_EQ(chunks, 4u);
  EXPECT_EQ(count_as_written(*reader), 100'000 * kind_rows.size());
}

TEST_F(Files, AFileIsReadWhileItIsWritten) {
  auto writer = Writer::create(path, {});
  ASSERT_TRUE(writer.ok());
  EventKind kind = kind_of(Kind::log);
  written.kinds = {kind};
  writer->add_kind(kind);
  add_names(written.names, "");
  written.batches = {make_batch(written, 0, 10, 5)};
  ASSERT_TRUE(writer->add(written.batches[0], written.names).ok());
  EXPECT_FALSE(Reader::open(path).ok()); // the name appears when it is complete
  auto reader = Reader::open(path + ".part");
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE(reader->is_complete());
  EXPECT_EQ(count_as_written(*reader), 10u);
  EXPECT_EQ(reader->counts()[0].kept, 10u);
  EXPECT_EQ(reader->about().end_ns, written.batches[0].times.back());
  ASSERT_TRUE(writer->finish({}, {}).ok());
  EXPECT_TRUE(Reader::open(path).ok());
  EXPECT_FALSE(Reader::open(path + ".part").ok());
}

TEST_F(Files, AnUnfinishedFileGoesWithItsWriter) {
  {
    auto writer = Writer::create(path, {});
    ASSERT_TRUE(writer.ok());
    EXPECT_FALSE(Writer::create(path, {}).ok()) << "somebody writes it";
    EXPECT_TRUE(Reader::open(part_of(path)).ok());
  }
  EXPECT_FALSE(Reader::open(part_of(path)).ok());
}

TEST_F(Files, AFileThatIsThereCanBeKept) {
  const std::string before = sample(20);
  auto writer = Writer::create(path, {});
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(writer->finish({}, {}, base::Existing::keep).ok());
  EXPECT_EQ(scratch.read("r.acu"), before);
}

TEST_F(Files, ACutFileIsReadUpToTheCut) {
  const std::string bytes = sample(20);
  size_t last = 0;
  for (size_t size = 0; size < bytes.size(); size++) {
    auto reader = Reader::of(bytes.substr(0, size));
    if (size < start_size) {
      EXPECT_FALSE(reader.ok());
      continue;
    }
    ASSERT_TRUE(reader.ok()) << size << ": " << reader.error().message;
    const size_t events = count_as_written(*reader);
    EXPECT_GE(events, last) << size;
    last = events;
    if (!reader->is_complete()) {
      ASSERT_FALSE(reader->about().notes.empty());
      EXPECT_NE(reader->about().notes.back().find("cut"), std::string::npos);
    }
  }
  EXPECT_EQ(last, 20 * kind_rows.size());
}

// The size of a file may reach the disk before its bytes do.
TEST_F(Files, ATailOfZeroesIsACut) {
  const std::string bytes = sample(20);
  size_t last = 0;
  for (size_t size = start_size; size < bytes.size(); size += 13) {
    auto reader = Reader::of(bytes.substr(0, size) + std::string(5000, '\0'));
    ASSERT_TRUE(reader.ok()) << size << ": " << reader.error().message;
    const size_t events = count_as_written(*reader);
    EXPECT_GE(events, last) << size;
    last = events;
  }
  EXPECT_EQ(last, 20 * kind_rows.size());
}

TEST_F(Files, DamagedBytesAreNoticed) {
  const std::string bytes = sample(20);
  std::mt19937 random(17);
  size_t refused = 0;
  for (int i = 0; i < 5'000; i++) {
    std::string other = bytes;
    const size_t at = random() % other.size();
    other[at] = static_cast<char>(other[at] ^ (1 + random() % 255));
    auto reader = Reader::of(std::move(other));
    if (!reader.ok()) {
      refused++;
      continue;
    }
    auto batches = read_all(*reader);
    if (!batches.ok()) {
      EXPECT_NE(batches.error().message.find("chunk at byte"), std::string::npos) << batches.error().message;
      refused++;
      continue;
    }
    for (size_t k = 0; k < batches->size(); k++) EXPECT_TRUE(same((*batches)[k], written.batches[k])) << at;
  }
  EXPECT_GT(refused, 2'500u);
}

// The checksums are right, but a body is not what a writer makes.
TEST_F(Files, BodiesAreChecked) {
  const std::string start = std::string(magic) + version + pack({.what = What::about}, about_body({}));
  const auto refuses = [&](const Chunk& chunk, const std::string& body, const std::string& before = {}) {
    auto reader = Reader::of(start + before + pack(chunk, body));
    return !reader.ok() || !reader->each({}, [](const Batch&) { return true; }).ok();
  };
  const EventKind kind = kind_of(Kind::counter);
  const std::string kinds = pack({.what = What::kinds}, kinds_body(std::span(&kind, 1)));
  const Chunk events = {.what = What::events, .kind = 0, .count = 1, .first_ns = 5, .last_ns = 5};
  EXPECT_FALSE(refuses(events, std::string(5, '\0'), kinds));                   // time, CPU, thread, text, value
  EXPECT_TRUE(refuses(events, std::string("\1\0\0\0\0", 5), kinds));            // after the chunk's last time
  EXPECT_TRUE(refuses(events, std::string("\0\xff\xff\x7f\0\0\0", 7), kinds));  // a CPU that no host has
  EXPECT_TRUE(refuses(events, std::string("\0\0\1\0\0", 5), kinds));            // a thread …
  EXPECT_TRUE(refuses(events, std::string("\0\0\0\1\0", 5), kinds));            // … and a text that are not there
  EXPECT_TRUE(refuses(events, std::string(6, '\0'), kinds));                    // a byte too much
  EXPECT_TRUE(refuses(events, std::string(4, '\0'), kinds));                    // … and too little
  EXPECT_TRUE(refuses(events, std::string(5, '\0')));                           // an unknown kind
  EXPECT_TRUE(refuses({.what = What::names}, std::string("\0\0\0\1\0\0", 6)));  // a stack that is its own caller
  EXPECT_TRUE(refuses({.what = What::names}, std::string("\0\0\1\0\0\x7f", 6))); // no such kind of frame
  EXPECT_TRUE(refuses({.what = What::kinds}, std::string("\1\0\1\0", 4)));      // a switch without the next thread
}

// A few bytes of file must not become gigabytes of names.
TEST_F(Files, NamesTakeNoMoreMemoryThanAFileOfTheSizeHas) {
  const std::string start = std::string(magic) + version + pack({.what = What::about}, about_body({}));
  std::string text, kind;
  put(text, 1), put(text, std::string(max_body - 16, '\0')), text += std::string(3, '\0'); // of texts, threads, frames and stacks
  put(kind, 1), put(kind, std::string(max_body - 16, '\0')), kind += std::string(2, '\0'); // of kinds: meaning, fields
  for (const auto& [what, body] : {std::pair(What::names, text), std::pair(What::kinds, kind)}) {
    const std::string chunk = pack({.what = what}, body);
    std::string bytes = start;
    for (int i = 0; i < 15; i++) bytes += chunk;
    EXPECT_TRUE(Reader::of(bytes).ok());
    for (int i = 0; i < 3; i++) bytes += chunk;
    ASSERT_LT(bytes.size(), 1u << 20);
    auto reader = Reader::of(bytes);
    ASSERT_FALSE(reader.ok());
    EXPECT_NE(reader.error().message.find("take more than 256 MiB"), std::string::npos) << reader.error().message;
  }
}

TEST_F(Files, AnIndexThatListsAChunkTwiceIsWrong) {
  std::string bytes = std::string(magic) + version, body;
  put(body, 1), put(body, "name"), body += std::string(3, '\0');
  std::vector<Place> places;
  for (const auto& [what, text] : {std::pair(What::about, about_body({})), std::pair(What::names, body), std::pair(What::counts, counts_body({}))}) {
    Place& place = places.emplace_back(Place{.offset = bytes.size(), .chunk = {}});
    bytes += pack({.what = what}, text);
    header_at(std::as_bytes(std::span(bytes)), place.offset, place.chunk);
  }
  for (const size_t times : {size_t{0}, size_t{1}}) {
    std::vector<Place> listed = places;
    listed.insert(listed.begin() + 1, times, places[1]);
    std::string file = bytes + pack({.what = What::index}, index_body(listed));
    const uint64_t index = bytes.size();
    file.append(reinterpret_cast<const char*>(&index), sizeof index) += end_magic;
    auto reader = Reader::of(file);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_EQ(reader->names().texts, (std::vector<std::string>{"", "name"})) << times;
  }
}

TEST_F(Files, AVersionOfANewerAcuIsNamed) {
  std::string bytes = sample(2);
  bytes[magic.size()] = '7';
  auto reader = Reader::of(bytes);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().message.find("version 7"), std::string::npos);
}

TEST_F(Files, AFullDiskIsAFailure) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {64, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto status = write_sample(path, written);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("File too large"), std::string::npos);
}

TEST(EventKinds, FieldsHaveTypes) {
  const EventKind kind = kind_of(Kind::sched_switch);
  ASSERT_EQ(kind.fields.size(), 3u);
  EXPECT_EQ(kind.fields[0].type, FieldType::thread);
  EXPECT_EQ(kind.fields[2].name, "stack");
  EXPECT_TRUE(kind_of(Kind::process_exit).fields.empty());
}

} // namespace
} // namespace recording
