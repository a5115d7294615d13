// An answer for people, and as JSON.
#pragma once

#include "why/rounds.h"

#include <string>
#include <vector>

namespace why {

// First what a person needs: cause, location, size, what to do, how to check. Then the evidence, what was ruled out, what was not measured, the cost.
std::string answer_text(const Question& question, const Answer& answer);
// One object; its fields are in docs/why.md.
std::string answer_json(const Question& question, const Answer& answer);

// Facts of one measurement.
std::string facts_text(const std::vector<Fact>& facts);
std::string facts_json(const std::vector<Fact>& facts);

} // namespace why
