// Queries read the table whose slots suit the range: of 10 s, minutes, ten minutes or hours; a coarser one where the begin of the range is older than
// what finer ones keep. Means divide what a source recorded by the time that this source recorded. No alias has the name of a column: versions differ in which
// one they take. A slot that begins in the range counts whole, and so does the one in
// which the range begins, as in the embedded store.
#include "fleet/clickhouse_store.h"

#include "base/rounded.h"
#include "base/text.h"
#include "fleet/batch.h"
#include "fleet/ids.h"
#include "fleet/schema.h"
#include "monitor/sampler.h"
#include "spec/frame_kinds.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <span>

namespace fleet {

namespace {

constexpr uint32_t most_seconds = 30;    // of a query
constexpr size_t most_stacks = 10'000;   // of a profile, the heaviest; the others are one

uint64_t integer(const std::string& text) {
  uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}
int64_t signed_integer(const std::string& text) { return text.starts_with('-') ? -static_cast<int64_t>(integer(text.substr(1))) : static_cast<int64_t>(integer(text)); }
double number(const std::string& text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return std::isfinite(out) ? out : 0;
}

// Shares from 0 to 1: of several hosts, the mean.
bool is_share(std::string_view metric) { return metric == "busy" || metric.starts_with("pressure") || (metric.starts_with("cpu") && metric != "cpu"); }

// Who records, the host's sampler first: a metric of each has the seconds.
std::vector<std::string> sources() {
  std::vector<std::string> out = {std::string(monitor::host_sampler)};
  for (const monitor::StoredKind& kind : monitor::stored_kinds) out.emplace_back(kind.name);
  return out;
}
std::string covered_names() {
  std::string out;
  for (const std::string& source : sources()) out += (out.empty() ? "" : ", ") + quoted(std::string(covered_metric) + source);
  return out;
}

class ClickHouseStore final : public store::Store {
public:
  ClickHouseStore(const Address& address, std::string host) : clickhouse_(address), host_(std::move(host)) {}
  base::Status write(const store::Slot&, const std::vector<store::Point>&, const store::Batch*) override { return refusal(); }
  base::Status write(const store::Finding&) override { return refusal(); }
  base::Result<profile::Profile> profile(const store::ProfileQuery& query) override;
  base::Result<store::Series> series(const std::string& service, const std::vector<std::string>& metrics, store::Range range, uint64_t points) override;
  base::Result<std::vector<store::ServiceUse>> services(store::Range range) override;
  // Agents do not look for causes: a fleet has no findings.
  base::Result<std::vector<store::Finding>> findings(store::Range, const std::string&, size_t) override { return std::vector<store::Finding>(); }
  base::Result<store::Sizes> sizes() override;
  base::Result<std::vector<store::Host>> hosts() override;
  base::Status keep_within(const store::Limits&, int64_t) override { return refusal(); }
  base::Status compact(const store::Limits&, int64_t) override { return refusal(); }
  base::Result<std::vector<std::string>> check() override { return std::vector<std::string>(); }

private:
  static base::Error refusal() { return {base::Failure::unsupported, "a fleet's store is written by acu collect"}; }
  std::string host_condition() const { return host_.empty() ? std::string() : " AND host = " + std::to_string(host_id(host_)); }
  base::Result<std::vector<Row>> rows(const std::string& query) const {
    auto out = clickhouse_.rows(query, most_seconds);
    if (!out.ok() && out.error().message.find("imeout exceeded") != std::string::npos) out.error().message += "\nhint: choose a host, a service or a shorter range";
    return out;
  }
  base::Status read_frames(const std::map<uint64_t, std::vector<uint64_t>>& stacks, profile::Profile& to, std::map<uint64_t, uint32_t>& numbers) const;
  bool keeps(const Target& target, int64_t slot);
  const Target& reaching(std::span<const size_t> finest_first, int64_t slot);
  base::Result<const Target*> sample_table(const store::ProfileQuery& query);
  const Target& series_table(store::Range range);

  ClickHouse clickhouse_;
  std::string host_; // empty: all
  std::optional<Retention> retention_; // read when it is needed
};

constexpr size_t series_tables[] = {4, 5, 6}; // of `targets`

// Whether a table still has a slot.
bool ClickHouseStore::keeps(const Target& target, int64_t slot) {
  const int64_t now = ::time(nullptr);
  if (slot >= now - 86400) return true; // all are kept for a day
  if (!retention_) retention_ = read_retention(clickhouse_);
  return slot >= retention_->oldest(target, now);
}

// The first table that still has a slot, or the coarsest.
const Target& ClickHouseStore::reaching(std::span<const size_t> finest_first, int64_t slot) {
  for (size_t number : finest_first)
    if (keeps(targets[number], slot)) return targets[number];
  return targets[finest_first.back()];
}

base::Result<const Target*> ClickHouseStore::sample_table(const store::ProfileQuery& query) {
  const auto [from, to] = query.range;
  const bool has_host = !host_.empty(), needs_threads = query.pid || !query.process.empty() || !query.thread.empty();
  if (needs_threads) { // roll-ups have none
    if (to > from && !keeps(targets[0], to - 1))
      return base::Error{base::Failure::nothing_matched, "threads and processes of that time are no longer kept (" + std::to_string(retention_->fine_seconds / 86400) +
                                                             " days, acu collect --keep-fine)\nhint: leave out the filter by process or thread, or choose a later range"};
    return &targets[0];
  }
  constexpr size_t of_host[] = {0, 1, 2}, of_all[] = {0, 1, 3};
  const std::span<const size_t> tables = has_host ? of_host : of_all;
  const size_t first = to - from <= (has_host ? 2 * 3600 : 600) ? 0 : to - from <= (has_host ? 86400 : 3600) ? 1 : 2;
  return &reaching(tables.subspan(first), from);
}

const Target& ClickHouseStore::series_table(store::Range range) {
  const int64_t length = range.to - range.from;
  const size_t first = length <= 600 ? 0 : length <= 6 * 3600 ? 1 : 2;
  return reaching(std::span(series_tables).subspan(first), range.from);
}

std::string slots_in(store::Range range, const Target& target) {
  const int64_t from = range.from - range.from % target.slot_seconds;
  return "slot >= " + std::to_string(from) + " AND slot < " + std::to_string(range.to);
}

std::string list_of(auto begin, auto end) {
  std::string out;
  for (; begin != end; ++begin) out += (out.empty() ? "" : ", ") + std::to_string(*begin);
  return "(" + out + ")";
}

// What follows an IN has at most so many ids, as a query has a limit of its length.
template<class Ids, class Work> base::Status in_parts(const Ids& ids, Work work) {
  constexpr size_t most = 20'000;
  std::vector<uint64_t> all(ids.begin(), ids.end());
  for (size_t at = 0; at < all.size(); at += most) ACU_CHECK(work(list_of(all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), at + most)))));
  return {};
}

// Stacks and frames may be there several times until tables are merged; all are the same.
base::Status ClickHouseStore::read_frames(const std::map<uint64_t, std::vector<uint64_t>>& stacks, profile::Profile& to, std::map<uint64_t, uint32_t>& numbers) const {
  std::vector<uint64_t> ids;
  for (const auto& [stack, frames] : stacks) ids.insert(ids.end(), frames.begin(), frames.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return in_parts(ids, [&](const std::string& part) -> base::Status {
    ACU_TRY(const std::vector<Row> found, rows("SELECT frame, any(name), any(module), any(kind), any(named) FROM frames WHERE frame IN " + part + " GROUP BY frame"));
    for (const Row& row : found) {
      profile::Frame f = {.name = to.text(row[1]), .module = to.text(row[2]), .kind = profile::FrameKind::user, .named = row[4] != "0"};
      if (const uint64_t kind = integer(row[3]); kind < spec::frame_kinds.size()) f.kind = static_cast<profile::FrameKind>(kind);
      numbers[integer(row[0])] = to.frame(f);
    }
    return {};
  });
}

base::Result<profile::Profile> ClickHouseStore::profile(const store::ProfileQuery& query) {
  profile::Profile out;
  ACU_TRY(const Target* const table, sample_table(query));
  const Target& target = *table;
  std::string condition = "kind = " + quoted(query.kind) + " AND " + slots_in(query.range, target);
  if (target.has_hosts) condition += host_condition();
  if (!query.service.empty()) condition += " AND service IN (SELECT service FROM services WHERE name = " + quoted(query.service) + ")";
  std::string of_threads;
  if (query.pid) of_threads += " AND pid = " + std::to_string(query.pid);
  if (!query.process.empty()) of_threads += " AND process = " + quoted(query.process);
  if (!query.thread.empty()) of_threads += " AND name = " + quoted(query.thread);
  if (!of_threads.empty()) condition += " AND thread IN (SELECT thread FROM threads WHERE 1" + of_threads + ")";
  const std::string who = target.has_threads ? "thread" : "service";
  // The last row has the totals.
  ACU_TRY(std::vector<Row> sums, rows("SELECT stack, " + who + ", sum(weight) AS w, sum(count) AS c FROM " + std::string(target.table) + " WHERE " + condition + " GROUP BY stack, " + who +
                                      " WITH TOTALS ORDER BY w DESC LIMIT " + std::to_string(most_stacks)));
  uint64_t other_weight = 0, other_count = 0;
  if (!sums.empty()) {
    other_weight = integer(sums.back()[2]), other_count = integer(sums.back()[3]);
    sums.pop_back();
  }

  // What the ids stand for.
  std::map<uint64_t, std::vector<uint64_t>> stacks;
  std::map<uint64_t, uint32_t> threads, frames;
  for (const Row& row : sums) stacks[integer(row[0])], threads[integer(row[1])];
  auto ids_of = [](const auto& map) {
    std::vector<uint64_t> ids;
    for (const auto& [id, value] : map) ids.push_back(id);
    return ids;
  };
  ACU_CHECK(in_parts(ids_of(stacks), [&](const std::string& part) -> base::Status {
    ACU_TRY(const std::vector<Row> found, rows("SELECT stack, any(frames) FROM stacks WHERE stack IN " + part + " GROUP BY stack"));
    for (const Row& row : found) {
      std::vector<uint64_t>& list = stacks[integer(row[0])];
      for (std::string_view word : base::split(base::trim(std::string_view(row[1]).substr(1, row[1].size() - 2)), ','))
        if (!word.empty()) list.push_back(integer(std::string(word)));
    }
    return {};
  }));
  ACU_CHECK(read_frames(stacks, out, frames));
  const std::string names = target.has_threads ? "SELECT thread, any(pid), any(process), any(name) FROM threads" : "SELECT service, 0, any(name), any(name) FROM services";
  ACU_CHECK(in_parts(ids_of(threads), [&](const std::string& part) -> base::Status {
    ACU_TRY(const std::vector<Row> found, rows(names + " WHERE " + who + " IN " + part + " GROUP BY " + who));
    for (const Row& row : found) {
      threads[integer(row[0])] = out.thread({.pid = static_cast<uint32_t>(integer(row[1])), .process = out.text(row[2]), .name = out.text(row[3])}); // threads of a name are one
    }
    return {};
  }));
  const uint32_t unknown = out.frame({.name = out.text("[frame not stored]"), .kind = profile::FrameKind::note});
  for (const Row& row : sums) {
    uint32_t node = 0;
    for (uint64_t frame : stacks[integer(row[0])]) {
      const auto at = frames.find(frame);
      node = out.node(node, at == frames.end() ? unknown : at->second);
    }
    const uint64_t weight = integer(row[2]), count = integer(row[3]);
    out.add(threads[integer(row[1])], node, weight, count);
    out.about.samples += count;
    other_weight -= std::min(weight, other_weight), other_count -= std::min(count, other_count);
  }
  if (other_count) {
    const uint32_t others = out.text("[other stacks]");
    out.add(out.thread({.process = others, .name = others}), out.node(0, out.frame({.name = others, .kind = profile::FrameKind::note})), other_weight, other_count);
    out.about.samples += other_count;
  }
  out.about.start_ns = static_cast<uint64_t>(query.range.from) * 1'000'000'000;
  // For how long: of the host that recorded longest. What was lost: of all.
  const Target& series = series_table(query.range);
  const std::string seconds = quoted(std::string(covered_metric) + query.kind), lost = quoted(stored_metric(store::lost_metric, query.kind));
  ACU_TRY(const std::vector<Row> recorded,
          rows("SELECT max(n), sum(l) FROM (SELECT host, sumIf(value, metric = " + seconds + ") AS n, sumIf(value, metric = " + lost + ") AS l FROM " + std::string(series.table) + " WHERE metric IN (" + seconds + ", " +
               lost + ") AND service = 0 AND " + slots_in(query.range, series) + host_condition() + " GROUP BY host)"));
  if (!recorded.empty()) out.about.duration_ns = static_cast<uint64_t>(number(recorded[0][0]) * 1e9), out.about.lost = static_cast<uint64_t>(base::rounded(number(recorded[0][1])));
  return out;
}

// For each host and time what sources recorded, each over its own seconds; then the sum, or the mean, of hosts. A number has a value where one of the sources
// that record it did so: zeros are not stored, so these are the sources that recorded another value within the range; if there is none, the host's sampler.
base::Result<store::Series> ClickHouseStore::series(const std::string& service, const std::vector<std::string>& metrics, store::Range range, uint64_t points) {
  store::Series out;
  const int64_t length = std::max<int64_t>(range.to - range.from, 1), at_most = static_cast<int64_t>(std::clamp<uint64_t>(points, 1, 5000));
  // Steps that a table has: 10 s, minutes and hours, and multiples.
  const int64_t least = (length + at_most - 1) / at_most, wanted = least <= 50 ? store::slot_seconds : least <= 1800 ? 60 : 3600;
  const Target& target = reaching(std::span(series_tables).subspan(wanted == 3600 ? 2 : wanted == 60 ? 1 : 0), range.from);
  const int64_t unit = target.slot_seconds;
  out.step = std::max<int64_t>(1, (least + unit - 1) / unit) * unit;
  const int64_t first = range.from - range.from % out.step;
  for (int64_t t = first; t < range.to; t += out.step) out.times.push_back(t);
  out.metrics = metrics;
  out.values.assign(metrics.size(), std::vector<std::optional<double>>(out.times.size()));
  if (metrics.empty()) return out;
  const std::string services = service.empty() ? "(0)" : "(SELECT service FROM services WHERE name = " + quoted(service) + ")";
  const std::vector<std::string> all = sources();
  std::string inner, outer, names, covered = "0"; // columns: c0, … the seconds of sources; m0_0, … what each recorded of a metric. Of all hosts: how many a source covers, then the sums of their means
  for (size_t s = 0; s < all.size(); s++) {
    const std::string column = "c" + std::to_string(s);
    inner += ", sumIf(value, metric = " + quoted(std::string(covered_metric) + all[s]) + ") AS " + column, covered += " + " + column;
    outer += ", countIf(" + column + " > 0)";
  }
  for (size_t m = 0; m < metrics.size(); m++) {
    for (size_t s = 0; s < all.size(); s++) {
      const std::string column = "m" + std::to_string(m) + "_" + std::to_string(s), seconds = "c" + std::to_string(s), name = quoted(stored_metric(metrics[m], all[s]));
      inner += ", sumIf(value, metric = " + name + " AND service " + (service.empty() ? "=" : "!=") + " 0) AS " + column; // of a service: WHERE leaves no other one
      outer += ", sum(if(" + seconds + " > 0, " + column + " / " + seconds + ", 0))";
      names += ", " + name;
    }
  }
  const std::string step = std::to_string(out.step);
  ACU_TRY(std::vector<Row> found,
          rows("SELECT start" + outer + " FROM (SELECT host, intDiv(slot, " + step + ") * " + step + " AS start" + inner + " FROM " +
               std::string(target.table) + " WHERE metric IN (" + covered_names() + names + ") AND (service = 0 OR service IN " + services + ") AND slot >= " + std::to_string(first) + " AND slot < " +
               std::to_string(range.to) + host_condition() + " GROUP BY host, start HAVING " + covered + " > 0) GROUP BY start"));
  std::erase_if(found, [&](const Row& row) { return row.size() != 1 + all.size() * (1 + metrics.size()); });
  const auto hosts_at = [](size_t source) { return 1 + source; };
  const auto sum_at = [&](size_t metric, size_t source) { return 1 + all.size() + metric * all.size() + source; };
  for (size_t m = 0; m < metrics.size(); m++) {
    std::vector<bool> records(all.size());
    for (size_t s = 0; s < all.size(); s++) records[s] = std::ranges::any_of(found, [&](const Row& row) { return number(row[sum_at(m, s)]) != 0; });
    if (std::ranges::find(records, true) == records.end()) records[0] = true; // the host's sampler
    for (const Row& row : found) {
      const int64_t at = (static_cast<int64_t>(integer(row[0])) - first) / out.step;
      if (at < 0 || at >= static_cast<int64_t>(out.times.size())) continue;
      std::optional<double>& value = out.values[m][static_cast<size_t>(at)];
      for (size_t s = 0; s < all.size(); s++) {
        const double hosts = number(row[hosts_at(s)]);
        if (records[s] && hosts > 0) value = value.value_or(0) + number(row[sum_at(m, s)]) / (is_share(metrics[m]) ? hosts : 1);
      }
    }
  }
  return out;
}

base::Result<std::vector<store::ServiceUse>> ClickHouseStore::services(store::Range range) {
  const Target& target = series_table(range);
  const std::string from = " FROM " + std::string(target.table) + " WHERE ", where = slots_in(range, target) + host_condition();
  const std::string covered = "SELECT host, substring(metric, " + std::to_string(covered_metric.size() + 1) + ") AS source, sum(value) AS seconds" + from + "metric IN (" + covered_names() + ") AND service = 0 AND " + where +
                              " GROUP BY host, source HAVING seconds > 0";
  // "own_lost.cpu" is of `cpu`, what has no source behind its name is of the host's sampler.
  std::string source = "multiIf(";
  for (const std::string& name : sources())
    if (name != monitor::host_sampler) source += "metric LIKE " + quoted("%." + name) + ", " + quoted(name) + ", ";
  source += quoted(monitor::host_sampler) + ")";
  const std::string plain = "if(source = " + quoted(monitor::host_sampler) + ", metric, substring(metric, 1, length(metric) - length(source) - 1))";
  ACU_TRY(const std::vector<Row> count, rows("SELECT count() FROM (" + covered + ") WHERE source = " + quoted(monitor::host_sampler)));
  const double hosts = count.empty() ? 0 : number(count[0][0]);
  ACU_TRY(const std::vector<Row> found, rows("SELECT service, plain, sum(total / seconds) FROM (SELECT host, service, " + source + " AS source, " + plain + " AS plain, sum(value) AS total" + from + "metric NOT IN ('#', " + covered_names() +
                                             ") AND " + where + " GROUP BY host, service, source, plain) ALL INNER JOIN (" + covered + ") USING (host, source) GROUP BY service, plain"));
  std::map<uint64_t, store::ServiceUse> uses;
  for (const Row& row : found) {
    const bool is_mean = row[0] == "0" && is_share(row[1]);
    uses[integer(row[0])].metrics.emplace_back(row[1], is_mean && hosts > 0 ? number(row[2]) / hosts : number(row[2]));
  }
  std::vector<uint64_t> ids;
  for (const auto& [id, use] : uses) ids.push_back(id);
  ACU_CHECK(in_parts(ids, [&](const std::string& part) -> base::Status {
    ACU_TRY(const std::vector<Row> names, rows("SELECT service, any(name), any(type) FROM services WHERE service IN " + part + " GROUP BY service"));
    for (const Row& row : names) uses[integer(row[0])].service = {row[1], static_cast<store::ServiceType>(std::min<uint64_t>(integer(row[2]), 3))};
    return {};
  }));
  std::vector<store::ServiceUse> out;
  for (auto& [id, use] : uses) {
    if (id && use.service.name.empty()) use.service.name = "[service not stored]";
    out.push_back(std::move(use));
  }
  std::ranges::stable_sort(out, [](const store::ServiceUse& a, const store::ServiceUse& b) { return a.metric("cpu") > b.metric("cpu"); });
  return out;
}

base::Result<store::Sizes> ClickHouseStore::sizes() {
  store::Sizes out;
  ACU_TRY(const std::vector<Row> tables, rows("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = " + quoted(clickhouse_.address().database) + " GROUP BY table ORDER BY table"));
  for (const Row& row : tables) out.rows.emplace_back(row[0], integer(row[1])), out.bytes += integer(row[2]);
  ACU_TRY(const std::vector<Row> range, rows("SELECT min(slot), max(slot) FROM series_hour WHERE metric = 'covered.host'" + host_condition()));
  if (!range.empty()) out.from = signed_integer(range[0][0]), out.to = signed_integer(range[0][1]);
  if (out.to) out.to += 3600;
  return out;
}

base::Result<std::vector<store::Host>> ClickHouseStore::hosts() {
  ACU_TRY(const std::vector<Row> found,
          rows("SELECT any(who), max(heard), argMax(newest, heard), argMax(ahead, heard), sum(lost_batches), sum(lost_samples) FROM (SELECT host, spool, any(name) AS who, max(received) AS heard, "
               "argMax(slot, received) AS newest, argMax(clock_offset, received) AS ahead, max(dropped) AS lost_batches, max(dropped_samples) AS lost_samples "
               "FROM hosts GROUP BY host, spool) GROUP BY host"));
  std::vector<store::Host> out;
  for (const Row& row : found)
    out.push_back({row[0], static_cast<int64_t>(integer(row[1])), static_cast<int64_t>(integer(row[2])), signed_integer(row[3]), integer(row[4]), integer(row[5])});
  std::ranges::sort(out, {}, &store::Host::name);
  return out;
}

} // namespace

std::unique_ptr<store::Store> open_clickhouse(const Address& address, const std::string& host) { return std::make_unique<ClickHouseStore>(address, host); }

} // namespace fleet
