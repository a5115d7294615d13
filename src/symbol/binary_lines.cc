// From a line of the source to addresses, see binary.h.
#include "symbol/binary_parts.h"

#include "base/text.h"
#include "dwarf/address_lookup.h"
#include "dwarf/line_program.h"

#include <algorithm>
#include <set>

namespace symbol {

namespace {

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "lib/readline.c" is the end of "/usr/src/lib/readline.c", "b.c" is not that of "ab.c".
bool is_end_of(std::string_view wanted, std::string_view path) {
  while (wanted.starts_with("./")) wanted.remove_prefix(2);
  if (!path.ends_with(wanted)) return false;
  return path.size() == wanted.size() || wanted.starts_with('/') ||
         path[path.size() - wanted.size() - 1] == '/';
}

constexpr size_t most_near = 5, most_addresses = 1 << 16;

struct Search {
  std::string_view file;
  uint32_t line, column;
  std::vector<LineAddress>& out;
  LineMiss& miss;
  std::set<uint32_t> columns = {};
  std::set<std::string, std::less<>> names = {}; // last names of all files

  void look(const dwarf::LineProgram& program);
  void look_at(const dwarf::LineProgram& program, const std::vector<bool>& wanted);
};

void Search::look(const dwarf::LineProgram& program) {
  size_t first = program.version >= 5 ? 0 : 1;
  std::vector<bool> wanted(program.files.size() + first, false);
  bool any = false;
  for (size_t i = 0; i < program.files.size(); i++) {
    std::string_view name = last_name(program.files[i].name);
    if (name != last_name(file)) {
      if (!names.contains(name)) names.emplace(name);
      continue;
    }
    std::string path = program.path(i + first);
    if (is_end_of(file, path))
      wanted[i + first] = any = true;
    else if (miss.near.size() < most_near &&
             std::find(miss.near.begin(), miss.near.end(), path) == miss.near.end())
      miss.near.push_back(std::move(path));
  }
  if (any) look_at(program, wanted);
}

void Search::look_at(const dwarf::LineProgram& program, const std::vector<bool>& wanted) {
  dwarf::for_each_row(program, [&](const dwarf::LineRow& row) {
    // Within a line places are told more closely than by statements.
    if (row.end_sequence || (!row.is_statement && !column) || row.file >= wanted.size() ||
        !wanted[row.file] || !row.line)
      return true;
    miss.has_file = true;
    if (row.line < line) miss.before = std::max(miss.before, row.line);
    if (row.line > line) miss.after = miss.after ? std::min(miss.after, row.line) : row.line;
    if (row.line != line || !row.address) return true;
    columns.insert(row.column);
    if (column && row.column != column) return true;
    out.push_back({row.address, row.line, row.column, program.path(row.file)});
    return out.size() < most_addresses;
  });
}

} // namespace

std::vector<LineAddress> Binary::addresses_of_line(std::string_view file, uint32_t line, uint32_t column,
                                                   LineMiss& miss) {
  std::vector<LineAddress> rows;
  if (!debug()) return rows;
  dwarf::DebugInfo& info = debug_->family().info();
  Search search = {file, line, column, rows, miss};
  for (size_t i = 0; i < info.units().size(); i++) {
    auto unit = info.peek_unit(i);
    auto program = unit && unit->line_offset ? dwarf::read_line_program(*unit) : std::nullopt;
    if (program) search.look(*program);
  }
  if (!rows.empty()) {
    std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.address < b.address; });
    // A statement is often cut into several pieces, or is the head of a loop: the first piece within a
    // function, or within the body of an inlined call, stands for all.
    std::vector<uint64_t> addresses;
    for (const LineAddress& r : rows) addresses.push_back(r.address);
    std::vector<uint64_t> scopes(rows.size());
    dwarf::AddressLookup(info).find(addresses, [&](size_t index, std::span<const dwarf::SourceFrame> frames) {
      scopes[index] = frames[0].begin;
    });
    std::vector<LineAddress> out;
    std::set<uint64_t> seen;
    for (size_t i = 0; i < rows.size(); i++)
      if (is_code(rows[i].address) && seen.insert(scopes[i]).second) out.push_back(std::move(rows[i]));
    return out;
  }
  miss.columns.assign(search.columns.begin(), search.columns.end());
  if (!miss.has_file && miss.near.empty()) {
    std::vector<std::string_view> names(search.names.begin(), search.names.end());
    if (std::string_view near = base::nearest(last_name(file), names); !near.empty())
      miss.near.emplace_back(near);
  }
  return rows;
}

} // namespace symbol
