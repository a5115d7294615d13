// Chunks, of which a recording consists: a header, and a body that is packed. docs/recording.md describes the bytes.
#pragma once

#include "base/leb128.h"
#include "base/reader.h"
#include "base/result.h"
#include "recording/events.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recording {

// A file begins with these bytes and the version, a digit; a complete one ends with the index's offset (u64) and the end's magic.
constexpr std::string_view magic = "ACUEVNT", end_magic = "ACUEVEND";
constexpr char version = '1';
constexpr size_t start_size = magic.size() + 1, end_size = 8 + end_magic.size();

enum class What : uint8_t { about = 1, kinds, names, events, counts, index };

struct Chunk {
  What what = What::about;
  uint32_t kind = 0;               // of events
  uint32_t count = 0;              // events
  uint64_t first_ns = 0, last_ns = 0;
  uint32_t stored = 0, unpacked = 0; // bytes of the body
  bool operator==(const Chunk&) const = default;
};
constexpr size_t header_size = 48;
constexpr uint32_t max_body = 16 << 20, max_events = 1 << 15;

// Header and packed body. `chunk`: what, kind, count and times; the rest follows from the body.
std::string pack(Chunk chunk, std::string_view body);

enum class Found : uint8_t { whole, cut, damaged };
// The header at an offset, and whether the body is within the file. Cut: the file ends before the chunk does, or only zeroes follow a wrong header, as a file
// system leaves them after a power failure.
Found header_at(base::ByteSpan file, uint64_t offset, Chunk& to);
// Failure: the checksum differs, or the body cannot be unpacked.
base::Result<std::string> unpack(base::ByteSpan file, uint64_t offset, const Chunk& chunk);

using base::put; // of numbers and texts in bodies

// Where a chunk is.
struct Place {
  uint64_t offset = 0;
  Chunk chunk;
};

// The memory that the names of a file may take. Zeroes are packed into a thirty-thousandth of their size: without a limit, a small file would take all memory.
class Room {
public:
  explicit Room(uint64_t file_size) : size_(std::max<uint64_t>(256 << 20, file_size * 128)), left_(size_) {}
  // False: there is none left.
  bool take(uint64_t bytes) {
    is_full_ = bytes > left_;
    if (!is_full_) left_ -= bytes;
    return !is_full_;
  }
  bool is_full() const { return is_full_; }
  uint64_t size() const { return size_; }

private:
  uint64_t size_, left_;
  bool is_full_ = false;
};

// Bodies. Reading fails (false) if something refers to what is not there, or is more than a recording may have.
std::string about_body(const About& about);
bool read_about(base::Reader& in, About& to);
std::string kinds_body(std::span<const EventKind> kinds);
bool read_kinds(base::Reader& in, std::vector<EventKind>& to, Room& room);
std::string counts_body(std::span<const Count> counts);
bool read_counts(base::Reader& in, std::vector<Count>& to);
std::string index_body(std::span<const Place> places);
bool read_index(base::Reader& in, std::vector<Place>& to);
// Events [begin, end).
std::string events_body(const Batch& batch, const EventKind& kind, size_t begin, size_t end);
bool read_events(base::Reader& in, const Chunk& chunk, const EventKind& kind, const Names& names, Batch& to);

// How many of each list are in the file.
struct NamesDone {
  size_t texts = 1, threads = 1, frames = 0, stacks = 1;
};
// The next ones, up to about a megabyte; empty: all are in the file.
std::string names_body(const Names& names, NamesDone& done);
bool read_names(base::Reader& in, Names& to, Room& room);

} // namespace recording
