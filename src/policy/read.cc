// The text of a policy, line by line: a line that begins with user, group or everyone begins a rule, and the lines below it say what it permits.
// Mistakes do not end the reading, so that all of them are reported at once.
#include "policy/policy.h"

#include "base/text.h"
#include "spec/subcommands.h"

#include <algorithm>
#include <utility>

namespace policy {

namespace {

constexpr std::string_view keys[] = {"user", "group", "everyone", "commands", "targets", "may"};
constexpr std::string_view kinds[] = {"unit", "container", "user"};
constexpr size_t longest_policy = 1 << 20;

class PolicyReader {
public:
  explicit PolicyReader(std::string file) { policy_.file = std::move(file); }

  base::Result<Policy> read(std::string_view text) {
    if (text.size() > longest_policy) return base::Error{base::Failure::usage, policy_.file + ": a policy has at most 1 MiB"};
    for (std::string_view line : base::split(text, '\n')) {
      line_++;
      if (line.find('\0') != line.npos) mistake("a byte is zero: this is no text");
      take(words_of(line.substr(0, line.find('#'))));
    }
    end_rule();
    if (mistakes_.empty()) return std::move(policy_);
    return base::Error{base::Failure::usage, mistakes_};
  }

private:
  using Words = std::vector<std::string_view>;

  static Words words_of(std::string_view line) {
    Words out;
    while (!(line = base::trim(line)).empty()) {
      const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
      out.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    return out;
  }

  void mistake(const std::string& text, uint32_t line = 0) {
    constexpr size_t most = 20;
    if (++count_ > most) return;
    mistakes_ += (mistakes_.empty() ? "" : "\n") + policy_.file + ":" + std::to_string(line ? line : line_) + ": " + text;
    if (count_ == most) mistakes_ += "\nfurther mistakes are not shown";
  }

  void take(const Words& words) {
    if (words.empty()) return;
    const std::string_view key = words[0];
    if (key == "user" || key == "group" || key == "everyone") return begin_rule(key, words);
    if (std::ranges::find(keys, key) == std::end(keys)) {
      const std::string_view near = base::nearest(key, {std::begin(keys), std::end(keys)});
      return mistake("`" + base::printable(key) + "` is not a keyword of a policy" +
                     (near.empty() ? " (user, group, everyone, commands, targets, may)" : "; did you mean `" + std::string(near) + "`?"));
    }
    if (policy_.rules.empty()) return mistake("`" + std::string(key) + "` belongs to a rule, which begins with `user NAME`, `group NAME` or `everyone`");
    names_commands_ |= key == "commands";
    if (words.size() == 1) return mistake("`" + std::string(key) + "` needs at least one word");
    for (size_t i = 1; i < words.size(); i++)
      key == "commands" ? take_command(words[i]) : key == "targets" ? take_target(words[i]) : take_grant(words[i]);
  }

  void begin_rule(std::string_view key, const Words& words) {
    end_rule();
    Rule rule;
    rule.line = line_;
    rule.is_for_everyone = key == "everyone";
    std::vector<std::string>& names = key == "user" ? rule.users : rule.groups;
    names.assign(words.begin() + 1, words.end());
    if (rule.is_for_everyone && !names.empty()) mistake("`everyone` takes no names");
    if (!rule.is_for_everyone && names.empty()) mistake("`" + std::string(key) + "` needs at least one name");
    for (const std::string& name : names)
      if (name.find_first_of("*?") != name.npos) mistake("`" + base::printable(name) + "`: names of users and groups are no patterns; `everyone` is a rule for all");
    policy_.rules.push_back(std::move(rule));
  }

  void end_rule() {
    if (ended_rules_ == policy_.rules.size()) return;
    ended_rules_ = policy_.rules.size();
    if (!std::exchange(names_commands_, false)) mistake("this rule has no line `commands`", policy_.rules.back().line);
  }

  void take_command(std::string_view word) {
    const bool is_pattern = word.find_first_of("*?") != word.npos;
    std::vector<std::string_view> names = {"none"};
    for (const spec::Subcommand& s : spec::subcommands) names.push_back(s.name);
    const bool is_known = std::ranges::any_of(names, [&](std::string_view name) { return is_pattern ? base::glob_match(word, name) : name == word; });
    if (!is_known) {
      const std::string_view near = base::nearest(word, names);
      return mistake("there is no command `" + base::printable(word) + "`" + (near.empty() ? " (`acu help` lists them)" : "; did you mean `" + std::string(near) + "`?"));
    }
    policy_.rules.back().commands.emplace_back(word);
  }

  void take_target(std::string_view word) {
    std::vector<Target>& to = policy_.rules.back().targets;
    if (word == "*") return to.push_back({TargetKind::all, {}});
    if (word == "own") return to.push_back({TargetKind::own, {}});
    const size_t colon = word.find(':');
    const std::string_view kind = word.substr(0, colon), name = colon == word.npos ? std::string_view() : word.substr(colon + 1);
    const auto found = std::ranges::find(kinds, kind);
    if (colon == word.npos || found == std::end(kinds) || name.empty())
      return mistake("`" + base::printable(word) + "` is not a target; targets are *, own, unit:NAME, container:NAME and user:NAME");
    if (kind == "user" && name.find_first_of("*?") != name.npos) return mistake("`" + base::printable(word) + "`: names of users are no patterns");
    constexpr TargetKind of_kinds[] = {TargetKind::unit, TargetKind::container, TargetKind::user};
    to.push_back({of_kinds[found - std::begin(kinds)], std::string(name)});
  }

  void take_grant(std::string_view word) {
    Rule& rule = policy_.rules.back();
    if (word == "scripts") rule.may_scripts = true;
    else if (word == "unsafe") rule.may_unsafe = true;
    else mistake("`may` takes scripts and unsafe, not `" + base::printable(word) + "`");
  }

  Policy policy_;
  std::string mistakes_;
  size_t count_ = 0, ended_rules_ = 0;
  bool names_commands_ = false; // the rule that is read has a line for them, right or wrong
  uint32_t line_ = 0;
};

} // namespace

base::Result<Policy> read_policy(std::string_view text, std::string file) { return PolicyReader(std::move(file)).read(text); }

} // namespace policy
