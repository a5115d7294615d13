// A lesson runs in a temporary folder, which is removed at the end; a link to this executable there puts `acu` into the PATH.
#include "learn/player.h"

#include "base/print.h"
#include "base/text.h"
#include "learn/programs.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace learn {

namespace {

namespace fs = std::filesystem;

constexpr size_t width = 100;

constexpr std::string_view help =
    "  run       runs the suggested command        acu …     runs this or another command of acu; !… any command\n"
    "  hint      helps                             again     shows the lesson again\n"
    "  solve     tells the answer                  next      goes on without it\n"
    "  quit      ends the tutorial (Ctrl-D, too)   Anything else is an answer.\n";

// Words in lines of at most `width` columns.
std::string folded(std::string_view text) {
  std::string out;
  size_t column = 0;
  for (std::string_view word : base::split(text, ' ')) {
    if (column && column + 1 + word.size() > width) out += '\n', column = 0;
    if (column) out += ' ', column++;
    out += word;
    column += word.size();
  }
  return out + "\n";
}

// The temporary folder, and what goes with it.
class Stage {
public:
  ~Stage() {
    stop();
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  base::Status open() {
    const char* where = ::getenv("TMPDIR");
    const std::string parent = where && *where ? where : "/tmp";
    folder_ = parent + "/acu-learn-XXXXXX";
    if (!::mkdtemp(folder_.data())) {
      folder_.clear();
      return base::errno_error("cannot make a folder in `" + parent + "`", errno);
    }
    std::error_code failed;
    const fs::path own = fs::read_symlink("/proc/self/exe", failed);
    executable_ = folder_ + "/bin/acu"; // a path without blanks, for probes
    if (!failed) fs::create_directory(folder_ + "/bin", failed);
    if (!failed) fs::create_symlink(own, executable_, failed);
    if (failed) return base::errno_error("cannot prepare " + folder_, failed.value());
    const char* path = ::getenv("PATH");
    ::setenv("PATH", (folder_ + "/bin:" + (path ? path : "/usr/bin:/bin")).c_str(), 1);
    ::setenv("EXE", executable_.c_str(), 1);
    return {};
  }

  base::Status start(std::string_view program, unsigned number) {
    stop();
    const std::string name(program), digits = std::to_string(number);
    program_ = ::fork();
    if (program_ < 0) return base::errno_error("cannot start the program of the lesson", errno);
    if (program_ == 0) {
      ::setpgid(0, 0); // Ctrl-C is for the commands
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::chdir(folder_.c_str()) != 0) ::_exit(1);
      ::execl("/proc/self/exe", "acu", "learn", "--", name.c_str(), digits.c_str(), nullptr);
      ::_exit(127);
    }
    ::setenv("PID", std::to_string(program_).c_str(), 1);
    return {};
  }

  void stop() {
    if (program_ <= 0) return;
    ::kill(program_, SIGKILL);
    while (::waitpid(program_, nullptr, 0) < 0 && errno == EINTR) {
    }
    program_ = -1;
  }

  bool is_running() const { return program_ > 0 && ::waitpid(program_, nullptr, WNOHANG) == 0; }

  // Ctrl-C ends the command, not the tutorial.
  void run(const std::string& command) const {
    struct sigaction ignore = {}, before = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &before);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::signal(SIGINT, SIG_DFL);
      if (::chdir(folder_.c_str()) != 0) ::_exit(1);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::sigaction(SIGINT, &before, nullptr);
  }

  std::string filled(std::string_view text) const {
    std::string out(text);
    base::replace_all(out, "$PID", std::to_string(program_));
    base::replace_all(out, "$EXE", executable_);
    return out;
  }

private:
  std::string folder_, executable_;
  pid_t program_ = -1;
};

enum class Step : uint8_t { stay, next, quit };

class Player {
public:
  Player(const Terminal& terminal, Stage& stage, const Lesson& lesson, size_t number, unsigned drawn) : terminal_(terminal), stage_(stage), lesson_(lesson), number_(number), answer_(lesson.answer(drawn)) {}

  void show() const {
    terminal_.write(base::print("\nLesson %zu of %zu: ", number_ + 1, lessons().size()) + std::string(lesson_.title) + "\n\n" + folded(stage_.filled(lesson_.about)) +
                    "\n  " + command() + "\n\nQuestion: " + std::string(lesson_.question) + "\n");
  }

  Step take(std::string_view line) {
    const std::string_view typed = base::trim(line);
    if (typed.empty()) return Step::stay;
    if (typed == "run") return run(command()), Step::stay;
    if (typed.starts_with("acu ")) return run(std::string(typed)), Step::stay;
    if (typed.starts_with('!')) return run(std::string(typed.substr(1))), Step::stay;
    if (typed == "help") return terminal_.write(help), Step::stay;
    if (typed == "hint") return terminal_.write(folded(stage_.filled(lesson_.hint))), Step::stay;
    if (typed == "again") return show(), Step::stay;
    if (typed == "solve") return terminal_.write("The answer is " + answer_ + ".\n"), Step::next;
    if (typed == "next") return Step::next;
    if (typed == "quit" || typed == "exit") return Step::quit;
    if (is_answer(typed, answer_)) return terminal_.write("Right.\n"), is_solved_ = true, Step::next;
    terminal_.write(++wrong_ % 2 ? "That is not it. `run` runs the command above, `hint` helps.\n" : "That is not it. `hint` helps, `solve` tells the answer.\n");
    return Step::stay;
  }

  bool is_solved() const { return is_solved_; }

private:
  std::string command() const { return stage_.filled(lesson_.command); }
  void run(const std::string& text) const {
    if (!stage_.is_running()) terminal_.write("The program of this lesson has ended; `next` goes on.\n");
    stage_.run(text);
  }

  const Terminal& terminal_;
  Stage& stage_;
  const Lesson& lesson_;
  size_t number_;
  std::string answer_;
  unsigned wrong_ = 0;
  bool is_solved_ = false;
};

} // namespace

base::Status play(const Terminal& terminal, size_t first, unsigned seed) {
  Stage stage;
  ACU_CHECK(stage.open());
  terminal.write("Each lesson starts a small broken program, called shop, and asks a question about it. Measure, then type the answer.\n\n" + std::string(help));
  size_t solved = 0, played = 0;
  bool quits = false;
  for (size_t n = first; n < lessons().size() && !quits; n++) {
    const Lesson& lesson = lessons()[n];
    const unsigned drawn = (seed + static_cast<unsigned>(n) * 7919) % numbers;
    ACU_CHECK(stage.start(lesson.program, drawn));
    Player player(terminal, stage, lesson, n, drawn);
    player.show();
    played++;
    for (Step step = Step::stay; step == Step::stay;) {
      std::string line;
      step = terminal.read("learn> ", line) ? player.take(line) : Step::quit;
      quits = step == Step::quit;
    }
    solved += player.is_solved();
    if (quits) played -= !player.is_solved();
  }
  stage.stop();
  terminal.write(base::print("\n%zu of %zu lessons solved. ", solved, played) + "More: `acu tools`, `acu help`, and the documents: tutorial, cookbook.\n");
  return {};
}

} // namespace learn
