// From rows to profiles and series.
#include "store/sqlite_store.h"

#include "spec/frame_kinds.h"

#include <algorithm>

namespace store {

namespace {

struct PairHash {
  size_t operator()(const std::pair<int64_t, int64_t>& p) const {
    return (static_cast<uint64_t>(p.first) * 0x9e3779b97f4a7c15 ^ static_cast<uint64_t>(p.second)) * 0xff51afd7ed558ccd >> 13;
  }
};

} // namespace

base::Result<profile::Profile> SqliteStore::profile(const ProfileQuery& query) {
  profile::Profile out;
  std::string conditions = "kind = (SELECT id FROM kinds WHERE name = ?1) AND slot >= ?2 AND slot < ?3";
  if (!query.service.empty()) conditions += " AND service IN (SELECT id FROM services WHERE name = ?4)";
  std::string threads;
  if (query.pid) threads += " AND pid = ?5";
  if (!query.process.empty()) threads += " AND process = (SELECT id FROM names WHERE text = ?6)";
  if (!query.thread.empty()) threads += " AND name = (SELECT id FROM names WHERE text = ?7)";
  if (!threads.empty()) conditions += " AND thread IN (SELECT id FROM threads WHERE 1" + threads + ")";
  Statement samples = connection_.prepare("SELECT stack, thread, weight, count FROM samples WHERE " + conditions);
  samples.bind(1, query.kind).bind(2, query.range.from).bind(3, query.range.to).bind(4, query.service).bind(5, int64_t{query.pid}).bind(6, query.process).bind(7, query.thread);

  Statement stack = connection_.prepare("SELECT frames FROM stacks WHERE id = ?1");
  Statement frame = connection_.prepare("SELECT n.text, m.text, kind, named FROM frames f JOIN names n ON n.id = f.name JOIN names m ON m.id = f.module WHERE f.id = ?1");
  Statement thread = connection_.prepare("SELECT pid, p.text, n.text FROM threads t JOIN names p ON p.id = t.process JOIN names n ON n.id = t.name WHERE t.id = ?1");
  std::unordered_map<int64_t, uint32_t> frames, known_threads;
  auto frame_of = [&](int64_t id) {
    const auto [at, is_new] = frames.try_emplace(id);
    if (!is_new) return at->second;
    profile::Frame f = {.name = out.text("[frame not stored]"), .kind = profile::FrameKind::note};
    if (frame.bind(1, id).step()) {
      const auto kind = static_cast<size_t>(frame.integer(2));
      f = {.name = out.text(frame.text(0)), .module = out.text(frame.text(1)), .kind = profile::FrameKind::user, .named = frame.integer(3) != 0};
      if (kind < spec::frame_kinds.size()) f.kind = static_cast<profile::FrameKind>(kind);
    }
    frame.reset();
    return at->second = out.frame(f);
  };
  auto thread_of = [&](int64_t id) {
    const auto [at, is_new] = known_threads.try_emplace(id);
    if (!is_new) return at->second;
    profile::Thread t;
    if (thread.bind(1, id).step()) t = {.pid = static_cast<uint32_t>(thread.integer(0)), .process = out.text(thread.text(1)), .name = out.text(thread.text(2))};
    t.tid = static_cast<uint32_t>(id); // threads of a name are one
    thread.reset();
    return at->second = out.thread(t);
  };
  // Added up here: a temporary tree of SQLite would take ten times as long.
  std::unordered_map<std::pair<int64_t, int64_t>, std::pair<uint64_t, uint64_t>, PairHash> sums; // weight and count by stack and thread
  while (samples.step()) {
    auto& [weight, count] = sums[{samples.integer(0), samples.integer(1)}];
    weight += static_cast<uint64_t>(samples.integer(2)), count += static_cast<uint64_t>(samples.integer(3));
  }
  std::vector<std::pair<std::pair<int64_t, int64_t>, std::pair<uint64_t, uint64_t>>> rows(sums.begin(), sums.end());
  std::ranges::sort(rows);
  int64_t last = 0;
  uint32_t node = 0;
  for (const auto& [key, sum] : rows) {
    if (key.first != last) {
      last = key.first, node = 0;
      if (stack.bind(1, last).step())
        for (int64_t id : decode_frames(stack.text(0))) node = out.node(node, frame_of(id));
      stack.reset();
    }
    out.add(thread_of(key.second), node, sum.first, sum.second);
    out.about.samples += sum.second;
  }
  ACU_CHECK(connection_.status());
  out.about.start_ns = static_cast<uint64_t>(query.range.from) * 1'000'000'000;
  // Recorded: acu may not have run all the time.
  Statement covered = connection_.prepare("SELECT sum(length) FROM slots WHERE slot >= ?1 AND slot < ?2");
  if (covered.bind(1, query.range.from).bind(2, query.range.to).step()) out.about.duration_ns = static_cast<uint64_t>(covered.integer(0)) * 1'000'000'000;
  return out;
}

base::Result<Series> SqliteStore::series(const std::string& service, const std::vector<std::string>& metrics, Range range, uint64_t points) {
  Series out;
  const int64_t length = std::max<int64_t>(range.to - range.from, 1);
  points = std::clamp<uint64_t>(points, 1, 5000);
  out.step = std::max<int64_t>(1, (length + static_cast<int64_t>(points) * slot_seconds - 1) / (static_cast<int64_t>(points) * slot_seconds)) * slot_seconds;
  // What was merged is not finer than that.
  Statement coarsest = connection_.prepare("SELECT max(length) FROM slots WHERE slot >= ?1 AND slot < ?2");
  if (coarsest.bind(1, range.from).bind(2, range.to).step() && coarsest.integer(0) > out.step) out.step = coarsest.integer(0);
  coarsest.reset();
  const int64_t first = range.from - range.from % out.step;
  for (int64_t t = first; t < range.to; t += out.step) out.times.push_back(t);
  out.metrics = metrics;
  out.values.assign(metrics.size(), std::vector<std::optional<double>>(out.times.size()));
  std::vector<double> covered(out.times.size());
  Statement slots = connection_.prepare("SELECT slot, length FROM slots WHERE slot >= ?1 AND slot < ?2");
  slots.bind(1, first).bind(2, range.to);
  while (slots.step()) covered[static_cast<size_t>((slots.integer(0) - first) / out.step)] += static_cast<double>(slots.integer(1));
  Statement values = connection_.prepare("SELECT s.slot, sum(value * length) FROM slots t CROSS JOIN series s ON s.slot = t.slot WHERE t.slot >= ?1 AND t.slot < ?2 AND "
                                         "service IN (SELECT id FROM services WHERE name = ?3) AND metric = (SELECT id FROM names WHERE text = ?4) GROUP BY s.slot");
  for (size_t m = 0; m < metrics.size(); m++) {
    for (size_t i = 0; i < covered.size(); i++)
      if (covered[i] > 0) out.values[m][i] = 0;
    values.bind(1, first).bind(2, range.to).bind(3, service).bind(4, metrics[m]);
    while (values.step()) {
      const auto at = static_cast<size_t>((values.integer(0) - first) / out.step);
      if (covered[at] > 0) out.values[m][at] = out.values[m][at].value_or(0) + values.number(1) / covered[at];
    }
    values.reset();
  }
  ACU_CHECK(connection_.status());
  return out;
}

base::Result<std::vector<ServiceUse>> SqliteStore::services(Range range) {
  Statement covered = connection_.prepare("SELECT sum(length) FROM slots WHERE slot >= ?1 AND slot < ?2");
  const double seconds = covered.bind(1, range.from).bind(2, range.to).step() ? covered.number(0) : 0;
  covered.reset();
  Statement values = connection_.prepare("SELECT v.name, v.type, n.text, sum(value * length) FROM slots t CROSS JOIN series s ON s.slot = t.slot JOIN services v ON v.id = s.service "
                                         "JOIN names n ON n.id = s.metric WHERE t.slot >= ?1 AND t.slot < ?2 GROUP BY s.service, s.metric");
  values.bind(1, range.from).bind(2, range.to);
  std::map<Service, ServiceUse> found;
  while (values.step()) {
    const Service service = {std::string(values.text(0)), static_cast<ServiceType>(values.integer(1))};
    ServiceUse& use = found[service];
    use.service = service;
    use.metrics.emplace_back(values.text(2), seconds > 0 ? values.number(3) / seconds : 0);
  }
  ACU_CHECK(connection_.status());
  std::vector<ServiceUse> out;
  for (auto& [service, use] : found) out.push_back(std::move(use));
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
  for (std::string_view table : {"samples", "stacks", "frames", "names", "threads", "services", "series", "slots", "findings"})
    out.rows.emplace_back(table, connection_.integer("SELECT count(*) FROM " + std::string(table)));
  out.from = connection_.integer("SELECT min(slot) FROM slots");
  out.to = connection_.integer("SELECT max(slot + length) FROM slots");
  ACU_CHECK(connection_.status());
  return out;
}

} // namespace store
