// A slice holds one interval (type/type.h); the same interval stands in the same slice on every CPU, so that series
// are put together slice by slice: the later interval wins, and values of one interval are combined.
//
// A row's mark stands at floor(position of the value between the least and the greatest × 52): column 0 and column 52
// are the frame itself. Where values of both signs are there, a line of dots shows zero.
#include "report/series.h"

#include "report/json.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace report {

namespace {

__extension__ typedef __int128 Wide;
constexpr size_t columns = 53;

// One slice: u64 interval + 1, u64 value, u64 more.
struct Words {
  uint64_t stamp = 0, value = 0, more = 0;
};

Words words_at(Bytes slices, size_t index) {
  Bytes at = part(slices, index * type::slice_size, type::slice_size);
  return {load(at, 8), load(part(at, 8, 8), 8), load(part(at, 16, 8), 8)};
}

bool is_less(const type::Type& type, uint64_t a, uint64_t b) {
  return type.is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
}

// Values of one interval from two CPUs.
Words combine(const type::Type& type, Words a, Words b) {
  switch (static_cast<type::Slice>(type.step)) {
  case type::Slice::last: return a.more < b.more ? b : a;
  case type::Slice::avg:
  case type::Slice::sum: return {a.stamp, a.value + b.value, a.more + b.more};
  case type::Slice::min: return is_less(type, b.value, a.value) ? b : a;
  case type::Slice::max: return is_less(type, a.value, b.value) ? b : a;
  }
  return a;
}

Number value_of(const type::Type& type, Words w) {
  Number n = {w.value, type.is_signed};
  return static_cast<type::Slice>(type.step) == type::Slice::avg ? divide(n, w.more) : n;
}

Wide wide(Number n) { return n.is_signed ? Wide{static_cast<int64_t>(n.bits)} : Wide{n.bits}; }

// How finely times are written: what the interval needs.
struct Precision {
  std::string_view unit; // behind the seconds in the head of the column
  int digits;
};

Precision precision(int64_t interval_ns) {
  if (interval_ns % 1'000'000'000 == 0) return {"", 0};
  if (interval_ns % 1'000'000 == 0) return {".ms", 3};
  return interval_ns % 1000 == 0 ? Precision{".us", 6} : Precision{".ns", 9};
}

std::string time_text(int64_t ns, Precision p) {
  constexpr int64_t second = 1'000'000'000;
  time_t seconds = ns / second;
  tm local = {};
  ::localtime_r(&seconds, &local);
  char text[32];
  size_t length = std::strftime(text, sizeof text, "%H:%M:%S", &local);
  std::string out(text, length);
  if (!p.digits) return out;
  std::string fraction = std::to_string(second + ns % second).substr(1); // nine digits
  return out + "." + fraction.substr(0, static_cast<size_t>(p.digits));
}

std::string number_text(Number n) {
  std::string text;
  append(text, n);
  return text;
}

// Appends rows; knows the range of the values.
class Graph {
public:
  Graph(std::string& out, const Series& series) : out_(out), precision_(precision(series.interval_ns)) {
    for (const Point& p : series.points) {
      if (!p.value) continue;
      if (!has_values_ || wide(*p.value) < wide(least_)) least_ = *p.value;
      if (!has_values_ || wide(*p.value) > wide(greatest_)) greatest_ = *p.value;
      has_values_ = true;
    }
    head_ = "hh:mm:ss" + std::string(precision_.unit);
    size_t fraction = precision_.digits ? static_cast<size_t>(precision_.digits) + 1 : 0;
    head_.resize(8 + fraction + 1, ' ');
  }

  void draw(const Series& series) {
    range();
    out_ += head_;
    out_.append("|").append(columns - 2, '_').append("|\n");
    for (const Point& p : series.points) row(p);
    out_.append(head_.size(), ' ').append("v").append(columns - 2, '_').append("v\n");
    range();
  }

private:
  // The least value over the left edge, the greatest over the right one.
  void range() {
    std::string left = number_text(least_);
    out_.append(head_.size(), ' ').append(left);
    out_.append(left.size() < columns ? columns - 1 - std::min(left.size(), columns - 1) : 1, ' ');
    out_.append(number_text(greatest_)).append("\n");
  }

  size_t column(Wide value) const {
    Wide span = wide(greatest_) - wide(least_);
    return span ? static_cast<size_t>((value - wide(least_)) * static_cast<Wide>(columns - 1) / span) : 0;
  }

  void row(const Point& p) {
    std::string line(columns, ' ');
    line.front() = line.back() = '|';
    if (wide(least_) < 0 && wide(greatest_) > 0) line[column(0)] = '.';
    if (p.value) line[column(wide(*p.value))] = '*';
    out_.append(time_text(p.begin_ns, precision_)).append(" ").append(line).append(" ");
    out_.append(p.value ? number_text(*p.value) : "-").append("\n");
  }

  std::string& out_;
  Precision precision_;
  std::string head_;
  Number least_, greatest_;
  bool has_values_ = false;
};

} // namespace

void merge_series(const type::Type& type, Bytes slices, std::span<std::byte> out) {
  for (uint32_t i = 0; i < type.count; i++) {
    Words mine = words_at(out, i), other = words_at(slices, i);
    if (other.stamp == 0 || other.stamp < mine.stamp) continue;
    Words both = other.stamp == mine.stamp ? combine(type, mine, other) : other;
    const uint64_t words[] = {both.stamp, both.value, both.more};
    std::memcpy(out.data() + size_t{i} * type::slice_size, words, sizeof words);
  }
}

Series series_points(const type::Type& type, Bytes slices, uint64_t div) {
  Series series = {type.low, {}};
  uint64_t first = 0, latest = 0;
  for (uint32_t i = 0; i < type.count; i++) latest = std::max(latest, words_at(slices, i).stamp);
  auto is_kept = [&](uint64_t stamp) { return stamp && stamp + type.count > latest; };
  for (uint32_t i = 0; i < type.count; i++)
    if (uint64_t stamp = words_at(slices, i).stamp; is_kept(stamp) && (!first || stamp < first)) first = stamp;
  for (uint64_t stamp = first; stamp && stamp <= latest; stamp++) {
    Point point = {.begin_ns = static_cast<int64_t>(stamp - 1) * type.low, .value = {}};
    Words w = words_at(slices, (stamp - 1) % type.count);
    if (w.stamp == stamp) point.value = divide(value_of(type, w), div);
    series.points.push_back(point);
  }
  return series;
}

void append_series(std::string& out, const Series& series) {
  if (!series.points.empty()) Graph(out, series).draw(series);
}

void append_series_json(std::string& out, const Series& series) {
  out += '[';
  for (const Point& p : series.points) {
    if (&p != series.points.data()) out += ", ";
    out += "{\"interval_start\": ";
    append_json(out, time_text(p.begin_ns, precision(series.interval_ns)));
    out += ", \"value\": ";
    if (p.value)
      append_json(out, *p.value);
    else
      out += "null";
    out += '}';
  }
  out += ']';
}

} // namespace report
