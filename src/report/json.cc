// Numbers, truth values, tuples, structures and histograms have a form of their own in JSON; all else is its
// text in quotes. Blanks are placed as bpftrace places them, for readers that compare lines.
#include "report/json.h"

#include "base/utf8.h"
#include "report/histogram.h"
#include "report/series.h"
#include "report/text.h"
#include "report/views.h"

#include <cmath>

namespace report {

using type::Kind;

void append_json(std::string& out, Number n) {
  constexpr uint64_t exact = uint64_t{1} << 53;
  bool negative = n.is_signed && static_cast<int64_t>(n.bits) < 0;
  bool quoted = (negative ? -n.bits : n.bits) > exact;
  if (quoted) out += '"';
  append(out, n);
  if (quoted) out += '"';
}

namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
  case '"': out += "\\\""; break;
  case '\\': out += "\\\\"; break;
  case '\b': out += "\\b"; break;
  case '\f': out += "\\f"; break;
  case '\n': out += "\\n"; break;
  case '\r': out += "\\r"; break;
  case '\t': out += "\\t"; break;
  default: out.append("\\u00").append(1, digits[c >> 4]).append(1, digits[c & 15]); break;
  }
}

// JSON has no infinity and no NaN; more than a double is kept as text, like large integers.
void append_floating_json(std::string& out, const type::Type& type, Bytes bytes) {
  const long double value = floating_of(type, bytes);
  const bool quoted = !std::isfinite(value) || static_cast<long double>(static_cast<double>(value)) != value;
  if (quoted) out += '"';
  append_floating(out, type, bytes);
  if (quoted) out += '"';
}

void append_array(std::string& out, Context& context, const type::Type& type, Bytes bytes) {
  const type::Type& element = *type.element;
  if (element.is_char) return append_json(out, characters(bytes));
  out += '[';
  for (uint32_t i = 0; i < type.count; i++) {
    if (i) out += ',';
    Bytes at = part(bytes, size_t{i} * element.size, element.size);
    if (element.is(Kind::string)) // of C, as in structures
      append_json(out, characters(at));
    else
      append_json(out, context, element, at);
  }
  out += ']';
}

void append_tuple(std::string& out, Context& context, const type::Type& type, Bytes bytes) {
  out += '[';
  for (const type::Field& f : type.fields()) {
    if (&f != type.fields().data()) out += ',';
    append_json(out, context, *f.type, part(bytes, f.offset, f.type->size));
  }
  out += ']';
}

void append_object(std::string& out, Context& context, const type::Type& type, Bytes bytes) {
  bool first = true;
  out += "{ ";
  for_each_member(type, bytes, [&](std::string_view name, const type::Type& member, Bytes at) {
    if (!std::exchange(first, false)) out += ", ";
    append_json(out, name);
    out += ": ";
    if (member.is(Kind::string) && type.is(Kind::structure))
      append_json(out, characters(at));
    else
      append_json(out, context, member, at);
  });
  out += " }";
}

void append_stats(std::string& out, const type::Type& type, Bytes bytes, uint64_t div) {
  Stats s = stats_of(type, bytes);
  out += "{\"count\": ";
  append_json(out, Number{s.count, false});
  out += ", \"average\": ";
  append_json(out, divide(s.average, div));
  out += ", \"total\": ";
  append_json(out, divide(s.total, div));
  out += '}';
}

} // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    auto c = static_cast<unsigned char>(text[0]);
    size_t length = base::utf8_length(text);
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f || length == 0) {
      append_escape(out, c);
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void append_json(std::string& out, Context& context, const type::Type& type, Bytes bytes, uint64_t div) {
  if (auto number = number_of(type, bytes)) return append_json(out, divide(*number, div));
  switch (type.kind) {
  case Kind::boolean: out += load(bytes, 1) ? "true" : "false"; break;
  case Kind::enumeration: // a number: programs compare, people read
  case Kind::pointer: append_json(out, Number{extend(type, bytes), type.is_signed}); break;
  case Kind::floating: append_floating_json(out, type, bytes); break;
  case Kind::array: append_array(out, context, type, bytes); break;
  case Kind::tuple:
    type.is_named ? append_object(out, context, type, bytes) : append_tuple(out, context, type, bytes);
    break;
  case Kind::structure:
    if (!append_view(out, context, type, bytes, true)) append_object(out, context, type, bytes);
    break;
  case Kind::stats: append_stats(out, type, bytes, div); break;
  case Kind::hist:
  case Kind::lhist: append_histogram_json(out, histogram_rows(type, bytes, div)); break;
  case Kind::tseries: append_series_json(out, series_points(type, bytes, div)); break;
  default: append_json(out, text_of(context, type, bytes)); break;
  }
}

std::string json_line(std::string_view type, std::string_view data) {
  std::string out = "{\"type\": ";
  append_json(out, type);
  out.append(", \"data\": ").append(data).append("}\n");
  return out;
}

} // namespace report
