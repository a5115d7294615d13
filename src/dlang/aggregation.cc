#include "dlang/aggregation.h"

#include "base/print.h"
#include "dlang/symbols.h"
#include "report/histogram.h"
#include "report/merge.h"
#include "report/number.h"
#include "report/text.h"

#include <algorithm>

namespace dlang {

using base::print;
using report::Bytes;
using type::Kind;
__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

namespace {

constexpr size_t power_buckets = 127, zero_bucket = 63; // of quantize

const ir::Map* find_map(const ir::Program& program, const std::string& name, size_t& index) {
  for (index = 0; index < program.maps.size(); index++)
    if (program.maps[index].name == name) return &program.maps[index];
  return nullptr;
}

std::string identity(const std::vector<Cell>& key) {
  std::string out;
  for (const Cell& c : key) {
    if (c.is_number)
      out += "n" + std::to_string(c.number) + ";";
    else if (!c.symbol.empty())
      out += "y" + c.symbol + '\0';
    else if (c.type->is(Kind::string))
      out += "s" + std::string(report::characters(c.bytes)) + '\0';
    else
      out += "b" + std::string(reinterpret_cast<const char*>(c.bytes.data()), c.bytes.size());
  }
  return out;
}

int64_t word(Bytes bytes, size_t index) { return static_cast<int64_t>(report::load(report::part(bytes, index * 8, 8), 8)); }

// Calls on(key's bytes, merged value) for each entry of a map.
void each_entry(const ir::Program& program, ir::Engine& engine, const std::string& name, const std::function<void(const ir::Map&, Bytes, Bytes)>& on) {
  size_t index = 0;
  const ir::Map* map = find_map(program, name, index);
  if (!map) return;
  auto entries = engine.read_map(static_cast<uint32_t>(index));
  if (!entries.ok()) return;
  std::vector<std::byte> value(map->value->size);
  for (const ir::Entry& e : *entries) {
    report::merge_cpus(*map, e.values, value);
    on(*map, e.key, value);
  }
}

size_t levels_of(const Aggregation& a) {
  if (a.function == Function::lquantize) return static_cast<size_t>((a.high - a.low) / a.step) + 2;
  size_t buckets = 1;
  int64_t end = 1;
  for (int64_t i = 0; i < a.low_power; i++) end *= a.factor;
  for (int64_t power = a.low_power; power <= a.high_power; power++) {
    end *= a.factor;
    const int64_t n = end > a.steps ? a.steps : end;
    buckets += static_cast<size_t>(n - n / a.factor);
  }
  return buckets + 1;
}

// The place of a bucket's key in Row::numbers.
size_t place_of(const Aggregation& a, int64_t bucket) {
  if (a.function == Function::lquantize) return static_cast<size_t>(bucket + 1);
  if (a.function == Function::llquantize) return static_cast<size_t>(bucket);
  if (bucket == 0) return zero_bucket;
  const uint64_t size = bucket < 0 ? 0 - static_cast<uint64_t>(bucket) : static_cast<uint64_t>(bucket);
  const auto power = static_cast<size_t>(63 - __builtin_clzll(size));
  return bucket < 0 ? zero_bucket - 1 - std::min(power, zero_bucket - 1) : zero_bucket + 1 + std::min(power, zero_bucket - 1);
}

// The lowest value of each bucket of a distribution but the first one, which is below them all.
std::vector<int64_t> bounds_of(const Aggregation& a) {
  std::vector<int64_t> out;
  if (a.function == Function::quantize) {
    for (size_t i = 0; i < power_buckets; i++)
      out.push_back(i == zero_bucket ? 0 : i < zero_bucket ? -(int64_t{1} << (zero_bucket - 1 - i)) : int64_t{1} << (i - zero_bucket - 1));
    return out;
  }
  out.push_back(0);
  if (a.function == Function::lquantize) {
    for (size_t i = 0; i + 1 < levels_of(a); i++) out.push_back(a.low + static_cast<int64_t>(i) * a.step);
    return out;
  }
  int64_t from = 1;
  for (int64_t i = 0; i < a.low_power; i++) from *= a.factor;
  for (int64_t power = a.low_power; power <= a.high_power; power++) {
    const int64_t end = from * a.factor;
    const int64_t n = end > a.steps ? a.steps : end, width = end / n;
    for (int64_t at = from; at < end; at += width) out.push_back(at);
    from = end;
  }
  out.push_back(from);
  return out;
}

} // namespace

std::vector<Cell> cells_of(const Aggregation& a, const type::Type& key, Bytes bytes, report::Names& names, bool with_bucket) {
  std::vector<Cell> out;
  const size_t count = a.keys + with_bucket;
  auto add = [&](const type::Type& t, Bytes value) {
    Cell c{.type = &t, .bytes = {value.begin(), value.end()}};
    c.is_number = t.is_integer() || t.is(Kind::pointer);
    if (c.is_number) c.number = static_cast<int64_t>(report::extend(t, value));
    const size_t place = out.size();
    const KeyPart part = place < a.key_parts.size() ? a.key_parts[place] : KeyPart{};
    c.size = part.size ? part.size : t.size;
    if (part.symbol >= SymbolForm::device && c.is_number)
      c.symbol = device_text(static_cast<uint64_t>(c.number), part.symbol), c.is_number = false;
    else if (part.symbol != SymbolForm::none && (t.is(Kind::ksym) || t.is(Kind::usym)))
      c.symbol = symbol_text(names, t, value, part.symbol);
    out.push_back(std::move(c));
  };
  if (key.is(Kind::tuple)) {
    for (const type::Field& f : key.fields())
      if (out.size() < count) add(*f.type, report::part(bytes, f.offset, f.type->size));
  } else if (count) {
    add(key, report::part(bytes, 0, key.size));
  }
  return out;
}

bool is_additive(Function f) { return f != Function::min && f != Function::max; }
bool is_distribution(Function f) { return f >= Function::quantize; }

// Two addresses of one function have one row.
static int64_t merged(Function f, int64_t before, int64_t now) {
  return f == Function::min ? std::min(before, now) : f == Function::max ? std::max(before, now) : before + now;
}

Rows read_rows(const Aggregation& a, const ir::Program& program, ir::Engine& engine, report::Names& names) {
  Rows out;
  bool is_new = false; // the row that row_of() gave last
  const size_t size = a.function == Function::avg ? 2 : a.function == Function::stddev ? 6 : a.function == Function::quantize ? power_buckets : is_distribution(a.function) ? levels_of(a) : 1;
  auto row_of = [&](const ir::Map& map, Bytes key) -> Row& {
    std::vector<Cell> cells;
    if (map.key) cells = cells_of(a, *map.key, key, names);
    Row& row = out[identity(cells)];
    is_new = row.numbers.empty();
    if (is_new) row.key = std::move(cells), row.numbers.resize(size);
    return row;
  };
  if (a.by_buckets) {
    each_entry(program, engine, a.name, [&](const ir::Map& map, Bytes key, Bytes value) {
      const std::vector<Cell> all = cells_of(a, *map.key, key, names, true);
      const size_t place = all.size() == a.keys + 1 ? place_of(a, all.back().number) : size;
      if (place < size) row_of(map, key).numbers[place] += word(value, 0);
    });
    return out;
  }
  each_entry(program, engine, a.name, [&](const ir::Map& map, Bytes key, Bytes value) {
    if (!is_additive(a.function) && word(value, 1) == 0) return;
    Row& row = row_of(map, key);
    if (a.function != Function::quantize) {
      for (size_t i = 0; i < std::min<size_t>(size, a.function == Function::avg || a.function == Function::stddev ? 2 : 1); i++)
        row.numbers[i] = is_new ? word(value, i) : merged(a.function, row.numbers[i], word(value, i));
      return;
    }
    for (size_t i = 1; i < map.value->count; i++)
      if (const size_t place = i == 1 ? zero_bucket : zero_bucket + i - 1; place < size) row.numbers[place] += word(value, i);
  });
  if (a.function == Function::quantize)
    each_entry(program, engine, a.name + ".neg", [&](const ir::Map& map, Bytes key, Bytes value) {
      Row& row = row_of(map, key);
      for (size_t i = 2; i < map.value->count && i <= zero_bucket + 1; i++) row.numbers[zero_bucket + 1 - i] += word(value, i);
    });
  constexpr std::string_view squares[] = {".low", ".mid", ".cross", ".high"};
  for (size_t i = 0; a.function == Function::stddev && i < 4; i++)
    each_entry(program, engine, a.name + std::string(squares[i]), [&](const ir::Map& map, Bytes key, Bytes value) { row_of(map, key).numbers[2 + i] += word(value, 0); });
  return out;
}

// Each division rounds towards zero, as dtrace's.
static int64_t deviation_of(const Row& row, int64_t normal) {
  const auto count = row.numbers[1];
  if (count == 0) return 0;
  auto wide = [&](size_t i) { return static_cast<Wide>(static_cast<uint64_t>(row.numbers[i])); };
  const Wide squares = wide(2) + (wide(3) << 32) + (wide(4) << 33) + (wide(5) << 64);
  const auto divisor = static_cast<Wide>(static_cast<uint64_t>(std::max<int64_t>(normal, 1)));
  const Wide mean_of_squares = squares / divisor / divisor / static_cast<Wide>(static_cast<uint64_t>(count));
  const SignedWide mean = static_cast<SignedWide>(row.numbers[0]) / std::max<int64_t>(normal, 1) / count;
  const Wide square_of_mean = static_cast<Wide>(mean < 0 ? -mean : mean) * static_cast<Wide>(mean < 0 ? -mean : mean);
  if (mean_of_squares <= square_of_mean) return 0;
  const Wide variance = mean_of_squares - square_of_mean;
  Wide low = 0, high = static_cast<Wide>(1) << 63;
  while (low < high) { // the largest number whose square is not larger
    const Wide middle = (low + high + 1) / 2;
    if (middle * middle <= variance)
      low = middle;
    else
      high = middle - 1;
  }
  return static_cast<int64_t>(low);
}

int64_t number_of(const Aggregation& a, const Row& row, int64_t normal) {
  if (normal == 0) normal = 1;
  if (a.function == Function::stddev) return deviation_of(row, normal);
  if (a.function == Function::avg) return row.numbers[1] ? row.numbers[0] / normal / row.numbers[1] : 0;
  return row.numbers[0] / normal;
}

long double rank_of(const Aggregation& a, const Row& row) {
  if (!is_distribution(a.function)) return static_cast<long double>(number_of(a, row, 1));
  const std::vector<int64_t> bounds = bounds_of(a);
  long double sum = 0;
  for (size_t i = 0; i < row.numbers.size() && i < bounds.size(); i++) sum += static_cast<long double>(bounds[i]) * static_cast<long double>(row.numbers[i]);
  return sum;
}

namespace {

// "< 0", "16", ">= 100"
std::string label_of(const Aggregation& a, const std::vector<int64_t>& bounds, size_t bucket, size_t count) {
  const bool has_ends = a.function != Function::quantize;
  if (has_ends && bucket == 0) return "< " + std::to_string(bounds[1]);
  return (has_ends && bucket + 1 == count ? ">= " : "") + std::to_string(bounds[bucket]);
}

// Of a bound in a line of a packed distribution.
int columns_of_bound(const Aggregation& a, size_t bucket) {
  constexpr int fewest = 4, of_steps = 8;
  return a.function == Function::quantize ? std::max(static_cast<int>(std::to_string(bounds_of(a)[bucket]).size()), fewest) : of_steps;
}

} // namespace

std::string distribution_of(const Aggregation& a, const Row& row, int64_t normal, const Display& display) {
  constexpr size_t label_columns = 16;
  const std::vector<int64_t> bounds = bounds_of(a);
  const size_t count = std::min(row.numbers.size(), bounds.size());
  size_t first = 0, last = count;
  while (first < count && row.numbers[first] == 0) first++;
  while (last > first && row.numbers[last - 1] == 0) last--;
  if (first == last) { // nothing: the buckets around 0
    first = a.function == Function::quantize ? zero_bucket - 1 : 0;
    last = std::min(count, first + 3);
  } else {
    if (first > 0) first--;
    if (last < count) last++;
  }
  Scale scale{.zoom = display.zoom};
  for (int64_t n : row.numbers) scale.add(n);
  std::string out = bar_heading("value", label_columns);
  for (size_t i = first; i < last; i++) out += print("%16s ", label_of(a, bounds, i, count).c_str()) + bar_line(row.numbers[i], normal, scale, display.encoding);
  return out;
}

int columns_of_number(unsigned size) { return size == 1 ? 3 : size == 2 ? 5 : size == 4 ? 8 : 16; }

Packing packing_of(const Aggregation& a, const Rows& rows, const Display& display) {
  Packing out{.scale = {.zoom = display.zoom}};
  if (display.bars && (a.function == Function::count || a.function == Function::sum)) {
    out.style = RowStyle::bar;
    for (const auto& [identity, row] : rows) out.scale.add(row.numbers[0]);
  }
  if (!display.packed || rows.empty() || (a.function != Function::quantize && a.function != Function::lquantize)) return out;
  out.style = RowStyle::packed;
  const size_t count = rows.begin()->second.numbers.size();
  out.last = count - 1;
  if (a.function == Function::lquantize) return out; // all of them
  auto is_used = [&](size_t bucket) { return std::ranges::any_of(rows, [&](const auto& r) { return r.second.numbers[bucket] != 0; }); };
  while (out.first < count && !is_used(out.first)) out.first++;
  if (out.first == count) out.first = out.last = zero_bucket; // all of them were cleared
  while (out.last > out.first && !is_used(out.last)) out.last--;
  if (out.first && out.first != zero_bucket) out.first--;
  if (out.last + 1 < count) out.last++;
  return out;
}

std::string packed_heading(const Aggregation& a, const Packing& packing, const std::vector<Cell>& key) {
  int columns = 0;
  for (const Cell& c : key) columns += (c.is_number ? columns_of_number(c.size) : packed_text_columns) + 1;
  if (packing.style == RowStyle::bar) return bar_heading(key.empty() ? "value" : "key", key.empty() ? 16 : static_cast<size_t>(columns));
  const int of_steps = a.function == Function::lquantize;
  return print("\n%*s %*s .", columns, columns ? "key" : "", columns_of_bound(a, packing.first) - of_steps, "min") + std::string(packing.last - packing.first + 1, '-') +
         print(". %-*s | count\n", columns_of_bound(a, packing.last), "max");
}

std::string packed_line(const Aggregation& a, const Packing& packing, const Row& row, int64_t normal, const Display& display) {
  if (packing.style == RowStyle::bar) return " " + bar_line(row.numbers[0], normal, packing.scale, display.encoding);
  const std::vector<int64_t> bounds = bounds_of(a);
  Scale scale{.zoom = display.zoom};
  int64_t total = 0;
  for (size_t i = packing.first; i <= packing.last; i++) scale.add(row.numbers[i]), total += row.numbers[i];
  auto bound = [&](size_t bucket) { return label_of(a, bounds, bucket, row.numbers.size()); };
  std::string out = a.function == Function::quantize ? " " : "";
  out += print("%*s :", columns_of_bound(a, packing.first), bound(packing.first).c_str());
  for (size_t i = packing.first; i <= packing.last; i++) out += bar_cell(row.numbers[i], scale, display.encoding);
  return out + print(": %-*s | %lld\n", columns_of_bound(a, packing.last), bound(packing.last).c_str(), static_cast<long long>(total));
}

} // namespace dlang
