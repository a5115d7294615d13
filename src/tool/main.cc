// acu: from the command line to a subcommand. `acu FILE` and `acu -e SCRIPT` mean `acu run`.
//
// The process ends by _exit: output has been written by then, descriptors are the kernel's to close, and
// taking apart what was built up would only delay the end.
#include "base/fd.h"
#include "base/text.h"
#include "policy/enforce.h"
#include "session/output.h"
#include "spec/complete_table.h"
#include "spec/subcommands.h"
#include "tool/scripts.h"
#include "tool/standard_output.h"
#include "tool/tool.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <libdeflate.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace tool {

static int lost_output = 0; // an errno: not all of it could be written
static std::string output_name = "standard output";

void say(std::string_view text) {
  if (const int error = base::write_all(STDOUT_FILENO, text)) lost_output = error;
}
bool has_lost_output() { return lost_output != 0; }
base::Status say_to(const std::string& file) {
  const base::Fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out.valid() || ::dup2(out.get(), STDOUT_FILENO) < 0) return base::errno_error("cannot open " + file, errno);
  output_name = file;
  return {};
}

void complain(std::string_view text) { base::write_all(STDERR_FILENO, text); }

int refuse(std::string_view message) {
  complain("ERROR: " + std::string(message) + "\n");
  return static_cast<int>(base::Failure::usage);
}

int fail(const base::Error& error) {
  complain("ERROR: " + error.message + "\n");
  return static_cast<int>(error.kind);
}

// Whether a first word means a script's file rather than a subcommand with a typo.
static bool names_script(std::string_view word) {
  struct stat about = {};
  return word == "-" || word.find_first_of("./") != word.npos ||
         ::stat(std::string(word).c_str(), &about) == 0;
}

// The script of -e may follow its own parameters.
static bool gives_script(Words words) {
  for (std::string_view word : words) {
    if (word == "--") return false;
    if (word == "-e" || word == "--execute" || word.starts_with("--execute=")) return true;
  }
  return false;
}

static int unknown_subcommand(std::string_view word) {
  std::vector<std::string_view> names;
  for (const spec::Subcommand& s : spec::subcommands) names.push_back(s.name);
  for (const Script& s : all_scripts()) names.push_back(s.name);
  std::string message = "`" + std::string(word) + "` is neither a subcommand nor a tool nor a file";
  std::string_view near = base::nearest(word, names);
  message += near.empty() ? " (see `acu help`)" : "; did you mean `" + std::string(near) + "`?";
  return refuse(message);
}

static const Command& command_of(const spec::Subcommand& declared) {
  return commands[spec::row_places<spec::subcommands, commands>[static_cast<size_t>(&declared - spec::subcommands)]];
}

static int dispatch(Words words);

// `acu --policy FILE COMMAND …`
static int with_policy(Words words) {
  if (words.size() < 3) return refuse("`--policy` takes a file, and a command after it: acu --policy FILE COMMAND …");
  const auto status = policy::use_file(words[1]);
  return status.ok() ? dispatch(words.subspan(2)) : fail(status.error());
}

static int dispatch(Words words) {
  if (words.empty()) return show_overview(complain), static_cast<int>(base::Failure::usage);
  std::string_view first = words[0];
  if (first == "--policy") return with_policy(words);
  if (const spec::Subcommand* s = spec::find_subcommand(first)) return run_command(command_of(*s), words.subspan(1));
  if (const Script* script = find_script(first); script && !names_script(first)) return run_script(*script, words.subspan(1));
  if (first == "--version" || first == "-V") return version();
  if (words.size() == 1 && (first == "--help" || first == "-h")) return show_overview(say), 0;
  if (first.starts_with("-") || names_script(first) || gives_script(words)) return run(words);
  return unknown_subcommand(first);
}

// A link to acu with the name of a tool runs that tool, those called bpftrace and dtrace take their command lines.
static int run_as(std::string_view path, Words words) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "bpftrace") return bpftrace(words);
  if (name == "dtrace") return run_command("dscript", words, dscript);
  const Script* script = name == "acu" ? nullptr : find_script(name);
  return script ? run_script(*script, words) : dispatch(words);
}

} // namespace tool

// The parent process may have closed a standard descriptor; its number must not be reused for a map or a link.
static void fill_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

// Nothing is left to do then; what was attached goes with the process.
[[noreturn]] static void out_of_memory() {
  tool::complain("ERROR: out of memory\nhint: free some, raise the limit (ulimit -v, the control group's memory.max), or ask for less: fewer map keys, a shorter recording\n");
  ::_exit(static_cast<int>(base::Failure::runtime));
}

// Objects of libraries at namespace scope (Asio's of TLS) ask for memory before main: this goes before all of them.
[[gnu::constructor(101)]] static void watch_memory() { std::set_new_handler(out_of_memory); }

int main(int argc, char** argv) {
  libdeflate_set_memory_allocator([](size_t size) { return ::operator new(size); }, [](void* memory) { ::operator delete(memory); }); // its callers do not ask
  fill_standard_descriptors();
  const tool::Words words(argv + 1, static_cast<size_t>(argc > 0 ? argc - 1 : 0));
  int status = tool::run_as(argc > 0 ? argv[0] : "acu", words);
  std::fflush(nullptr);
  // Whoever closes a pipe has read enough.
  if (const int error = tool::lost_output ? tool::lost_output : session::lost_results(); error && error != EPIPE) {
    tool::complain("ERROR: cannot write to " + tool::output_name + ": " + std::string(std::strerror(error)) + "\n");
    if (!status) status = static_cast<int>(base::Failure::runtime);
  }
  ::_exit(status);
}
