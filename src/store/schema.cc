// Stacks and names are kept once; the packed rows of slots (packed.h) refer to them by small numbers.
#include "store/schema.h"

namespace store {

namespace {

// AUTOINCREMENT: the number of a row that was deleted is never that of another one.
constexpr std::string_view tables = R"(
CREATE TABLE names(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE sources(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE services(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, type INTEGER NOT NULL, UNIQUE(name, type));
CREATE TABLE frames(id INTEGER PRIMARY KEY AUTOINCREMENT, name INTEGER NOT NULL, module INTEGER NOT NULL, kind INTEGER NOT NULL, named INTEGER NOT NULL,
  UNIQUE(name, module, kind, named));
CREATE TABLE stacks(id INTEGER PRIMARY KEY AUTOINCREMENT, hash INTEGER NOT NULL UNIQUE, frames BLOB NOT NULL);
CREATE TABLE threads(id INTEGER PRIMARY KEY AUTOINCREMENT, service INTEGER NOT NULL, pid INTEGER NOT NULL, process INTEGER NOT NULL, name INTEGER NOT NULL,
  UNIQUE(pid, process, name, service));
CREATE TABLE slots(id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, layer INTEGER NOT NULL, slot INTEGER NOT NULL, length INTEGER NOT NULL,
  covered INTEGER NOT NULL, point_rows INTEGER NOT NULL, sample_rows INTEGER NOT NULL, points BLOB NOT NULL, samples BLOB NOT NULL, UNIQUE(source, layer, slot));
CREATE INDEX slots_by_length ON slots(layer, length, slot, source);
CREATE TABLE upkeep(deletions INTEGER NOT NULL, swept INTEGER NOT NULL);
INSERT INTO upkeep VALUES(0, 0);
CREATE TABLE findings(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, service TEXT NOT NULL, verdict TEXT NOT NULL, cause TEXT NOT NULL,
  summary TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX findings_by_time ON findings(time);
)";

} // namespace

base::Status prepare_schema(const Connection& connection, Access access) {
  const int64_t version = connection.integer("PRAGMA user_version");
  if (auto readable = connection.status(); !readable.ok()) return readable;
  const int64_t owner = connection.integer("PRAGMA application_id");
  const bool is_empty = !connection.integer("SELECT count(*) FROM sqlite_master");
  if (auto readable = connection.status(); !readable.ok()) return readable;
  const std::string subject = "the store `" + connection.path() + "`";
  if (!is_empty && owner != application_id)
    return base::Error{base::Failure::usage, subject + " is another program's database\nhint: name another file with --store"};
  if (version > schema_version)
    return base::Error{base::Failure::unsupported, subject + " has version " + std::to_string(version) + " of the schema, this acu knows up to " +
                                                       std::to_string(schema_version) + "\nhint: use the newer acu that wrote it, or name another file with --store"};
  if (!is_empty && version < schema_version)
    return base::Error{base::Failure::unsupported, subject + " has version " + std::to_string(version) + " of the schema, which this acu does not read (it writes version " +
                                                       std::to_string(schema_version) + ")\nhint: move it away to begin anew, or name another file with --store"};
  if (!is_empty) return {};
  if (access == Access::read) return base::Error{base::Failure::runtime, subject + " is empty\nhint: acu serve writes it"};
  // Both take effect only before the first table is made.
  if (auto set = connection.run("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL"); !set.ok()) return set;
  Transaction transaction(connection);
  if (auto begun = transaction.begin(); !begun.ok()) return begun;
  if (connection.integer("SELECT count(*) FROM sqlite_master")) return {}; // another process was first
  auto made = connection.run(std::string(tables) + "PRAGMA application_id = " + std::to_string(application_id) + "; PRAGMA user_version = " + std::to_string(schema_version));
  return made.ok() ? transaction.commit() : std::move(made);
}

} // namespace store
