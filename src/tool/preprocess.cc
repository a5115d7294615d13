// cpp reads the script from a file in memory and writes to a pipe; its own messages go to standard error, with the lines of the script.
#include "tool/preprocess.h"

#include "base/fd.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tool {

namespace {

constexpr size_t most_output = 64 << 20;

base::Result<base::Fd> file_in_memory(const std::string& text) {
  base::Fd fd(::memfd_create("script", MFD_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::lseek(fd.get(), 0, SEEK_SET) != 0)
    return base::errno_error("cannot pass the script to cpp", errno);
  return fd;
}

base::Result<pid_t> start_cpp(const std::vector<std::string>& words, int input, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& w : copies) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, "cpp", &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return base::Error{base::Failure::unsupported, "-C needs the C preprocessor: there is no cpp on this host (on Debian it is in the package cpp)"};
  if (error) return base::errno_error("cannot run cpp", error);
  return pid;
}

std::string read_all(int fd) {
  std::string out;
  char buffer[16384];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (out.size() < most_output) out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

} // namespace

// cpp says where a text is from by lines `# NUMBER "FILE" …`; the script itself is "<stdin>".
std::string with_own_lines(std::string_view output) {
  std::string out;
  size_t line = 1, wanted = 1; // the line that is being written, and the one that the next text is in
  bool is_own = true;
  for (std::string_view text : base::split(output, '\n')) {
    if (text.starts_with("# ") && text.size() > 2 && std::isdigit(static_cast<unsigned char>(text[2]))) {
      const size_t quote = text.find('"');
      is_own = quote != text.npos && text.substr(quote + 1).starts_with("<stdin>");
      if (const auto number = base::parse_integer(text.substr(2, text.find(' ', 2) - 2)); is_own && number) wanted = std::max<size_t>(*number, 1);
      continue;
    }
    if (!is_own && (text.empty() || text.starts_with('#'))) continue; // pragmas of headers are for compilers
    for (; line < wanted; line++) out += '\n';
    if (is_own)
      wanted++;
    else
      out += ' ';
    out += text;
  }
  return out + "\n";
}

base::Result<std::string> preprocess_d(const std::string& text, const std::string& folder, const std::vector<std::string>& options) {
  std::string script = text;
  if (script.starts_with("#!")) script.erase(0, std::min(script.find('\n'), script.size()));
  ACU_TRY(const base::Fd input, file_in_memory(script));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::errno_error("cannot run cpp", errno);
  const base::Fd output(ends[0]);
  base::Fd end(ends[1]);
  // Words that compilers define, such as `unix`, are names of D.
  std::vector<std::string> words = {"cpp", "-Uunix", "-Ulinux", "-D__SUNW_D=1", "-D__SUNW_D_VERSION=0x02000000", "-D__extension__=", "-D__attribute__(x)=", "-iquote", folder};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("-");
  ACU_TRY(const pid_t pid, start_cpp(words, input.get(), end.get()));
  end = base::Fd();
  const std::string out = read_all(output.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return base::Error{base::Failure::usage, "the C preprocessor found a mistake: see its message"};
  if (out.size() >= most_output) return base::Error{base::Failure::usage, "the C preprocessor wrote more than 64 MiB"};
  return with_own_lines(out);
}

} // namespace tool
