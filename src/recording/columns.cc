// Events as columns: times as differences, signed numbers so that small ones of either sign are short, addresses as differences, the rest as they are:
// the same value is then the same bytes, which the packing finds.
#include "recording/chunks.h"

namespace recording {

namespace {

constexpr uint32_t max_cpus = 1 << 16;

uint64_t fold(uint64_t value) { return value << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(value) >> 63); }
uint64_t unfold(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

void put_column(std::string& out, std::span<const uint64_t> values, FieldType type) {
  uint64_t last = 0;
  for (uint64_t value : values) {
    if (type == FieldType::signed_number) {
      put(out, fold(value));
    } else if (type == FieldType::address) {
      put(out, fold(value - last));
      last = value;
    } else {
      put(out, value);
    }
  }
}

uint64_t end_of(FieldType type, const Names& names) {
  switch (type) {
  case FieldType::text: return names.texts.size();
  case FieldType::thread: return names.threads.size();
  case FieldType::stack: return names.stacks.size();
  default: return 0;
  }
}

bool read_column(base::Reader& in, size_t count, FieldType type, const Names& names, std::vector<uint64_t>& to) {
  const uint64_t end = end_of(type, names);
  to.resize(count);
  uint64_t last = 0;
  for (uint64_t& value : to) {
    value = in.uleb128();
    if (type == FieldType::signed_number) value = unfold(value);
    if (type == FieldType::address) last = value = last + unfold(value);
    if (end && value >= end) return false;
  }
  return in.ok();
}

bool read_numbers(base::Reader& in, size_t count, uint64_t end, std::vector<uint32_t>& to) {
  to.resize(count);
  for (uint32_t& value : to) {
    const uint64_t number = in.uleb128();
    if (number >= end) return false;
    value = static_cast<uint32_t>(number);
  }
  return in.ok();
}

} // namespace

std::string events_body(const Batch& batch, const EventKind& kind, size_t begin, size_t end) {
  std::string out;
  out.reserve((end - begin) * (4 + 2 * kind.fields.size()));
  uint64_t last = batch.times[begin];
  for (size_t i = begin; i < end; i++) {
    put(out, batch.times[i] - last);
    last = batch.times[i];
  }
  for (size_t i = begin; i < end; i++) put(out, batch.cpus[i]);
  for (size_t i = begin; i < end; i++) put(out, batch.threads[i]);
  for (size_t c = 0; c < kind.fields.size(); c++) put_column(out, std::span(batch.columns[c]).subspan(begin, end - begin), kind.fields[c].type);
  return out;
}

bool read_events(base::Reader& in, const Chunk& chunk, const EventKind& kind, const Names& names, Batch& to) {
  // Each event has a byte of each column at least.
  if (chunk.unpacked / (3 + kind.fields.size()) < chunk.count) return false;
  to.kind = chunk.kind;
  to.times.resize(chunk.count);
  uint64_t time = chunk.first_ns;
  for (uint64_t& t : to.times) {
    const uint64_t step = in.uleb128();
    if (step > chunk.last_ns - time) return false;
    t = time += step;
  }
  if (!read_numbers(in, chunk.count, max_cpus, to.cpus) || !read_numbers(in, chunk.count, names.threads.size(), to.threads)) return false;
  to.columns.resize(kind.fields.size());
  for (size_t c = 0; c < kind.fields.size(); c++)
    if (!read_column(in, chunk.count, kind.fields[c].type, names, to.columns[c])) return false;
  return in.ok() && in.at() == chunk.unpacked;
}

} // namespace recording
