// Views read what is inserted into tables that keep nothing, and write where the bits of `targets` say. Sums are made by the tables' merges and by queries.
// Partitions are days of UTC, which are deleted whole.
#include "fleet/schema.h"

#include "base/text.h"

#include <algorithm>

namespace fleet {

namespace {

// `intDiv` and not functions of dates: numbers have no time zone. Markers have a count of 1, as SummingMergeTree deletes rows of zeros.
constexpr std::string_view fixed_tables[] = {
    "CREATE TABLE IF NOT EXISTS acu_schema(version UInt32) ENGINE = ReplacingMergeTree() ORDER BY version",
    "CREATE TABLE IF NOT EXISTS retention(written UInt32, fine_seconds UInt64, seconds UInt64) ENGINE = ReplacingMergeTree() ORDER BY written",
    "CREATE TABLE IF NOT EXISTS hosts(host UInt64, name String, spool UInt64, received UInt32, slot UInt32, clock_offset Int64, dropped UInt64, dropped_samples UInt64) "
    "ENGINE = ReplacingMergeTree(received) ORDER BY (host, spool)",
    "CREATE TABLE IF NOT EXISTS services(service UInt64, name String, type UInt8) ENGINE = ReplacingMergeTree() ORDER BY service",
    "CREATE TABLE IF NOT EXISTS threads(thread UInt64, pid UInt32, process String, name String) ENGINE = ReplacingMergeTree() ORDER BY thread",
    "CREATE TABLE IF NOT EXISTS frames(frame UInt64, name String, module String, kind UInt8, named UInt8) ENGINE = ReplacingMergeTree() ORDER BY frame",
    "CREATE TABLE IF NOT EXISTS stacks(stack UInt64, frames Array(UInt64)) ENGINE = ReplacingMergeTree() ORDER BY stack",
    "CREATE TABLE IF NOT EXISTS samples_in(targets UInt8, kind String, service UInt64, start UInt32, host UInt64, thread UInt64, stack UInt64, added_weight UInt64, added_count UInt64) ENGINE = Null",
    "CREATE TABLE IF NOT EXISTS series_in(targets UInt8, metric String, service UInt64, start UInt32, host UInt64, added Float64) ENGINE = Null",
};

// The columns that rows of a table are summed by, in the order of what is asked for: a host's time, or a service's in all hosts.
std::string keys_of(const Target& target) {
  if (target.is_series) return "metric, service, host, slot";
  if (!target.has_hosts) return "kind, service, slot, stack";
  return std::string("kind, host, slot, service") + (target.has_threads ? ", thread" : "") + ", stack";
}

std::string table_of(const Target& target) {
  const std::string name(target.table), end = " PARTITION BY intDiv(slot, 86400) ORDER BY (" + keys_of(target) + ")";
  if (target.is_series)
    return "CREATE TABLE IF NOT EXISTS " + name + "(metric String, service UInt64, slot UInt32, host UInt64, value Float64) ENGINE = SummingMergeTree(value)" + end;
  return "CREATE TABLE IF NOT EXISTS " + name + "(kind String, service UInt64, slot UInt32, " + (target.has_hosts ? "host UInt64, " : "") + (target.has_threads ? "thread UInt64, " : "") +
         "stack UInt64, weight UInt64, count UInt64) ENGINE = SummingMergeTree((weight, count))" + end;
}

// What is read has other names than the columns: an alias would hide them.
std::string view_of(size_t number) {
  const Target& target = targets[number];
  const std::string name(target.table), length = std::to_string(target.slot_seconds), keys = keys_of(target);
  std::string selected = keys;
  base::replace_all(selected, "slot", "toUInt32(intDiv(start, " + length + ") * " + length + ") AS slot");
  const std::string sums = target.is_series ? ", sum(added) AS value FROM series_in" : ", sum(added_weight) AS weight, sum(added_count) AS count FROM samples_in";
  return "CREATE MATERIALIZED VIEW IF NOT EXISTS to_" + name + " TO " + name + " AS SELECT " + selected + sums + " WHERE bitAnd(targets, " + std::to_string(bit_of(number)) + ") != 0 GROUP BY " + keys;
}

} // namespace

int64_t Retention::of(const Target& target) const {
  return target.slot_seconds == 10 ? fine_seconds : target.slot_seconds == 60 ? std::min(10 * fine_seconds, seconds) : seconds;
}

base::Status prepare_schema(const ClickHouse& clickhouse, const Retention& retention, int64_t now) {
  const std::string& database = clickhouse.address().database;
  ACU_CHECK(clickhouse.run("CREATE DATABASE IF NOT EXISTS " + database, false));
  for (std::string_view statement : fixed_tables) ACU_CHECK(clickhouse.run(statement));
  ACU_TRY(const std::vector<Row> version, clickhouse.rows("SELECT max(version) FROM acu_schema"));
  const int64_t found = version.empty() ? 0 : static_cast<int64_t>(base::parse_integer(version[0][0]).value_or(0));
  if (found > schema_version)
    return base::Error{base::Failure::unsupported, "the database `" + database + "` has version " + std::to_string(found) + " of the schema, this acu knows up to " +
                                                       std::to_string(schema_version) + "\nhint: use the newer acu, or name another database with --store"};
  for (const Target& target : targets) ACU_CHECK(clickhouse.run(table_of(target)));
  for (size_t i = 0; i < std::size(targets); i++) ACU_CHECK(clickhouse.run(view_of(i)));
  if (found < schema_version) ACU_CHECK(clickhouse.run("INSERT INTO acu_schema VALUES (" + std::to_string(schema_version) + ")"));
  const Retention before = read_retention(clickhouse);
  if (before.fine_seconds == retention.fine_seconds && before.seconds == retention.seconds) return {};
  return clickhouse.run("INSERT INTO retention VALUES (" + std::to_string(now) + ", " + std::to_string(retention.fine_seconds) + ", " + std::to_string(retention.seconds) + ")");
}

Retention read_retention(const ClickHouse& clickhouse) {
  Retention out;
  const auto rows = clickhouse.rows("SELECT fine_seconds, seconds FROM retention ORDER BY written DESC LIMIT 1");
  if (!rows.ok() || rows->empty()) return out; // an older collector made no such table
  out.fine_seconds = static_cast<int64_t>(base::parse_integer((*rows)[0][0]).value_or(0)), out.seconds = static_cast<int64_t>(base::parse_integer((*rows)[0][1]).value_or(0));
  return out;
}

namespace {

// Later versions have the limit as a setting of a query, too; 0: none.
base::Result<std::string> settings_of_drop(const ClickHouse& clickhouse) {
  constexpr std::string_view name = "max_partition_size_to_drop";
  ACU_TRY(const std::vector<Row> found, clickhouse.rows("SELECT count() FROM system.settings WHERE name = " + quoted(name)));
  return found.empty() || found[0][0] == "0" ? std::string() : "&" + std::string(name) + "=0";
}

base::Error not_deleted(const std::string& table, const std::string& day, base::Error why) {
  const std::string what = "cannot delete day " + day + " (days since 1970) of the table `" + table + "`, which is older than --keep and --keep-fine";
  if (why.message.find("force_drop_table") == why.message.npos) return std::move(why).with(what);
  return {base::Failure::unsupported, what + ": ClickHouse refuses it, as the day is larger than the server's limit max_partition_size_to_drop"
                                             "\nhint: set <max_partition_size_to_drop>0</max_partition_size_to_drop> in the server's configuration; or let it drop one partition: make the file "
                                             "`flags/force_drop_table` in its data folder, writable for its user. acu collect tries again each hour"};
}

} // namespace

base::Status delete_old(const ClickHouse& clickhouse, int64_t now, const Retention& retention) {
  base::Status out;
  ACU_TRY(const std::string settings, settings_of_drop(clickhouse));
  for (const Target& target : targets) {
    const std::string table(target.table);
    ACU_TRY(const std::vector<Row> days, clickhouse.rows("SELECT DISTINCT partition FROM system.parts WHERE active AND database = " + quoted(clickhouse.address().database) +
                                                         " AND table = " + quoted(table) + " AND toUInt32(partition) < " + std::to_string(retention.oldest(target, now) / 86400) + " ORDER BY partition"));
    for (const Row& day : days)
      if (auto dropped = clickhouse.run("ALTER TABLE " + table + " DROP PARTITION " + day[0], true, settings); !dropped.ok() && out.ok()) out = not_deleted(table, day[0], std::move(dropped.error()));
  }
  return out;
}

} // namespace fleet
