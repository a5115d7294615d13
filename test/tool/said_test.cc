#include "said.h"
#include "tool/standard_output.h"

namespace tool {

void say(std::string_view text) { said += text; }
void complain(std::string_view text) { complained += text; }
base::Status say_to(const std::string&) { return {}; }
bool has_lost_output() { return false; }
int refuse(std::string_view message) {
  complain(message);
  return static_cast<int>(base::Failure::usage);
}
int fail(const base::Error& error) {
  complain(error.message);
  return static_cast<int>(error.kind);
}

} // namespace tool
