// A recording that becomes part of a store all at once, or not at all.
//
// Its slots are written one by one, in short transactions, to a layer that nobody reads; commit() moves them to the others in a last one. A single transaction
// for all of it would keep samplers waiting for as long as a large import takes.
#pragma once

#include "base/fd.h"
#include "store/store.h"

#include <memory>
#include <string>

namespace store {

class SqliteStore;

class Import {
public:
  // One at a time for each store. Deletes what one left that was killed. The caller holds the lock of the source (writer_lock.h).
  static base::Result<Import> begin(const std::string& path, std::string source);
  Import(Import&&) noexcept;
  Import& operator=(Import&&) = delete;
  // Without commit(): deletes what was written. What a full disk keeps it from deleting is not seen, and goes with the next import or upkeep.
  ~Import();

  base::Status write(int64_t slot, uint64_t covered_ns, const std::vector<Point>& points, const Batch& batch);
  // Afterwards, all of it is in the store; after a failure, nothing.
  base::Status commit();

private:
  Import(std::unique_ptr<SqliteStore> store, base::Fd lock, std::string source);
  base::Fd lock_; // released last
  std::unique_ptr<SqliteStore> store_;
  std::string source_;
  uint64_t gave_way_ns_ = 0; // when it last did
};

} // namespace store
