// The command's own processes are followed by the scheduler's tracepoints, in the numbers of the kernel:
// those of acu's pid namespace may be others. Groups are known by their ids; those that are there when the
// recording begins count.
#include "session/target_filter.h"

#include "base/text.h"
#include "session/child.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
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
    "tracepoint:sched:sched_process_exit /@watched[curtask.pid]/ { delete(@watched, curtask.pid) }\n";

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

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
      return usage("there is no user `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?"));
    }
    uid = found->pw_uid;
  }
  return Condition{"uid == " + std::to_string(uid), {}, "user " + name};
}

void add_groups(const std::string& folder, std::string& script, int depth) {
  struct stat about = {};
  if (::stat(folder.c_str(), &about) != 0) return;
  script += "@group[" + std::to_string(about.st_ino) + "] = 1; ";
  DIR* dir = depth ? ::opendir(folder.c_str()) : nullptr;
  if (!dir) return;
  while (const dirent* e = ::readdir(dir))
    if (e->d_type == DT_DIR && e->d_name[0] != '.') add_groups(folder + "/" + e->d_name, script, depth - 1);
  ::closedir(dir);
}

// A directory of a hierarchy, of either version.
bool is_group(const std::string& folder) {
  struct stat about = {};
  struct statfs file_system = {};
  return ::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && ::statfs(folder.c_str(), &file_system) == 0 &&
         (file_system.f_type == CGROUP2_SUPER_MAGIC || file_system.f_type == CGROUP_SUPER_MAGIC);
}

base::Result<Condition> of_cgroup(const std::string& path) {
  constexpr int deepest = 16;
  for (const char* root : {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"}) {
    std::string folder = root + path;
    if ((!*root && !path.starts_with("/sys/fs/cgroup")) || !is_group(folder)) continue;
    std::string groups;
    add_groups(folder, groups, deepest);
    return Condition{"@group[cgroup]", "begin { " + groups + "}\n", "control group " + path};
  }
  return usage("there is no control group `" + path + "` (control groups are the directories below /sys/fs/cgroup)");
}

// "process 17 (nginx)", "processes 17 (nginx), 18 (nginx)"
std::string in_words(std::string_view one, std::string_view several, const std::vector<int>& numbers) {
  std::string out(numbers.size() == 1 ? one : several);
  for (size_t i = 0; i < numbers.size(); i++) {
    const std::string number = std::to_string(numbers[i]);
    auto name = base::read_file("/proc/" + number + "/comm");
    out += (i ? ", " : " ") + number + (name.ok() ? " (" + std::string(base::trim(*name)) + ")" : "");
  }
  return out;
}

// The session ends when the last of the threads exits.
std::string end_with(const std::vector<int>& threads) {
  const std::string when = "tracepoint:sched:sched_process_exit /" + one_of("tid", threads) + "/ ";
  if (threads.size() == 1) return when + "{ exit() }\n";
  return when + "{ @ended++; if (@ended == " + std::to_string(threads.size()) + ") { exit() } }\n";
}

} // namespace

std::string one_of(std::string_view what, const std::vector<int>& numbers) {
  std::string out;
  for (int n : numbers) out += (out.empty() ? "" : " || ") + std::string(what) + " == " + std::to_string(n);
  return numbers.size() > 1 ? "(" + out + ")" : out;
}

base::Result<Condition> target_condition(const TargetFilter& f) {
  // Process 0 is what runs when nothing does. Those of another pid namespace have no number here, but the
  // kernel's.
  std::vector<int> pids = f.pids;
  if (pids.empty() && f.pid >= 0) pids = {f.pid};
  if (!pids.empty()) return Condition{one_of("pid", pids), {}, in_words("process", "processes", pids)};
  if (!f.threads.empty())
    return Condition{one_of("tid", f.threads), end_with(f.threads), in_words("thread", "threads", f.threads)};
  if (f.command) return Condition{"@watched[curtask.tgid]", std::string(follow_command), "command"};
  if (!f.user.empty()) return of_user(f.user);
  if (!f.cgroup.empty()) {
    ACU_TRY(Condition out, of_cgroup(f.cgroup));
    if (!f.container.empty()) out.what = "container " + f.container;
    return out;
  }
  return Condition{f.include_idle ? "1" : "curtask.pid", {}, "all processes"};
}

base::Result<Condition> condition_of(const TargetFilter& f) {
  ACU_TRY(Condition out, target_condition(f));
  if (f.pids.empty() && f.pid < 0 && f.threads.empty() && !f.command && !f.include_acu)
    out.text = "(" + out.text + " && pid != " + std::to_string(::getpid()) + ")";
  if (f.cpus.size() == 1) out.what += " on CPU " + std::to_string(f.cpus.front());
  if (f.cpus.size() > 1) out.what += " on " + std::to_string(f.cpus.size()) + " CPUs";
  if (!f.expression.empty()) out.what += " with " + f.expression;
  return out;
}

base::Result<std::vector<base::Fd>> watch_targets(const TargetFilter& f) {
  std::vector<int> pids = f.pids;
  if (pids.empty() && f.pid >= 0) pids = {f.pid};
  for (int thread : f.threads) {
    auto status = base::read_file("/proc/" + std::to_string(thread) + "/status");
    const size_t at = status.ok() ? status->find("\nTgid:") : std::string::npos;
    if (at == std::string::npos)
      return base::Error{base::Failure::nothing_matched, "there is no thread " + std::to_string(thread)};
    const int pid = std::atoi(status->c_str() + at + 6);
    if (std::ranges::find(pids, pid) == pids.end()) pids.push_back(pid);
  }
  std::vector<base::Fd> out;
  for (int pid : pids) {
    ACU_TRY(base::Fd process, watch_process(pid));
    out.push_back(std::move(process));
  }
  return out;
}

} // namespace session
