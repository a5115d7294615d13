#include "sql/tables.h"

#include "base/utf8.h"
#include "sql/sources.h"

#include <algorithm>

namespace sql {

namespace {

constexpr const Table* all[] = {&bpf_programs, &cgroups, &disks, &files, &mappings, &modules, &probes, &processes, &sockets, &threads};

std::string_view type_name(Type type) { return type == Type::integer ? "integer" : type == Type::real ? "real" : "text"; }

// "symbols(object)", as a query uses it.
std::string usage_of(const Table& table) {
  std::string arguments;
  for (const Column& c : table.columns) {
    if (!c.is_argument()) continue;
    const bool is_optional = c.role == Role::optional_argument;
    arguments += std::string(is_optional ? "[" : "") + (arguments.empty() ? "" : ", ") + std::string(c.name) + (is_optional ? "]" : "");
  }
  return std::string(table.name) + (arguments.empty() ? "" : "(" + arguments + ")");
}

std::string type_of(const Column& c) { return std::string(type_name(c.type)) + (c.unit.empty() ? "" : " (" + std::string(c.unit) + ")"); }

std::string doc_of(const Column& c) {
  return std::string(c.doc) + (c.role == Role::pushed ? " A condition with = reads only what matches." : c.role == Role::optional_argument ? " May be omitted." : "");
}

} // namespace

std::span<const Table* const> tables() { return all; }

const Table* find_table(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Table::name);
  return found == std::end(all) ? nullptr : *found;
}

std::string tables_text() {
  size_t widest = 0;
  for (const Table* table : all) widest = std::max(widest, usage_of(*table).size());
  std::string out;
  for (const Table* table : all) {
    const std::string usage = usage_of(*table);
    out += usage + std::string(widest - usage.size() + 2, ' ') + std::string(table->doc) + "\n";
  }
  return out;
}

std::string table_text(const Table& table) {
  size_t widest = 0, widest_type = 0;
  for (const Column& c : table.columns) widest = std::max(widest, c.name.size()), widest_type = std::max(widest_type, type_of(c).size());
  std::string out = usage_of(table) + ": " + std::string(table.doc) + "\n";
  for (const Column& c : table.columns) {
    const std::string type = type_of(c);
    out += "  " + std::string(c.name) + std::string(widest - c.name.size() + 2, ' ') + type + std::string(widest_type - type.size() + 2, ' ') + doc_of(c) + "\n";
  }
  return out + "example: " + std::string(table.example) + "\n";
}

std::string tables_markdown() {
  std::string out;
  for (const Table* table : all) {
    out += "### " + usage_of(*table) + "\n\n" + std::string(table->doc) + "\n\n| column | type | |\n|---|---|---|\n";
    for (const Column& c : table->columns) out += "| `" + std::string(c.name) + "` | " + type_of(c) + " | " + doc_of(c) + " |\n";
    out += "\n    acu sql \"" + std::string(table->example) + "\"\n\n";
  }
  return out;
}

} // namespace sql
