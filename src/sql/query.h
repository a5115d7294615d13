// A connection to SQLite with all tables, and queries that run in bounded time and memory. Queries read: they can neither write files nor load code. Tables and
// views that they make are temporary.
#pragma once

#include "sql/module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sql {

// What becomes of the rows of a statement.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void begin(const std::vector<std::string>& columns) = 0;
  virtual void add(const std::vector<Value>& row) = 0;
  virtual void end() = 0;
};

constexpr uint64_t default_duration_ns = 60'000'000'000;

enum class End : uint8_t { complete, interrupted, out_of_time };

class Database {
public:
  // With the tables of the host, or of a file; the subject outlives it.
  static base::Result<std::unique_ptr<Database>> open(Of of, Subject* subject);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Statements, separated by `;`. The rows before a failure, or before the end of the time, have been sent to the sink. A failure's message is complete lines,
  // with the location in the text where there is one.
  base::Result<End> run(std::string_view text, uint64_t duration_ns, Sink& sink);
  // What the tables of the last query could not read.
  const std::vector<std::string>& notes() const { return snapshots_.notes; }
  const std::vector<const Table*>& tables() const { return tables_; }
  // Whether it ends with a complete statement.
  static bool is_complete(const std::string& text);
  // Names that complete the word at the end of an unfinished query: tables, columns, keywords.
  std::vector<std::string> complete(std::string_view word);

private:
  Database() = default;
  int step(sqlite3_stmt* statement, Sink& sink);
  base::Error error_at(std::string_view text, size_t begin) const;

  Snapshots snapshots_;
  sqlite3* connection_ = nullptr;
  std::vector<const Table*> tables_;
};

} // namespace sql
