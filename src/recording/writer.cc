// The file is PATH.part until it is complete, locked so that no other writer takes it: whoever finds it under its name has all of it, and after a crash there is what was
// written until then.
#include "recording/writer.h"

#include "base/fd.h"
#include "base/output_file.h"
#include "recording/chunks.h"

#include <cassert>
#include <cerrno>
#include <unistd.h>

namespace recording {

struct Writer::Parts {
  Parts() = default;
  Parts(const Parts&) = delete;
  ~Parts() {
    const base::AsResultOwner as_owner;
    if (file.valid()) ::unlink(part_path.c_str());
  }

  std::string path, part_path;
  base::Fd file;
  uint64_t at = 0;
  std::vector<EventKind> kinds;
  size_t kinds_done = 0;
  NamesDone names_done;
  std::vector<Place> places;

  base::Error failure(int error) const { return base::errno_error("cannot write `" + path + "`", error); }
  base::Status write(std::string_view bytes) {
    if (const int error = base::write_all(file.get(), bytes)) return failure(error);
    at += bytes.size();
    return {};
  }
  base::Status write_chunk(const Chunk& chunk, std::string_view body) {
    if (body.size() > max_body) return base::Error{base::Failure::runtime, "cannot write `" + path + "`: a name has more than " + std::to_string(max_body >> 20) + " MiB"};
    const std::string bytes = pack(chunk, body);
    Chunk found;
    header_at(std::as_bytes(std::span(bytes)), 0, found);
    places.push_back({.offset = at, .chunk = found});
    return write(bytes);
  }
  base::Status write_new_kinds() {
    if (kinds_done == kinds.size()) return {};
    const std::string body = kinds_body(std::span(kinds).subspan(kinds_done));
    kinds_done = kinds.size();
    return write_chunk({.what = What::kinds}, body);
  }
};

Writer::Writer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

base::Result<Writer> Writer::create(const std::string& path, const About& about) {
  auto parts = std::make_unique<Parts>();
  parts->path = path;
  parts->part_path = part_of(path);
  ACU_TRY(parts->file, base::create_private(parts->part_path));
  ACU_CHECK(parts->write(std::string(magic) + version));
  ACU_CHECK(parts->write_chunk({.what = What::about}, about_body(about)));
  return Writer(std::move(parts));
}

uint32_t Writer::add_kind(const EventKind& kind) {
  parts_->kinds.push_back(kind);
  return static_cast<uint32_t>(parts_->kinds.size() - 1);
}

base::Status Writer::add(const Batch& batch, const Names& names) {
  ACU_CHECK(parts_->write_new_kinds());
  for (std::string body; !(body = names_body(names, parts_->names_done)).empty();) ACU_CHECK(parts_->write_chunk({.what = What::names}, body));
  const EventKind& kind = parts_->kinds[batch.kind];
  assert(batch.columns.size() == kind.fields.size() && std::is_sorted(batch.times.begin(), batch.times.end()));
  // So that no body is too large, whatever its numbers are.
  const size_t at_once = std::min<size_t>(max_events, (1 << 20) / (3 + kind.fields.size()));
  for (size_t begin = 0; begin < batch.size(); begin += at_once) {
    const size_t end = std::min(batch.size(), begin + at_once);
    const Chunk chunk = {.what = What::events, .kind = batch.kind, .count = static_cast<uint32_t>(end - begin), .first_ns = batch.times[begin], .last_ns = batch.times[end - 1]};
    ACU_CHECK(parts_->write_chunk(chunk, events_body(batch, kind, begin, end)));
  }
  return {};
}

base::Status Writer::finish(const About& about, std::span<const Count> counts, base::Existing existing) {
  ACU_CHECK(parts_->write_new_kinds());
  ACU_CHECK(parts_->write_chunk({.what = What::counts}, counts_body(counts)));
  ACU_CHECK(parts_->write_chunk({.what = What::about}, about_body(about)));
  const uint64_t index = parts_->at;
  // Chunks are found without an index, too.
  if (const std::string body = index_body(parts_->places); body.size() <= max_body) {
    ACU_CHECK(parts_->write_chunk({.what = What::index}, body));
    ACU_CHECK(parts_->write(std::string(reinterpret_cast<const char*>(&index), sizeof index).append(end_magic)));
  }
  const int error = base::publish(std::move(parts_->file), parts_->part_path, parts_->path, existing);
  return error ? parts_->failure(error) : base::Status();
}

} // namespace recording
