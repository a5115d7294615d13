// The tables in ClickHouse (README.md), and which of them get a batch.
#pragma once

#include "fleet/clickhouse.h"

#include <array>

namespace fleet {

constexpr int64_t schema_version = 2; // 2: names of numbers have their source; the table `retention`

// A table that batches are added to. Its bit in the column `targets` says that a row is meant for it.
struct Target {
  std::string_view table;
  uint32_t slot_seconds; // length of its slots
  bool is_series;
  bool has_threads = false, has_hosts = true;
};
inline constexpr Target targets[] = {
    {.table = "samples", .slot_seconds = 10, .is_series = false, .has_threads = true},
    {.table = "samples_minute", .slot_seconds = 60, .is_series = false},
    {.table = "samples_hour", .slot_seconds = 3600, .is_series = false},
    {.table = "samples_fleet", .slot_seconds = 600, .is_series = false, .has_hosts = false},
    {.table = "series", .slot_seconds = 10, .is_series = true},
    {.table = "series_minute", .slot_seconds = 60, .is_series = true},
    {.table = "series_hour", .slot_seconds = 3600, .is_series = true},
};
constexpr uint8_t all_targets = (1u << std::size(targets)) - 1;
constexpr uint8_t bit_of(size_t target) { return static_cast<uint8_t>(1u << target); }
constexpr std::string_view marker = "#";

// For how long slots are kept: those of 10 s, those of minutes ten times as long, and the others.
struct Retention {
  int64_t fine_seconds = 7 * 86400, seconds = 400 * 86400;
  int64_t of(const Target& target) const;
  // The first slot that a table still has: whole days are deleted.
  int64_t oldest(const Target& target, int64_t now) const { return (now - of(target)) / 86400 * 86400; }
};

// Makes the database and what is missing in it, and writes down the retention, which readers need. Failure: its schema is of a newer acu.
base::Status prepare_schema(const ClickHouse& clickhouse, const Retention& retention, int64_t now);
// That of the collector that began last; usual values where none has written it.
Retention read_retention(const ClickHouse& clickhouse);
// Deletes older partitions. If one cannot be deleted, the others still are; the first failure is returned.
base::Status delete_old(const ClickHouse& clickhouse, int64_t now, const Retention& retention);

} // namespace fleet
