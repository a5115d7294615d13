// From rows to profiles and series.
#include "store/sqlite_store.h"

#include "base/pair_index.h"
#include "base/rounded.h"
#include "spec/frame_kinds.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace store {

namespace {

double seconds_of(const SlotRow& row) { return static_cast<double>(row.covered_ns) / 1e9; }

} // namespace

std::vector<int64_t> SqliteStore::sources() {
  std::vector<int64_t> out;
  Statement all = connection_.prepare("SELECT id FROM sources");
  while (all.step()) out.push_back(all.integer(0));
  return out;
}

template<class Take> void SqliteStore::read_slots(int64_t source, Range range, bool with_samples, Take take) {
  const std::string columns = std::string("SELECT id, source, layer, slot, length, covered, points, ") + (with_samples ? "samples" : "''") + " FROM slots ";
  Statement rows = connection_.prepare(columns + "WHERE source = ?1 AND layer = 1 AND slot >= ?2 AND slot <= ?3 - 3600 UNION ALL " + columns +
                                       "AS s WHERE source = ?1 AND layer = 0 AND slot > ?2 - 600 AND slot < ?3 AND slot + length > ?2 AND NOT EXISTS (SELECT 1 FROM slots AS h WHERE h.source = s.source "
                                       "AND h.layer = 1 AND h.slot = s.slot / 3600 * 3600 AND h.slot >= ?2 AND h.slot <= ?3 - 3600)");
  rows.bind(1, source).bind(2, range.from).bind(3, range.to);
  while (!connection_.is_over() && rows.step()) take(slot_row(rows));
}

base::Result<profile::Profile> SqliteStore::profile(const ProfileQuery& query) {
  Transaction reading(connection_);
  ACU_CHECK(reading.begin_reading());
  Statement find_source = connection_.prepare("SELECT id FROM sources WHERE name = ?1");
  const int64_t source = find_source.bind(1, query.kind).step() ? find_source.integer(0) : 0;
  find_source.reset();
  // Threads that are asked for; nothing: all.
  std::string conditions;
  if (!query.service.empty()) conditions += " AND service IN (SELECT id FROM services WHERE name = ?1)";
  if (query.pid) conditions += " AND pid = ?2";
  if (!query.process.empty()) conditions += " AND process = (SELECT id FROM names WHERE text = ?3)";
  if (!query.thread.empty()) conditions += " AND name = (SELECT id FROM names WHERE text = ?4)";
  std::unordered_set<int64_t> asked;
  if (!conditions.empty()) {
    Statement threads = connection_.prepare("SELECT id FROM threads WHERE 1" + conditions);
    threads.bind(1, query.service).bind(2, int64_t{query.pid}).bind(3, query.process).bind(4, query.thread);
    while (threads.step()) asked.insert(threads.integer(0));
  }
  const int64_t lost_id = connection_.integer("SELECT id FROM names WHERE text = '" + std::string(lost_metric) + "'");
  std::vector<SampleRow> rows; // one for each stack and thread
  base::PairIndex row_of;
  double lost = 0;
  int64_t covered_ns = 0;
  read_slots(source, query.range, true, [&](const SlotRow& row) {
    covered_ns += row.covered_ns;
    for (const PointRow& p : row.points)
      if (p.metric == lost_id) lost += p.value * seconds_of(row);
    for (const SampleRow& sample : row.samples) {
      if (!conditions.empty() && !asked.contains(sample.thread)) continue;
      const auto [at, is_new] = row_of.find_or_add(static_cast<uint64_t>(sample.stack), static_cast<uint64_t>(sample.thread), static_cast<uint32_t>(rows.size()));
      if (is_new) rows.push_back({.thread = sample.thread, .stack = sample.stack});
      rows[at].weight += sample.weight, rows[at].count += sample.count;
    }
  });

  profile::Profile out;
  out.about.start_ns = static_cast<uint64_t>(query.range.from) * 1'000'000'000;
  out.about.duration_ns = static_cast<uint64_t>(covered_ns); // acu may not have run all the time
  out.about.lost = static_cast<uint64_t>(base::rounded(lost));
  Statement stack = connection_.prepare("SELECT frames FROM stacks WHERE id = ?1");
  Statement frame = connection_.prepare("SELECT n.text, m.text, kind, named FROM frames f JOIN names n ON n.id = f.name JOIN names m ON m.id = f.module WHERE f.id = ?1");
  Statement thread = connection_.prepare("SELECT pid, p.text, n.text, s.name FROM threads t JOIN names p ON p.id = t.process JOIN names n ON n.id = t.name JOIN services s ON s.id = t.service WHERE t.id = ?1");
  base::PairIndex known_frames;
  std::vector<uint32_t> frames; // of the profile
  std::unordered_map<int64_t, uint32_t> known_threads;
  auto frame_of = [&](int64_t id) {
    const auto [at, is_new] = known_frames.find_or_add(static_cast<uint64_t>(id), 0, static_cast<uint32_t>(frames.size()));
    if (!is_new) return frames[at];
    profile::Frame f = {.name = out.text("[frame not stored]"), .kind = profile::FrameKind::note};
    if (frame.bind(1, id).step()) {
      const auto kind = static_cast<size_t>(frame.integer(2));
      f = {.name = out.text(frame.text(0)), .module = out.text(frame.text(1)), .kind = profile::FrameKind::user, .named = frame.integer(3) != 0};
      if (kind < spec::frame_kinds.size()) f.kind = static_cast<profile::FrameKind>(kind);
    }
    frame.reset();
    return frames.emplace_back(out.frame(f));
  };
  auto thread_of = [&](int64_t id) {
    const auto [at, is_new] = known_threads.try_emplace(id);
    if (!is_new) return at->second;
    profile::Thread t;
    if (thread.bind(1, id).step()) t = {.pid = static_cast<uint32_t>(thread.integer(0)), .process = out.text(thread.text(1)), .name = out.text(thread.text(2)), .service = out.text(thread.text(3))}; // threads of a name are one
    thread.reset();
    return at->second = out.thread(t);
  };
  std::ranges::sort(rows, {}, [](const SampleRow& row) { return std::pair(row.stack, row.thread); });
  // In the order of their frames, stacks find the nodes that they share with the one before without asking for them.
  struct Stack {
    size_t begin = 0, end = 0;  // of its frames in all_frames
    size_t first = 0, last = 0; // of its rows
  };
  std::vector<uint32_t> all_frames;
  std::vector<Stack> stacks;
  for (size_t i = 0; i < rows.size() && !connection_.is_over(); i++) {
    if (!i || rows[i].stack != rows[i - 1].stack) {
      Stack& s = stacks.emplace_back(all_frames.size(), all_frames.size(), i, i);
      if (stack.bind(1, rows[i].stack).step())
        for (int64_t id : decode_frames(stack.text(0))) all_frames.push_back(frame_of(id));
      stack.reset();
      s.end = all_frames.size();
    }
    stacks.back().last = i + 1;
  }
  const auto frames_in = [&](const Stack& s) { return std::span(all_frames).subspan(s.begin, s.end - s.begin); };
  std::ranges::sort(stacks, [&](const Stack& a, const Stack& b) { return std::ranges::lexicographical_compare(frames_in(a), frames_in(b)); });
  std::vector<uint32_t> nodes; // of the stack before
  std::span<uint32_t> before;
  for (const Stack& s : stacks) {
    if (connection_.is_over()) break;
    const std::span<uint32_t> own = frames_in(s);
    const auto shared = static_cast<size_t>(std::ranges::mismatch(own, before).in1 - own.begin());
    nodes.resize(shared);
    for (size_t i = shared; i < own.size(); i++) nodes.push_back(out.node(nodes.empty() ? 0 : nodes.back(), own[i]));
    for (size_t i = s.first; i < s.last; i++) {
      out.add(thread_of(rows[i].thread), nodes.empty() ? 0 : nodes.back(), rows[i].weight, rows[i].count);
      out.about.samples += rows[i].count;
    }
    before = own;
  }
  ACU_CHECK(connection_.status());
  if (connection_.is_over()) return connection_.time_limit();
  return out;
}

// Of a number that several sources record (own_lost), the sum; where one of them recorded nothing, that of the others.
base::Result<Series> SqliteStore::series(const std::string& service, const std::vector<std::string>& metrics, Range range, uint64_t points) {
  Transaction reading(connection_);
  ACU_CHECK(reading.begin_reading());
  Series out;
  const int64_t length = std::max<int64_t>(range.to - range.from, 1);
  points = std::clamp<uint64_t>(points, 1, 5000);
  out.step = std::max<int64_t>(1, (length + static_cast<int64_t>(points) * slot_seconds - 1) / (static_cast<int64_t>(points) * slot_seconds)) * slot_seconds;
  // What was merged is not finer than that.
  Statement coarsest = connection_.prepare("SELECT max(length) FROM slots WHERE layer = 0 AND slot >= ?1 AND slot < ?2");
  if (coarsest.bind(1, range.from).bind(2, range.to).step() && coarsest.integer(0) > out.step) out.step = coarsest.integer(0);
  coarsest.reset();
  const int64_t first = range.from - range.from % out.step;
  for (int64_t t = first; t < range.to; t += out.step) out.times.push_back(t);
  out.metrics = metrics;
  out.values.assign(metrics.size(), std::vector<std::optional<double>>(out.times.size()));
  std::unordered_set<int64_t> ids;
  Statement of_service = connection_.prepare("SELECT id FROM services WHERE name = ?1");
  of_service.bind(1, service);
  while (of_service.step()) ids.insert(of_service.integer(0));
  std::unordered_map<int64_t, size_t> metric_at;
  Statement of_metric = connection_.prepare("SELECT id FROM names WHERE text = ?1");
  for (size_t m = 0; m < metrics.size(); m++) {
    if (of_metric.bind(1, metrics[m]).step()) metric_at.emplace(of_metric.integer(0), m);
    of_metric.reset();
  }
  std::vector<std::vector<std::optional<std::vector<double>>>> sums; // by source and metric: where the source records the metric, by time
  std::vector<std::vector<double>> seconds;                           // by source and time
  Statement rows = connection_.prepare("SELECT id, source, layer, slot, length, covered, points, '' FROM slots WHERE source = ?1 AND layer = 0 AND slot > ?2 - 600 AND slot < ?3 AND slot + length > ?2");
  for (int64_t source : sources()) {
    auto& of_source = sums.emplace_back(metrics.size());
    auto& covered = seconds.emplace_back(out.times.size());
    rows.bind(1, source).bind(2, first).bind(3, range.to);
    while (!connection_.is_over() && rows.step()) {
      const SlotRow row = slot_row(rows);
      const size_t at = row.slot < first ? 0 : static_cast<size_t>((row.slot - first) / out.step);
      covered[at] += seconds_of(row);
      for (const PointRow& p : row.points) {
        const auto m = ids.contains(p.service) ? metric_at.find(p.metric) : metric_at.end();
        if (m == metric_at.end()) continue;
        if (!of_source[m->second]) of_source[m->second].emplace(out.times.size());
        (*of_source[m->second])[at] += p.value * seconds_of(row);
      }
    }
    rows.reset();
  }
  for (size_t m = 0; m < metrics.size(); m++) {
    const bool is_recorded = std::ranges::any_of(sums, [&](const auto& of_source) { return of_source[m].has_value(); });
    for (size_t s = 0; s < sums.size(); s++)
      for (size_t t = 0; t < out.times.size(); t++)
        if (seconds[s][t] > 0 && (!is_recorded || sums[s][m])) out.values[m][t] = out.values[m][t].value_or(0) + (sums[s][m] ? (*sums[s][m])[t] / seconds[s][t] : 0);
  }
  ACU_CHECK(connection_.status());
  if (connection_.is_over()) return connection_.time_limit();
  return out;
}

base::Result<std::vector<ServiceUse>> SqliteStore::services(Range range) {
  Transaction reading(connection_);
  ACU_CHECK(reading.begin_reading());
  std::map<std::pair<int64_t, int64_t>, double> means; // by service and metric
  for (int64_t source : sources()) {
    std::map<std::pair<int64_t, int64_t>, double> sums;
    double seconds = 0;
    read_slots(source, range, false, [&](const SlotRow& row) {
      seconds += seconds_of(row);
      for (const PointRow& p : row.points) sums[{p.service, p.metric}] += p.value * seconds_of(row);
    });
    if (seconds > 0)
      for (const auto& [key, sum] : sums) means[key] += sum / seconds;
  }
  Statement service = connection_.prepare("SELECT name, type FROM services WHERE id = ?1"), name = connection_.prepare("SELECT text FROM names WHERE id = ?1");
  std::vector<ServiceUse> out;
  std::optional<int64_t> last;
  for (const auto& [key, mean] : means) {
    if (key.first != last) {
      last = key.first;
      service.bind(1, *last).step();
      out.push_back({.service = {std::string(service.text(0)), static_cast<ServiceType>(service.integer(1))}, .metrics = {}});
      service.reset();
    }
    name.bind(1, key.second).step();
    out.back().metrics.emplace_back(name.text(0), mean);
    name.reset();
  }
  ACU_CHECK(connection_.status());
  if (connection_.is_over()) return connection_.time_limit();
  std::ranges::stable_sort(out, [](const ServiceUse& a, const ServiceUse& b) { return a.metric("cpu") > b.metric("cpu"); });
  return out;
}

base::Result<std::vector<Finding>> SqliteStore::findings(Range range, const std::string& service, size_t most) {
  Statement rows = connection_.prepare("SELECT id, time, service, verdict, cause, summary, detail FROM findings WHERE time >= ?1 AND time < ?2 AND (?3 = '' OR service = ?3) "
                                       "ORDER BY time DESC, id DESC LIMIT ?4");
  rows.bind(1, range.from).bind(2, range.to).bind(3, service).bind(4, static_cast<int64_t>(most));
  std::vector<Finding> out;
  while (rows.step())
    out.push_back({rows.integer(0), rows.integer(1), std::string(rows.text(2)), std::string(rows.text(3)), std::string(rows.text(4)), std::string(rows.text(5)), std::string(rows.text(6))});
  ACU_CHECK(connection_.status());
  return out;
}

base::Result<Sizes> SqliteStore::sizes() {
  Sizes out;
  const auto page = static_cast<uint64_t>(connection_.integer("PRAGMA page_size"));
  out.bytes = page * static_cast<uint64_t>(connection_.integer("PRAGMA page_count"));
  out.free_bytes = page * static_cast<uint64_t>(connection_.integer("PRAGMA freelist_count"));
  out.rows.emplace_back("samples", connection_.integer("SELECT sum(sample_rows) FROM slots WHERE layer = 0"));
  out.rows.emplace_back("series", connection_.integer("SELECT sum(point_rows) FROM slots WHERE layer = 0"));
  for (std::string_view table : {"slots", "stacks", "frames", "names", "threads", "services", "findings"})
    out.rows.emplace_back(table, connection_.integer("SELECT count(*) FROM " + std::string(table)));
  out.from = connection_.integer("SELECT min(slot) FROM slots WHERE layer = 0");
  out.to = connection_.integer("SELECT max(slot + length) FROM slots WHERE layer = 0");
  ACU_CHECK(connection_.status());
  return out;
}

} // namespace store
