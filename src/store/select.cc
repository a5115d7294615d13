// An authorizer lets only reads through; a progress handler ends what takes too long.
#include "store/select.h"

#include "base/clock.h"
#include "base/print.h"
#include "report/json.h"
#include "store/connection.h"
#include "store/row_tables.h"
#include "store/schema.h"

#include <cmath>
#include <sqlite3.h>

namespace store {

namespace {

constexpr int steps_between_looks = 10'000;
constexpr size_t most_bytes = 8 << 20;

int authorize(void*, int action, const char*, const char*, const char*, const char*) {
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

std::string cell(sqlite3_stmt* statement, int column) {
  std::string out;
  switch (::sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER: return std::to_string(::sqlite3_column_int64(statement, column));
  case SQLITE_FLOAT: return std::isfinite(::sqlite3_column_double(statement, column)) ? base::print("%.10g", ::sqlite3_column_double(statement, column)) : "null";
  case SQLITE_NULL: return "null";
  case SQLITE_BLOB: return "\"(" + std::to_string(::sqlite3_column_bytes(statement, column)) + " bytes)\"";
  default: {
    const auto* text = static_cast<const char*>(::sqlite3_column_blob(statement, column));
    report::append_json(out, std::string_view(text ? text : "", static_cast<size_t>(::sqlite3_column_bytes(statement, column))));
    return out;
  }
  }
}

} // namespace

base::Result<Rows> select(const std::string& path, const std::string& text, size_t most_rows, uint64_t duration_ns) {
  ACU_TRY(const Connection connection, Connection::open(path, Access::read));
  ACU_CHECK(prepare_schema(connection, Access::read));
  add_row_tables(connection.get());
  ::sqlite3_set_authorizer(connection.get(), authorize, nullptr);
  ::sqlite3_limit(connection.get(), SQLITE_LIMIT_LENGTH, static_cast<int>(most_bytes)); // of one value: hex(zeroblob(500000000))
  uint64_t end_ns = base::clock_ns() + duration_ns;
  ::sqlite3_progress_handler(
      connection.get(), steps_between_looks, [](void* end) { return static_cast<int>(base::clock_ns() >= *static_cast<uint64_t*>(end)); }, &end_ns);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  auto failed = [&](std::string_view hint = {}) {
    std::string message = ::sqlite3_errmsg(connection.get());
    if (message == "not authorized" || message == "authorization denied" || message.ends_with("may not be modified")) message = "only queries that read are allowed";
    const int offset = ::sqlite3_error_offset(connection.get());
    if (offset >= 0) message = "at character " + std::to_string(offset + 1) + ": " + message;
    return base::Error{base::Failure::usage, message + std::string(hint)};
  };
  if (::sqlite3_prepare_v2(connection.get(), text.c_str(), static_cast<int>(text.size()), &raw, &rest) != SQLITE_OK)
    return failed("\nhint: select name, sql from sqlite_master");
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, ::sqlite3_finalize);
  if (!statement) return base::Error{base::Failure::usage, "the query is empty"};
  Rows out;
  for (int c = 0; c < ::sqlite3_column_count(raw); c++) out.columns.emplace_back(::sqlite3_column_name(raw, c));
  size_t bytes = 0;
  for (int code; (code = ::sqlite3_step(raw)) != SQLITE_DONE;) {
    if (code == SQLITE_INTERRUPT) return base::Error{base::Failure::usage, "the query took longer than " + base::short_time(duration_ns) + "\nhint: limit the range of `slot`"};
    if (code != SQLITE_ROW) return failed();
    if (out.rows.size() == most_rows || bytes > most_bytes) {
      out.is_truncated = true;
      break;
    }
    std::vector<std::string>& row = out.rows.emplace_back();
    for (int c = 0; c < ::sqlite3_column_count(raw); c++) row.push_back(cell(raw, c)), bytes += row.back().size();
  }
  return out;
}

} // namespace store
