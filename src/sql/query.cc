#include "sql/query.h"

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/text.h"
#include "sql/tables.h"

#include <algorithm>
#include <set>

namespace sql {

namespace {

constexpr int64_t max_memory = int64_t{1} << 30; // bytes that SQLite may use
constexpr int steps_between_looks = 10'000;      // of its virtual machine: less than a millisecond

// Files are neither read nor written: ATTACH and VACUUM INTO would do so.
int authorize(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

Value cell(sqlite3_stmt* statement, int column) {
  switch (::sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER: return static_cast<int64_t>(::sqlite3_column_int64(statement, column));
  case SQLITE_FLOAT: return ::sqlite3_column_double(statement, column);
  case SQLITE_NULL: return {};
  default: {
    const auto* text = static_cast<const char*>(::sqlite3_column_blob(statement, column));
    return text ? std::string(text, static_cast<size_t>(::sqlite3_column_bytes(statement, column))) : std::string();
  }
  }
}

bool is_word(char c) { return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c & 0x80); }

size_t end_of_token(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_word(text[end])) end++;
  return std::max(end, std::min(begin + 1, text.size()));
}

// Columns of the tables that the text names, or of all.
std::vector<std::string_view> columns_in(std::string_view text, std::span<const Table* const> tables) {
  std::vector<std::string_view> out;
  for (const bool all : {false, true}) {
    for (const Table* table : tables)
      if (all || text.find(table->name) != text.npos)
        for (const Column& c : table->columns) out.push_back(c.name);
    if (!out.empty()) break;
  }
  return out;
}

std::string hint_for(std::string_view message, std::string_view text, std::span<const Table* const> tables) {
  const size_t colon = message.rfind(": ");
  const std::string_view name = colon == message.npos ? std::string_view() : message.substr(colon + 2);
  std::vector<std::string_view> known;
  std::string_view otherwise;
  if (message.starts_with("no such table")) {
    for (const Table* table : tables) known.push_back(table->name);
    otherwise = "`acu sql --tables` lists the tables";
  } else if (message.starts_with("no such column")) {
    known = columns_in(text, tables);
    otherwise = "`acu sql --tables TABLE` lists the columns of a table";
  } else if (message == "not authorized" || message == "authorization denied") {
    return "queries only read; -o FILE.db writes their results to a database";
  } else {
    return {};
  }
  const std::string_view wanted = name.substr(name.rfind('.') + 1);
  const auto longer = std::ranges::find_if(known, [&](std::string_view word) { return word.starts_with(wanted); });
  const std::string_view near = longer != known.end() ? *longer : base::nearest(wanted, known);
  return near.empty() ? std::string(otherwise) : "did you mean `" + std::string(near) + "`?";
}

} // namespace

base::Result<std::unique_ptr<Database>> Database::open(Of of, Subject* subject) {
  std::unique_ptr<Database> out(new Database);
  out->tables_ = tables_of(of);
  out->snapshots_.subject = subject;
  if (::sqlite3_open(":memory:", &out->connection_) != SQLITE_OK) return base::Error{base::Failure::runtime, "cannot start SQLite"};
  ::sqlite3_hard_heap_limit64(max_memory);
  ::sqlite3_exec(out->connection_, "PRAGMA temp_store = memory", nullptr, nullptr, nullptr);
  ::sqlite3_set_authorizer(out->connection_, authorize, nullptr);
  ::sqlite3_progress_handler(out->connection_, steps_between_looks, [](void* limit) { return static_cast<int>(static_cast<Limit*>(limit)->left_ns() == 0); }, &out->snapshots_.limit);
  for (const Table* table : out->tables_) ACU_CHECK(add_table(out->connection_, *table, out->snapshots_));
  return out;
}

Database::~Database() { ::sqlite3_close(connection_); }

base::Error Database::error_at(std::string_view text, size_t begin) const {
  const std::string message = ::sqlite3_errmsg(connection_);
  const int offset = ::sqlite3_error_offset(connection_);
  const std::string hint = hint_for(message, text, tables_);
  if (offset < 0) return {base::Failure::usage, "ERROR: " + message + "\n" + (hint.empty() ? "" : "HINT: " + hint + "\n")};
  const size_t at = std::min(begin + static_cast<size_t>(offset), text.size());
  const base::Range where = {static_cast<uint32_t>(at), static_cast<uint32_t>(end_of_token(text, at))};
  return {base::Failure::usage, base::render(base::Source("query", std::string(text)), {base::Severity::error, {}, where, message, hint, {}, {}})};
}

int Database::step(sqlite3_stmt* statement, Sink& sink) {
  const int count = ::sqlite3_column_count(statement);
  if (!count) return ::sqlite3_step(statement);
  std::vector<std::string> names;
  for (int i = 0; i < count; i++) names.emplace_back(::sqlite3_column_name(statement, i));
  int status = ::sqlite3_step(statement);
  if (status != SQLITE_ROW && status != SQLITE_DONE) return status; // without rows, a failure is all there is to show
  sink.begin(names);
  std::vector<Value> row(static_cast<size_t>(count));
  for (; status == SQLITE_ROW; status = ::sqlite3_step(statement)) {
    for (int i = 0; i < count; i++) row[static_cast<size_t>(i)] = cell(statement, i);
    sink.add(row);
  }
  sink.end();
  return status;
}

base::Result<End> Database::run(std::string_view text, uint64_t duration_ns, Sink& sink) {
  const Limit& limit = snapshots_.limit;
  snapshots_.limit = {.deadline_ns = base::clock_ns() + duration_ns};
  snapshots_.notes.clear();
  // SQLite would take it for the end of the statement.
  if (const size_t zero = text.find('\0'); zero != text.npos) return base::Error{base::Failure::usage, "ERROR: the query is not text: byte " + std::to_string(zero) + " is zero\n"};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    snapshots_.begin();
    const auto begin = static_cast<size_t>(at - text.data());
    sqlite3_stmt* prepared = nullptr;
    const int planned = ::sqlite3_prepare_v2(connection_, at, static_cast<int>(end - at), &prepared, &at);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, ::sqlite3_finalize);
    if (planned != SQLITE_OK) return error_at(text, begin);
    if (!statement) continue; // a comment, or white space
    const int status = step(statement.get(), sink);
    if (limit.left_ns() == 0 && (status == SQLITE_INTERRUPT || status == SQLITE_DONE)) return limit.is_interrupted() ? End::interrupted : End::out_of_time;
    if (status != SQLITE_DONE) {
      base::Error error = error_at(text, begin);
      error.kind = snapshots_.failure;
      return error;
    }
  }
  return End::complete;
}

bool Database::is_complete(const std::string& text) { return ::sqlite3_complete(text.c_str()) != 0; }

std::vector<std::string> Database::complete(std::string_view word) {
  std::set<std::string> out;
  const auto offer = [&](std::string_view name) {
    if (name.starts_with(word)) out.emplace(name);
  };
  for (const Table* table : tables_) {
    offer(table->name);
    for (const Column& c : table->columns) offer(c.name);
  }
  for (int i = 0; i < ::sqlite3_keyword_count(); i++) {
    const char* name = nullptr;
    int size = 0;
    if (::sqlite3_keyword_name(i, &name, &size) == SQLITE_OK) offer(base::lower(std::string_view(name, static_cast<size_t>(size))));
  }
  return {out.begin(), out.end()};
}

} // namespace sql
