#include "dlang/consumer.h"

#include "base/output_file.h"
#include "base/print.h"
#include "dlang/options.h"
#include "dlang/typed_text.h"
#include "report/effect.h"
#include "report/number.h"
#include "report/text.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace dlang {

using base::print;
using report::Bytes;
using type::Kind;

namespace {

bool is_stack(const type::Type& t) { return t.is(Kind::kstack) || t.is(Kind::ustack) || t.is(Kind::stack); }
bool is_number(const type::Type& t) { return t.is_integer() || t.is(Kind::pointer); }

// Numbers without a format take as many columns as their size needs.
std::string padded_number(int64_t n, uint32_t size) {
  return print(" %*lld", columns_of_number(size), static_cast<long long>(n));
}

std::string padded(std::string text, size_t columns) {
  if (text.size() < columns) text.resize(columns, ' ');
  return text;
}

// As tracemem() prints bytes.
std::string memory_text(Bytes bytes) {
  std::string out = "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n";
  for (size_t at = 0; at < bytes.size(); at += 16) {
    std::string codes, characters;
    for (size_t i = at; i < at + 16; i++) {
      if (i >= bytes.size()) {
        codes += "   ";
        continue;
      }
      const auto c = static_cast<unsigned char>(bytes[i]);
      codes += print(" %02x", c);
      characters += std::isprint(c) ? static_cast<char>(c) : '.';
    }
    out += print("%10zx:", at) + codes + "  " + characters + "\n";
  }
  return out;
}

} // namespace

// The elements of a record behind its number.
struct Consumer::Values {
  const type::Type& tuple;
  Bytes bytes;
  const Record& record;
  size_t next = 1;
  SymbolForm symbol = SymbolForm::none; // of the value that was taken last
  std::pair<const type::Type*, Bytes> take() {
    if (next >= tuple.fields().size()) return {nullptr, {}};
    const size_t first = size_t{1} + record.has_line + record.has_function;
    symbol = next >= first && next - first < record.symbols.size() ? record.symbols[next - first] : SymbolForm::none;
    const type::Field& f = tuple.fields()[next++];
    return {f.type, report::part(bytes, f.offset, f.type->size)};
  }
  int64_t number() {
    auto [type, value] = take();
    return type && is_number(*type) ? static_cast<int64_t>(report::extend(*type, value)) : 0;
  }
};

void Consumer::write(std::string_view text) {
  if (!has_header_ && !display_.quiet) put(display_.flow ? print("%3s %-41s\n", "CPU", "FUNCTION") : print("%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME"));
  has_header_ = true;
  if (!text.empty()) put(text);
}

void Consumer::put(std::string_view text) {
  if (!file_.valid()) return sink_.out(text);
  if (const int code = base::write_all(file_.get(), text)) {
    sink_.message("ERROR: freopen: cannot write: " + std::string(std::strerror(code)) + "\n");
    file_.reset();
  }
}

// What is printed from now on goes to the end of this file; without a name, to where it went first.
void Consumer::reopen(const std::string& path) {
  if (path.empty()) return file_.reset();
  const base::AsResultOwner as_owner;
  base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, base::private_mode));
  if (!file.valid()) return sink_.message("ERROR: freopen: cannot open `" + path + "`: " + std::strerror(errno) + "\n");
  file_ = std::move(file);
}

// What was printed so far is forgotten, where it went to a file.
void Consumer::cut() {
  if (!file_.valid()) return sink_.cut();
  if (::ftruncate(file_.get(), 0) != 0 && errno != EINVAL) sink_.message("ERROR: ftruncate: " + std::string(std::strerror(errno)) + "\n"); // EINVAL: no file that has a length
}

const std::vector<Piece>& Consumer::format_of(const std::string& text) {
  std::vector<Piece>& pieces = formats_[text];
  std::string error; // said when the script was translated
  if (pieces.empty()) pieces = parse_format(text, error);
  return pieces;
}

void Consumer::take(const type::Type& type, Bytes bytes) {
  if (!type.is(Kind::tuple) || type.fields().empty()) return;
  const type::Field& first = type.fields()[0];
  const uint64_t index = report::load(report::part(bytes, first.offset, first.type->size), first.type->size);
  if (index >= plan_.records.size()) return;
  const Record& r = plan_.records[index];
  Values values{type, bytes, r};
  std::string out;
  const bool has_line = r.has_line && !display_.quiet;
  if (has_line) write({}); // the heading, also where the clause itself asks for silence
  if (r.has_line) line(out, r, values);
  for (const Item& i : r.items) item(out, r, i, values);
  if (has_line) out += "\n";
  write(out);
}

// "  0      1                           :BEGIN "
void Consumer::line(std::string& out, const Record& r, Values& values) {
  const int64_t cpu = values.number();
  const std::string function = function_of(r, values);
  if (display_.quiet) return;
  if (display_.flow)
    out += flow_line(cpu, r.provider, function, r.name);
  else
    out += print("%3d %6u %32s ", static_cast<int>(cpu), r.id, (function + ":" + r.name).c_str());
}

// "  0  -> read", "  0  <- read", "  0   | read:name": each entry indents what follows on its CPU by two columns.
std::string Consumer::flow_line(int64_t cpu, const std::string& provider, const std::string& function, const std::string& name) {
  int& depth = depths_[cpu];
  const bool is_entry = name == "entry", is_return = name == "return", is_call = provider == "syscall";
  if (is_return) depth = std::max(depth - 2, 0);
  std::string text(static_cast<size_t>(depth), ' ');
  text += is_entry ? (is_call ? " => " : " -> ") : is_return ? (is_call ? " <= " : " <- ") : depth ? "  | " : " | ";
  text += function + (is_entry || is_return ? "" : ":" + name);
  if (is_entry) depth = std::min(depth + 2, 200);
  return print("%3d %-41s ", static_cast<int>(cpu), text.c_str());
}

std::string Consumer::stack_text(const type::Type& type, Bytes bytes) {
  std::string out = "\n";
  for (const std::string& frame : frames_of(names_, engine_, type, bytes)) out += std::string(display_.stack_indent, ' ') + frame + "\n";
  return out;
}

std::string Consumer::text_of(const type::Type& type, Bytes bytes, SymbolForm symbol) {
  if (symbol >= SymbolForm::device && is_number(type)) return device_text(report::extend(type, bytes), symbol);
  const bool has_name = symbol != SymbolForm::none && (type.is(Kind::ksym) || type.is(Kind::usym));
  return has_name ? symbol_text(names_, type, bytes, symbol) : printer_.text(type, bytes);
}

std::string Consumer::value_text(const type::Type& type, Bytes bytes, SymbolForm symbol, bool quiet) {
  if (is_stack(type)) return stack_text(type, bytes);
  if (is_number(type) && symbol == SymbolForm::none) {
    const auto n = static_cast<int64_t>(report::extend(type, bytes));
    if (quiet) return std::to_string(n);
    return padded_number(n, type.size);
  }
  const std::string text = text_of(type, bytes, symbol);
  if (symbol != SymbolForm::none && symbol < SymbolForm::device) return "  " + padded(text, 50);
  return quiet ? text : "  " + padded(text, 33);
}

void Consumer::item(std::string& out, const Record& r, const Item& i, Values& values) {
  switch (i.kind) {
  case ItemKind::printf: out += formatted(format_of(i.text), values); break;
  case ItemKind::trace: {
    auto [type, bytes] = values.take();
    if (type) out += value_text(*type, bytes, values.symbol, display_.quiet);
    break;
  }
  case ItemKind::memory: {
    auto [type, bytes] = values.take();
    if (type) out += memory_text(report::buffer_bytes(*type, bytes));
    break;
  }
  case ItemKind::stack: {
    auto [type, bytes] = values.take();
    if (type) out += stack_text(*type, bytes);
    break;
  }
  case ItemKind::printa:
    if (!display_.quiet && i.text.empty()) out += "\n";
    out += printa(i);
    break;
  case ItemKind::normalize: {
    const int64_t n = values.number();
    if (n == 0)
      sink_.message("WARNING: normalize(@" + plan_.aggregations[i.aggregations[0]].name + ", 0): nothing can be divided by 0\n");
    else
      states_[i.aggregations[0]].normal = n;
    break;
  }
  case ItemKind::denormalize: states_[i.aggregations[0]].normal = 1; break;
  case ItemKind::trunc: truncate(i.aggregations[0], i.arguments ? std::optional<int64_t>(values.number()) : std::nullopt); break;
  case ItemKind::clear: clear(i.aggregations[0]); break;
  case ItemKind::system: {
    write(out);
    out.clear();
    base::Status ran = report::run_command(formatted(format_of(i.text), values), [&](std::string_view text) { write(text); }, patience_ms_);
    if (!ran.ok()) sink_.message("ERROR: system: " + ran.error().message + "\n");
    break;
  }
  case ItemKind::print: {
    auto [type, bytes] = values.take();
    if (type) out += typed_text(printer_, *type, bytes) + "\n";
    break;
  }
  case ItemKind::freopen:
    write(out);
    out.clear();
    reopen(formatted(format_of(i.text), values));
    break;
  case ItemKind::ftruncate:
    write(out);
    out.clear();
    cut();
    break;
  case ItemKind::setopt: {
    std::string value;
    if (i.arguments)
      if (auto [type, bytes] = values.take(); type) value = printer_.text(*type, bytes);
    if (const auto option = option_named(i.text); option && !set_option(display_, option->effect, value))
      sink_.message("ERROR: setopt: option " + i.text + " cannot be `" + value + "`\n");
    break;
  }
  case ItemKind::fault: sink_.message(fault_text(r, values)); break;
  case ItemKind::nothing: break;
  }
}

std::string Consumer::function_of(const Record& r, Values& values) {
  if (!r.has_function) return r.function;
  auto [type, value] = values.take();
  if (type && is_number(*type)) return std::string(spec::syscall_name(static_cast<int>(report::extend(*type, value))));
  return type ? printer_.text(*type, value) : std::string();
}

std::string Consumer::fault_text(const Record& r, Values& values) {
  const std::string function = function_of(r, values);
  const auto kind = static_cast<ir::Fault>(values.number());
  const auto address = static_cast<unsigned long long>(values.number());
  const auto action = static_cast<long long>(values.number());
  return print("dtrace: error on enabled probe ID %u (ID %u: ", r.id, r.id) + r.provider + ":" + r.module + ":" + function + ":" + r.name + "): " +
         (kind == ir::Fault::division_by_zero ? "divide-by-zero" : print("invalid address (0x%llx)", address)) +
         (action ? print(" in action #%lld\n", action) : " in predicate\n");
}

std::string Consumer::formatted(const std::vector<Piece>& format, Values& values) {
  std::string out;
  for (const Piece& p : format) {
    out += p.text;
    if (!p.conversion) continue;
    const int width = p.takes_width ? static_cast<int>(std::clamp<int64_t>(values.number(), -4096, 4096)) : p.width;
    const int precision = p.takes_precision ? static_cast<int>(std::clamp<int64_t>(values.number(), 0, 4096)) : p.precision;
    auto [type, bytes] = values.take();
    if (!type) continue;
    Piece left = p; // a negative width means left
    if (width < -1) left.flags += '-';
    const int columns = width < -1 ? -width : width;
    if (is_stack(*type))
      out += stack_text(*type, bytes);
    else if (is_number(*type) && values.symbol == SymbolForm::none && p.conversion != 's' && p.conversion != 'S')
      out += format_number(left, report::extend(*type, bytes), type->size, type->is_signed, columns, precision);
    else
      out += format_text(left, text_of(*type, bytes, values.symbol), columns, precision);
  }
  return out;
}

// -------------------------------------------------------------------------------------------- aggregations

// Without the keys that trunc() removed, and what was counted for them before.
Rows Consumer::rows_of(size_t aggregation) {
  const Aggregation& a = plan_.aggregations[aggregation];
  Rows rows = read_rows(a, program_, engine_, names_);
  for (const auto& [key, numbers] : states_[aggregation].removed) {
    const auto row = rows.find(key);
    if (row == rows.end()) continue;
    if (row->second.numbers == numbers)
      rows.erase(row);
    else if (is_additive(a.function))
      for (size_t i = 0; i < numbers.size() && i < row->second.numbers.size(); i++) row->second.numbers[i] -= numbers[i];
  }
  return rows;
}

// Ascending by value, equal ones by key.
std::vector<std::pair<std::string, const Row*>> Consumer::sorted(size_t aggregation, const Rows& rows) const {
  struct Ranked {
    long double rank;
    const std::string* identity;
    const Row* row;
  };
  std::vector<Ranked> ranked;
  for (const auto& [identity, row] : rows) ranked.push_back({rank_of(plan_.aggregations[aggregation], row), &identity, &row});
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Ranked& first, const Ranked& second) {
    const Ranked &a = display_.sort_reversed ? second : first, &b = display_.sort_reversed ? first : second;
    if (!display_.sort_by_key && a.rank != b.rank) return a.rank < b.rank;
    const size_t size = std::min(a.row->key.size(), b.row->key.size());
    for (size_t n = 0; n < size; n++) {
      const size_t i = (n + display_.sort_key_position) % size;
      const Cell &x = a.row->key[i], &y = b.row->key[i];
      if (x.is_number && y.is_number && x.number != y.number) return x.number < y.number;
      if (x.is_number || y.is_number) continue;
      if (x.symbol != y.symbol) return x.symbol < y.symbol;
      const std::string_view s = report::characters(x.bytes), t = report::characters(y.bytes);
      if (x.type->is(Kind::string) && y.type->is(Kind::string) && s != t) return s < t;
    }
    if (a.rank != b.rank) return a.rank < b.rank;
    return *a.identity < *b.identity;
  });
  std::vector<std::pair<std::string, const Row*>> out;
  for (const Ranked& r : ranked) out.emplace_back(*r.identity, r.row);
  return out;
}

std::string Consumer::key_text(const Row& row, RowStyle style) {
  std::string out;
  for (const Cell& c : row.key) {
    if (is_stack(*c.type))
      out += stack_text(*c.type, c.bytes);
    else if (c.is_number)
      out += padded_number(c.number, c.size);
    else if (const std::string text = c.symbol.empty() ? printer_.text(*c.type, c.bytes) : c.symbol; style == RowStyle::plain)
      out += "  " + padded(text, 50);
    else
      out += std::string(text.size() < packed_text_columns ? packed_text_columns + 1 - text.size() : 1, ' ') + text;
  }
  return out;
}

std::string Consumer::value_text(size_t aggregation, const Row& row) {
  const Aggregation& a = plan_.aggregations[aggregation];
  const int64_t normal = states_[aggregation].normal;
  return is_distribution(a.function) ? distribution_of(a, row, normal, display_) : padded_number(number_of(a, row, normal), 8);
}

// The rows of one aggregation without a format.
std::string Consumer::table(size_t aggregation, const Rows& rows) {
  const Aggregation& a = plan_.aggregations[aggregation];
  const Packing packing = packing_of(a, rows, display_);
  std::string out;
  for (const auto& [identity, row] : sorted(aggregation, rows)) {
    if (packing.style != RowStyle::plain && out.empty()) out += packed_heading(a, packing, row->key);
    out += key_text(*row, packing.style);
    out += packing.style == RowStyle::plain ? value_text(aggregation, *row) + "\n" : packed_line(a, packing, *row, states_[aggregation].normal, display_);
  }
  return out;
}

// One line of printa() with a format: keys for the conversions, the aggregations in their order for those with `@`.
std::string Consumer::formatted_line(const std::vector<Piece>& format, const Item& i, const std::vector<const Row*>& rows) {
  std::string out;
  size_t next_key = 0, next_value = 0;
  const Row* any = *std::find_if(rows.begin(), rows.end(), [](const Row* r) { return r != nullptr; });
  for (const Piece& p : format) {
    out += p.text;
    if (!p.conversion) continue;
    if (p.of_aggregation) {
      const size_t which = std::min(next_value++, rows.size() - 1);
      const Aggregation& a = plan_.aggregations[i.aggregations[which]];
      const int64_t normal = states_[i.aggregations[which]].normal;
      if (is_distribution(a.function))
        out += rows[which] ? distribution_of(a, *rows[which], normal, display_) : "";
      else
        out += format_number(p, static_cast<uint64_t>(rows[which] ? number_of(a, *rows[which], normal) : 0), 8, true, p.width, p.precision);
      continue;
    }
    if (next_key >= any->key.size()) continue;
    const Cell& c = any->key[next_key++];
    if (is_stack(*c.type))
      out += stack_text(*c.type, c.bytes);
    else if (c.is_number && p.conversion == 'a')
      out += format_text(p, kernel_symbol_text(names_, static_cast<uint64_t>(c.number), SymbolForm::address), p.width, p.precision);
    else if (c.is_number && p.conversion != 's' && p.conversion != 'S')
      out += format_number(p, static_cast<uint64_t>(c.number), c.size, c.type->is_signed, p.width, p.precision);
    else
      out += format_text(p, c.is_number ? std::to_string(c.number) : !c.symbol.empty() ? c.symbol : printer_.text(*c.type, c.bytes), p.width, p.precision);
  }
  return out;
}

std::string Consumer::printa(const Item& i) {
  std::string out;
  for (size_t a : i.aggregations) states_[a].printed = true;
  std::vector<Rows> all;
  for (size_t a : i.aggregations) all.push_back(rows_of(a));
  if (i.text.empty() && all.size() == 1) return table(i.aggregations[0], all[0]);
  auto print_key = [&](const std::string& key) {
    std::vector<const Row*> rows;
    for (const Rows& r : all) {
      const auto found = r.find(key);
      rows.push_back(found == r.end() ? nullptr : &found->second);
    }
    if (!i.text.empty()) {
      out += formatted_line(format_of(i.text), i, rows);
      return;
    }
    out += key_text(**std::find_if(rows.begin(), rows.end(), [](const Row* r) { return r != nullptr; }));
    for (size_t n = 0; n < rows.size(); n++) out += rows[n] ? value_text(i.aggregations[n], *rows[n]) : padded_number(0, 8);
    out += "\n";
  };
  // The order is that of one of them; keys that only others have come behind.
  std::set<std::string> done;
  const size_t leading = display_.sort_position < all.size() ? display_.sort_position : 0;
  for (size_t n = 0; n < all.size(); n++) {
    const size_t which = n == 0 ? leading : n <= leading ? n - 1 : n;
    for (const auto& [key, row] : sorted(i.aggregations[which], all[which]))
      if (done.insert(key).second) print_key(key);
  }
  return out;
}

void Consumer::each_map(size_t aggregation, const std::function<void(uint32_t)>& on) {
  const std::string& name = plan_.aggregations[aggregation].name;
  for (uint32_t i = 0; i < program_.maps.size(); i++)
    if (program_.maps[i].name == name || program_.maps[i].name.starts_with(name + ".")) on(i);
}

// trunc(@a): no keys remain; trunc(@a, n): the largest n, of a negative n the smallest.
void Consumer::truncate(size_t aggregation, std::optional<int64_t> count) {
  State& s = states_[aggregation];
  if (!count || *count == 0) {
    s.removed.clear();
    each_map(aggregation, [&](uint32_t map) {
      if (base::Status done = engine_.clear_map(map); !done.ok()) sink_.message("ERROR: " + done.error().message + "\n");
    });
    return;
  }
  const Rows rows = rows_of(aggregation), raw = read_rows(plan_.aggregations[aggregation], program_, engine_, names_);
  const auto order = sorted(aggregation, rows);
  const auto keep = static_cast<size_t>(std::min<uint64_t>(order.size(), *count < 0 ? 0 - static_cast<uint64_t>(*count) : static_cast<uint64_t>(*count)));
  for (size_t i = 0; i < order.size(); i++) {
    const bool stays = *count > 0 ? i >= order.size() - keep : i < keep;
    if (stays) continue;
    if (const auto now = raw.find(order[i].first); now != raw.end()) s.removed[order[i].first] = now->second.numbers;
  }
}

// Keys remain, with nothing counted.
void Consumer::clear(size_t aggregation) {
  states_[aggregation].removed.clear();
  each_map(aggregation, [&](uint32_t map) {
    if (base::Status done = engine_.zero_map(map); !done.ok()) sink_.message("ERROR: " + done.error().message + "\n");
  });
}

void Consumer::finish() {
  std::string out;
  for (size_t a = 0; a < plan_.aggregations.size(); a++) {
    if (states_[a].printed) continue;
    out += table(a, rows_of(a));
  }
  if (!out.empty()) write("\n");
  write(out);
}

} // namespace dlang
