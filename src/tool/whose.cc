#include "tool/whose.h"

#include "base/text.h"

#include <climits>

namespace tool {

using spec::OptionId;

base::Result<session::Filter> read_whose(const session::Arguments& arguments) {
  auto usage = [](std::string message) { return base::Error{base::Failure::usage, std::move(message)}; };
  session::Filter out;
  int whose = 0;
  if (const std::string* text = arguments.value(OptionId::pid)) {
    const auto pid = base::parse_integer(*text);
    if (!pid || *pid == 0 || *pid > INT_MAX)
      return usage("`-p` takes a number from 1 to " + std::to_string(INT_MAX) + ", not `" + *text + "`");
    out.pid = static_cast<int>(*pid);
    whose++;
  }
  if (const std::string* user = arguments.value(OptionId::user)) out.user = *user, whose++;
  if (const std::string* group = arguments.value(OptionId::cgroup)) out.cgroup = *group, whose++;
  whose += arguments.has(OptionId::all);
  if (whose > 1) return usage("`-p`, `-u`, `--cgroup` and `-a` exclude each other");
  out.command = !arguments.behind.empty() && !whose;
  return out;
}

} // namespace tool
