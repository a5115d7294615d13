// The virtual-table module of SQLite that serves all tables (https://www.sqlite.org/vtab.html).
//
// A table is read at most once in a query, in one pass, and stays as it was read until the query ends: rows of one table belong together, and a join
// finds the same rows each time. Conditions `column = constant` of pushed columns, and arguments, reach the reader. For other equalities, as joins have
// them, rows are found with a hash index that is made when it is first needed.
#pragma once

#include "sql/table.h"

#include <functional>
#include <map>
#include <sqlite3.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace sql {

// Rows of a table as they were read for the query that runs.
struct Snapshot {
  std::unique_ptr<Rows> rows;
  std::map<size_t, std::unordered_map<Value, std::vector<uint32_t>>> indexes; // by column
};

// What tables of a connection share.
struct Snapshots {
  std::map<std::pair<const Table*, std::vector<Value>>, Snapshot> taken; // by table and what it was asked for
  std::map<const Table*, uint64_t> used; // columns that the query reads, as bits; from its planning
  std::vector<std::string> notes;
  base::Failure failure = base::Failure::runtime; // of a table that could not be read
  Limit limit;
  Subject* subject = nullptr;

  // Before a statement is planned. Notes stay: they are of all statements of a query.
  void begin() { taken.clear(), used.clear(), failure = base::Failure::runtime; }
  base::Result<Snapshot*> take(const Table& table, std::vector<Value> given);
};

// `snapshots` outlives the connection.
base::Status add_table(sqlite3* connection, const Table& table, Snapshots& snapshots);

} // namespace sql
