// What a sampler writes at once, as it travels: one slot's samples and numbers, with names in a table. Everything is by name, so that a
// batch means the same on another host. docs/fleet.md describes the bytes.
#pragma once

#include "base/reader.h"
#include "base/result.h"
#include "store/store.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// Numbers refer to the vectors here: names to `texts`, whose first is empty.
struct Content {
  struct Service {
    uint32_t name = 0;
    store::ServiceType type = store::ServiceType::process;
  };
  struct Frame {
    uint32_t name = 0, module = 0;
    uint8_t kind = 0; // spec/frame_kinds.h
    bool is_named = true;
  };
  struct Thread {
    uint32_t pid = 0, process = 0, name = 0;
  };
  struct Sample {
    uint32_t kind = 0, service = 0, thread = 0, stack = 0;
    uint64_t weight = 0, count = 0;
  };
  struct Point {
    uint32_t service = 0, metric = 0;
    double value = 0; // its mean over the time that is covered
  };
  std::vector<std::string> texts = {""};
  uint32_t source = 0;      // who recorded: "host", or a kind of samples
  uint64_t covered_ns = 0;  // for how long, of the slot
  std::vector<Service> services;
  std::vector<Frame> frames;
  std::vector<std::vector<uint32_t>> stacks; // frames, the outermost first
  std::vector<Thread> threads;
  std::vector<Sample> samples;
  std::vector<Point> points;
};

// From what a sampler writes (store::Store::write). Each kind keeps the heaviest stacks, as in the embedded store.
Content content_of(const store::Slot& slot, const std::vector<store::Point>& points, const store::Batch* batch);

// A batch as a file of the spool and a part of a request.
std::string pack(const Content& content, int64_t slot);

struct Packed {
  int64_t slot = 0;
  uint64_t samples = 0;       // that were counted
  uint64_t plain_size = 0;    // of what is compressed
  base::ByteSpan compressed;
};
// The head alone. Failure: it is no batch, or of another version.
base::Result<Packed> read_head(base::ByteSpan bytes);
// Failure: damaged, or larger than the limits below. Every number refers to something.
base::Result<Content> unpack(const Packed& packed);
// Of what was compressed.
base::Result<Content> read_content(base::ByteSpan plain);

// The number of a source's seconds, as a metric of the host.
constexpr std::string_view covered_metric = "covered.";
// A number as tables name it. Several sources may record the same one, each over its own time: those of all but the host's sampler have their name behind it.
std::string stored_metric(std::string_view metric, std::string_view source);

constexpr uint64_t most_plain_bytes = 32 << 20, most_rows = 200'000;

} // namespace fleet
