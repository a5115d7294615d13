#include "profile/perf_data.h"

#include "base/text.h"

#include <cerrno>
#include <cstdio>
#include <sys/wait.h>

namespace profile {

bool is_perf_data(std::string_view bytes) { return bytes.starts_with("PERFILE2") || bytes.starts_with("2ELIFREP"); }

base::Result<std::string> perf_script_of(const std::string& path) {
  const std::string command = "perf script -i " + base::in_shell(path);
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "re");
  if (!pipe) return base::errno_error("cannot run `" + command + "`", errno);
  std::string out;
  char part[64 << 10];
  while (const size_t size = ::fread(part, 1, sizeof part, pipe)) out.append(part, size);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return base::Error{base::Failure::runtime, path + ": files of perf are read with perf, which is not installed\nhint: perf script > perf.txt where it is, then acu report perf.txt"};
  if (status != 0) return base::Error{base::Failure::runtime, path + ": perf cannot read it\nhint: " + command};
  return out;
}

} // namespace profile
