// A connection to SQLite whose failures are values: sentences with the file's name and what to do next.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace store {

// The first failure of a connection's statements since somebody asked.
struct FirstFailure {
  int code = 0; // of SQLite; 0: none
  std::string message;
  void note(sqlite3* connection, int code);
};

// One statement, prepared once and run many times. Parameters are numbered from 1, columns from 0.
class Statement {
public:
  Statement() = default;
  Statement(sqlite3* connection, FirstFailure* failure, std::string_view text);
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)), failure_(other.failure_) {}
  Statement& operator=(Statement&& other) noexcept { return std::swap(statement_, other.statement_), failure_ = other.failure_, *this; }
  ~Statement();

  bool is_valid() const { return statement_ != nullptr; }
  Statement& bind(int number, int64_t value);
  Statement& bind(int number, double value);
  Statement& bind(int number, std::string_view text); // copied
  Statement& bind_bytes(int number, std::string_view bytes);
  // true: there is a row. false: there is none, or it or an earlier statement failed, which Connection::status() tells. Until then no statement runs.
  bool step();
  // Until there is no row; then it can be run again.
  void run();
  void reset();
  int64_t integer(int column) const;
  double number(int column) const;
  std::string_view text(int column) const; // until the next step
  sqlite3_stmt* get() const { return statement_; }

private:
  sqlite3_stmt* statement_ = nullptr;
  FirstFailure* failure_ = nullptr;
};

enum class Access : uint8_t { read, write };

class Connection {
public:
  // Access::write creates the file, with permissions 0600. ":memory:" is a store for tests.
  static base::Result<Connection> open(const std::string& path, Access access);

  Statement prepare(std::string_view text) const { return Statement(connection_.get(), failure_.get(), text); }
  base::Status run(std::string_view text) const;
  // The first failure of a statement since the last call.
  base::Status status() const;
  int64_t integer(std::string_view query) const; // the first cell of the first row; 0: there is none
  // From now on. Statements fail when it is over; is_over() is for what is done between them.
  void limit_time(uint64_t limit_ns);
  bool is_over() const;
  base::Error time_limit() const;
  int changes() const; // rows of the last statement that changed any
  sqlite3* get() const { return connection_.get(); }
  const std::string& path() const { return path_; }
  // A code of SQLite as a sentence.
  base::Error error(int code, std::string_view message) const;

private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  struct Deadline {
    uint64_t limit_ns = 0, end_ns = 0; // 0: none
  };
  std::unique_ptr<Deadline> deadline_ = std::make_unique<Deadline>(); // SQLite has its address
  std::unique_ptr<sqlite3, Close> connection_;
  std::unique_ptr<FirstFailure> failure_ = std::make_unique<FirstFailure>();
  std::string path_;
};

// Everything between begin and commit, or nothing of it.
class Transaction {
public:
  explicit Transaction(const Connection& connection) : connection_(connection) {}
  ~Transaction();
  base::Status begin();
  base::Status begin_reading(); // all statements see the same rows
  base::Status commit();

private:
  const Connection& connection_;
  bool is_open_ = false;
};

} // namespace store
