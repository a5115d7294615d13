// Virtual tables of SQLite (https://www.sqlite.org/vtab.html) that exist without CREATE. A condition on `slot` selects the slots that are unpacked.
#include "store/row_tables.h"

#include "store/packed.h"

#include <sqlite3.h>
#include <string>
#include <utility>

namespace store {

namespace {

enum SlotColumn { column_source, column_slot, column_length, column_covered, slot_columns };

struct Samples {
  using Row = SampleRow;
  static constexpr const char* declaration = "CREATE TABLE x(source INTEGER, slot INTEGER, length INTEGER, covered INTEGER, thread INTEGER, stack INTEGER, weight INTEGER, count INTEGER)";
  static constexpr const char* packed = "samples";
  static std::vector<Row> unpack(std::string_view bytes) { return unpack_samples(bytes); }
  static void give(sqlite3_context* to, const Row& row, int column) {
    const int64_t values[] = {row.thread, row.stack, static_cast<int64_t>(row.weight), static_cast<int64_t>(row.count)};
    ::sqlite3_result_int64(to, values[column]);
  }
};

struct Series {
  using Row = PointRow;
  static constexpr const char* declaration = "CREATE TABLE x(source INTEGER, slot INTEGER, length INTEGER, covered INTEGER, service INTEGER, metric INTEGER, value REAL)";
  static constexpr const char* packed = "points";
  static std::vector<Row> unpack(std::string_view bytes) { return unpack_points(bytes); }
  static void give(sqlite3_context* to, const Row& row, int column) {
    if (column == 2) return ::sqlite3_result_double(to, row.value);
    ::sqlite3_result_int64(to, column == 0 ? row.service : row.metric);
  }
};

template<class Kind> struct Table : sqlite3_vtab {
  sqlite3* connection = nullptr;

  struct Cursor : sqlite3_vtab_cursor {
    sqlite3_stmt* slots = nullptr;
    std::vector<typename Kind::Row> rows; // of the slot that `slots` is at
    size_t at = 0;
    bool is_at_end = true;
    sqlite3_int64 number = 0;
  };

  static int connect(sqlite3* connection, void*, int, const char* const*, sqlite3_vtab** out, char**) {
    if (const int failed = ::sqlite3_declare_vtab(connection, Kind::declaration)) return failed;
    auto* table = new Table();
    table->connection = connection;
    *out = table;
    return SQLITE_OK;
  }
  static int disconnect(sqlite3_vtab* table) { return delete static_cast<Table*>(table), SQLITE_OK; }

  // Conditions on `slot`, as SQL for the query of slots.
  static int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
    std::string conditions;
    int arguments = 0;
    for (int i = 0; i < info->nConstraint; i++) {
      const auto& constraint = info->aConstraint[i];
      if (!constraint.usable || constraint.iColumn != column_slot) continue;
      const char* comparison = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ   ? "="
                               : constraint.op == SQLITE_INDEX_CONSTRAINT_GT ? ">"
                               : constraint.op == SQLITE_INDEX_CONSTRAINT_GE ? ">="
                               : constraint.op == SQLITE_INDEX_CONSTRAINT_LT ? "<"
                               : constraint.op == SQLITE_INDEX_CONSTRAINT_LE ? "<="
                                                                             : nullptr;
      if (!comparison) continue;
      info->aConstraintUsage[i].argvIndex = ++arguments;
      conditions += std::string(" AND slot ") + comparison + " ?" + std::to_string(arguments);
    }
    info->idxStr = ::sqlite3_mprintf("%s", conditions.c_str());
    info->needToFreeIdxStr = 1;
    info->estimatedCost = arguments ? 1e5 : 1e7;
    info->estimatedRows = arguments ? 100'000 : 10'000'000;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
  }

  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) { return *out = new Cursor(), SQLITE_OK; }
  static int close(sqlite3_vtab_cursor* base) {
    auto* cursor = static_cast<Cursor*>(base);
    ::sqlite3_finalize(cursor->slots);
    return delete cursor, SQLITE_OK;
  }

  static int filter(sqlite3_vtab_cursor* base, int, const char* conditions, int count, sqlite3_value** arguments) {
    auto* cursor = static_cast<Cursor*>(base);
    ::sqlite3_finalize(std::exchange(cursor->slots, nullptr));
    cursor->rows.clear(), cursor->at = 0, cursor->number = 0, cursor->is_at_end = false;
    const std::string query = std::string("SELECT source, slot, length, covered, ") + Kind::packed + " FROM slots WHERE layer = 0" + (conditions ? conditions : "") + " ORDER BY slot";
    if (const int failed = ::sqlite3_prepare_v2(static_cast<Table*>(base->pVtab)->connection, query.c_str(), -1, &cursor->slots, nullptr)) return failed;
    for (int i = 0; i < count; i++) ::sqlite3_bind_value(cursor->slots, i + 1, arguments[i]);
    return find_row(*cursor);
  }
  // The next slot that has rows, where those of this one are over.
  static int find_row(Cursor& cursor) {
    while (cursor.at == cursor.rows.size()) {
      const int code = ::sqlite3_step(cursor.slots);
      if (code != SQLITE_ROW) {
        cursor.is_at_end = true;
        return code == SQLITE_DONE ? SQLITE_OK : code;
      }
      const auto* bytes = static_cast<const char*>(::sqlite3_column_blob(cursor.slots, slot_columns));
      cursor.rows = Kind::unpack({bytes ? bytes : "", static_cast<size_t>(::sqlite3_column_bytes(cursor.slots, slot_columns))});
      cursor.at = 0;
    }
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* base) {
    auto* cursor = static_cast<Cursor*>(base);
    cursor->at++, cursor->number++;
    return find_row(*cursor);
  }
  static int is_at_end(sqlite3_vtab_cursor* base) { return static_cast<Cursor*>(base)->is_at_end; }
  static int column(sqlite3_vtab_cursor* base, sqlite3_context* to, int column) {
    auto* cursor = static_cast<Cursor*>(base);
    if (column < slot_columns)
      ::sqlite3_result_value(to, ::sqlite3_column_value(cursor->slots, column));
    else
      Kind::give(to, cursor->rows[cursor->at], column - slot_columns);
    return SQLITE_OK;
  }
  static int row_number(sqlite3_vtab_cursor* base, sqlite3_int64* out) { return *out = static_cast<Cursor*>(base)->number, SQLITE_OK; }

  static const sqlite3_module* module() {
    static const sqlite3_module out = [] {
      sqlite3_module m = {};
      m.xConnect = connect, m.xDisconnect = disconnect, m.xBestIndex = best_index;
      m.xOpen = open, m.xClose = close, m.xFilter = filter, m.xNext = next, m.xEof = is_at_end, m.xColumn = column, m.xRowid = row_number;
      return m;
    }();
    return &out;
  }
};

} // namespace

void add_row_tables(sqlite3* connection) {
  ::sqlite3_create_module_v2(connection, "samples", Table<Samples>::module(), nullptr, nullptr);
  ::sqlite3_create_module_v2(connection, "series", Table<Series>::module(), nullptr, nullptr);
  ::sqlite3_exec(connection, "SELECT 1 FROM samples, series LIMIT 0", nullptr, nullptr, nullptr); // declares their columns, which an authorizer may forbid later
}

} // namespace store
