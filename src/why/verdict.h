// From conclusions to verdicts. A cause is confirmed if two independent measurements support it, one of them decisively, nothing contradicts it, and
// its size explains most of the symptom; likely, if one does; ruled out, if something contradicts it. Consequences of another cause are no
// findings. Findings are ranked by the part of the symptom that they explain.
#pragma once

#include "why/inference.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace why {

enum class Verdict : uint8_t { confirmed, likely, ruled_out, open };
std::string_view to_string(Verdict verdict); // as in JSON

struct Finding {
  About about;
  Verdict verdict = Verdict::open;
  Explanation explains;
  std::vector<Evidence> evidence;
  std::vector<Remark> remarks;
  std::vector<About> effects; // consequences of it
};

std::vector<Finding> judge(const Conclusions& conclusions);

} // namespace why
