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

// Parts of them, for the page (page.h).
std::string asked_about(const Question& question); // "process 17 (nginx)"
std::string summary(const Answer& answer); // "2 causes found in 9.1 s"
std::vector<const Finding*> found_causes(const Answer& answer); // confirmed or likely, of each cause the first
std::string rest_text(const Answer& answer); // what was ruled out, not decided, not measured; notes; the cost
const std::string* remark_of(const Finding& finding, Remark::Kind kind); // nullptr: there is none
std::string command_again(const Question& question, const Evidence& evidence); // that takes its measurement

// Facts of one measurement.
std::string facts_text(const std::vector<Fact>& facts);
std::string facts_json(const std::vector<Fact>& facts);

} // namespace why
