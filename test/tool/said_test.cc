#include "said.h"

namespace tool {

void say(std::string_view text) { said += text; }
void complain(std::string_view text) { complained += text; }
int refuse(std::string_view message) {
  complain(message);
  return static_cast<int>(base::Failure::usage);
}
int fail(const base::Error& error) {
  complain(error.message);
  return static_cast<int>(error.kind);
}

} // namespace tool
