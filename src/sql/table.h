// What a table is: its columns, and a function that reads its rows from a process, the kernel or a file. A table is a plain struct of one row and a list of
// columns, each a member of that struct, so that a cell is computed only if a query asks for it.
//
//   struct Module { std::string name; int64_t size; };
//   constexpr Column columns[] = {column<&Module::name>("name", "", "Its name."), column<&Module::size>("size", "bytes", "Its size.")};
//   const Table modules = {.name = "modules", .doc = "…", .columns = columns, .read = rows_of<read_modules>};
#pragma once

#include "base/result.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sql {

using Value = std::variant<std::monostate, int64_t, double, std::string>; // as SQLite has them; monostate: NULL

enum class Type : uint8_t { integer, real, text, any };

enum class Role : uint8_t {
  plain,
  pushed,   // a condition `column = constant` reaches the reader, which may leave out other rows
  argument, // of the table as a function, `from symbols('libc.so.6')`, and not a column of `select *`
  optional_argument,
};

struct Column {
  std::string_view name, unit, doc;
  Type type = Type::text;
  Role role = Role::plain;
  Value (*get)(const void* row) = nullptr; // none: an argument

  constexpr bool is_argument() const { return role == Role::argument || role == Role::optional_argument; }
};

namespace detail {

template<class T> struct inner_of { using type = T; };
template<class T> struct inner_of<std::optional<T>> { using type = T; };

template<class C, class M> C class_of(M C::*);

template<class T> constexpr Type type_of() {
  using Inner = typename inner_of<std::remove_cvref_t<T>>::type;
  if constexpr (std::is_same_v<Inner, Value>) return Type::any;
  else if constexpr (std::is_integral_v<Inner>) return Type::integer;
  else if constexpr (std::is_floating_point_v<Inner>) return Type::real;
  else return Type::text;
}

template<class T> Value value_of(const T& from) {
  if constexpr (std::is_same_v<T, Value>) return from;
  else if constexpr (requires { from.has_value(); }) return from ? value_of(*from) : Value();
  else if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(from);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(from);
  else return std::string(from);
}

} // namespace detail

// `member`: a member of a row, or a function of it without parameters. Of an optional one, an absent value is NULL.
template<auto member>
constexpr Column column(std::string_view name, std::string_view unit, std::string_view doc, Role role = Role::plain) {
  using Row = decltype(detail::class_of(member));
  return {.name = name,
          .unit = unit,
          .doc = doc,
          .type = detail::type_of<std::invoke_result_t<decltype(member), const Row&>>(),
          .role = role,
          .get = [](const void* row) { return detail::value_of(std::invoke(member, *static_cast<const Row*>(row))); }};
}
constexpr Column argument(std::string_view name, Type type, std::string_view unit, std::string_view doc, Role role = Role::argument) {
  return {.name = name, .unit = unit, .doc = doc, .type = type, .role = role};
}

class Rows {
public:
  virtual ~Rows() = default;
  virtual size_t size() const = 0;
  virtual const void* at(size_t index) const = 0;
};

struct Table;

// What is queried instead of the host, and what of it has been read.
struct Subject;

// When a query ends, whether it is complete or not.
struct Limit {
  uint64_t deadline_ns = UINT64_MAX; // CLOCK_MONOTONIC

  bool is_interrupted() const; // by a signal
  uint64_t left_ns() const;    // 0: it has ended
};

// What a query asks of a table, and where the reader reports what is missing.
class Request {
public:
  Request(const Table& table, uint64_t used, std::vector<Value> given, std::vector<std::string>& notes, const Limit& limit, Subject* subject)
      : table_(table), used_(used), given_(std::move(given)), notes_(notes), limit_(limit), subject_(subject) {}

  // Whether the query reads this column: others may stay empty.
  bool uses(std::string_view column) const;
  // The argument, or the value that the column must be equal to.
  std::optional<int64_t> number(std::string_view column) const;
  std::optional<double> real(std::string_view column) const;
  std::optional<std::string> text(std::string_view column) const;
  // Printed once behind the result: "3 processes could not be read".
  void note(std::string text) const;
  // The user or the time limit has ended the query: the reader returns what it has.
  bool is_stopped() const { return limit_.left_ns() == 0; }
  uint64_t left_ns() const { return limit_.left_ns(); }
  // Of a table that is not of the host.
  Subject& subject() const { return *subject_; }

private:
  const Value& given(std::string_view column) const;

  const Table& table_;
  uint64_t used_; // bits by column
  std::vector<Value> given_; // by column; NULL: nothing
  std::vector<std::string>& notes_;
  const Limit& limit_;
  Subject* subject_;
};

enum class Of : uint8_t { host, recording, core };

struct Table {
  Of of = Of::host;
  std::string_view name, doc;
  std::string_view example; // a query
  std::span<const Column> columns; // up to 64; arguments last
  base::Result<std::unique_ptr<Rows>> (*read)(const Request& request);
  uint32_t expected_rows = 1000; // for the query planner
  bool measures = false;         // for a while, as its argument says

  // Its rows without arguments are what there is now.
  bool is_state() const {
    for (const Column& c : columns)
      if (c.role == Role::argument) return false;
    return !measures;
  }
};

template<class T> class RowsOf final : public Rows {
public:
  explicit RowsOf(std::vector<T> rows) : rows_(std::move(rows)) {}
  size_t size() const override { return rows_.size(); }
  const void* at(size_t index) const override { return &rows_[index]; }

private:
  std::vector<T> rows_;
};

// Of a function Request -> Result<std::vector<Row>>.
template<auto read> base::Result<std::unique_ptr<Rows>> rows_of(const Request& request) {
  auto rows = read(request);
  if (!rows.ok()) return std::move(rows.error());
  using Row = typename std::remove_reference_t<decltype(*rows)>::value_type;
  return std::unique_ptr<Rows>(std::make_unique<RowsOf<Row>>(std::move(*rows)));
}

} // namespace sql
