#include "sql/output.h"

#include "base/output_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/json_object.h"

#include <charconv>
#include <cmath>
#include <set>

namespace sql {

namespace {

std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* real = std::get_if<double>(&value);
  if (!real) return {};
  constexpr int digits = 15; // those that a double keeps for certain
  char bytes[32];
  return std::string(bytes, std::to_chars(bytes, bytes + sizeof bytes, *real, std::chars_format::general, digits).ptr);
}

bool is_number(const Value& value) { return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value); }

size_t columns_of(std::string_view text) {
  size_t out = 0;
  for (char c : text) out += base::begins_character(c);
  return out;
}

// Columns of one name get numbers, "pid", "pid:1", as SQLite numbers them in CREATE TABLE AS: a name that comes again would replace the first value or be refused.
std::vector<std::string> distinct(const std::vector<std::string>& columns) {
  std::set<std::string> taken; // in lower case: names of SQLite have no other difference
  std::vector<std::string> out;
  for (const std::string& column : columns) {
    std::string name = column;
    for (size_t n = 1; !taken.insert(base::lower(name)).second; n++) name = column + ":" + std::to_string(n);
    out.push_back(std::move(name));
  }
  return out;
}

class TextSink final : public Sink {
public:
  explicit TextSink(report::Sink& output) : output_(output) {}

  void begin(const std::vector<std::string>& columns) override {
    names_.clear();
    for (const std::string& name : columns) names_.push_back(base::printable(name)); // an expression without AS is its own name
    widths_.clear();
    for (const std::string& name : names_) widths_.push_back(columns_of(name));
    is_right_.assign(names_.size(), true);
    waiting_.clear();
    has_begun_ = false;
  }
  void add(const std::vector<Value>& row) override {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); i++) {
      const bool is_null = std::holds_alternative<std::monostate>(row[i]);
      cells.push_back(base::printable(text_of(row[i])));
      if (has_begun_) continue;
      widths_[i] = std::max(widths_[i], columns_of(cells.back()));
      is_right_[i] = is_right_[i] && (is_null || is_number(row[i]));
    }
    if (has_begun_) return write(cells);
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == rows_to_wait_for) write_waiting();
  }
  void end() override {
    if (!has_begun_) write_waiting();
  }

private:
  static constexpr size_t rows_to_wait_for = 1000;

  void write_waiting() {
    has_begun_ = true;
    write(names_);
    for (const std::vector<std::string>& cells : waiting_) write(cells);
    waiting_.clear();
  }
  void write(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); i++) {
      const std::string padding(widths_[i] - std::min(widths_[i], columns_of(cells[i])), ' ');
      if (i) line += "  ";
      line += is_right_[i] ? padding + cells[i] : cells[i] + padding;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    output_.out(line + "\n");
  }

  report::Sink& output_;
  std::vector<std::string> names_;
  std::vector<size_t> widths_;
  std::vector<bool> is_right_; // numbers are
  std::vector<std::vector<std::string>> waiting_;
  bool has_begun_ = false;
};

class JsonSink final : public Sink {
public:
  explicit JsonSink(report::Sink& output) : output_(output) {}
  void begin(const std::vector<std::string>& columns) override { names_ = distinct(columns); }
  void add(const std::vector<Value>& row) override {
    report::JsonObject object;
    for (size_t i = 0; i < row.size(); i++) {
      const auto* text = std::get_if<std::string>(&row[i]);
      const auto* real = std::get_if<double>(&row[i]);
      const bool is_null = std::holds_alternative<std::monostate>(row[i]) || (real && !std::isfinite(*real));
      text ? object.add(names_[i], *text) : object.raw(names_[i], is_null ? "null" : text_of(row[i]));
    }
    output_.out(object.end() + "\n");
  }
  void end() override {}

private:
  report::Sink& output_;
  std::vector<std::string> names_;
};

class CsvSink final : public Sink {
public:
  explicit CsvSink(report::Sink& output) : output_(output) {}
  void begin(const std::vector<std::string>& columns) override { add({columns.begin(), columns.end()}); }
  void add(const std::vector<Value>& row) override {
    std::string line;
    for (const Value& value : row) {
      std::string text = text_of(value);
      if (text.find_first_of(",\"\r\n") != text.npos) {
        base::replace_all(text, "\"", "\"\"");
        text = "\"" + text + "\"";
      }
      line += (&value == row.data() ? "" : ",") + text;
    }
    output_.out(line + "\r\n");
  }
  void end() override {}

private:
  report::Sink& output_;
};

} // namespace

std::unique_ptr<Sink> make_sink(std::string_view format, report::Sink& output) {
  if (format == "json") return std::make_unique<JsonSink>(output);
  if (format == "csv") return std::make_unique<CsvSink>(output);
  return std::make_unique<TextSink>(output);
}

DatabaseSink::DatabaseSink() { ::sqlite3_open(":memory:", &connection_); }

DatabaseSink::~DatabaseSink() {
  ::sqlite3_finalize(insert_);
  ::sqlite3_close(connection_);
}

void DatabaseSink::run(const std::string& text) {
  if (failure_.empty() && ::sqlite3_exec(connection_, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) failure_ = ::sqlite3_errmsg(connection_);
}

void DatabaseSink::begin(const std::vector<std::string>& columns) {
  const std::string table = of_name_++ ? name_ + "_" + std::to_string(of_name_) : name_;
  tables_++;
  const auto quoted = [](std::string name) {
    base::replace_all(name, "\"", "\"\"");
    return "\"" + name + "\"";
  };
  std::string names, places;
  for (const std::string& column : distinct(columns)) names += (names.empty() ? "" : ", ") + quoted(column), places += places.empty() ? "?" : ", ?";
  run("BEGIN");
  run("CREATE TABLE " + quoted(table) + " (" + names + ")");
  ::sqlite3_finalize(std::exchange(insert_, nullptr));
  const std::string insert = "INSERT INTO " + quoted(table) + " VALUES (" + places + ")";
  if (failure_.empty() && ::sqlite3_prepare_v2(connection_, insert.c_str(), -1, &insert_, nullptr) != SQLITE_OK) failure_ = ::sqlite3_errmsg(connection_);
}

void DatabaseSink::add(const std::vector<Value>& row) {
  if (!failure_.empty()) return;
  ::sqlite3_reset(insert_);
  for (size_t i = 0; i < row.size(); i++) {
    const int at = static_cast<int>(i) + 1;
    if (const auto* number = std::get_if<int64_t>(&row[i])) ::sqlite3_bind_int64(insert_, at, *number);
    else if (const auto* real = std::get_if<double>(&row[i])) ::sqlite3_bind_double(insert_, at, *real);
    else if (const auto* text = std::get_if<std::string>(&row[i])) ::sqlite3_bind_text64(insert_, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    else ::sqlite3_bind_null(insert_, at);
  }
  if (::sqlite3_step(insert_) != SQLITE_DONE) failure_ = ::sqlite3_errmsg(connection_);
  rows_++;
}

void DatabaseSink::end() {
  ::sqlite3_reset(insert_);
  run("COMMIT");
}

base::Status DatabaseSink::write(const std::string& path) {
  if (!failure_.empty()) return base::Error{base::Failure::runtime, path + ": " + failure_};
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(::sqlite3_serialize(connection_, "main", &size, 0), ::sqlite3_free);
  if (!bytes) return base::Error{base::Failure::runtime, path + ": the result is too large for memory"};
  return base::write_file(path, {reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)});
}

} // namespace sql
