// Cases of rules as text (cases/CAUSE.case): facts of a host that has the cause, of one that looks alike, and of one with a harmless oddity.
//
//   == has                                      or: looks alike, decoy; behind it words for readers
//   request kind=slow pid=4711                  a fact without a measurement
//   processes: process pid=4711 name="my app"   a fact of one
//   > confirmed lock-spin process 4711          that finding and verdict (confirmed, likely, open, ruled out)
//   > effect lock-spin process 4711             it is a consequence of another finding
//   > needs lock-spin cpu-profile 4711          the cause asks for this measurement and target
//   > says lock-spin "3.2 ms"                   a sentence about it has these words
//   > no lock-spin                              no finding of it is confirmed or likely
#pragma once

#include "why/fact.h"

#include <string>
#include <string_view>
#include <vector>

namespace why_test {

struct Case {
  std::string kind, title; // "has", "because of a profile"
  int line = 0;
  std::vector<why::Fact> facts;
  std::vector<std::string> expected;
};

// Mistakes in the file become failures of the running test.
std::vector<Case> read_cases(const std::string& path);

// A fact from the form above, without the measurement; also for other tests.
why::Fact make_fact(std::string_view measurement, const std::string& text);

} // namespace why_test
