// Counts, sums, averages and histograms are added word by word; min and max look only at CPUs that have one;
// series are put together interval by interval.
// Of other values, which a script wrote on some CPU, the first CPU that has any is taken.
#include "report/merge.h"

#include "report/number.h"
#include "report/series.h"

#include <algorithm>
#include <cstring>

namespace report {

using type::Kind;

namespace {

void store(std::span<std::byte> out, size_t offset, uint64_t value) {
  if (offset >= out.size()) return;
  std::memcpy(out.data() + offset, &value, std::min<size_t>(sizeof value, out.size() - offset));
}

void add_words(Bytes value, std::span<std::byte> out) {
  for (size_t at = 0; at + 8 <= out.size(); at += 8)
    store(out, at, load(part(out, at, 8), 8) + load(part(value, at, 8), 8));
}

// Value and is-set flag: `out` takes `value` if it has none or this one is further out.
void take_extreme(const type::Type& type, Bytes value, std::span<std::byte> out) {
  if (load(part(value, 8, 8), 8) == 0) return;
  uint64_t a = load(value, 8), b = load(out, 8);
  bool less = type.is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  bool unset = load(part(out, 8, 8), 8) == 0;
  if (unset || (type.is(Kind::min) ? less : !less)) std::memcpy(out.data(), value.data(), 16);
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

void add_integer(const type::Type& type, Bytes value, std::span<std::byte> out) {
  store(out, 0, extend(type, out) + extend(type, value));
}

void merge_one(const ir::Map& map, Bytes value, std::span<std::byte> out) {
  const type::Type& type = *map.value;
  switch (type.kind) {
  case Kind::count:
  case Kind::sum:
  case Kind::avg:
  case Kind::stats:
  case Kind::hist:
  case Kind::lhist: return add_words(value, out);
  case Kind::min:
  case Kind::max: return take_extreme(type, value, out);
  case Kind::tseries: return merge_series(type, value, out);
  default: break;
  }
  if (map.sums) return add_integer(type, value, out);
  if (!out.empty() && is_zero(out)) std::memcpy(out.data(), value.data(), out.size());
}

} // namespace

void merge_cpus(const ir::Map& map, Bytes values, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  size_t step = std::max<size_t>({map.value_size, out.size(), 1}); // an empty structure has no bytes
  for (size_t at = 0; at + out.size() <= values.size(); at += step)
    merge_one(map, values.subspan(at, out.size()), out);
}

} // namespace report
