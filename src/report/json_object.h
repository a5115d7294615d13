// JSON objects and lists, written field by field.
#pragma once

#include "report/json.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace report {

class JsonObject {
public:
  JsonObject& add(std::string_view name, std::string_view text) { return key(name), append_json(out_, text), *this; }
  JsonObject& add(std::string_view name, uint64_t n) { return key(name), out_ += std::to_string(n), *this; }
  // A share or a factor, with three decimals.
  JsonObject& add_fraction(std::string_view name, double n) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", n);
    return raw(name, text);
  }
  JsonObject& add(std::string_view name, const std::vector<std::string>& texts) {
    key(name);
    out_ += "[";
    for (size_t i = 0; i < texts.size(); i++) {
      if (i) out_ += ", ";
      append_json(out_, texts[i]);
    }
    out_ += "]";
    return *this;
  }
  // Whose value is JSON already.
  JsonObject& raw(std::string_view name, std::string_view json) { return key(name), out_ += json, *this; }
  std::string end() { return std::move(out_) + "}"; }

private:
  JsonObject& key(std::string_view name) {
    if (!std::exchange(is_first_, false)) out_ += ", ";
    append_json(out_, name);
    out_ += ": ";
    return *this;
  }

  std::string out_ = "{";
  bool is_first_ = true;
};

// `json` makes the text of one.
template<class T, class Json> std::string json_list(const std::vector<T>& all, Json json) {
  std::string out;
  for (const T& one : all) out.append(out.empty() ? "[" : ", ").append(json(one));
  return out.empty() ? "[]" : out + "]";
}

} // namespace report
