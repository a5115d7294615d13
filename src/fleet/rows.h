// A batch as rows of tables: ids instead of names.
#pragma once

#include "fleet/batch.h"
#include "fleet/clickhouse.h"

#include <unordered_set>

namespace fleet {

struct BatchRows {
  std::string host; // name
  uint64_t host_id = 0, batch_id = 0;
  int64_t slot = 0;
  Content content;
  std::vector<uint64_t> services, frames, stacks, threads; // ids of what the content has
};

// `spool` and `number` make the batch different from all others of the host.
BatchRows rows_of(std::string_view host, uint64_t spool, uint64_t number, int64_t slot, Content content);

// With the marker. `targets`: the tables that lack the batch (schema.h).
void add_samples(RowWriter& to, const BatchRows& batch, uint8_t targets);
void add_series(RowWriter& to, const BatchRows& batch, uint8_t targets);

// What ids stand for: rows of those that were not stored before.
class Names {
public:
  void add(const BatchRows& batch);
  // Writes them before anything refers to them. They count as stored once all are.
  base::Status store(const ClickHouse& clickhouse, std::string_view id);

private:
  struct Table {
    std::string_view name;
    std::unordered_set<uint64_t> stored = {}, added = {};
    RowWriter rows = {};
    bool is_new(uint64_t id) { return !stored.contains(id) && added.insert(id).second; }
  };
  Table services_ = {"services"}, frames_ = {"frames"}, stacks_ = {"stacks"}, threads_ = {"threads"};
};

} // namespace fleet
