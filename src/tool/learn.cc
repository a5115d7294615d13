// `acu learn`: lessons in the terminal. `acu learn -- PROGRAM NUMBER` is what it starts itself: a broken program.
#include "base/print.h"
#include "base/text.h"
#include "learn/player.h"
#include "learn/programs.h"
#include "session/arguments.h"
#include "tool/tool.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

namespace tool {

namespace {

bool read_line(std::string_view prompt, std::string& line) {
  say(prompt);
  char* text = nullptr;
  size_t room = 0;
  ssize_t size = -1;
  while ((size = ::getline(&text, &room, stdin)) < 0 && errno == EINTR && !std::feof(stdin)) {
    std::clearerr(stdin);
    say("\n`quit` ends the tutorial\n" + std::string(prompt));
  }
  if (size >= 0) line.assign(text, static_cast<size_t>(size));
  std::free(text);
  if (size < 0) say("\n");
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  return size >= 0;
}

std::string list_lessons() {
  std::string out;
  size_t number = 0;
  for (const ::learn::Lesson& lesson : ::learn::lessons()) out += base::print("%3zu  ", ++number) + std::string(lesson.title) + "\n";
  return out;
}

} // namespace

int learn(const session::Arguments& arguments) {
  if (arguments.has(spec::OptionId::list)) return say(list_lessons()), 0;
  if (arguments.behind.size() == 2) {
    const auto number = base::parse_integer(arguments.behind[1]);
    if (number) ::learn::run_program(arguments.behind[0], static_cast<unsigned>(*number));
    return refuse("there is no such program");
  }
  uint64_t first = 1;
  if (!arguments.words.empty()) {
    auto number = session::read_count("LESSON", arguments.words[0], ::learn::lessons().size());
    if (!number.ok()) return refuse("`" + arguments.words[0] + "`: a lesson is a number from 1 to " + std::to_string(::learn::lessons().size()) + " (`acu learn --list`)");
    first = *number;
  }
  struct sigaction interrupted = {}; // Ctrl-C ends commands, not the tutorial
  interrupted.sa_handler = [](int) {};
  ::sigaction(SIGINT, &interrupted, nullptr);
  if (::geteuid() != 0) complain("WARNING: not root: most lessons trace processes and need it (`sudo acu learn`)\n");
  const auto seed = static_cast<unsigned>(std::time(nullptr)) ^ static_cast<unsigned>(::getpid()) * 31;
  auto played = ::learn::play({.write = say, .read = read_line}, first - 1, seed);
  return played.ok() ? 0 : fail(played.error());
}

} // namespace tool
