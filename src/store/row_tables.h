// The packed rows of slots as tables of SQL, `samples` and `series`: for queries of people (select.h).
#pragma once

struct sqlite3;

namespace store {

// On this connection.
void add_row_tables(sqlite3* connection);

} // namespace store
