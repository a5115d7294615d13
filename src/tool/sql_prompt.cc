#include "tool/sql_prompt.h"

#include "base/text.h"
#include "session/signals.h"
#include "sql/tables.h"
#include "tool/tool.h"

#include <cstdlib>
#include <cstring>
#include <editline/readline.h>
#include <filesystem>

namespace tool {

namespace {

constexpr int history_lines = 1000;
constexpr std::string_view help = ".tables           list the tables\n"
                                  ".schema [TABLE]   columns of a table, or of all\n"
                                  ".quit             end (Ctrl-D, too)\n"
                                  "A query ends with a semicolon. Tab completes names; Ctrl-C ends a query.\n";

sql::Database* completed = nullptr; // libedit's functions take no context

char* next_name(const char* word, int state) {
  static std::vector<std::string> names;
  static size_t next = 0;
  if (state == 0) names = completed->complete(word), next = 0;
  return next < names.size() ? ::strdup(names[next++].c_str()) : nullptr;
}

char** complete_word(const char* word, int, int) {
  ::rl_attempted_completion_over = 1; // names of files complete nothing
  return ::rl_completion_matches(word, next_name);
}

// $XDG_STATE_HOME/acu/sql_history; empty: there is no home.
std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const bool has_state = state && state[0] == '/', has_home = home && home[0] == '/';
  if (!has_state && !has_home) return {};
  const std::string folder = (has_state ? std::string(state) : std::string(home) + "/.local/state") + "/acu";
  std::error_code none;
  std::filesystem::create_directories(folder, none);
  return folder + "/sql_history";
}

// False: it is no command of the prompt.
bool obey(std::string_view line) {
  const std::vector<std::string_view> words = base::split(base::trim(line), ' ');
  if (words[0] == ".tables") return say(sql::tables_text()), true;
  if (words[0] == ".help") return say(help), true;
  if (words[0] != ".schema") return false;
  for (const sql::Table* table : sql::tables())
    if (words.size() < 2 || table->name == words[1]) say(sql::table_text(*table));
  return true;
}

} // namespace

void run_prompt(sql::Database& database, const std::function<void(const std::string&)>& answer) {
  completed = &database;
  ::rl_readline_name = "acu";
  ::rl_attempted_completion_function = complete_word;
  ::using_history();
  ::stifle_history(history_lines);
  const std::string path = history_path();
  if (!path.empty()) ::read_history(path.c_str());
  say("acu sql: .help explains, .tables lists the tables, Ctrl-D ends\n");
  std::string text;
  for (;;) {
    const std::unique_ptr<char, void (*)(void*)> line(::readline(text.empty() ? "sql> " : "...> "), std::free);
    const bool is_interrupted = session::signals::is_stopping();
    session::signals::forget();
    if (is_interrupted) {
      text.clear();
      say("\n");
      continue;
    }
    if (!line || (text.empty() && base::trim(line.get()) == ".quit")) break;
    if (text.empty() && line.get()[0] == '.') {
      if (!obey(line.get())) complain("ERROR: `" + std::string(line.get()) + "`: there is no such command (see .help)\n");
      continue;
    }
    text += (text.empty() ? "" : "\n") + std::string(line.get());
    if (base::trim(text).empty()) text.clear();
    if (text.empty() || !sql::Database::is_complete(text)) continue;
    std::string entry = text;
    base::replace_all(entry, "\n", " ");
    ::add_history(entry.c_str());
    answer(text);
    session::signals::forget();
    text.clear();
  }
  if (!path.empty()) ::write_history(path.c_str());
  say("\n");
}

} // namespace tool
