// Completion of command lines. The shells ask `acu help complete -- WORD…` what the last word may become; the answer comes
// from the same tables as the parser and the help, and from the machine: processes, users, events, functions.
#include "emit/targets.h"
#include "base/text.h"
#include "session/listing.h"
#include "spec/counters.h"
#include "spec/probes.h"
#include "spec/profile_kinds.h"
#include "spec/subcommands.h"
#include "spec/syscall_rows.h"
#include "spec/syscalls.h"
#include "symbol/containers.h"
#include "tool/own_tools.h"
#include "tool/scripts.h"
#include "tool/tool.h"

#include <algorithm>
#include <filesystem>
#include <pwd.h>

namespace tool {

namespace {

constexpr size_t most = 5000; // a shell shows no more

struct ShellScript {
  std::string_view shell, text;
};
// Colons are ends of words to bash: what stands before the last one is taken off the answers.
constexpr ShellScript shell_scripts[] = {
    {"bash", R"(_acu() {
  local line="${COMP_LINE:0:COMP_POINT}" words cur
  read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  cur="${words[-1]}"
  mapfile -t COMPREPLY < <("${words[0]}" help complete -- "${words[@]:1}" 2>/dev/null)
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
  [[ ${COMPREPLY[*]} == *[:=] ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _acu acu
)"},
    {"zsh", R"(#compdef acu
_acu() {
  local -a told
  told=("${(@f)$(${words[1]} help complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n ${told[1]} ]] && compadd -Q -a told || _files
}
compdef _acu acu
)"},
    {"fish", R"(function __acu_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] help complete -- $words[2..-1] 2>/dev/null
end
complete -c acu -a '(__acu_complete)'
)"},
};

// Those of a list that begin with what was typed.
class Answers {
public:
  explicit Answers(std::string_view typed) : typed_(typed) {}
  void add(std::string text) {
    if (text.starts_with(typed_) && all.size() < most) all.push_back(before + text + after);
  }
  // What was typed behind the last comma counts; what stands before is kept.
  void behind_comma() {
    const size_t comma = typed_.rfind(',');
    if (comma == typed_.npos) return;
    before += typed_.substr(0, comma + 1);
    typed_.remove_prefix(comma + 1);
  }
  std::string_view typed() const { return typed_; }

  std::vector<std::string> all;
  std::string before, after;

private:
  std::string_view typed_;
};

void add_processes(Answers& to) {
  to.behind_comma();
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed))
    if (const std::string name = entry.path().filename(); base::parse_integer(name)) to.add(name);
}

void add_threads(Answers& to) {
  to.behind_comma();
  std::error_code failed;
  for (const auto& process : std::filesystem::directory_iterator("/proc", failed))
    if (base::parse_integer(process.path().filename().string()))
      for (const auto& thread : std::filesystem::directory_iterator(process.path() / "task", failed)) to.add(thread.path().filename());
}

void add_containers(Answers& to) {
  for (const symbol::Container& c : symbol::Containers().all()) to.add(c.name.empty() ? c.id : c.name);
}

void add_users(Answers& to) {
  ::setpwent();
  while (const passwd* p = ::getpwent()) to.add(p->pw_name);
  ::endpwent();
}

void add_groups(Answers& to) {
  constexpr int deepest = 4;
  const std::filesystem::path root = "/sys/fs/cgroup";
  std::error_code failed;
  for (auto at = std::filesystem::recursive_directory_iterator(root, failed); !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
    if (!at->is_directory(failed)) continue;
    if (at.depth() >= deepest) at.disable_recursion_pending();
    to.add(at->path().lexically_relative(root));
  }
}

void add_calls(Answers& to) {
  to.behind_comma();
  for (std::string_view group : {"%file", "%desc", "%process", "%net", "%memory", "%signal", "%ipc", "%creds", "%clock"}) to.add(std::string(group));
  for (int n = 0; n <= spec::last_syscall; n++)
    if (std::string_view name = spec::syscall_name(n); !name.empty()) to.add(std::string(name));
}

// Kinds of probes, then what there is of them: of functions once some of the name is typed.
void add_events(Answers& to) {
  const std::string typed(to.typed());
  if (typed.find(':') == typed.npos) {
    for (const spec::ProbeKind& kind : spec::probe_kinds)
      if (kind.form.find(':') != kind.form.npos) to.add(std::string(kind.name) + ":");
    return;
  }
  const bool is_file = typed.starts_with("u") && std::count(typed.begin(), typed.end(), ':') == 1;
  if (is_file || typed.find_first_of("*?") != typed.npos || (typed.starts_with("k") && typed.ends_with(":"))) return;
  type::Table types;
  probe::Machine machine(types);
  for (const probe::Event& e : session::find_events(machine, {typed + "*"})) to.add(e.name);
}

void add_counters(Answers& to) {
  to.behind_comma();
  for (const spec::CounterRow& row : spec::counter_rows) to.add(std::string(row.name));
  add_events(to);
}

void add_tools(Answers& to) {
  for (const Script& s : all_scripts()) to.add(std::string(s.name));
  for (const Script* s : own_scripts()) to.add(std::string(s->name));
}
void add_tool_words(Answers& to) {
  for (std::string_view word : {"add", "remove", "new", "test"}) to.add(std::string(word));
  add_tools(to);
}
void add_frameworks(Answers& to) {
  for (const emit::Target* t : emit::targets()) to.add(std::string(t->name));
}
void add_subcommands(Answers& to) {
  for (const spec::Subcommand& s : spec::subcommands) to.add(std::string(s.name));
}
void add_kinds(Answers& to) {
  for (const spec::ProfileKind& kind : spec::profile_kinds) to.add(std::string(kind.name));
  if (to.typed().find(':') != std::string_view::npos) add_events(to);
}

// By what the table calls it; files are the shell's own to find.
struct Named {
  std::string_view argument;
  void (*add)(Answers&);
};
constexpr Named arguments[] = {{"PID", add_processes}, {"PIDS", add_processes},  {"TIDS", add_threads},
                               {"USER", add_users},    {"GROUP", add_groups},    {"CONTAINER", add_containers},
                               {"CALLS", add_calls},   {"EVENTS", add_counters}, {"EVENT", add_events}, {"FRAMEWORK", add_frameworks}};
constexpr Named positions[] = {{"flame", add_kinds}, {"record", add_kinds}, {"top", add_kinds},
                               {"list", add_events}, {"tools", add_tools},  {"tool", add_tool_words}, {"emit", add_tools}, {"help", add_subcommands}};

void add_argument(const spec::Option& option, Answers& to) {
  if (!option.allowed.empty()) {
    if (option.several) to.behind_comma();
    for (std::string_view word : base::split(option.allowed, '|')) to.add(std::string(word));
  }
  for (const Named& n : arguments)
    if (n.argument == option.argument) n.add(to);
}

void add_option_names(const spec::Subcommand& subcommand, Answers& to) {
  for (const spec::Option& o : subcommand.options) {
    if (!o.name.empty()) to.add("--" + std::string(o.name));
    if (o.letter) to.add(std::string("-") + o.letter);
  }
}

std::optional<spec::Option> find_option(const spec::Subcommand& subcommand, std::string_view word) {
  for (const spec::Option& o : subcommand.options)
    if ((word.starts_with("--") && word.substr(2) == o.name) || (word.size() == 2 && word[0] == '-' && o.letter == word[1])) return o;
  return {};
}

} // namespace

std::vector<std::string> complete(std::span<const std::string_view> words) {
  if (words.empty()) return {};
  Answers to(words.back());
  if (words.size() == 1) {
    add_subcommands(to);
    add_tools(to);
    return to.all;
  }
  const spec::Subcommand* subcommand = spec::find_subcommand(words[0]);
  const bool is_command = std::ranges::find(words.first(words.size() - 1), "--") != words.end() - 1;
  if (!subcommand || is_command) return {};
  const auto before = find_option(*subcommand, words[words.size() - 2]);
  if (before && !before->argument.empty() && !before->optional) {
    add_argument(*before, to);
    return to.all;
  }
  if (const size_t sign = words.back().find('='); words.back().starts_with("--") && sign != std::string_view::npos) {
    Answers value(words.back().substr(sign + 1));
    value.before = words.back().substr(0, sign + 1);
    if (const auto o = find_option(*subcommand, words.back().substr(0, sign))) add_argument(*o, value);
    return value.all;
  }
  if (words.back().starts_with("-")) {
    add_option_names(*subcommand, to);
    return to.all;
  }
  for (const Named& n : positions)
    if (n.argument == subcommand->name) n.add(to);
  return to.all;
}

std::string_view completion_script(std::string_view shell) {
  for (const ShellScript& s : shell_scripts)
    if (s.shell == shell) return s.text;
  return {};
}

} // namespace tool
