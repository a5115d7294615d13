#include "base/process_status.h"

#include "base/text.h"

namespace base {

std::string_view status_line(std::string_view status, std::string_view name) {
  for (std::string_view line : split(status, '\n'))
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) return trim(line.substr(name.size() + 1));
  return {};
}

std::string status_of(pid_t id, std::string_view name) {
  const auto status = read_file("/proc/" + std::to_string(id) + "/status");
  return status.ok() ? std::string(status_line(*status, name)) : std::string();
}

std::optional<pid_t> process_of_thread(pid_t thread) {
  const auto process = parse_integer(status_of(thread, "Tgid"));
  return process ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
}

} // namespace base
