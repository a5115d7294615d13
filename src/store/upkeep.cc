// What keeps a store small: slots are merged as they age, and deleted at last; what they referred to follows (unused.cc). All of this is done in steps of some
// milliseconds: samplers and requests use the store in between.
#include "store/sqlite_store.h"
#include "store/writer_lock.h"

#include <ctime>

namespace store {

namespace {

// Slots older than `age` are merged to `length`. Both in seconds.
struct Merge {
  int64_t age, length;
};
constexpr Merge merges[] = {{3600, 60}, {86400, longest_slot}};
constexpr int64_t lengths[] = {slot_seconds, 60, longest_slot};
constexpr int most_groups = 10;         // that become one slot each, in one transaction
constexpr int64_t late_seconds = 120;   // for which an hour is waited for slots that are written late
constexpr int64_t sweep_seconds = 3600; // between two looks for rows that nothing refers to

// As often as there is something.
template<class Step> base::Status repeat(Step step) {
  for (;;) {
    ACU_TRY(const bool has_more, step());
    if (!has_more) return {};
    give_way();
  }
}

} // namespace

void give_way(uint64_t ns) {
  const timespec moment = {0, static_cast<int64_t>(ns)};
  ::nanosleep(&moment, nullptr);
}

uint64_t SqliteStore::used_bytes() const {
  const int64_t pages = connection_.integer("PRAGMA page_count") - connection_.integer("PRAGMA freelist_count");
  return static_cast<uint64_t>(pages * connection_.integer("PRAGMA page_size"));
}

// Of the first layer.
std::vector<SlotRow> SqliteStore::slots_of(int64_t source, Range range) {
  Statement& rows = kept("SELECT id, source, layer, slot, length, covered, points, samples FROM slots WHERE source = ?1 AND layer = 0 AND slot >= ?2 AND slot < ?3 ORDER BY slot");
  rows.bind(1, source).bind(2, range.from).bind(3, range.to);
  std::vector<SlotRow> out;
  while (rows.step()) out.push_back(slot_row(rows));
  rows.reset();
  return out;
}

base::Result<bool> SqliteStore::merge_slots(int64_t now) {
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  forget_after_deletions();
  Statement& find = kept("SELECT source, slot FROM slots WHERE layer = 0 AND length = ?1 AND slot < ?2 ORDER BY slot LIMIT 1");
  Statement& remove = kept("DELETE FROM slots WHERE source = ?1 AND layer = 0 AND slot >= ?2 AND slot < ?3");
  int groups = 0;
  for (const Merge& merge : merges) {
    const int64_t until = (now - merge.age) / merge.length * merge.length;
    for (int64_t length : lengths) {
      while (length < merge.length && groups < most_groups) {
        const bool is_there = find.bind(1, length).bind(2, until).step();
        const int64_t source = find.integer(0), from = find.integer(1) / merge.length * merge.length;
        find.reset();
        if (!is_there) break;
        groups++;
        std::vector<SlotRow> rows = slots_of(source, {from, from + merge.length});
        if (rows.empty()) break;
        SlotRow row = merged(rows);
        row.slot = from, row.length = merge.length;
        keep_heaviest(row.samples, most_rows(row.length));
        remove.bind(1, source).bind(2, from).bind(3, from + merge.length).run();
        put(row);
      }
    }
  }
  ACU_CHECK(connection_.status());
  if (groups) ACU_CHECK(transaction.commit());
  return groups > 0;
}

// An hour to which something is added later is deleted (write.cc), and made again here.
base::Result<bool> SqliteStore::make_hours(const Limits& limits, int64_t now) {
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  forget_after_deletions();
  Statement& find = kept("SELECT source, slot / 3600 * 3600 AS hour FROM slots WHERE layer = 0 AND slot >= ?1 AND slot < ?2 EXCEPT SELECT source, slot FROM slots WHERE layer = 1 ORDER BY hour LIMIT 1");
  const int64_t oldest = (now - limits.keep_seconds) / hour_seconds * hour_seconds + hour_seconds;
  const bool is_there = find.bind(1, oldest).bind(2, (now - late_seconds) / hour_seconds * hour_seconds).step();
  const int64_t source = find.integer(0), hour = find.integer(1);
  find.reset();
  ACU_CHECK(connection_.status());
  if (!is_there) return false;
  SlotRow row = merged(slots_of(source, {hour, hour + hour_seconds}));
  row.layer = hours, row.slot = hour, row.length = hour_seconds;
  keep_heaviest(row.samples, most_rows(row.length));
  put(row);
  ACU_CHECK(connection_.status());
  ACU_CHECK(transaction.commit());
  return true;
}

base::Result<bool> SqliteStore::delete_some(int64_t until) {
  constexpr int64_t most = 100; // slots in one transaction
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  Statement& remove = kept("DELETE FROM slots WHERE id IN (SELECT id FROM slots WHERE layer = ?1 AND length = ?2 AND slot < ?3 ORDER BY slot LIMIT ?4)");
  bool has_deleted = false;
  auto delete_of = [&](Layer layer, int64_t length) {
    remove.bind(1, static_cast<int64_t>(layer)).bind(2, length).bind(3, until).bind(4, most).run();
    has_deleted |= connection_.changes() > 0;
  };
  for (int64_t length : lengths) delete_of(as_recorded, length);
  delete_of(hours, hour_seconds);
  ACU_CHECK(connection_.status());
  if (has_deleted) ACU_CHECK(transaction.commit());
  return has_deleted;
}

base::Status SqliteStore::delete_until(int64_t second) {
  ACU_CHECK(repeat([&] { return delete_some(second); }));
  return connection_.run("DELETE FROM findings WHERE time < " + std::to_string(second));
}

// What an import left that was killed.
base::Status SqliteStore::drop_interrupted_import() {
  if (!connection_.integer("SELECT 1 FROM slots WHERE layer = 2 LIMIT 1")) return connection_.status();
  const auto lock = lock_import(connection_.path(), 0);
  return lock.ok() ? drop_arriving() : base::Status(); // it still runs
}

// The oldest tenth at a time; stacks are the larger part, and go with the samples that were their last.
base::Status SqliteStore::keep_size(const Limits& limits) {
  constexpr double enough = 0.9; // of the limit, so that this is not done every minute
  if (used_bytes() <= limits.max_bytes) return {};
  while (static_cast<double>(used_bytes()) > enough * static_cast<double>(limits.max_bytes)) {
    const int64_t from = connection_.integer("SELECT min(slot) FROM slots WHERE layer < 2"), to = connection_.integer("SELECT max(slot) FROM slots WHERE layer < 2");
    if (from >= to) break;
    ACU_CHECK(delete_until(from + std::max((to - from) / 10, slot_seconds)));
    ACU_CHECK(delete_unused());
  }
  return connection_.status();
}

base::Status SqliteStore::give_space_back() {
  constexpr int64_t least = 64, at_once = 200; // pages
  int64_t free = connection_.integer("PRAGMA freelist_count");
  if (free < least) return connection_.status();
  for (int64_t before = free + 1; free > 0 && free < before; give_way()) {
    before = free;
    ACU_CHECK(connection_.run("PRAGMA incremental_vacuum(" + std::to_string(at_once) + ")"));
    free = connection_.integer("PRAGMA freelist_count");
  }
  return connection_.run("PRAGMA wal_checkpoint(PASSIVE)"); // this shortens the file
}

base::Status SqliteStore::keep_within(const Limits& limits, int64_t now) {
  ACU_CHECK(drop_interrupted_import());
  ACU_CHECK(repeat([&] { return merge_slots(now); }));
  ACU_CHECK(delete_until(now - limits.keep_seconds));
  ACU_CHECK(repeat([&] { return make_hours(limits, now); }));
  ACU_CHECK(keep_size(limits));
  const int64_t swept = connection_.integer("SELECT swept FROM upkeep");
  if (now - swept >= sweep_seconds || swept > now) { // a clock that was set back
    ACU_CHECK(delete_unused());
    ACU_CHECK(connection_.run("UPDATE upkeep SET swept = " + std::to_string(now)));
  }
  return give_space_back();
}

base::Status SqliteStore::compact(const Limits& limits, int64_t now) {
  ACU_CHECK(keep_within(limits, now));
  ACU_CHECK(delete_unused());
  return connection_.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
}

base::Result<std::vector<std::string>> SqliteStore::check() {
  Transaction reading(connection_); // what others delete meanwhile is still there
  ACU_CHECK(reading.begin_reading());
  std::vector<std::string> out;
  Statement integrity = connection_.prepare("PRAGMA integrity_check(20)");
  while (integrity.step())
    if (integrity.text(0) != "ok") out.emplace_back(integrity.text(0));
  if (auto whole = connection_.status(); !whole.ok()) out.push_back(whole.error().message);
  if (!out.empty()) return out;
  for (auto [table, column, target] : {std::tuple{"slots", "source", "sources"}, {"threads", "service", "services"}, {"threads", "process", "names"}, {"threads", "name", "names"},
                                       {"frames", "name", "names"}, {"frames", "module", "names"}}) {
    const std::string missing = std::string("SELECT count(*) FROM ") + table + " WHERE " + column + " NOT IN (SELECT id FROM " + target + ")";
    if (const int64_t n = connection_.integer(missing)) out.push_back(std::to_string(n) + " rows of " + table + " refer to " + target + " that are missing");
  }
  ACU_TRY(const std::vector<std::string> missing, check_references());
  out.insert(out.end(), missing.begin(), missing.end());
  ACU_CHECK(connection_.status());
  return out;
}

} // namespace store
