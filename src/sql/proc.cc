#include "sql/proc.h"

#include "base/process_status.h"
#include "base/text.h"
#include "proc/text.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <dirent.h>
#include <sys/stat.h>

namespace sql {

std::vector<int> numbers_in(const std::string& folder) {
  std::vector<int> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) {
    proc::ReadFailures::add(errno);
    return out;
  }
  while (const dirent* entry = ::readdir(dir.get()))
    if (const auto number = proc::decimal(entry->d_name)) out.push_back(static_cast<int>(*number));
  std::ranges::sort(out);
  return out;
}

void for_each_process(const Request& request, const std::function<void(int pid, const std::string& folder)>& take) {
  const std::optional<int64_t> only = request.number("pid");
  // A thread has a folder of its own, too, which listing /proc does not show.
  const auto is_process = [](int64_t id) {
    const std::string status = proc::text_of("/proc/" + std::to_string(id) + "/status");
    return base::parse_integer(base::status_line(status, "Tgid")) == static_cast<uint64_t>(id);
  };
  if (only && (*only < 1 || *only > INT32_MAX || !is_process(*only))) return;
  for (int pid : only ? std::vector<int>{static_cast<int>(*only)} : numbers_in("/proc")) {
    if (request.is_stopped()) return;
    take(pid, "/proc/" + std::to_string(pid));
  }
}

base::Error no_process(std::string_view process) { return {base::Failure::nothing_matched, "there is no process " + base::quoted(process)}; }

std::optional<std::string> system_call_name(const std::string& text) {
  const std::vector<std::string_view> words = proc::words_of(text);
  const std::optional<uint64_t> number = words.size() > 1 ? proc::decimal(words[0]) : std::nullopt;
  if (!number) return {};
  const std::string_view name = spec::syscall_name(static_cast<int>(*number));
  return name.empty() ? "call " + std::to_string(*number) : std::string(name);
}

} // namespace sql
