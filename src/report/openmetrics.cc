#include "report/openmetrics.h"

#include "base/text.h"
#include "report/histogram.h"
#include "report/map_items.h"
#include "report/number.h"
#include "report/text.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace report {

using type::Kind;

namespace {

// The parts of a key, each a label.
class Labels {
public:
  explicit Labels(const ir::Map& map) {
    if (!map.key) return;
    if (map.key->is(Kind::tuple))
      parts_.assign(map.key->fields().begin(), map.key->fields().end());
    else
      parts_.emplace_back().type = map.key;
    for (size_t i = 0; i < parts_.size(); i++) names_.push_back(name_of(map, i));
  }
  // `a="1",b="x"`
  std::string of(Context& context, Bytes key) const {
    std::string out;
    for (size_t i = 0; i < parts_.size(); i++) append_label(out, names_[i], text_of(context, *parts_[i].type, part(key, parts_[i].offset, parts_[i].type->size)));
    return out;
  }

private:
  // As the key is written in the script; two of one name, and those without, are told apart by their number.
  std::string name_of(const ir::Map& map, size_t i) const {
    std::string name = i < map.key_names.size() ? metric_name(map.key_names[i]) : std::string();
    const bool is_free = !name.empty() && name != "le" && !name.starts_with("__") && std::ranges::find(names_, name) == names_.end();
    return is_free ? name : "key" + std::to_string(i);
  }

  std::vector<type::Field> parts_;
  std::vector<std::string> names_;
};

void append_sample(std::string& out, std::string_view name, std::string_view suffix, const std::string& labels, Number number) {
  out.append(name).append(suffix);
  if (!labels.empty()) out += "{" + labels + "}";
  out += ' ';
  append(out, number);
  out += '\n';
}

// The parts of values that are more than a number: numbers are families of their own, texts the labels of one that says what is so.
class Parts {
public:
  explicit Parts(const type::Type& value) : value_(value) {
    const std::vector<std::byte> none(value.size);
    each(none, [&](std::string_view name, const type::Type& type, Bytes) {
      const bool is_number_of_part = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])); // of tuples
      const std::string plain = is_number_of_part ? std::string() : metric_name(name);
      const bool is_free = !plain.empty() && std::ranges::find(parts_, plain, &Part::name) == parts_.end();
      parts_.push_back({is_free ? plain : "value" + (is_whole() ? "" : std::to_string(parts_.size())), is_number(type), {}});
    });
  }
  void add(Context& context, std::string_view family, const std::string& labels, Bytes value) {
    std::string texts = labels;
    size_t at = 0;
    each(value, [&](std::string_view, const type::Type& type, Bytes bytes) {
      Part& part = parts_[at++];
      if (!part.is_number) return append_label(texts, free_label(labels, part.name), text_of(context, type, bytes));
      std::string number;
      if (type.is(Kind::floating))
        number = text_of(context, type, bytes);
      else
        append(number, {extend(type, bytes), type.is_signed});
      if (std::isdigit(static_cast<unsigned char>(number.back()))) // a number of floating point may be none
        append_line(part.samples, std::string(family).append("_").append(part.name), labels, number);
    });
    append_line(texts_, std::string(family) + "_info", texts, "1");
  }
  void append_to(std::string& out, std::string_view family, std::string_view help) const {
    for (const Part& part : parts_) {
      if (!part.is_number) continue;
      append_family(out, std::string(family).append("_").append(part.name), "gauge", "", help);
      out += part.samples;
    }
    if (std::ranges::all_of(parts_, &Part::is_number)) return;
    append_family(out, family, "info", "", help);
    out += texts_;
  }

private:
  struct Part {
    std::string name;
    bool is_number = false;
    std::string samples;
  };

  static bool is_number(const type::Type& t) { return t.is(Kind::integer) || t.is(Kind::boolean) || t.is(Kind::floating); }
  // A key has this label already: the part's is behind it.
  static std::string free_label(const std::string& labels, const std::string& name) {
    const bool is_taken = labels.starts_with(name + "=\"") || labels.find("\"," + name + "=\"") != labels.npos;
    return is_taken ? name + "_value" : name;
  }
  static void append_line(std::string& out, std::string_view name, const std::string& labels, std::string_view number) {
    out.append(name);
    if (!labels.empty()) out += "{" + labels + "}";
    out.append(" ").append(number).append("\n");
  }
  bool is_whole() const { return !value_.is(Kind::tuple) && !value_.is(Kind::structure); }
  template<class Take> void each(Bytes value, const Take& take) const {
    if (is_whole())
      take(std::string_view(), value_, value);
    else
      for_each_member(value_, value, take);
  }

  const type::Type& value_;
  std::vector<Part> parts_;
  std::string texts_;
};

bool is_plain(const type::Type& t) { return t.is(Kind::integer) || t.is(Kind::boolean) || t.is(Kind::enumeration); }

// A number, or several that are one metric.
bool is_one_number(const type::Type& value) {
  constexpr Kind numbers[] = {Kind::count, Kind::sum, Kind::min, Kind::max, Kind::avg, Kind::stats};
  return is_plain(value) || value.is_histogram() || std::ranges::find(numbers, value.kind) != std::end(numbers);
}

std::string_view type_of(const type::Type& value) {
  if (value.is_histogram()) return "histogram";
  if (value.is(Kind::avg) || value.is(Kind::stats)) return "summary";
  return value.is(Kind::count) || (value.is(Kind::sum) && !value.is_signed) ? "counter" : "gauge";
}

// Buckets of all keys end where the last one does that any of them has: a scrape has the same bounds for each key.
size_t used_buckets(const type::Type& type, const std::vector<Item>& items) {
  size_t used = 0;
  for (const Item& i : items)
    for (size_t b = type.count; b > used; b--)
      if (load(part(i.value, (b - 1) * 8, 8), 8)) used = b;
  return used;
}

void append_histogram_samples(std::string& out, std::string_view name, const std::string& labels, const type::Type& type, Bytes value, size_t used) {
  uint64_t total = 0;
  auto bucket = [&](std::string_view bound) {
    std::string with = labels;
    append_label(with, "le", bound);
    append_sample(out, name, "_bucket", with, {total});
  };
  for (size_t i = 0; i < used; i++) {
    const Row range = histogram_bucket(type, static_cast<uint32_t>(i));
    total += load(part(value, i * 8, 8), 8);
    if (!range.end) break; // without an end: that is +Inf
    std::string bound;
    const Wide last = *range.end - 1;
    append(bound, {static_cast<uint64_t>(last), last < 0});
    bucket(bound);
  }
  bucket("+Inf");
}

// A minimum or maximum of nothing.
bool is_unset(const type::Type& type, Bytes value) { return (type.is(Kind::min) || type.is(Kind::max)) && load(part(value, 8, 8), 8) == 0; }

void append_value(std::string& out, std::string_view name, const std::string& labels, const type::Type& type, Bytes value) {
  if (type.is(Kind::avg) || type.is(Kind::stats)) {
    const Stats stats = stats_of(type, value);
    append_sample(out, name, "_count", labels, {stats.count});
    append_sample(out, name, "_sum", labels, stats.total);
  } else if (is_plain(type)) {
    append_sample(out, name, "", labels, {extend(type, value), type.is_signed});
  } else if (const auto number = number_of(type, value); number && !is_unset(type, value)) {
    append_sample(out, name, type_of(type) == "counter" ? "_total" : "", labels, *number);
  }
}

} // namespace

void append_family(std::string& out, std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  if (!unit.empty()) out.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty() && !out.ends_with('{')) out += ',';
  out.append(name).append("=\"");
  for (char c : base::printable(value)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

std::string metric_name(std::string_view text) {
  std::string out;
  for (char c : text) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (!out.empty() && std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, "_");
  return out;
}

std::string_view not_a_metric(const ir::Map& map) {
  if (map.value->is(Kind::tseries)) return "its values are time series";
  if (map.value->has_stack()) return "its values are stacks";
  return map.key && map.key->has_stack() ? "its keys are stacks" : "";
}

void append_metrics(std::string& out, Context& context, const MapRequest& r, std::string_view name) {
  const type::Type& value = *r.map.value;
  const Selection selection = select(context, r);
  const Labels all(r.map);
  const std::string help = "The map @" + r.map.name + ".";
  if (!is_one_number(value)) {
    Parts parts(value);
    for (const Item& i : selection.items) parts.add(context, name, all.of(context, i.key), i.value);
    return parts.append_to(out, name, help);
  }
  const size_t used = value.is_histogram() ? used_buckets(value, selection.items) : 0;
  append_family(out, name, type_of(value), "", help);
  for (const Item& i : selection.items) {
    const std::string labels = all.of(context, i.key);
    if (value.is_histogram())
      append_histogram_samples(out, name, labels, value, i.value, used);
    else
      append_value(out, name, labels, value, i.value);
  }
}

} // namespace report
