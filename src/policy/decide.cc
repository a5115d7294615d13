#include "policy/policy.h"

#include "base/text.h"

#include <algorithm>

namespace policy {

namespace {

bool is_one_of(const std::vector<std::string>& names, uint32_t number, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& n) { return (!name.empty() && n == name) || n == std::to_string(number); });
}

bool is_for(const Rule& rule, const Caller& caller) {
  if (rule.is_for_everyone || is_one_of(rule.users, caller.user, caller.name)) return true;
  for (size_t i = 0; i < caller.groups.size(); i++)
    if (is_one_of(rule.groups, caller.groups[i], i < caller.group_names.size() ? caller.group_names[i] : std::string_view())) return true;
  return false;
}

std::string title_of(const Caller& caller) { return caller.name.empty() ? "user " + std::to_string(caller.user) : caller.name; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string targets_of(const Rule& rule) {
  std::string out;
  for (const Target& target : rule.targets) out += (out.empty() ? "" : " ") + to_string(target);
  return out.empty() ? "none" : out;
}

bool permits(const Target& permitted, const Target& wanted, const Caller& caller) {
  switch (permitted.kind) {
  case TargetKind::all: return true;
  case TargetKind::own: return wanted.kind == TargetKind::user && wanted.name == std::to_string(caller.user);
  case TargetKind::unit:
  case TargetKind::container: {
    // What is wanted may be a pattern itself (--container): its `*` is more than a `?` of the rule.
    const bool is_wider = wanted.name.find('*') != wanted.name.npos && permitted.name.find('?') != permitted.name.npos && wanted.name != permitted.name;
    return wanted.kind == permitted.kind && !is_wider && base::glob_match(permitted.name, wanted.name);
  }
  case TargetKind::user: return wanted.kind == permitted.kind && wanted.name == permitted.name;
  }
  return false;
}

bool permits(const Rule& rule, const Subject& subject, const Caller& caller) {
  return std::ranges::any_of(rule.targets, [&](const Target& permitted) {
    return permitted.kind == TargetKind::all || std::ranges::any_of(subject.is, [&](const Target& wanted) { return permits(permitted, wanted, caller); });
  });
}

} // namespace

bool Rule::may_all_targets() const {
  return std::ranges::any_of(targets, [](const Target& t) { return t.kind == TargetKind::all; });
}

std::string to_string(const Target& target) {
  switch (target.kind) {
  case TargetKind::all: return "*";
  case TargetKind::own: return "own";
  case TargetKind::unit: return "unit:" + target.name;
  case TargetKind::container: return "container:" + target.name;
  case TargetKind::user: return "user:" + target.name;
  }
  return {};
}

const Rule* rule_for(const Policy& policy, const Caller& caller) {
  const auto found = std::ranges::find_if(policy.rules, [&](const Rule& rule) { return is_for(rule, caller); });
  return found == policy.rules.end() ? nullptr : &*found;
}

base::Status decide(const Policy& policy, const Caller& caller, const Request& request) {
  auto refuse = [](const std::string& text) { return base::Error{base::Failure::permission, text}; };
  const Rule* rule = rule_for(policy, caller);
  if (!rule) return refuse("the policy of this host (" + policy.file + ") has no rule for " + title_of(caller));
  const std::string start = "the policy of this host (" + policy.file + ":" + std::to_string(rule->line) + ") does not permit ";
  const std::string hint = "\nhint: `acu policy show` prints what it permits to " + title_of(caller);
  const bool may_run = std::ranges::any_of(rule->commands, [&](const std::string& pattern) { return base::glob_match(pattern, request.command); });
  if (!may_run) return refuse(start + "`acu " + request.command + "` to " + title_of(caller) + hint);
  if (!request.code.empty() && !rule->may_scripts)
    return refuse(start + request.code + ": scripts can read all that the kernel can, and need `may scripts`" + hint);
  if (!request.action.empty() && !rule->may_unsafe) return refuse(start + request.action + ", which needs `may unsafe`" + hint);
  if (!request.needs_target || rule->may_all_targets()) return {};
  if (!request.names_target)
    return refuse(start + "tracing the whole host, only these: " + targets_of(*rule) + "\nhint: name one, with -p PID, -u USER, --container NAME or --cgroup GROUP");
  for (const Subject& subject : request.subjects)
    if (!permits(*rule, subject, caller)) return refuse(start + "tracing " + subject.shown + ", only these: " + targets_of(*rule) + hint);
  return {};
}

std::string describe(const Policy& policy, const Caller& caller) {
  const Rule* rule = rule_for(policy, caller);
  if (!rule) return policy.file + " has no rule for " + title_of(caller) + ": every command is refused\n";
  std::string out = title_of(caller) + ", by " + policy.file + ":" + std::to_string(rule->line) + "\n";
  out += "commands  " + joined(rule->commands) + "\n";
  out += "targets   " + targets_of(*rule) + "\n";
  out += std::string("scripts   ") + (rule->may_scripts ? "yes" : "no") + "\n";
  out += std::string("unsafe    ") + (rule->may_unsafe ? "yes" : "no") + "\n";
  return out;
}

} // namespace policy
