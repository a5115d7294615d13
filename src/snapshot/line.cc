#include "snapshot/line.h"

#include "base/counted.h"
#include "report/number.h"
#include "report/json.h"

#include <algorithm>
#include <cstdio>

namespace snapshot {

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", n);
  return text;
}

Line language_line(const symbol::Frame& frame, size_t number, std::optional<size_t> entry) {
  Line line{.frame = number, .entry = entry};
  line.kind = frame.kind;
  line.function = frame.name;
  line.module = frame.module;
  if (!frame.file.empty()) line.place = std::string(frame.file) + ":" + std::to_string(frame.line);
  return line;
}

constexpr size_t most_others = 3; // values of a variable in other threads that are printed

static void append_values(std::string& out, const Line& l, bool arguments) {
  std::string line;
  for (const Line::Value& v : l.values) {
    if (v.is_argument != arguments) continue;
    std::string one = v.name + " = " + v.text;
    for (size_t i = 0; i < std::min(v.others.size(), most_others); i++) one += " | " + v.others[i];
    if (v.others.size() > most_others) one += " | …";
    if (!line.empty() && line.size() + one.size() > longest_value) out += line + "\n", line.clear();
    line += line.empty() ? "          " + one : ", " + one;
  }
  if (!line.empty()) out += line + "\n";
}

void append_line(std::string& out, const Line& l) {
  if (l.left_out) {
    out += "      … " + report::grouped(l.left_out) + " " + base::unit_of(l.left_out, "frame") + " omitted";
    const std::string how_many = l.of_function == l.left_out ? "all" : report::grouped(l.of_function) + " of them";
    if (!l.function.empty()) out += ", " + how_many + " of " + l.function;
    out += "\n";
    return;
  }
  char number[16];
  std::snprintf(number, sizeof number, "%4zu  ", l.frame);
  out += l.is_inlined() ? "      " : number;
  if (l.function.empty())
    out += l.module.empty() ? hex(l.address) : l.module + "+" + hex(l.offset);
  else
    out += l.function + (l.is_inlined() || !l.offset ? "" : "+" + hex(l.offset));
  out += spec::row_of(l.kind).remark;
  if (!l.place.empty()) out += " at " + l.place;
  if (l.place.empty() && !l.function.empty() && !l.module.empty()) out += " (" + l.module + ")";
  out += "\n";
  append_values(out, l, true);
  append_values(out, l, false);
}

void append_line_json(std::string& out, const Line& l) {
  if (out.back() != '[') out += ", ";
  if (l.left_out) {
    out += "{\"left_out\": " + std::to_string(l.left_out) + "}";
    return;
  }
  out += l.address ? "{\"address\": \"" + hex(l.address) + "\"" : "{\"kind\": \"" + std::string(spec::row_of(l.kind).name) + "\"";
  auto text = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += ", \"" + std::string(name) + "\": ";
    report::append_json(out, value);
  };
  text("function", l.function);
  if (!l.function.empty() && !l.is_inlined() && l.address) out += ", \"offset\": " + std::to_string(l.offset);
  if (l.is_inlined()) out += ", \"inlined\": true";
  text("place", l.place);
  text("module", l.module);
  for (bool arguments : {true, false}) {
    std::string values;
    for (const Line::Value& v : l.values) {
      if (v.is_argument != arguments) continue;
      values += values.empty() ? "" : ", ";
      report::append_json(values, v.name);
      values += v.others.empty() ? ": " : ": [";
      report::append_json(values, v.text);
      for (const std::string& other : v.others) values += ", ", report::append_json(values, other);
      if (!v.others.empty()) values += "]";
    }
    if (!values.empty())
      out += std::string(", \"") + (arguments ? "args" : "locals") + "\": {" + values + "}";
  }
  out += "}";
}

} // namespace snapshot
