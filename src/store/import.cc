#include "store/import.h"

#include "base/clock.h"
#include "store/sqlite_store.h"
#include "store/writer_lock.h"

namespace store {

base::Result<Import> Import::begin(const std::string& path, std::string source) {
  constexpr uint64_t patience_ns = 5'000'000'000; // for upkeep that deletes what another one left
  ACU_TRY(base::Fd lock, lock_import(path, patience_ns));
  ACU_TRY(auto store, SqliteStore::open(path, Mode::write));
  Import out(std::move(store), std::move(lock), std::move(source));
  ACU_CHECK(out.store_->drop_arriving());
  return out;
}

Import::Import(std::unique_ptr<SqliteStore> store, base::Fd lock, std::string source) : lock_(std::move(lock)), store_(std::move(store)), source_(std::move(source)) {}
Import::Import(Import&&) noexcept = default;
Import::~Import() {
  if (store_) (void)store_->drop_arriving();
}

base::Status Import::write(int64_t slot, uint64_t covered_ns, const std::vector<Point>& points, const Batch& batch) {
  ACU_CHECK(store_->write(arriving, {.source = source_, .begin = slot, .covered_ns = covered_ns}, points, &batch));
  // Who waits for a transaction looks every 100 ms, and seldom in one of the short moments between two: once in half a second it finds none.
  constexpr uint64_t between_ns = 500'000'000, pause_ns = 120'000'000;
  if (const uint64_t now = base::clock_ns(); now - gave_way_ns_ >= between_ns) {
    if (gave_way_ns_) give_way(pause_ns);
    gave_way_ns_ = base::clock_ns();
  }
  return {};
}

base::Status Import::commit() { return store_->take_in(source_); }

base::Status SqliteStore::take_in(const std::string& source) {
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  forget_after_deletions();
  const int64_t id = source_id(source);
  Statement range = connection_.prepare("SELECT min(slot), max(slot) FROM slots WHERE source = ?1 AND layer = 2");
  if (range.bind(1, id).step()) delete_hours(id, {range.integer(0), range.integer(1) + slot_seconds});
  range.reset();
  // Those of a time of which something is there add to it: a slot may have numbers, and no samples.
  Statement find = connection_.prepare("SELECT id, source, layer, slot, length, covered, points, samples FROM slots AS s WHERE source = ?1 AND layer = 2 AND EXISTS (SELECT 1 FROM slots AS o "
                                       "WHERE o.source = ?1 AND o.layer = 0 AND o.slot <= s.slot AND o.slot > s.slot - ?2 AND o.slot + o.length > s.slot) ORDER BY slot");
  find.bind(1, id).bind(2, longest_slot);
  std::vector<SlotRow> shared;
  while (find.step()) shared.push_back(slot_row(find));
  find.reset();
  Statement remove = connection_.prepare("DELETE FROM slots WHERE source = ?1 AND layer = 2 AND slot = ?2");
  for (SlotRow& row : shared) {
    remove.bind(1, id).bind(2, row.slot).run();
    row.layer = as_recorded;
    add(std::move(row));
  }
  Statement move = connection_.prepare("UPDATE slots SET layer = 0, length = ?2 WHERE source = ?1 AND layer = 2");
  move.bind(1, id).bind(2, slot_seconds).run();
  auto moved = connection_.status();
  if (moved.ok()) moved = transaction.commit();
  if (!moved.ok()) forget();
  return moved;
}

base::Status SqliteStore::drop_arriving() {
  Statement remove = connection_.prepare("DELETE FROM slots WHERE id IN (SELECT id FROM slots WHERE layer = 2 LIMIT 100)");
  for (;;) {
    remove.run();
    ACU_CHECK(connection_.status());
    if (!connection_.changes()) return {};
    give_way();
  }
}

} // namespace store
