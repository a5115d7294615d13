// What is told of a stack that ended early, by unwind_end (rule.h).
#pragma once

#include "unwind/rule.h"

#include <array>
#include <string_view>

namespace unwind {

struct EndReason {
  unwind_end end;
  std::string_view name; // one word, as counters and frames that stand for the rest of a stack name it
  std::string_view text; // "the stack ends early: …"
};

constexpr std::array<EndReason, UNWIND_ENDS> end_reasons = {{
    {UNWIND_COMPLETE, "complete", "it reaches the outermost frame"},
    {UNWIND_NO_FRAME_POINTER, "no_table", "no table tells of this code, and it keeps no frame pointer"},
    {UNWIND_UNREADABLE, "unreadable", "its memory cannot be read"},
    {UNWIND_NOT_UNDERSTOOD, "not_understood",
     "the table of this code is damaged, or needs a register whose value is lost"},
    {UNWIND_NO_CODE, "no_code", "what should be a return address is none"},
    {UNWIND_NO_PROGRESS, "no_progress", "the caller's frame is not above this one"},
    {UNWIND_TOO_DEEP, "too_deep", "it has more frames than are kept"},
    {UNWIND_STACK_CUT, "stack_cut", "it goes on beyond what was copied of it"},
}};

constexpr bool is_in_order() {
  for (size_t i = 0; i < end_reasons.size(); i++)
    if (end_reasons[i].end != static_cast<unwind_end>(i)) return false;
  return true;
}
static_assert(is_in_order());

constexpr const EndReason& reason_of(unwind_end end) {
  return end_reasons[end < UNWIND_ENDS ? end : UNWIND_NOT_UNDERSTOOD];
}

} // namespace unwind
