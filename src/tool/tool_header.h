// The header of a tool: the comment at the start of its script, which `acu NAME --help` prints, `acu tool` checks, and lists are made from.
//
//   #!/usr/bin/env -S acu run
//   // NAME: what it shows, in one sentence.
//   //
//   //   acu run NAME.bt -- --min-us=10       command lines, the first of which is the example; what is behind three blanks explains
//   //
//   //   PID     COMM        LATENCY(us)      what it prints: a line of column headings in capitals, units in parentheses,
//   //   4021    bash                 12      and maps by name, as in `@us[SET]:`; several tables and maps, if blank lines are between them
//   //
//   // What it needs, and notes.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct Column {
  std::string name, unit; // unit: empty if the heading has none
};

struct ShownMap {
  std::string name; // with its @
  // By the sample of its value: a number, { .count = …, .average = …, .total = … }, or rows of a histogram.
  enum class Value : uint8_t { unknown, number, stats, histogram } value = Value::unknown;
  bool has_keys = false;
};

struct ToolHeader {
  std::string name, summary;         // summary: without the name and the full stop
  std::vector<std::string> examples; // the words behind the script's name, of each command line: "-- --min-us=10"
  std::vector<Column> columns;       // of the first table; empty: the output has no headings
  std::vector<std::vector<Column>> more_tables;
  std::vector<ShownMap> maps;
  bool is_stopped = false;           // its example is `acu core` or `acu snap`
};

// Failure::usage: what is missing, with the line.
base::Result<ToolHeader> read_header(std::string_view script);
// The headings if a line is one: all words begin with a capital or %, and there are two of them or more.
std::vector<Column> read_headings(std::string_view line);
// `acu NAME --explain`: the header as lists.
std::string explain(const ToolHeader& header);
// `acu NAME --schema`: a schema (https://json-schema.org, 2020-12) of each line of the output of `acu NAME -f json`.
std::string schema_of(const ToolHeader& header);

} // namespace tool
