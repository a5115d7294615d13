#include "policy/enforce.h"

#include "base/confinement.h"
#include "base/fd.h"
#include "base/output_file.h"
#include "base/process_status.h"
#include "base/text.h"
#include "policy/reach.h"
#include "symbol/containers.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace policy {

namespace {

struct Bound {
  Caller caller;
  gid_t group = 0;
  bool is_bound = false; // by a policy
  bool may_unsafe = true;
};
Bound bound;
std::string given;

base::Error permission(std::string text) { return {base::Failure::permission, std::move(text)}; }

// Root's, and nobody else can write to it. Where root has no number (a user namespace that it is not mapped into) it looks like nobody's.
bool is_safe(const struct stat& about) {
  constexpr uid_t unmapped = 65534;
  const bool is_roots = about.st_uid == 0 || (about.st_uid == unmapped && base::confinement().has_user_namespace);
  const bool is_shared = about.st_mode & (S_IWGRP | S_IWOTH);
  return is_roots && (!is_shared || (S_ISDIR(about.st_mode) && about.st_mode & S_ISVTX));
}

Caller of_account(const passwd& account) {
  Caller out;
  out.user = account.pw_uid;
  out.name = account.pw_name;
  int count = 64;
  std::vector<gid_t> groups(64);
  if (::getgrouplist(account.pw_name, account.pw_gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<size_t>(count));
    ::getgrouplist(account.pw_name, account.pw_gid, groups.data(), &count);
  }
  groups.resize(static_cast<size_t>(std::max(count, 0)));
  for (gid_t id : groups) {
    out.groups.push_back(id);
    const group* found = ::getgrgid(id);
    out.group_names.emplace_back(found ? found->gr_name : "");
  }
  return out;
}

Caller of_number(uid_t user) {
  if (const passwd* account = ::getpwuid(user)) return of_account(*account);
  Caller out;
  out.user = user;
  return out;
}

// The container or unit of a control group, and of a process its user.
void add_group(Subject& to, const symbol::Container& of) {
  if (of.is_container()) {
    to.is.push_back({TargetKind::container, of.title()});
    if (!of.name.empty() && of.name != of.title()) to.is.push_back({TargetKind::container, of.name});
  } else if (of.runtime == symbol::unit_runtime) {
    to.is.push_back({TargetKind::unit, of.title()});
  }
}

void add_user(Subject& to, uint64_t number) {
  to.is.push_back({TargetKind::user, std::to_string(number)});
  if (const passwd* account = ::getpwuid(static_cast<uid_t>(number))) to.is.push_back({TargetKind::user, account->pw_name});
}

// Whose a process is: the user of all four of its numbers, which differ while a setuid program runs.
Subject of_process(int pid, std::string shown, symbol::Containers& containers) {
  Subject out{std::move(shown), {}};
  const std::string users = base::status_of(pid, "Uid");
  if (users.empty()) return out;
  std::vector<uint64_t> numbers;
  for (std::string_view word : base::split(users, '\t')) numbers.push_back(base::parse_integer(word).value_or(~uint64_t{0}));
  if (numbers.size() == 4 && std::ranges::all_of(numbers, [&](uint64_t n) { return n == numbers[0]; })) add_user(out, numbers[0]);
  add_group(out, containers.of_process(pid));
  return out;
}

std::vector<Subject> subjects_of(const Asked& asked) {
  std::vector<Subject> out;
  symbol::Containers containers;
  for (int pid : asked.processes) out.push_back(of_process(pid, "process " + std::to_string(pid), containers));
  for (int thread : asked.threads) out.push_back(of_process(base::process_of_thread(thread).value_or(thread), "thread " + std::to_string(thread), containers));
  if (!asked.user.empty()) {
    Subject user{"user " + asked.user, {}};
    const auto number = base::parse_integer(asked.user);
    const passwd* account = number ? nullptr : ::getpwnam(asked.user.c_str());
    if (number && *number < UINT32_MAX) add_user(user, *number);
    if (account) add_user(user, account->pw_uid);
    out.push_back(std::move(user));
  }
  if (!asked.group.empty()) {
    Subject group{"control group " + asked.group, {}};
    std::string path = asked.group;
    const std::string& root = containers.mounted_at();
    if (!root.empty() && path.starts_with(root)) path = path.substr(root.size());
    if (path.find("..") == path.npos) add_group(group, containers.of_group(path));
    out.push_back(std::move(group));
  }
  // Later containers may be called by a pattern, too: it must be the rule's own.
  if (!asked.container.empty()) {
    const bool is_pattern = asked.container.find_first_of("*?") != std::string::npos;
    if (is_pattern) out.push_back({"containers " + asked.container, {{TargetKind::container, asked.container}}});
    for (const symbol::Container& found : is_pattern ? std::vector<symbol::Container>() : containers.find_all(asked.container)) {
      Subject one{"container " + found.title(), {}};
      add_group(one, found);
      out.push_back(std::move(one));
    }
    if (!is_pattern && out.empty()) out.push_back({"container " + asked.container, {{TargetKind::container, asked.container}}});
  }
  return out;
}

Request request_of(const Asked& asked) {
  Request out;
  out.command = asked.command;
  out.code = asked.code;
  out.action = asked.action;
  for (const CommandReach& row : reaches) {
    if (row.name != asked.command) continue;
    const bool has_script = row.code == Code::always || (row.code == Code::if_words && asked.has_words);
    if (has_script && out.code.empty() && !asked.is_help) out.code = "`acu " + out.command + "`";
    const bool takes_probes = row.reach == Reach::processes || row.reach == Reach::nothing;
    if (takes_probes && asked.has_code_words && out.code.empty()) out.code = "a probe with a condition";
    if (row.acts && out.action.empty() && (row.code != Code::if_words || asked.has_words)) out.action = "`acu " + out.command + "`";
    const bool names_processes = !asked.processes.empty() || !asked.threads.empty() || !asked.container.empty();
    out.needs_target = row.reach == Reach::processes || row.reach == Reach::host || ((row.reach == Reach::files || row.reach == Reach::nothing) && names_processes);
    if (row.reach == Reach::host) return out; // no filter makes it less
  }
  out.subjects = subjects_of(asked);
  out.names_target = !out.subjects.empty() || asked.starts_command;
  return out;
}

Reach reach_of(std::string_view command) {
  for (const CommandReach& row : reaches)
    if (row.name == command) return row.reach;
  return Reach::processes;
}

int drop_all_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

// The caller's supplementary groups instead of root's; an errno.
int take_groups() {
  if (::geteuid() != 0) return 0;
  const std::vector<gid_t> groups(bound.caller.groups.begin(), bound.caller.groups.end());
  return ::setgroups(groups.size(), groups.data()) == 0 ? 0 : errno;
}

bool is_missing(const std::string& file) {
  struct stat about = {};
  return ::stat(file.c_str(), &about) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

gid_t group_of(const Caller& of) {
  const passwd* account = ::getpwuid(of.user);
  return account ? account->pw_gid : ::getgid();
}

} // namespace

base::Status use_file(std::string file) {
  if (caller().user != 0) return permission("`--policy` is for root alone: other callers are bound by " + std::string(usual_file));
  given = std::move(file);
  return {};
}

const std::string& given_file() { return given; }

Caller caller() {
  uid_t user = ::getuid();
  const char* by_sudo = user == 0 ? std::getenv("SUDO_UID") : nullptr;
  if (const auto number = base::parse_integer(by_sudo ? by_sudo : ""); number && *number < UINT32_MAX) user = static_cast<uid_t>(*number);
  if (user == 0) return {.user = 0, .name = "root", .groups = {0}, .group_names = {"root"}};
  return of_number(user);
}

base::Result<Caller> caller_called(const std::string& name) {
  if (const auto number = base::parse_integer(name); number && *number < UINT32_MAX) return of_number(static_cast<uid_t>(*number));
  if (const passwd* account = ::getpwnam(name.c_str())) return of_account(*account);
  return base::Error{base::Failure::usage, "there is no user `" + base::printable(name) + "`"};
}

base::Result<Policy> load(const std::string& file) {
  constexpr uint64_t most = 1 << 20;
  const base::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return base::errno_error("cannot read the policy of this host (" + file + ")", errno);
  struct stat about = {}, folder = {};
  const size_t slash = file.rfind('/');
  const std::string parent = slash == file.npos ? "." : file.substr(0, slash + 1);
  if (::fstat(fd.get(), &about) != 0 || ::stat(parent.c_str(), &folder) != 0) return base::errno_error("cannot read the policy of this host (" + file + ")", errno);
  if (!S_ISREG(about.st_mode)) return base::Error{base::Failure::usage, "the policy of this host (" + file + ") is no regular file"};
  for (const auto& [is_fine, name] : {std::pair{is_safe(about), file}, std::pair{is_safe(folder), parent}})
    if (!is_fine)
      return permission("the policy of this host (" + file + ") is refused: users other than root can change " + name + "\nhint: chown root " + name + "; chmod go-w " + name);
  ACU_TRY(const std::string text, base::read_up_to(fd, most + 1, file));
  return read_policy(text, file);
}

base::Status enforce(const Asked& asked) {
  const bool is_documentation = asked.is_help || asked.command == "help" || asked.command == "policy" || asked.command == "tools";
  if (is_documentation) return {};
  bound.caller = caller();
  if (bound.caller.user == 0 && given.empty()) return {};
  const std::string file = given.empty() ? std::string(usual_file) : given;
  if (given.empty() && is_missing(file)) return {};
  auto policy = load(file);
  if (!policy.ok()) {
    policy.error().kind = base::Failure::permission;
    return std::move(policy.error()).with("nothing is permitted");
  }
  ACU_CHECK(decide(*policy, bound.caller, request_of(asked)));
  const Rule* rule = rule_for(*policy, bound.caller);
  bound.is_bound = true;
  bound.may_unsafe = rule && rule->may_unsafe;
  if (bound.caller.user == 0) return {}; // by --policy: its own rights are root's
  bound.group = group_of(bound.caller);
  // By sudo it has root's groups, which let in where the caller may not go.
  if (const int error = take_groups()) return base::errno_error("cannot take the groups of " + bound.caller.name, error);
  base::write_results_as(bound.caller.user, bound.group);
  const bool needs_no_rights = reach_of(asked.command) == Reach::files && asked.processes.empty() && asked.threads.empty();
  if (const int error = needs_no_rights ? become_caller() : 0) return base::errno_error("cannot give up the rights that `acu " + std::string(asked.command) + "` does not need", error);
  return {};
}

base::Status give_up_rights() {
  bound.caller = caller();
  if (bound.caller.user == 0 || is_missing(std::string(usual_file))) return {};
  bound.group = group_of(bound.caller);
  bound.is_bound = true, bound.may_unsafe = false;
  if (const int error = become_caller()) return base::errno_error("cannot give up the rights that reading a file does not need", error);
  return {};
}

bool permits_unsafe() { return !bound.is_bound || bound.may_unsafe; }

int become_caller() {
  if (!bound.is_bound || bound.caller.user == 0) return 0;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::geteuid() == 0) {
    if (const int error = take_groups()) return error;
    if (::setresgid(bound.group, bound.group, bound.group) != 0 ||
        ::setresuid(bound.caller.user, bound.caller.user, bound.caller.user) != 0)
      return errno;
  }
  return drop_all_capabilities();
}

} // namespace policy
