// Opening reads all chunks but those of events, of which only the headers are looked at; a complete file's index has them in one place.
#include "recording/reader.h"

#include "base/file_map.h"
#include "recording/chunks.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace recording {

struct Reader::Parts {
  base::FileMap map;
  std::string copy; // of bytes that are in no file
  base::ByteSpan file;
  About about;
  Names names;
  std::vector<EventKind> kinds;
  std::vector<Count> counts;
  std::vector<Place> places; // of chunks of events
  bool is_complete = false;
  Room room{0};

  base::Status open();
  bool take_index();
  base::Status walk();
  base::Result<std::string> body_of(const Place& place) const;
  base::Status read_rest(const Place& place);
};

namespace {

base::Error damaged(const Place& place, std::string_view why) {
  return {base::Failure::runtime, "the recording is damaged: chunk at byte " + std::to_string(place.offset) + ": " + std::string(why)};
}

constexpr std::string_view bad_reference = "it refers to something that is not there";

} // namespace

bool is_event_recording(std::string_view first_bytes) { return first_bytes.starts_with(magic); }

bool is_event_recording_file(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char first[magic.size()];
  return ::pread(file.get(), first, sizeof first, 0) == sizeof first && is_event_recording({first, sizeof first});
}

// The chunks as the index lists them; false: there is none, or it is wrong.
bool Reader::Parts::take_index() {
  if (file.size() < start_size + end_size) return false;
  base::Reader end(file, file.size() - end_size);
  const Place index = {.offset = end.number<uint64_t>(), .chunk = {}};
  const base::ByteSpan last = end.bytes(end_magic.size());
  if (std::string_view(reinterpret_cast<const char*>(last.data()), last.size()) != end_magic) return false;
  Chunk chunk;
  if (header_at(file, index.offset, chunk) != Found::whole || chunk.what != What::index) return false;
  auto body = unpack(file, index.offset, chunk);
  if (!body.ok()) return false;
  base::Reader in(std::as_bytes(std::span(*body)));
  if (!read_index(in, places)) return false;
  // One behind the other: none is read again and again.
  uint64_t end_of_last = start_size;
  for (const Place& place : places) {
    if (place.offset < end_of_last || place.offset > file.size()) return false;
    end_of_last = place.offset + header_size + place.chunk.stored;
  }
  return true;
}

base::Status Reader::Parts::walk() {
  places.clear();
  for (Place next = {.offset = start_size, .chunk = {}}; next.offset < file.size();) {
    const Found found = header_at(file, next.offset, next.chunk);
    if (found == Found::damaged) return damaged(next, "its header is wrong");
    if (found == Found::cut) break;
    // Behind the index is the end.
    if (next.chunk.what == What::index) break;
    places.push_back(next);
    next.offset += header_size + next.chunk.stored;
  }
  // The last one may have reached the disk in part.
  if (!places.empty() && !unpack(file, places.back().offset, places.back().chunk).ok()) places.pop_back();
  return {};
}

base::Result<std::string> Reader::Parts::body_of(const Place& place) const {
  Chunk chunk;
  if (header_at(file, place.offset, chunk) != Found::whole || chunk != place.chunk) return damaged(place, "its header is wrong");
  auto body = unpack(file, place.offset, chunk);
  if (!body.ok()) return damaged(place, body.error().message);
  return body;
}

base::Status Reader::Parts::read_rest(const Place& place) {
  ACU_TRY(const std::string body, body_of(place));
  base::Reader in(std::as_bytes(std::span(body)));
  bool ok = true;
  switch (place.chunk.what) {
  case What::about: ok = read_about(in, about); break;
  case What::kinds: ok = read_kinds(in, kinds, room); break;
  case What::names: ok = read_names(in, names, room); break;
  case What::counts: ok = read_counts(in, counts), is_complete = true; break;
  case What::events:
  case What::index: break;
  }
  if (room.is_full()) return damaged(place, "the names of the recording take more than " + std::to_string(room.size() >> 20) + " MiB, which a file of its size does not have");
  if (!ok) return damaged(place, bad_reference);
  return {};
}

base::Status Reader::Parts::open() {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!is_event_recording(text)) return base::Error{base::Failure::runtime, "not a recording of events"};
  if (text.size() < start_size || text[magic.size()] != version)
    return base::Error{base::Failure::runtime, text.size() < start_size ? "the recording is cut within its first bytes"
                                                                        : std::string("the recording has format version ") + text[magic.size()] + ", of a newer acu; this acu reads version 1"};
  room = Room(file.size());
  if (!take_index()) ACU_CHECK(walk());
  for (const Place& place : places)
    if (place.chunk.what != What::events) ACU_CHECK(read_rest(place));
  std::erase_if(places, [](const Place& place) { return place.chunk.what != What::events; });
  for (const Place& place : places)
    if (place.chunk.kind >= kinds.size()) return damaged(place, bad_reference);
  counts.resize(kinds.size());
  if (is_complete) return {};
  for (const Place& place : places) {
    counts[place.chunk.kind].kept += place.chunk.count;
    about.end_ns = std::max(about.end_ns, place.chunk.last_ns);
  }
  about.notes.emplace_back("the recording was cut or is being written: what follows is not in it");
  return {};
}

Reader::Reader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader::~Reader() = default;

base::Result<Reader> Reader::open(const std::string& path) {
  auto parts = std::make_unique<Parts>();
  ACU_TRY(parts->map, base::FileMap::open(path));
  parts->file = parts->map.bytes();
  if (auto opened = parts->open(); !opened.ok()) return std::move(opened.error()).with(path);
  return Reader(std::move(parts));
}

base::Result<Reader> Reader::of(std::string bytes) {
  auto parts = std::make_unique<Parts>();
  parts->copy = std::move(bytes);
  parts->file = std::as_bytes(std::span(parts->copy));
  ACU_CHECK(parts->open());
  return Reader(std::move(parts));
}

const About& Reader::about() const { return parts_->about; }
const Names& Reader::names() const { return parts_->names; }
std::span<const EventKind> Reader::kinds() const { return parts_->kinds; }
std::span<const Count> Reader::counts() const { return parts_->counts; }
bool Reader::is_complete() const { return parts_->is_complete; }

// Leaves only events within the times.
static void trim(Batch& batch, const Part& part) {
  const auto begin = static_cast<size_t>(std::lower_bound(batch.times.begin(), batch.times.end(), part.from_ns) - batch.times.begin());
  const auto end = static_cast<size_t>(std::upper_bound(batch.times.begin(), batch.times.end(), part.until_ns) - batch.times.begin());
  if (begin == 0 && end == batch.size()) return;
  const auto keep = [&](auto& list) { list.assign(list.begin() + static_cast<ptrdiff_t>(begin), list.begin() + static_cast<ptrdiff_t>(std::max(begin, end))); };
  keep(batch.times), keep(batch.cpus), keep(batch.threads);
  for (auto& column : batch.columns) keep(column);
}

base::Status Reader::each(const Part& part, const std::function<bool(const Batch&)>& take) const {
  Batch batch;
  for (const Place& place : parts_->places) {
    const Chunk& c = place.chunk;
    if (c.last_ns < part.from_ns || c.first_ns > part.until_ns) continue;
    if (!part.kinds.empty() && std::find(part.kinds.begin(), part.kinds.end(), c.kind) == part.kinds.end()) continue;
    ACU_TRY(const std::string body, parts_->body_of(place));
    base::Reader in(std::as_bytes(std::span(body)));
    if (!read_events(in, c, parts_->kinds[c.kind], parts_->names, batch)) return damaged(place, bad_reference);
    trim(batch, part);
    if (batch.size() && !take(batch)) break;
  }
  return {};
}

} // namespace recording
