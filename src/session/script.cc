// Reads the script with a limit, and refuses what is no text before the parser sees it: a directory, a
// program, a device that never ends. Each refusal is one sentence.
#include "session/script.h"

#include "base/fd.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace session {

// Far above any script: what is larger was named by mistake.
static constexpr size_t max_script_bytes = 16 << 20;

static base::Error refuse(const std::string& name, std::string_view why) {
  return {base::Failure::usage, "cannot run `" + name + "`: " + std::string(why)};
}

static base::Error refuse(const std::string& name, int code) {
  base::Error e = refuse(name, std::strerror(code));
  if (code == EACCES || code == EPERM) e.kind = base::Failure::permission;
  return e;
}

static base::Result<std::string> read_all(const std::string& name, int fd) {
  std::string out;
  char buffer[16384];
  for (;;) {
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(name, errno);
    if (n == 0) return out;
    if (out.empty())
      if (std::string why = not_text({buffer, static_cast<size_t>(n)}); !why.empty())
        return refuse(name, why);
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > max_script_bytes) return refuse(name, "it is larger than 16 MiB, so it is not a script");
  }
}

std::string not_text(std::string_view content) {
  if (content.starts_with("\x7f"
                          "ELF"))
    return "it is a program, not a script";
  size_t at = content.find('\0');
  if (at == content.npos) return {};
  return "it is not text (a NUL byte at offset " + std::to_string(at) + ")";
}

base::Result<base::Source> read_script(const Options& options) {
  if (options.has_script) return base::Source(options.script_name, options.script);
  bool standard = options.file == "-";
  std::string name = standard ? "stdin" : options.file;
  base::Fd file;
  if (!standard) {
    file = base::Fd(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return refuse(name, errno);
  }
  int fd = standard ? STDIN_FILENO : file.get();
  struct stat about = {};
  if (::fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) return refuse(name, "it is a directory");
  ACU_TRY(std::string text, read_all(name, fd));
  if (std::string why = not_text(text); !why.empty()) return refuse(name, why);
  return base::Source(name, std::move(text));
}

} // namespace session
