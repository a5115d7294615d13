// Results as a table, CSV or JSON. Rows are written as they come; a table waits for its first rows to know how wide its columns are.
#pragma once

#include "report/report.h"
#include "sql/query.h"

#include <memory>
#include <string_view>

namespace sql {

// `format`: text, json (one object per line) or csv (RFC 4180).
std::unique_ptr<Sink> make_sink(std::string_view format, report::Sink& output);

// Results as an SQLite database in memory, a table for each statement.
class DatabaseSink final : public Sink {
public:
  DatabaseSink();
  ~DatabaseSink() override;
  // The name of the tables to come: the second one is "NAME_2", and so on. Without it, "result".
  void name_next(std::string name) { name_ = std::move(name), of_name_ = 0; }
  void begin(const std::vector<std::string>& columns) override;
  void add(const std::vector<Value>& row) override;
  void end() override;
  // The file appears whole, or not at all.
  base::Status write(const std::string& path);
  uint64_t tables() const { return tables_; }
  uint64_t rows() const { return rows_; }

private:
  void run(const std::string& text);

  sqlite3* connection_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::string name_ = "result", failure_; // the first
  uint64_t tables_ = 0, rows_ = 0, of_name_ = 0;
};

} // namespace sql
