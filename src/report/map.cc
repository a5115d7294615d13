// The steps of printing a map: merge the values of the CPUs, sort, keep the largest, write. Both forms of
// output share all but the last. Text is handed on in pieces, so that the first lines of a large map come
// before its last names are looked up.
#include "report/map.h"

#include "report/json.h"
#include "report/map_items.h"
#include "report/text.h"

namespace report {

using type::Kind;

namespace {

constexpr size_t piece_bytes = 64 << 10;

// A key of several parts is a tuple and loses its parentheses; tuples inside it keep theirs.
bool has_parts(const type::Type& key) { return key.is(Kind::tuple) && !key.is_named; }

void append_key_text(std::string& out, Context& context, const type::Type& key, Bytes bytes) {
  if (!has_parts(key)) return append_text(out, context, key, bytes);
  for (const type::Field& f : key.fields()) {
    if (&f != key.fields().data()) out += ", ";
    append_text(out, context, *f.type, part(bytes, f.offset, f.type->size));
  }
}

// Keys of JSON objects are strings: text as it is, all else as its JSON, without quotes around it.
void append_key_part_json(std::string& out, Context& context, const type::Type& key, Bytes bytes) {
  switch (key.kind) {
  case Kind::integer:
  case Kind::enumeration:
  case Kind::pointer: append(out, Number{extend(key, bytes), key.is_signed}); break;
  case Kind::tuple:
  case Kind::array:
  case Kind::structure:
    if (!(key.element && key.element->is_char)) return append_json(out, context, key, bytes);
    [[fallthrough]];
  default: append_text(out, context, key, bytes); break;
  }
}

void append_key_json(std::string& out, Context& context, const type::Type& key, Bytes bytes) {
  std::string text;
  if (!has_parts(key))
    append_key_part_json(text, context, key, bytes);
  else
    for (const type::Field& f : key.fields()) {
      if (&f != key.fields().data()) text += ',';
      append_key_part_json(text, context, *f.type, part(bytes, f.offset, f.type->size));
    }
  append_json(out, text);
}

std::string_view json_type(const type::Type& value) {
  if (value.is(Kind::tseries)) return "tseries";
  if (value.is_histogram()) return "hist";
  return value.is(Kind::avg) || value.is(Kind::stats) ? "stats" : "map";
}

} // namespace

void print_map_text(Context& context, const MapRequest& r, const TakeText& take) {
  Selection s = select(context, r);
  std::string out;
  for (const Item& i : s.items) {
    out.append("@").append(r.map.name);
    if (r.map.key) {
      out += '[';
      append_key_text(out, context, *r.map.key, i.key);
      out += ']';
    }
    out += r.map.value->is_histogram() || r.map.value->is(Kind::tseries) ? ":\n" : ": ";
    append_text(out, context, *r.map.value, i.value, r.div);
    out += '\n';
    if (out.size() < piece_bytes) continue;
    take(out);
    out.clear();
  }
  if (!out.empty()) take(out);
}

std::string entry_text(Context& context, const MapRequest& r) {
  std::string out;
  for (const Selection s = select(context, r); const Item& i : s.items) append_text(out, context, *r.map.value, i.value);
  return out;
}

std::string entry_json(Context& context, const MapRequest& r) {
  std::string out;
  for (const Selection s = select(context, r); const Item& i : s.items) append_json(out, context, *r.map.value, i.value);
  return out;
}

void print_map_json(Context& context, const MapRequest& r, const TakeText& take) {
  if (r.entries.empty()) return;
  Selection s = select(context, r);
  std::string data = "{";
  append_json(data, "@" + r.map.name);
  data += r.map.key ? ": {" : ": ";
  for (const Item& i : s.items) {
    if (&i != s.items.data()) data += ", ";
    if (r.map.key) {
      append_key_json(data, context, *r.map.key, i.key);
      data += ": ";
    }
    append_json(data, context, *r.map.value, i.value, r.div);
  }
  data += r.map.key ? "}}" : "}";
  take(json_line(json_type(*r.map.value), data));
}

} // namespace report
