#include "symbol/perf_map.h"

#include "base/text.h"

#include <charconv>
#include <unistd.h>

namespace symbol {

static bool take_hex(std::string_view& text, uint64_t& value) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || at == text.data() + text.size() || *at != ' ') return false;
  text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
  return true;
}

// A program may put new code where old code was: the last line for an address counts.
FunctionTable parse_perf_map(std::string_view text) {
  FunctionTable table;
  std::vector<std::string_view> lines = base::split(text, '\n');
  for (size_t i = lines.size(); i-- > 0;) {
    std::string_view line = lines[i];
    uint64_t start = 0, size = 0;
    if (take_hex(line, start) && take_hex(line, size)) table.add(start, size, base::trim(line));
  }
  table.sort();
  return table;
}

// "NSpid:\t4711\t1": the last is the innermost.
static std::string innermost_pid(pid_t pid) {
  auto status = base::read_file("/proc/" + std::to_string(pid) + "/status");
  if (!status.ok()) return {};
  size_t at = status->find("\nNSpid:");
  if (at == status->npos) return std::to_string(pid);
  std::string_view line = std::string_view(*status).substr(at + 1);
  line = base::trim(line.substr(0, line.find('\n')));
  return std::string(line.substr(line.find_last_of("\t :") + 1));
}

std::string perf_map_path(pid_t pid) {
  std::string inner = innermost_pid(pid);
  if (!inner.empty()) {
    std::string path = "/proc/" + std::to_string(pid) + "/root/tmp/perf-" + inner + ".map";
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  std::string path = "/tmp/perf-" + std::to_string(pid) + ".map"; // also of a process that has ended
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

} // namespace symbol
