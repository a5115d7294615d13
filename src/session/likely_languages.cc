#include "session/likely_languages.h"

#include "base/text.h"
#include "runtime/runtimes.h"

#include <array>
#include <dirent.h>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>

namespace session {

static bpf::Languages languages_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  bpf::Languages out = 0;
  size_t longest = 0; // `luajit` is none of `lua`
  for (const runtime::Runtime& r : runtime::runtimes())
    for (const std::string_view begin : r.programs)
      if (begin.size() > longest && name.starts_with(begin)) out = bpf::only(r.kind), longest = begin.size();
  return out;
}

// Of a command: a script is run by the program in its first line.
static bpf::Languages languages_of_command(std::string_view path) {
  if (const bpf::Languages known = languages_of(path)) return known;
  std::ifstream file{std::string(path)};
  std::array<char, 256> start = {};
  file.read(start.data(), start.size() - 1);
  std::string_view line(start.data());
  if (!line.starts_with("#!")) return 0;
  line = line.substr(2, line.find('\n') - 2);
  bpf::Languages out = 0; // by any of its words: `/usr/bin/env -S python3 -u`
  for (const std::string_view word : base::split(line, ' ')) out |= languages_of(word);
  return out;
}

static bpf::Languages languages_of_process(const std::string& pid) {
  std::array<char, 512> path;
  const ssize_t n = ::readlink(("/proc/" + pid + "/exe").c_str(), path.data(), path.size());
  return n > 0 ? languages_of({path.data(), static_cast<size_t>(n)}) : 0;
}

bpf::Languages likely_languages(int pid, std::string_view command) {
  bpf::Languages out = languages_of_command(command);
  if (pid >= 0) return out | languages_of_process(std::to_string(pid));
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr)
    if (base::parse_integer(entry->d_name)) out |= languages_of_process(entry->d_name);
  return out;
}

} // namespace session
