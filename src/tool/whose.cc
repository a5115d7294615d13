#include "tool/whose.h"

#include "base/text.h"
#include "symbol/containers.h"

#include <algorithm>
#include <climits>

namespace tool {

using spec::OptionId;

namespace {

// "17,18"
base::Result<std::vector<int>> read_numbers(const session::Arguments& arguments, OptionId id, std::string_view option) {
  constexpr size_t most = 64; // each is a comparison in every event
  std::vector<int> out;
  for (const session::Given& given : arguments.options) {
    if (given.id != id) continue;
    for (std::string_view word : base::split(given.value, ',')) {
      const auto number = base::parse_integer(base::trim(word));
      if (!number || *number == 0 || *number > INT_MAX)
        return base::usage_error("`" + std::string(option) + "` takes a number from 1 to " + std::to_string(INT_MAX) + ", not `" + std::string(word) + "`");
      if (std::ranges::find(out, static_cast<int>(*number)) == out.end()) out.push_back(static_cast<int>(*number));
    }
  }
  if (out.size() > most) return base::usage_error("`" + std::string(option) + "` takes at most " + std::to_string(most) + "; use `--filter` for other conditions");
  return out;
}

// "0-3,7"
base::Result<std::vector<int>> read_cpus(const std::string& text) {
  std::vector<int> out;
  constexpr uint64_t most = 1 << 16;
  for (std::string_view part : base::split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = base::parse_integer(part.substr(0, dash));
    const auto last = dash == part.npos ? first : base::parse_integer(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= most)
      return base::usage_error("`-C` takes CPUs such as `0-3,7`, not `" + text + "`");
    for (uint64_t cpu = *first; cpu <= *last; cpu++)
      if (std::ranges::find(out, static_cast<int>(cpu)) == out.end()) out.push_back(static_cast<int>(cpu));
  }
  return out;
}

} // namespace

base::Result<session::TargetFilter> read_target_filter(const session::Arguments& arguments) {
  session::TargetFilter out;
  ACU_TRY(out.pids, read_numbers(arguments, OptionId::pid, "-p"));
  ACU_TRY(out.threads, read_numbers(arguments, OptionId::thread, "--tid"));
  if (out.pids.size() == 1) out.pid = out.pids.front();
  if (const std::string* user = arguments.value(OptionId::user)) out.user = *user;
  const std::string* group = arguments.value(OptionId::cgroup);
  if (group) out.cgroup = *group;
  const std::string* container = arguments.value(OptionId::container);
  const int whose = !out.pids.empty() + !out.threads.empty() + !out.user.empty() + (group != nullptr) + (container != nullptr) +
                    arguments.has(OptionId::all);
  if (whose > 1) return base::usage_error("`-p`, `--tid`, `-u`, `--cgroup`, `--container` and `-a` cannot be combined");
  if (container) {
    ACU_TRY(const auto found, symbol::Containers().require(*container));
    out.cgroup = found.front().folder;
    out.container = *container;
  }
  if (const std::string* text = arguments.value(OptionId::cpus)) {
    ACU_TRY(out.cpus, read_cpus(*text));
  }
  if (const std::string* text = arguments.value(OptionId::filter)) {
    out.expression = base::trim(*text);
    if (out.expression.empty()) return base::usage_error("`--filter` takes an expression such as 'comm == \"nginx\"'");
  }
  out.include_acu = arguments.has(OptionId::include_acu);
  out.command = !arguments.behind.empty() && !whose;
  return out;
}

bool names_some(const session::TargetFilter& f) {
  return !f.pids.empty() || !f.threads.empty() || !f.user.empty() || !f.cgroup.empty() || !f.container.empty();
}

base::Status require_target(const session::TargetFilter& filter, const session::Arguments& arguments) {
  if (names_some(filter) || arguments.has(spec::OptionId::all) || !arguments.behind.empty()) return {};
  return base::usage_error("no target given: add -p PID, -t TID, -u USER, --cgroup GROUP, --container CONTAINER, -a, or a command after `--`");
}

} // namespace tool
