// What keeps a store small: slots are merged as they age, and deleted at last; what they referred to follows.
#include "store/sqlite_store.h"

namespace store {

namespace {

// Slots older than `age` are merged to `length`. Both in seconds.
struct Merge {
  int64_t age, length;
};
constexpr Merge merges[] = {{3600, 60}, {86400, 600}};
constexpr int64_t most_at_once = 3600; // seconds of slots in one transaction, so that writers need not wait long

} // namespace

uint64_t SqliteStore::used_bytes() const {
  const int64_t pages = connection_.integer("PRAGMA page_count") - connection_.integer("PRAGMA freelist_count");
  return static_cast<uint64_t>(pages * connection_.integer("PRAGMA page_size"));
}

// true: there was something to merge.
base::Result<bool> SqliteStore::merge_slots(int64_t now) {
  bool has_merged = false;
  for (const Merge& merge : merges) {
    const int64_t until = (now - merge.age) / merge.length * merge.length;
    Statement first = connection_.prepare("SELECT min(slot) FROM slots WHERE length < ?1 AND slot < ?2");
    first.bind(1, merge.length).bind(2, until);
    const int64_t oldest = first.step() ? first.integer(0) : 0;
    first.reset();
    if (!oldest) continue;
    has_merged = true;
    const int64_t from = oldest / merge.length * merge.length, to = std::min(until, from + most_at_once);
    const std::string length = std::to_string(merge.length), range = " slot >= " + std::to_string(from) + " AND slot < " + std::to_string(to);
    const std::string merged = "slot / " + length + " * " + length;
    // Means of numbers are over the time for which there are slots.
    ACU_CHECK(connection_.run(
        "CREATE TEMP TABLE merged_samples AS SELECT kind, " + merged + " AS slot, service, thread, stack, sum(weight) AS weight, sum(count) AS count FROM samples "
        "WHERE kind IN (SELECT id FROM kinds) AND" + range + " GROUP BY 1, 2, 3, 4, 5;"
        "CREATE TEMP TABLE merged_slots AS SELECT " + merged + " AS slot, sum(length) AS covered FROM slots WHERE" + range + " GROUP BY 1;"
        "CREATE TEMP TABLE merged_series AS SELECT s.slot / " + length + " * " + length + " AS slot, service, metric, sum(value * length) / max(covered) AS value "
        "FROM slots t CROSS JOIN series s ON s.slot = t.slot JOIN merged_slots m ON m.slot = s.slot / " + length + " * " + length + " WHERE t.slot >= " + std::to_string(from) + " AND t.slot < " + std::to_string(to) + " GROUP BY 1, 2, 3;"
        "DELETE FROM samples WHERE kind IN (SELECT id FROM kinds) AND" + range + ";"
        "DELETE FROM series WHERE" + range + "; DELETE FROM slots WHERE" + range + ";"
        "INSERT INTO samples SELECT kind, slot, service, thread, stack, weight, count FROM merged_samples;"
        "INSERT INTO series(slot, service, metric, value) SELECT slot, service, metric, value FROM merged_series;"
        "INSERT INTO slots SELECT slot, " + length + " FROM merged_slots;"
        "DROP TABLE merged_samples; DROP TABLE merged_series; DROP TABLE merged_slots"));
  }
  ACU_CHECK(connection_.status());
  return has_merged;
}

base::Status SqliteStore::delete_until(int64_t slot) {
  const std::string number = std::to_string(slot);
  return connection_.run("DELETE FROM samples WHERE kind IN (SELECT id FROM kinds) AND slot < " + number + "; DELETE FROM series WHERE slot < " + number +
                        "; DELETE FROM slots WHERE slot < " + number + "; DELETE FROM findings WHERE time < " + number);
}

base::Status SqliteStore::delete_unused() {
  return connection_.run("DELETE FROM stacks WHERE id NOT IN (SELECT stack FROM samples); DELETE FROM threads WHERE id NOT IN (SELECT thread FROM samples); UPDATE deletions SET n = n + 1");
}

base::Status SqliteStore::keep_within(const Limits& limits, int64_t now) {
  constexpr double enough = 0.9; // of the limit, so that this is not done every minute
  forget(); // numbers of rows that may go
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  ACU_TRY(const bool has_merged, merge_slots(now));
  (void)has_merged;
  const bool was_full = used_bytes() > limits.max_bytes;
  const int64_t oldest = connection_.integer("SELECT min(slot) FROM slots");
  bool has_deleted = oldest && oldest < now - limits.keep_seconds;
  if (has_deleted) ACU_CHECK(delete_until(now - limits.keep_seconds));
  // The oldest tenth at a time; stacks are the larger part, and go with the samples that were their last.
  while (was_full && static_cast<double>(used_bytes()) > enough * static_cast<double>(limits.max_bytes)) {
    const int64_t from = connection_.integer("SELECT min(slot) FROM slots"), to = connection_.integer("SELECT max(slot) FROM slots");
    if (from >= to) break;
    ACU_CHECK(delete_until(from + std::max((to - from) / 10, slot_seconds)));
    ACU_CHECK(delete_unused());
    has_deleted = true;
  }
  if (has_deleted) ACU_CHECK(delete_unused());
  ACU_CHECK(transaction.commit());
  if (!has_deleted) return {};
  Statement vacuum = connection_.prepare("PRAGMA incremental_vacuum"); // a step gives one page back
  vacuum.run();
  return connection_.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

base::Status SqliteStore::compact(const Limits& limits, int64_t now) {
  for (bool has_more = true; has_more;) {
    Transaction transaction(connection_);
    ACU_CHECK(transaction.begin());
    ACU_TRY(has_more, merge_slots(now));
    ACU_CHECK(transaction.commit());
  }
  ACU_CHECK(keep_within(limits, now));
  ACU_CHECK(delete_unused());
  return connection_.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
}

base::Result<std::vector<std::string>> SqliteStore::check() {
  std::vector<std::string> out;
  Statement integrity = connection_.prepare("PRAGMA integrity_check(20)");
  while (integrity.step())
    if (integrity.text(0) != "ok") out.emplace_back(integrity.text(0));
  if (auto whole = connection_.status(); !whole.ok()) out.push_back(whole.error().message);
  if (!out.empty()) return out;
  for (auto [table, column, target] : {std::tuple{"samples", "stack", "stacks"}, {"samples", "thread", "threads"}, {"samples", "service", "services"}, {"series", "service", "services"},
                                       {"series", "metric", "names"}, {"frames", "name", "names"}, {"frames", "module", "names"}}) {
    const std::string missing = std::string("SELECT count(*) FROM ") + table + " WHERE " + column + " NOT IN (SELECT id FROM " + target + ")";
    if (const int64_t n = connection_.integer(missing)) out.push_back(std::to_string(n) + " rows of " + table + " refer to " + target + " that are missing");
  }
  ACU_CHECK(connection_.status());
  return out;
}

} // namespace store
