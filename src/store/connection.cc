// SQLite (https://www.sqlite.org/c3ref/intro.html) behind values.
#include "store/connection.h"

#include "base/clock.h"
#include "base/print.h"
#include "store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace store {

void FirstFailure::note(sqlite3* connection, int failed) {
  if (code) return;
  code = failed, message = ::sqlite3_errmsg(connection);
}

Statement::Statement(sqlite3* connection, FirstFailure* failure, std::string_view text) : failure_(failure) {
  const int code = ::sqlite3_prepare_v3(connection, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) failure_->note(connection, code);
}
Statement::~Statement() { ::sqlite3_finalize(statement_); }

// A statement that could not be prepared is null, which SQLite's functions answer with SQLITE_MISUSE.
Statement& Statement::bind(int number, int64_t value) { return ::sqlite3_bind_int64(statement_, number, value), *this; }
Statement& Statement::bind(int number, double value) { return ::sqlite3_bind_double(statement_, number, value), *this; }
Statement& Statement::bind(int number, std::string_view text) {
  return ::sqlite3_bind_text(statement_, number, text.empty() ? "" : text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT), *this;
}
Statement& Statement::bind_bytes(int number, std::string_view bytes) {
  return ::sqlite3_bind_blob(statement_, number, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT), *this;
}
// Nothing runs while a failure waits to be asked for: a full disk makes SQLite roll the transaction back, and what came after it would be committed row by row, with
// numbers of rows that are not there any more.
bool Statement::step() {
  if (!statement_ || failure_->code) return false;
  const int code = ::sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) failure_->note(::sqlite3_db_handle(statement_), code);
  return code == SQLITE_ROW;
}
void Statement::run() {
  while (step()) {
  }
  reset();
}
void Statement::reset() { ::sqlite3_reset(statement_); }
int64_t Statement::integer(int column) const { return ::sqlite3_column_int64(statement_, column); }
double Statement::number(int column) const { return ::sqlite3_column_double(statement_, column); }
std::string_view Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(::sqlite3_column_blob(statement_, column));
  return bytes ? std::string_view(bytes, static_cast<size_t>(::sqlite3_column_bytes(statement_, column))) : std::string_view();
}

static constexpr std::string_view took_longer = "the query of the store took longer than ";

// A message has the path, which may say anything; these are the ends of its sentences.
static constexpr std::string_view disk_is_full = ": the disk is full, or its size limit is reached\nhint: free space, or lower --keep or --max-size of acu serve, which continues by itself", is_locked = " is locked by another program";

bool is_passing(const base::Error& error) { return error.message.ends_with(disk_is_full) || error.message.ends_with(is_locked); }

bool is_time_limit(const base::Error& error) { return error.message.starts_with(took_longer); }

base::Error Connection::time_limit() const {
  return {base::Failure::runtime, std::string(took_longer) + base::short_time(deadline_->limit_ns) + "\nhint: ask for a shorter range, or for one service"};
}

void Connection::limit_time(uint64_t limit_ns) {
  constexpr int steps_between_looks = 10'000;
  *deadline_ = {limit_ns, base::clock_ns() + limit_ns};
  ::sqlite3_progress_handler(
      get(), steps_between_looks, [](void* deadline) { return static_cast<int>(base::clock_ns() >= static_cast<const Deadline*>(deadline)->end_ns); }, deadline_.get());
}

bool Connection::is_over() const { return deadline_->end_ns && base::clock_ns() >= deadline_->end_ns; }

void Connection::Close::operator()(sqlite3* connection) const { ::sqlite3_close_v2(connection); }

// SQLite reports a full disk as such only where it writes, not where it maps a file.
static bool is_on_full_disk(const std::string& path) {
  constexpr uint64_t least = 64 << 10; // bytes
  struct statvfs disk = {};
  return ::statvfs(path.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < least;
}

base::Error Connection::error(int code, std::string_view message) const {
  const std::string why(message);
  if (((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) && is_on_full_disk(path_)) code = SQLITE_FULL;
  const std::string subject = "the store `" + path_ + "`";
  switch (code & 0xff) {
  case SQLITE_FULL: return {base::Failure::runtime, "cannot write " + subject + std::string(disk_is_full)};
  case SQLITE_NOTADB: return {base::Failure::runtime, subject + " is not a store: it is no SQLite database\nhint: name another file with --store, or move this one away"};
  case SQLITE_CORRUPT: return {base::Failure::runtime, subject + " is damaged (" + why + ")\nhint: acu store " + path_ + " check; move it away to begin anew"};
  case SQLITE_CANTOPEN: return {base::Failure::runtime, "cannot open " + subject + ": no such file or folder, or no permission"};
  case SQLITE_READONLY:
  case SQLITE_PERM: return {base::Failure::permission, "cannot write " + subject + ": no permission"};
  case SQLITE_INTERRUPT: return time_limit();
  case SQLITE_BUSY: return {base::Failure::runtime, subject + std::string(is_locked)};
  case SQLITE_IOERR: return {base::Failure::runtime, "input or output error of " + subject + " (" + why + ")"};
  default: return {base::Failure::runtime, subject + ": " + why};
  }
}

base::Result<Connection> Connection::open(const std::string& path, Access access) {
  constexpr int busy_ms = 5000; // another process writes for less
  Connection out;
  out.path_ = path;
  if (access == Access::write && path != ":memory:") // so that it never has the permissions of the umask
    if (const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); fd >= 0) ::close(fd); // through a link, too: who names the store chose it
  sqlite3* connection = nullptr;
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = ::sqlite3_open_v2(path.c_str(), &connection, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  out.connection_.reset(connection);
  if (code != SQLITE_OK) return out.error(code, ::sqlite3_errmsg(connection));
  ::sqlite3_busy_timeout(connection, busy_ms);
  ::sqlite3_extended_result_codes(connection, 1);
  return out;
}

base::Status Connection::run(std::string_view text) const {
  const int code = ::sqlite3_exec(get(), std::string(text).c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  failure_->note(get(), code);
  return status();
}

base::Status Connection::status() const {
  const FirstFailure failure = std::exchange(*failure_, {});
  if (!failure.code) return {};
  return error(failure.code, failure.message);
}

int64_t Connection::integer(std::string_view query) const {
  Statement statement = prepare(query);
  return statement.step() ? statement.integer(0) : 0;
}

int Connection::changes() const { return ::sqlite3_changes(get()); }

Transaction::~Transaction() {
  if (is_open_) (void)connection_.run("ROLLBACK");
}
base::Status Transaction::begin() {
  auto begun = connection_.run("BEGIN IMMEDIATE");
  is_open_ = begun.ok();
  return begun;
}
base::Status Transaction::begin_reading() {
  auto begun = connection_.run("BEGIN");
  is_open_ = begun.ok();
  return begun;
}
base::Status Transaction::commit() {
  auto committed = connection_.run("COMMIT");
  if (committed.ok()) is_open_ = false;
  return committed;
}

} // namespace store
