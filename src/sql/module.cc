#include "sql/module.h"

#include "base/counted.h"
#include "base/text.h"
#include "proc/text.h"

#include <cmath>
#include <cstring>

namespace sql {

namespace {

struct Source {
  const Table* table;
  Snapshots* snapshots;
};

struct Connected : sqlite3_vtab {
  Source source;
};

struct Cursor : sqlite3_vtab_cursor {
  const Rows* rows = nullptr;
  const std::vector<uint32_t>* found = nullptr; // of these rows only; nullptr: all
  size_t next = 0;
  std::vector<Value> given;

  size_t count() const { return found ? found->size() : rows ? rows->size() : 0; }
  size_t row() const { return found ? (*found)[next] : next; }
};

// What is done with a value that xFilter gets; xBestIndex writes one for each, with the column, into the plan's text.
enum class Use : char { given = 'g', looked_up = 'l' };

const std::vector<uint32_t> no_rows;

int fail(Connected& table, const base::Error& error) {
  ::sqlite3_free(table.zErrMsg);
  table.zErrMsg = ::sqlite3_mprintf("%s: %s", table.source.table->name.data(), error.message.c_str());
  table.source.snapshots->failure = error.kind;
  return SQLITE_ERROR;
}

// As a column of this type has it. NULL: no value of the column is equal to it.
Value as_type(sqlite3_value* from, Type type) {
  if (type == Type::text) {
    if (::sqlite3_value_type(from) == SQLITE_NULL) return {};
    const auto* text = reinterpret_cast<const char*>(::sqlite3_value_text(from));
    return std::string(text, static_cast<size_t>(::sqlite3_value_bytes(from)));
  }
  switch (::sqlite3_value_numeric_type(from)) {
  case SQLITE_INTEGER: {
    const int64_t number = ::sqlite3_value_int64(from);
    return type == Type::real ? Value(static_cast<double>(number)) : Value(number);
  }
  case SQLITE_FLOAT: {
    const double number = ::sqlite3_value_double(from);
    if (type == Type::real) return number;
    if (number == std::floor(number) && std::fabs(number) < 0x1p63) return static_cast<int64_t>(number);
    return {};
  }
  default: return {};
  }
}

// A value that is no argument of this column, as a message has it.
base::Error wrong_argument(const Column& column, sqlite3_value* value) {
  const std::string quote = ::sqlite3_value_type(value) == SQLITE_FLOAT ? "" : "'";
  const auto* text = reinterpret_cast<const char*>(::sqlite3_value_text(value));
  return {base::Failure::usage, base::quoted(column.name) + " takes " + (column.type == Type::integer ? "a whole number" : "a number") + ", not " + quote + base::printable(text ? text : "") + quote};
}

int connect(sqlite3* connection, void* source, int, const char* const*, sqlite3_vtab** out, char** error) {
  const Table& table = *static_cast<Source*>(source)->table;
  std::string text = "CREATE TABLE x(";
  for (const Column& c : table.columns) {
    text += (&c == table.columns.data() ? "\"" : ", \"") + std::string(c.name) + "\"";
    text += c.type == Type::integer ? " INTEGER" : c.type == Type::real ? " REAL" : c.type == Type::text ? " TEXT" : "";
    if (c.is_argument()) text += " HIDDEN";
  }
  if (const int status = ::sqlite3_declare_vtab(connection, (text + ")").c_str()); status != SQLITE_OK) {
    *error = ::sqlite3_mprintf("%s", ::sqlite3_errmsg(connection));
    return status;
  }
  ::sqlite3_vtab_config(connection, SQLITE_VTAB_DIRECTONLY);
  auto made = std::make_unique<Connected>();
  made->source = *static_cast<Source*>(source);
  *out = made.release();
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Connected*>(table);
  return SQLITE_OK;
}

// One equality is looked up, all that the reader can use are given to it.
int plan(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  auto& self = *static_cast<Connected*>(vtab);
  const Table& table = *self.source.table;
  self.source.snapshots->used[&table] |= info->colUsed;
  std::string uses;
  std::vector<bool> is_planned(table.columns.size());
  bool looks_up = false;
  int arguments = 0;
  for (int i = 0; i < info->nConstraint; i++) {
    const auto& c = info->aConstraint[i];
    if (c.op != SQLITE_INDEX_CONSTRAINT_EQ || c.iColumn < 0) continue;
    const auto index = static_cast<size_t>(c.iColumn);
    const Column& column = table.columns[index];
    if (column.is_argument() && !c.usable) return SQLITE_CONSTRAINT; // it is computed from a table that another plan reads first
    if (!c.usable || is_planned[index]) continue;
    sqlite3_value* constant = nullptr;
    const bool is_constant = column.role == Role::pushed && ::sqlite3_vtab_rhs_value(info, i, &constant) == SQLITE_OK && constant;
    const bool is_given = column.is_argument() || is_constant;
    if (!is_given && (looks_up || column.type == Type::real || column.type == Type::any || std::strcmp(::sqlite3_vtab_collation(info, i), "BINARY") != 0)) continue;
    looks_up |= !is_given;
    is_planned[index] = true;
    uses += static_cast<char>(is_given ? Use::given : Use::looked_up);
    uses += static_cast<char>(index + 1);
    info->aConstraintUsage[i] = {.argvIndex = ++arguments, .omit = column.is_argument()};
    if (!column.is_argument()) info->estimatedRows = 10;
  }
  const bool is_small = looks_up || uses.find(static_cast<char>(Use::given)) != uses.npos;
  info->estimatedRows = is_small ? std::max<int64_t>(table.expected_rows / 100, 1) : table.expected_rows;
  info->estimatedCost = static_cast<double>(info->estimatedRows) + (looks_up ? 1 : 100);
  info->idxStr = ::sqlite3_mprintf("%s", uses.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = std::make_unique<Cursor>().release();
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

const std::vector<uint32_t>& look_up(Snapshot& snapshot, const Table& table, size_t column, const Value& value) {
  const auto [at, is_new] = snapshot.indexes.try_emplace(column);
  if (is_new)
    for (size_t i = 0; i < snapshot.rows->size(); i++) at->second[table.columns[column].get(snapshot.rows->at(i))].push_back(static_cast<uint32_t>(i));
  const auto found = at->second.find(value);
  return found == at->second.end() ? no_rows : found->second;
}

int filter(sqlite3_vtab_cursor* vtab_cursor, int, const char* uses, int count, sqlite3_value** values) {
  auto& cursor = *static_cast<Cursor*>(vtab_cursor);
  auto& self = *static_cast<Connected*>(cursor.pVtab);
  const Table& table = *self.source.table;
  cursor.next = 0, cursor.rows = nullptr, cursor.found = nullptr;
  cursor.given.assign(table.columns.size(), {});
  std::optional<std::pair<size_t, Value>> wanted;
  for (int i = 0; i < count; i++) {
    const auto column = static_cast<size_t>(uses[2 * i + 1] - 1);
    Value value = as_type(values[i], table.columns[column].type);
    const bool is_null = std::holds_alternative<std::monostate>(value);
    if (is_null && !table.columns[column].is_argument()) return SQLITE_OK; // equal to nothing
    if (is_null && ::sqlite3_value_type(values[i]) != SQLITE_NULL) return fail(self, wrong_argument(table.columns[column], values[i]));
    if (static_cast<Use>(uses[2 * i]) == Use::given) cursor.given[column] = std::move(value);
    else wanted = {column, std::move(value)};
  }
  for (size_t i = 0; i < table.columns.size(); i++)
    if (table.columns[i].role == Role::argument && std::holds_alternative<std::monostate>(cursor.given[i]))
      return fail(self, {base::Failure::usage, "an argument is missing: " + std::string(table.columns[i].name) + " (" + std::string(table.columns[i].doc) + ")"});
  base::Result<Snapshot*> snapshot = self.source.snapshots->take(table, cursor.given);
  if (!snapshot.ok()) return fail(self, snapshot.error());
  cursor.rows = (*snapshot)->rows.get();
  if (wanted) cursor.found = &look_up(**snapshot, table, wanted->first, wanted->second);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  static_cast<Cursor*>(cursor)->next++;
  return SQLITE_OK;
}

int is_at_end(sqlite3_vtab_cursor* cursor) {
  const auto& self = *static_cast<Cursor*>(cursor);
  return self.next >= self.count();
}

int read_cell(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int index) {
  const auto& self = *static_cast<Cursor*>(cursor);
  const Column& column = static_cast<Connected*>(cursor->pVtab)->source.table->columns[static_cast<size_t>(index)];
  const Value value = column.get ? column.get(self.rows->at(self.row())) : self.given[static_cast<size_t>(index)];
  if (const auto* number = std::get_if<int64_t>(&value)) ::sqlite3_result_int64(to, *number);
  else if (const auto* real = std::get_if<double>(&value)) ::sqlite3_result_double(to, *real);
  else if (const auto* text = std::get_if<std::string>(&value)) ::sqlite3_result_text64(to, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  else ::sqlite3_result_null(to);
  return SQLITE_OK;
}

int read_row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row());
  return SQLITE_OK;
}

// Without xCreate a table exists in each connection, and can be used as a function.
constexpr sqlite3_module module = {
    .iVersion = 1,
    .xConnect = connect,
    .xBestIndex = plan,
    .xDisconnect = disconnect,
    .xOpen = open,
    .xClose = close,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = read_cell,
    .xRowid = read_row_number,
};

} // namespace

base::Result<Snapshot*> Snapshots::take(const Table& table, std::vector<Value> given) {
  const auto [at, is_new] = taken.try_emplace({&table, given});
  if (is_new) {
    const proc::ReadFailures unread;
    const Request request(table, used[&table], std::move(given), notes, limit, subject);
    auto rows = table.read(request);
    if (unread.count())
      request.note(std::string(table.name) + ": " + base::counted(unread.count(), "file") + " of the kernel could not be read, so that rows or values are missing (" + std::strerror(unread.error()) + ")");
    if (!rows.ok()) return taken.erase(at), std::move(rows.error());
    at->second.rows = std::move(*rows);
  }
  return &at->second;
}

base::Status add_table(sqlite3* connection, const Table& table, Snapshots& snapshots) {
  const int status = ::sqlite3_create_module_v2(connection, std::string(table.name).c_str(), &module, new Source{&table, &snapshots},
                                                [](void* source) { delete static_cast<Source*>(source); });
  if (status != SQLITE_OK) return base::Error{base::Failure::runtime, "SQLite: " + std::string(::sqlite3_errstr(status))};
  return {};
}

} // namespace sql
