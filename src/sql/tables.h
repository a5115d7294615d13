// All tables, and what help prints about them.
#pragma once

#include "sql/table.h"

namespace sql {

// By name.
std::span<const Table* const> tables();
std::vector<const Table*> tables_of(Of of);
// Tables of the host and of files may have the same name.
std::vector<const Table*> tables_called(std::string_view name);
// One line for each table of the host; those of files behind them.
std::string tables_text();
// The table's columns with types and units, and an example.
std::string table_text(const Table& table);
// The same of all tables in Markdown, as docs/sql.md has it.
std::string tables_markdown();

} // namespace sql
