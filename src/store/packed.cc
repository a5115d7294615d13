#include "store/packed.h"

#include "base/leb128.h"
#include "base/reader.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace store {

namespace {

base::Reader reader_of(std::string_view bytes) { return base::Reader({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}); }

// Modulo 2^64, as damaged rows may be anything.
uint64_t difference(int64_t a, int64_t b) { return static_cast<uint64_t>(a) - static_cast<uint64_t>(b); }

} // namespace

void add_up(std::vector<SampleRow>& rows) {
  std::ranges::sort(rows, [](const SampleRow& a, const SampleRow& b) { return std::tie(a.thread, a.stack) < std::tie(b.thread, b.stack); });
  size_t kept = 0;
  for (const SampleRow& row : rows) {
    if (kept && rows[kept - 1].thread == row.thread && rows[kept - 1].stack == row.stack)
      rows[kept - 1].weight += row.weight, rows[kept - 1].count += row.count;
    else
      rows[kept++] = row;
  }
  rows.resize(kept);
}

std::string pack(std::vector<SampleRow> rows) {
  if (rows.empty()) return {};
  add_up(rows);
  uint64_t divisor = 0;
  for (const SampleRow& row : rows) divisor = std::gcd(divisor, row.weight);
  divisor = std::max<uint64_t>(divisor, 1);
  std::string out;
  base::put(out, divisor);
  int64_t thread = 0, stack = 0;
  for (const SampleRow& row : rows) {
    if (row.thread != thread) stack = 0;
    base::put(out, difference(row.thread, thread));
    base::put(out, difference(row.stack, stack));
    base::put(out, row.weight / divisor);
    base::put(out, row.count);
    thread = row.thread, stack = row.stack;
  }
  return out;
}

std::vector<SampleRow> unpack_samples(std::string_view bytes) {
  std::vector<SampleRow> out;
  base::Reader reader = reader_of(bytes);
  const uint64_t divisor = reader.uleb128();
  SampleRow row;
  while (reader.at() < bytes.size()) {
    const uint64_t threads = reader.uleb128();
    if (threads) row.stack = 0;
    row.thread = static_cast<int64_t>(static_cast<uint64_t>(row.thread) + threads);
    row.stack = static_cast<int64_t>(static_cast<uint64_t>(row.stack) + reader.uleb128());
    row.weight = reader.uleb128() * divisor;
    row.count = reader.uleb128();
    if (!reader.ok()) break;
    out.push_back(row);
  }
  return out;
}

std::string pack(std::vector<PointRow> rows) {
  std::ranges::stable_sort(rows, [](const PointRow& a, const PointRow& b) { return std::tie(a.service, a.metric) < std::tie(b.service, b.metric); });
  std::string out;
  int64_t service = 0, metric = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    const PointRow& row = rows[i];
    if (i + 1 < rows.size() && rows[i + 1].service == row.service && rows[i + 1].metric == row.metric) continue;
    if (row.service != service) metric = 0;
    base::put(out, difference(row.service, service));
    base::put(out, difference(row.metric, metric));
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(row.value));
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(bits >> shift);
    service = row.service, metric = row.metric;
  }
  return out;
}

std::vector<PointRow> unpack_points(std::string_view bytes) {
  std::vector<PointRow> out;
  base::Reader reader = reader_of(bytes);
  PointRow row;
  while (reader.at() < bytes.size()) {
    const uint64_t services = reader.uleb128();
    if (services) row.metric = 0;
    row.service = static_cast<int64_t>(static_cast<uint64_t>(row.service) + services);
    row.metric = static_cast<int64_t>(static_cast<uint64_t>(row.metric) + reader.uleb128());
    row.value = static_cast<double>(std::bit_cast<float>(reader.number<uint32_t>()));
    if (!reader.ok()) break;
    out.push_back(row);
  }
  return out;
}

} // namespace store
