// The tables of facts and measurements: names that CLIPS can read, sentences, and measurements that yield each kind.
#include "why/fact.h"

#include "base/text.h"
#include "why/measurement_names.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace why;

namespace {

bool is_word(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_letter);
}

} // namespace

TEST(FactKinds, HaveNamesAndSentences) {
  std::set<std::string_view> names;
  for (const FactKind& kind : fact_kinds()) {
    EXPECT_TRUE(is_word(kind.name)) << kind.name;
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is there twice";
    EXPECT_TRUE(kind.doc.ends_with('.')) << kind.name;
    EXPECT_EQ(find_fact_kind(kind.name), &kind);
    std::set<std::string_view> slots = {"by"};
    for (const SlotKind& slot : kind.slots) {
      EXPECT_TRUE(is_word(slot.name)) << kind.name << "." << slot.name;
      EXPECT_TRUE(slots.insert(slot.name).second) << kind.name << "." << slot.name << " is there twice";
      EXPECT_FALSE(slot.doc.empty()) << kind.name << "." << slot.name;
      EXPECT_TRUE(slot.type != SlotType::text || slot.unit.empty()) << kind.name << "." << slot.name;
    }
  }
  EXPECT_EQ(find_fact_kind("nothing"), nullptr);
}

// Every kind comes from somewhere, and every measurement yields something.
TEST(MeasurementNames, YieldTheKindsOfFacts) {
  std::set<std::string_view> yielded = {"request", "measured"};
  std::set<std::string_view> names;
  for (const MeasurementName& m : measurement_names) {
    EXPECT_TRUE(is_word(m.name));
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_EQ(find_measurement_name(m.name), &m);
    for (std::string_view kind : base::split(m.facts, ' ')) {
      EXPECT_TRUE(find_fact_kind(kind)) << m.name << " yields " << kind;
      yielded.insert(kind);
    }
  }
  for (const FactKind& kind : fact_kinds()) EXPECT_TRUE(yielded.contains(kind.name)) << kind.name;
  EXPECT_EQ(find_measurement_name("nothing"), nullptr);
}
