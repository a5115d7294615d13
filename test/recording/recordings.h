// A recording for tests: every kind and every type of field, names that are added while it is written, several chunks.
#pragma once

#include "recording/event_kinds.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "scratch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recording {

// Batches as they were written, in their order.
struct Written {
  std::vector<EventKind> kinds;
  Names names;
  std::vector<Batch> batches;
  std::vector<Count> counts;
  About about;
};

inline uint64_t value_of(FieldType type, size_t i, const Names& names) {
  switch (type) {
  case FieldType::number: return i * 1'000'003;
  case FieldType::signed_number: return static_cast<uint64_t>(-static_cast<int64_t>(i) * 70);
  case FieldType::duration: return i ? i * i : ~uint64_t{0};
  case FieldType::address: return 0x7fff'0000'0000 - i * 4096;
  case FieldType::text: return i % names.texts.size();
  case FieldType::thread: return i % names.threads.size();
  case FieldType::stack: return i % names.stacks.size();
  }
  return 0;
}

inline Batch make_batch(const Written& w, uint32_t kind, size_t count, uint64_t begin_ns) {
  Batch b;
  b.kind = kind;
  b.columns.resize(w.kinds[kind].fields.size());
  for (size_t i = 0; i < count; i++) {
    b.times.push_back(begin_ns + i / 2 * 1000);
    b.cpus.push_back(static_cast<uint32_t>(i % 3));
    b.threads.push_back(static_cast<uint32_t>(i % w.names.threads.size()));
    for (size_t f = 0; f < b.columns.size(); f++) b.columns[f].push_back(value_of(w.kinds[kind].fields[f].type, i, w.names));
  }
  return b;
}

inline void add_names(Names& names, const std::string& suffix) {
  const auto text = [&](const std::string& t) { return names.texts.push_back(t + suffix), static_cast<uint32_t>(names.texts.size() - 1); };
  const uint32_t process = text("server"), name = text("worker"), main = text("main"), lock = text("take_lock"), file = text("/bin/server");
  names.threads.push_back({.pid = 17, .tid = static_cast<uint32_t>(17 + names.threads.size()), .process = process, .name = name});
  for (uint32_t function : {main, lock}) {
    names.frames.push_back({.name = function, .module = file, .kind = spec::FrameKind::user});
    names.stacks.push_back({.caller = function == main ? 0 : static_cast<uint32_t>(names.stacks.size() - 1), .frame = static_cast<uint32_t>(names.frames.size() - 1)});
  }
}

// Failure: what the writer says. `begin_ns` is 1 s.
inline base::Status write_sample(const std::string& path, Written& w, size_t events = 300) {
  w.about = {.what = "all processes", .host = "host", .version = "0.1", .begin_ns = 1'000'000'000, .end_ns = 2'000'000'000, .begin_wall_ns = 77, .cpus = 2, .own_cpu_ns = 5, .notes = {"lost 3 events"}};
  ACU_TRY(Writer writer, Writer::create(path, w.about));
  for (const KindRow& row : kind_rows) {
    w.kinds.push_back(kind_of(row.kind));
    EXPECT_EQ(writer.add_kind(w.kinds.back()), w.kinds.size() - 1);
  }
  w.counts.resize(w.kinds.size());
  for (uint32_t kind = 0; kind < w.kinds.size(); kind++) {
    add_names(w.names, std::to_string(kind));
    w.batches.push_back(make_batch(w, kind, events, 1'000'000'000 + kind * 1'000'000));
    ACU_CHECK(writer.add(w.batches.back(), w.names));
    w.counts[kind] = {.sent = events + 7, .kept = events, .overwritten = 4, .lost = 3};
  }
  return writer.finish(w.about, w.counts);
}

// Read in whole; chunks of one kind become one batch. Failure: what the reader says.
inline base::Result<std::vector<Batch>> read_all(const Reader& reader, const Part& part = {}) {
  std::vector<Batch> out(reader.kinds().size());
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  ACU_CHECK(reader.each(part, [&](const Batch& b) {
    Batch& to = out[b.kind];
    to.kind = b.kind;
    to.columns.resize(b.columns.size());
    append(to.times, b.times), append(to.cpus, b.cpus), append(to.threads, b.threads);
    for (size_t i = 0; i < b.columns.size(); i++) append(to.columns[i], b.columns[i]);
    return true;
  }));
  return out;
}

inline bool same(const Batch& a, const Batch& b) { return a.times == b.times && a.cpus == b.cpus && a.threads == b.threads && a.columns == b.columns; }

} // namespace recording
