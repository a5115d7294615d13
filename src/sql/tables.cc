#include "sql/tables.h"

#include "base/utf8.h"
#include "sql/sources.h"

#include <algorithm>

namespace sql {

namespace {

constexpr const Table* all[] = {&bpf_programs, &cgroups, &cpu_samples, &disks, &files, &blocks, &mappings, &modules, &offcpu, &probes, &processes, &sockets, &symbols, &syscalls, &threads, &variables,
                                &recording_about, &recording_samples, &recording_slices,
                                &core_blocks, &core_modules, &core_threads, &core_variables};

std::string_view heading(Of of) { return of == Of::recording ? "Of a recording (-i FILE):" : of == Of::core ? "Of a core dump (-i FILE):" : ""; }

std::string_view type_name(Type type) { return type == Type::integer ? "integer" : type == Type::real ? "real" : type == Type::text ? "text" : "any"; }

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

std::vector<const Table*> tables_of(Of of) {
  std::vector<const Table*> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const Table* table) { return table->of == of; });
  return out;
}

std::vector<const Table*> tables_called(std::string_view name) {
  std::vector<const Table*> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const Table* table) { return table->name == name; });
  return out;
}

std::string tables_text() {
  size_t widest = 0;
  for (const Table* table : all) widest = std::max(widest, usage_of(*table).size());
  std::string out;
  for (const Of of : {Of::host, Of::recording, Of::core}) {
    if (of != Of::host) out += "\n" + std::string(heading(of)) + "\n";
    for (const Table* table : tables_of(of)) {
      const std::string usage = usage_of(*table);
      out += usage + std::string(widest - usage.size() + 2, ' ') + std::string(table->doc) + "\n";
    }
  }
  return out;
}

std::string table_text(const Table& table) {
  size_t widest = 0, widest_type = 0;
  for (const Column& c : table.columns) widest = std::max(widest, c.name.size()), widest_type = std::max(widest_type, type_of(c).size());
  std::string out = usage_of(table) + ": " + (table.of == Of::host ? "" : std::string(heading(table.of)) + " ") + std::string(table.doc) + "\n";
  for (const Column& c : table.columns) {
    const std::string type = type_of(c);
    out += "  " + std::string(c.name) + std::string(widest - c.name.size() + 2, ' ') + type + std::string(widest_type - type.size() + 2, ' ') + doc_of(c) + "\n";
  }
  return out + "example: " + std::string(table.example) + "\n";
}

std::string tables_markdown() {
  std::string out;
  for (const Table* table : all) {
    out += (table == all[0] ? "## " : "\n## ") + usage_of(*table) + (table->of == Of::host ? "" : table->of == Of::recording ? " of a recording" : " of a core dump") + "\n\n" + std::string(table->doc);
    out += "\n\n| column | type | meaning |\n|---|---|---|\n";
    for (const Column& c : table->columns) out += "| `" + std::string(c.name) + "` | " + type_of(c) + " | " + doc_of(c) + " |\n";
    out += "\nFor example: `acu sql " + std::string(table->of == Of::host ? "" : "-i FILE ") + "\"" + std::string(table->example) + "\"`\n";
  }
  return out;
}

} // namespace sql
