// The command's own processes are followed by the scheduler's tracepoints, in the numbers of the kernel:
// those of acu's pid namespace may be others. They count until they are gone: a first thread that has ended may have left others,
// and leaves its CPU a last time. Groups are known by sets of their IDs (session/follow_groups.h).
#include "session/target_filter.h"

#include "base/confinement.h"
#include "base/process_status.h"
#include "base/text.h"
#include "session/child.h"
#include "symbol/containers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace session {

namespace {

constexpr std::string_view follow_command =
    "tracepoint:sched:sched_process_exec /pid == cpid/ { @watched[curtask.tgid] = 1 }\n"
    "tracepoint:sched:sched_process_fork /@watched[curtask.tgid]/ { @watched[args.child_pid] = 1 }\n"
    "tracepoint:sched:sched_process_free /@watched[args.pid]/ { delete(@watched, args.pid) }\n";

base::Result<Condition> of_user(const std::string& name) {
  uint64_t uid = 0;
  if (auto number = base::parse_integer(name); number && *number < UINT32_MAX) { // -1 is nobody
    uid = *number;
  } else {
    const passwd* found = ::getpwnam(name.c_str());
    if (!found) {
      std::vector<std::string> names;
      ::setpwent();
      while (const passwd* p = ::getpwent()) names.emplace_back(p->pw_name);
      ::endpwent();
      std::string_view near = base::nearest(name, {names.begin(), names.end()});
      return base::usage_error("there is no user `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?"));
    }
    uid = found->pw_uid;
  }
  return Condition{"uid == " + std::to_string(uid), {}, "user " + name};
}

// The file system of a directory, if it is a hierarchy's; else 0.
long hierarchy_of(const std::string& folder) {
  struct stat about = {};
  struct statfs file_system = {};
  const bool is_there = ::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && ::statfs(folder.c_str(), &file_system) == 0;
  const bool is_group = is_there && (file_system.f_type == CGROUP2_SUPER_MAGIC || file_system.f_type == CGROUP_SUPER_MAGIC);
  return is_group ? file_system.f_type : 0;
}

// As text of the language.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\"";
}

// "process 17 (nginx)", "processes 17 (nginx), 18 (nginx)"
std::string in_words(std::string_view one, std::string_view several, const std::vector<int>& numbers) {
  std::string out(numbers.size() == 1 ? one : several);
  for (size_t i = 0; i < numbers.size(); i++) {
    const std::string number = std::to_string(numbers[i]);
    auto name = base::read_file("/proc/" + number + "/comm");
    out += (i ? ", " : " ") + number + (name.ok() ? " (" + base::printable(base::trim(*name)) + ")" : "");
  }
  return out;
}

// The session ends when the last of the threads exits.
std::string end_with(const std::vector<int>& threads) {
  const std::string when = "tracepoint:sched:sched_process_exit /" + one_of("tid", threads) + "/ ";
  if (threads.size() == 1) return when + "{ exit() }\n";
  return when + "{ @ended++; if (@ended == " + std::to_string(threads.size()) + ") { exit() } }\n";
}

// Tasks have their numbers of the initial namespace; those of another one, which acu is in, are not compared with them.
std::string of_task(std::string_view what, const std::vector<int>& numbers) { return base::confinement().has_pid_namespace ? std::string() : one_of(what, numbers); }

} // namespace

std::string one_of(std::string_view what, const std::vector<int>& numbers) {
  std::string out;
  for (int n : numbers) out += (out.empty() ? "" : " || ") + std::string(what) + " == " + std::to_string(n);
  return numbers.size() > 1 ? "(" + out + ")" : out;
}

base::Result<spec::GroupSet> group_set_of(const std::string& container, const std::string& cgroup) {
  symbol::Containers containers;
  if (!container.empty()) {
    ACU_TRY(auto found, containers.require(container));
    return spec::GroupSet{spec::GroupSet::container, container};
  }
  const std::string& root = containers.mounted_at();
  std::string path = cgroup;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  for (const std::string& begin : {std::string(), std::string("/sys/fs/cgroup/"), root + "/"}) {
    std::string folder = begin + path;
    if (begin.empty() && !path.starts_with("/sys/fs/cgroup") && (root.empty() || !path.starts_with(root))) continue;
    const long hierarchy = hierarchy_of(folder);
    if (hierarchy == CGROUP_SUPER_MAGIC)
      return base::usage_error("control group `" + cgroup + "` is of version 1: probes know groups of version 2" +
                   (root.empty() ? ", which is not mounted here" : ", which are below " + root));
    if (!hierarchy) continue;
    std::error_code none;
    folder = std::filesystem::canonical(folder, none).native();
    if (none || !folder.starts_with(root)) continue; // mounted elsewhere as well
    return spec::GroupSet{spec::GroupSet::subtree, folder == root ? "/" : folder.substr(root.size())};
  }
  return base::usage_error("there is no control group `" + cgroup + "` (control groups are the directories below /sys/fs/cgroup)");
}

base::Result<Condition> target_condition(const TargetFilter& f) {
  // Process 0 is what runs when nothing does. Those of another pid namespace have no number here, but the
  // kernel's.
  const std::vector<int> pids = f.processes();
  if (!pids.empty()) return Condition{one_of("pid", pids), {}, in_words("process", "processes", pids), of_task("$task.tgid", pids)};
  if (!f.threads.empty())
    return Condition{one_of("tid", f.threads), end_with(f.threads), in_words("thread", "threads", f.threads), of_task("$task.pid", f.threads)};
  if (f.command) return Condition{"@watched[curtask.tgid]", std::string(follow_command), "command", "@watched[$task.tgid]"};
  if (!f.user.empty()) return of_user(f.user);
  if (!f.cgroup.empty() || !f.container.empty()) {
    ACU_TRY(const spec::GroupSet groups, group_set_of(f.container, f.cgroup));
    const bool by_container = groups.kind == spec::GroupSet::container;
    return Condition{by_container ? "container == " + in_quotes(groups.text) : "in_cgroup(" + in_quotes(groups.text) + ")", {},
                     (by_container ? "container " : "control group ") + (by_container ? f.container : f.cgroup)};
  }
  return Condition{f.include_idle ? "1" : "curtask.pid", {}, "all processes", "true"};
}

base::Result<Condition> condition_of(const TargetFilter& f) {
  ACU_TRY(Condition out, target_condition(f));
  if (f.pids.empty() && f.pid < 0 && f.threads.empty() && !f.command && !f.include_acu)
    out.text = "(" + out.text + " && pid != " + std::to_string(::getpid()) + ")";
  if (f.cpus.size() == 1) out.what += " on CPU " + std::to_string(f.cpus.front());
  if (f.cpus.size() > 1) out.what += " on " + std::to_string(f.cpus.size()) + " CPUs";
  if (!f.expression.empty()) out.what += " with " + f.expression, out.of_task.clear();
  return out;
}

base::Result<std::vector<base::Fd>> watch_targets(const TargetFilter& f) {
  std::vector<int> pids = f.processes();
  for (int thread : f.threads) {
    const std::optional<pid_t> pid = base::process_of_thread(thread);
    if (!pid) return base::Error{base::Failure::nothing_matched, "there is no thread " + std::to_string(thread)};
    if (std::ranges::find(pids, *pid) == pids.end()) pids.push_back(*pid);
  }
  std::vector<base::Fd> out;
  for (int pid : pids) {
    ACU_TRY(base::Fd process, watch_process(pid));
    out.push_back(std::move(process));
  }
  return out;
}

} // namespace session
