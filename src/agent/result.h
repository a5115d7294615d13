// The result of a call as JSON; its fields are declared in schema.cc.
#pragma once

#include "agent/call.h"

#include <string>

namespace agent {

struct Answer {
  std::string json;      // the object
  std::string text;      // for readers that only show text: the answer itself, or the object
  bool is_error = false; // the command failed, or was cancelled
};

Answer answer(const Verb& verb, const Plan& plan, const Finished& finished);
// What was lost, as messages of commands report it: "lost 3", "lost 5 process events", "2 stacks were lost".
uint64_t lost_in(std::string_view messages);

} // namespace agent
