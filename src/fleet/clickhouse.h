// Statements over ClickHouse's HTTP interface (https://clickhouse.com/docs/interfaces/http), which is the same from version 18 on.
#pragma once

#include "base/result.h"
#include "net/http_client.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

struct Address {
  net::Endpoint endpoint;
  std::string user = "default", password, database;
  std::string shown() const; // without the password
};

constexpr std::string_view address_scheme = "clickhouse://";
// clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE. Without a password: that of the environment, CLICKHOUSE_PASSWORD.
base::Result<Address> read_address(const std::string& text);

using Row = std::vector<std::string>;

class ClickHouse {
public:
  explicit ClickHouse(Address address) : address_(std::move(address)) {}
  const Address& address() const { return address_; }

  // Failure (runtime): not reachable; (permission): wrong user or password; otherwise what ClickHouse says.
  // `settings`: "&NAME=VALUE…".
  base::Status run(std::string_view statement, bool in_database = true, const std::string& settings = "") const;
  // All rows, as texts.
  base::Result<std::vector<Row>> rows(std::string_view query, uint32_t seconds = 60) const;
  // The answer as ClickHouse writes it, in the FORMAT of the query.
  base::Result<std::string> bytes(std::string_view query, uint32_t seconds = 60) const;
  // `rows` are in the format RowBinary. ClickHouse refuses to run two statements of one `id` at once. Failure (usage): it refuses these rows, whenever they
  // are sent; (unsupported): it refuses the insert for a reason that may be of the rows; (runtime): later it may take them.
  base::Status insert(std::string_view table, std::string_view rows, std::string_view id) const;

private:
  base::Result<net::HttpAnswer> exchange(const std::string& parameters, std::string_view body, uint32_t seconds) const;
  base::Result<std::string> ask(const std::string& parameters, std::string_view body, uint32_t seconds) const;
  base::Error refusal(const net::HttpAnswer& answer) const;
  Address address_;
};

// As a literal of SQL.
std::string quoted(std::string_view text);

// Rows in the format RowBinary.
class RowWriter {
public:
  template<std::integral T> RowWriter& number(T value) {
    for (size_t i = 0; i < sizeof value; i++) bytes_ += static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> 8 * i);
    return *this;
  }
  RowWriter& number(double value) { return number(std::bit_cast<uint64_t>(value)); }
  RowWriter& text(std::string_view text);
  RowWriter& size(uint64_t size); // of an array, before its values
  void end_row() { rows_++; }
  uint64_t rows() const { return rows_; }
  const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
  uint64_t rows_ = 0;
};

} // namespace fleet
