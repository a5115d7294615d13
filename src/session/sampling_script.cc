// The command's own processes are followed by the scheduler's tracepoints, in the numbers of the kernel:
// those of acu's pid namespace may be others. Groups are known by their ids; those that are there when the
// recording begins count.
#include "session/sampling_script.h"

#include "base/text.h"
#include "bpf/features.h"
#include "format/btf.h"
#include "probe/probe.h"
#include "spec/registers.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>

namespace session {

namespace {

// Room for the stacks of some minutes of a busy machine; what does not fit is counted.
constexpr std::string_view limits = "config = { max_map_keys = 131072; max_stacks = 32768 }\n";

// What is allocated and not freed.
constexpr std::string_view live_memory = "let @live = hash(262144);\n";

// One count for all CPUs: room for one of each takes fifty times as long to make, and threads, which are in the keys, are on
// one CPU at a time.
constexpr std::string_view plain_counts = "let @ = hash(131072);\n";

constexpr std::string_view follow_command =
    "tracepoint:sched:sched_process_exec /pid == cpid/ { @watched[curtask.tgid] = 1 }\n"
    "tracepoint:sched:sched_process_fork /@watched[curtask.tgid]/ { @watched[args.child_pid] = 1 }\n"
    "tracepoint:sched:sched_process_exit /@watched[curtask.pid]/ { delete(@watched, curtask.pid) }\n";

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

base::Result<Condition> of_user(const std::string& name) {
  uint64_t uid = 0;
  if (auto number = base::parse_integer(name)) {
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

base::Result<Condition> of_cgroup(const std::string& path) {
  constexpr int deepest = 16;
  struct stat about = {};
  for (const char* root : {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"}) {
    std::string folder = root + path;
    bool is_group = (*root || path.starts_with("/sys/fs/cgroup")) && ::stat(folder.c_str(), &about) == 0;
    if (!is_group || !S_ISDIR(about.st_mode)) continue;
    std::string groups;
    add_groups(folder, groups, deepest);
    return Condition{"@group[cgroup]", "begin { " + groups + "}\n", "control group " + path};
  }
  return usage("there is no control group `" + path + "` (they are the folders below /sys/fs/cgroup)");
}

} // namespace

base::Result<Condition> condition_of(const Filter& f) {
  // Process 0 is what runs when nothing does. Those of another pid namespace have no number here, but the
  // kernel's.
  if (f.pid >= 0) {
    auto name = base::read_file("/proc/" + std::to_string(f.pid) + "/comm");
    std::string shown = name.ok() ? " (" + std::string(base::trim(*name)) + ")" : "";
    return Condition{"pid == " + std::to_string(f.pid), {}, "process " + std::to_string(f.pid) + shown};
  }
  if (f.command) return Condition{"@watched[curtask.tgid]", std::string(follow_command), "command"};
  if (!f.user.empty()) return of_user(f.user);
  if (!f.cgroup.empty()) return of_cgroup(f.cgroup);
  return Condition{f.idle_too ? "1" : "curtask.pid", {}, "all processes"};
}

// The field of struct task_struct has had two names (kernel 5.14).
static std::string_view task_state() {
  type::Table types;
  probe::Machine machine(types);
  const uint32_t is_new = machine.kernel_number("task_struct.__state", [&](format::Btf& btf) -> uint32_t {
    return btf.member(types, btf.find("task_struct", format::BtfKind::structure), "__state").has_value();
  });
  machine.store_facts();
  return is_new ? "curtask.__state" : "curtask.state";
}

// Kernels before 5.13 cannot go through the entries of maps, as scripts do at the end for what lasts then.
static bool leave_out_end(std::string& text) {
  const size_t begin = text.find("\nend {\n"), end = text.find("\n}\n", begin);
  if (end == text.npos || text.find("for (", begin) > end || bpf::has(bpf::Feature::for_each)) return false;
  text.erase(begin + 1, end + 2 - begin);
  return true;
}

base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const Filter& filter,
                                                  uint64_t rate, uint64_t duration_ns,
                                                  std::string_view allocation_blocks) {
  ACU_TRY(Condition condition, condition_of(filter));
  std::string text(kind.script);
  base::replace_all(text, "COUNT_DUE", spec::count_due);
  base::replace_all(text, "COUNT_WOKEN", spec::count_woken);
  base::replace_all(text, "COUNT_ASKED", spec::count_asked);
  base::replace_all(text, "FILTER", condition.text);
  base::replace_all(text, "IN_SYSTEM_CALL", spec::in_system_call);
  const bool lacks_end = !kind.follows_allocations && leave_out_end(text); // of leaks that is all
  if (text.find("TASK_STATE") != text.npos) base::replace_all(text, "TASK_STATE", task_state());
  base::replace_all(text, "RATE", std::to_string(rate));
  base::replace_all(text, "WAITS", spec::futex_waits);
  std::string first(limits);
  first += plain_counts;
  if (kind.follows_allocations) first.append(live_memory).append(allocation_blocks);
  text = first + condition.before + text;
  constexpr uint64_t us = 1000;
  if (duration_ns)
    text += "interval:us:" + std::to_string(std::max(duration_ns / us, uint64_t{1})) + " { exit() }\n";
  return SamplingScript{std::move(text), std::move(condition.what), lacks_end};
}

} // namespace session
