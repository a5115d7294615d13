// A window is read from all chunks that have a part of it. Where there are too many events, reading ends early and both halves are read by themselves: chunks are short in time,
// so that each is unpacked a few times, not once for each window.
#include "recording/ordered.h"

#include <algorithm>

namespace recording {

namespace {

constexpr size_t window_events = 1 << 18;

class Ordered {
public:
  Ordered(const Reader& reader, const Part& part, const std::function<base::Status(const Event&)>& take) : reader_(reader), part_(part), take_(take) {}

  // Both ends are part of it.
  base::Status window(uint64_t from, uint64_t until) {
    from = std::max(from, part_.from_ns), until = std::min(until, part_.until_ns);
    if (from > until) return {};
    rows_.clear(), values_.clear();
    bool fits = true;
    ACU_CHECK(reader_.each({.from_ns = from, .until_ns = until, .kinds = part_.kinds}, [&](const Batch& batch) {
      append(batch);
      return fits = rows_.size() <= window_events || from == until;
    }));
    if (fits) return give();
    const uint64_t middle = from + (until - from) / 2;
    ACU_CHECK(window(from, middle));
    return window(middle + 1, until);
  }

private:
  struct Row {
    uint64_t time;
    size_t first_value;
    uint32_t cpu, thread, kind, count;
  };

  void append(const Batch& batch) {
    for (size_t i = 0; i < batch.size(); i++) {
      rows_.push_back({.time = batch.times[i],
                       .first_value = values_.size(),
                       .cpu = batch.cpus[i],
                       .thread = batch.threads[i],
                       .kind = batch.kind,
                       .count = static_cast<uint32_t>(batch.columns.size())});
      for (const auto& column : batch.columns) values_.push_back(column[i]);
    }
  }

  base::Status give() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.time < b.time; });
    for (const Row& r : rows_)
      ACU_CHECK(take_({.time = r.time, .cpu = r.cpu, .thread = r.thread, .kind = r.kind, .values = std::span(values_).subspan(r.first_value, r.count)}));
    return {};
  }

  const Reader& reader_;
  const Part& part_;
  const std::function<base::Status(const Event&)>& take_;
  std::vector<Row> rows_;
  std::vector<uint64_t> values_;
};

} // namespace

base::Status each_in_order(const Reader& reader, const Part& part, const std::function<base::Status(const Event&)>& take) {
  Ordered ordered(reader, part, take);
  // Most events are between begin and end; halving the whole range of times would come to them late.
  const auto [begin, end] = std::minmax(reader.about().begin_ns, reader.about().end_ns);
  if (begin) ACU_CHECK(ordered.window(0, begin - 1));
  ACU_CHECK(ordered.window(begin, end));
  return end == ~uint64_t{0} ? base::Status() : ordered.window(end + 1, ~uint64_t{0});
}

} // namespace recording
