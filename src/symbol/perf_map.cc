#include "symbol/perf_map.h"

#include "base/fd.h"
#include "base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace symbol {

// Some programs write 0x, though the format has none.
static bool take_number(std::string_view& text, uint64_t& value) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return base::take_hex(text, ' ', value);
}

// A program may put new code where old code was: the last line for an address counts.
FunctionTable parse_perf_map(std::string_view text) {
  FunctionTable table;
  std::vector<std::string_view> lines = base::split(text, '\n');
  for (size_t i = lines.size(); i-- > 0;) {
    std::string_view line = lines[i];
    uint64_t start = 0, size = 0;
    if (take_number(line, start) && take_number(line, size)) table.add(start, size, base::trim(line));
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

std::optional<FunctionTable> read_perf_map(const std::string& path, int64_t& size) {
  constexpr int64_t most = 256 << 20;
  base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about = {};
  if (!file.valid() || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (about.st_size == size || about.st_size > most) return std::nullopt;
  auto text = base::read_up_to(file, static_cast<uint64_t>(about.st_size), path);
  if (!text.ok()) return std::nullopt;
  size = about.st_size;
  return parse_perf_map(*text);
}

} // namespace symbol
