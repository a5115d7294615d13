#include "session/likely_languages.h"

#include "base/text.h"
#include "runtime/runtimes.h"

#include <array>
#include <dirent.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace session {

static bpf::Languages languages_of(std::string_view path) {
  bpf::Languages out = 0;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const runtime::Runtime& r : runtime::runtimes())
    if (!r.program.empty() && name.starts_with(r.program)) out |= bpf::only(r.kind);
  return out;
}

static bpf::Languages languages_of_process(const std::string& pid) {
  std::array<char, 512> path;
  const ssize_t n = ::readlink(("/proc/" + pid + "/exe").c_str(), path.data(), path.size());
  return n > 0 ? languages_of({path.data(), static_cast<size_t>(n)}) : 0;
}

bpf::Languages likely_languages(int pid, std::string_view command) {
  bpf::Languages out = languages_of(command);
  if (pid >= 0) return out | languages_of_process(std::to_string(pid));
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr)
    if (base::parse_integer(entry->d_name)) out |= languages_of_process(entry->d_name);
  return out;
}

} // namespace session
