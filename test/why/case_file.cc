#include "why/case_file.h"

#include "base/text.h"
#include "why/measurement_names.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace why_test {

namespace {

// Words; what stands in quotes is one, also behind a "=".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool is_quoted = false, is_open = false;
  for (char c : text) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ' ' && !is_quoted) {
      is_open = false;
      continue;
    } else {
      if (!is_open) out.emplace_back();
      out.back() += c;
    }
    is_open = true;
  }
  return out;
}

why::Value value_of(const why::SlotKind& slot, const std::string& text) {
  char* end = nullptr;
  if (slot.type == why::SlotType::text) return text;
  if (slot.type == why::SlotType::integer) {
    const int64_t n = std::strtoll(text.c_str(), &end, 10);
    EXPECT_FALSE(*end) << slot.name << " is a whole number, not " << text;
    return n;
  }
  const double n = std::strtod(text.c_str(), &end);
  EXPECT_FALSE(*end) << slot.name << " is a number, not " << text;
  return n;
}

} // namespace

why::Fact make_fact(std::string_view measurement, const std::string& text) {
  why::Fact fact;
  fact.measurement = measurement;
  for (const std::string& word : words_of(text)) {
    if (!fact.kind) {
      fact.kind = why::find_fact_kind(word);
      EXPECT_TRUE(fact.kind) << "there is no kind of fact " << word;
      if (!fact.kind) return fact;
      continue;
    }
    const size_t at = word.find('=');
    const std::string name = word.substr(0, at);
    const why::SlotKind* found = nullptr;
    for (const why::SlotKind& slot : fact.kind->slots)
      if (slot.name == name) found = &slot;
    EXPECT_TRUE(found && at != name.npos) << fact.kind->name << " has no slot " << word;
    if (found && at != name.npos) fact.slots.emplace_back(found->name, value_of(*found, word.substr(at + 1)));
  }
  return fact;
}

std::vector<Case> read_cases(const std::string& path) {
  const auto text = base::read_file(path);
  EXPECT_TRUE(text.ok()) << path << " is missing: each rule file needs cases";
  std::vector<Case> out;
  if (!text.ok()) return out;
  int number = 0;
  for (std::string_view line : base::split(*text, '\n')) {
    number++;
    line = base::trim(line);
    SCOPED_TRACE(path + ":" + std::to_string(number));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("== ")) {
      Case made;
      made.line = number;
      for (std::string_view kind : {"has", "looks alike", "decoy"})
        if (line.substr(3).starts_with(kind)) made.kind = kind;
      EXPECT_FALSE(made.kind.empty()) << "a case begins with has, looks alike or decoy";
      made.title = line.substr(3);
      out.push_back(std::move(made));
    } else if (out.empty()) {
      ADD_FAILURE() << "before the first case";
    } else if (line.starts_with("> ")) {
      out.back().expected.emplace_back(line.substr(2));
    } else {
      // Measurements are names of the table, which outlives the fact.
      const size_t colon = line.find(": ");
      const why::MeasurementName* measurement = colon == line.npos ? nullptr : why::find_measurement_name(line.substr(0, colon));
      const bool is_request = line.starts_with("request ");
      EXPECT_TRUE(measurement || is_request) << "there is no such measurement";
      out.back().facts.push_back(make_fact(measurement ? measurement->name : "", std::string(measurement ? line.substr(colon + 2) : line)));
      if (measurement && out.back().facts.back().kind && out.back().facts.back().kind->name != "measured") {
        const auto kinds = base::split(measurement->facts, ' ');
        EXPECT_NE(std::find(kinds.begin(), kinds.end(), out.back().facts.back().kind->name), kinds.end())
            << measurement->name << " does not yield " << out.back().facts.back().kind->name;
      }
    }
  }
  return out;
}

} // namespace why_test
