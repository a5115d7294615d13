// From conclusions to verdicts. Measurements are independent if they do not rest on the same observation (measurement_names.h).
//
//   ruled_out  something contradicts the cause
//   confirmed  two independent measurements support it, one of them decisively, and it explains most of the symptom (50%)
//   likely     one supports it decisively, or two do, and it explains some of the symptom (5%)
//   open       the rest: a sign that other causes have as well, or a cause that hardly matters here
//
// A consequence of a supported cause (decisively, or by two measurements) is no finding of its own: it becomes part of the first cause that leads to it, over
// any number of steps. The cause then explains at least what its consequences explain. If causes lead to each other in a circle, the highest ranked one stays.
// Findings are ranked by verdict, and then by the part of the symptom that they explain.
#pragma once

#include "why/inference.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace why {

enum class Verdict : uint8_t { confirmed, likely, open, ruled_out }; // in the order of findings
std::string_view to_string(Verdict verdict);                         // as in JSON

struct Finding {
  About about;
  Verdict verdict = Verdict::open;
  Explanation explains; // share 0: no part of the symptom is known to come from it
  std::vector<Evidence> evidence;
  std::vector<Remark> remarks;
  std::vector<About> effects; // consequences of it
};

std::vector<Finding> judge(const Conclusions& conclusions);

} // namespace why
