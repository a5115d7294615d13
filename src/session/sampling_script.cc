// The command's own processes are followed by the scheduler's tracepoints, in the numbers of the kernel:
// those of acu's pid namespace may be others. Groups are known by their ids; those that are there when the
// recording begins count.
#include "session/sampling_script.h"

#include "base/text.h"
#include "bpf/features.h"
#include "format/btf.h"
#include "probe/probe.h"
#include "session/child.h"
#include "spec/registers.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

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

// The end of the last of the threads is that of the session.
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

base::Result<Condition> whose_of(const Filter& f) {
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
  return Condition{f.idle_too ? "1" : "curtask.pid", {}, "all processes"};
}

std::string which_of(const Filter& f) {
  std::string out = one_of("cpu", f.cpus);
  // The end of a line: of a comment in it, too.
  if (!f.expression.empty()) out += (out.empty() ? "(" : " && (") + f.expression + "\n)";
  return out;
}

base::Result<Condition> condition_of(const Filter& f) {
  ACU_TRY(Condition out, whose_of(f));
  if (f.pids.empty() && f.pid < 0 && f.threads.empty() && !f.command && !f.own_too)
    out.text = "(" + out.text + " && pid != " + std::to_string(::getpid()) + ")";
  const std::string which = which_of(f);
  if (!which.empty()) out.text = "(" + out.text + " && " + which + ")";
  if (f.cpus.size() == 1) out.what += " on CPU " + std::to_string(f.cpus.front());
  if (f.cpus.size() > 1) out.what += " on " + std::to_string(f.cpus.size()) + " CPUs";
  if (!f.expression.empty()) out.what += " with " + f.expression;
  return out;
}

base::Result<std::vector<base::Fd>> watch_targets(const Filter& f) {
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

void name_fields(std::string& text) {
  type::Table types;
  probe::Machine machine(types);
  auto has_member = [&](std::string_view structure, std::string_view member) {
    return machine.kernel_number(std::string(structure) + "." + std::string(member), [&](format::Btf& btf) -> uint32_t {
      return btf.member(types, btf.find(structure, format::BtfKind::structure), member).has_value();
    });
  };
  // It has had two names (kernel 5.14).
  if (text.find("TASK_STATE") != text.npos)
    base::replace_all(text, "TASK_STATE", has_member("task_struct", "__state") ? "curtask.__state" : "curtask.state");
  // The scheduler has read the clock when it switches; where a task's queue does not tell its CPU's, it is read again.
  if (text.find("CLOCK") != text.npos)
    base::replace_all(text, "CLOCK", has_member("cfs_rq", "rq") ? "(uint64)curtask.se.cfs_rq.rq.clock" : "(uint64)nsecs");
  // Threads that registered restartable sequences, as glibc does since 2.35, are seen once after they were off the CPU; what a tracepoint
  // at the end of system calls costs, all of them pay. Since 6.19 the kernel tells of no more than a change of the CPU.
  if (text.find("RETURN") != text.npos) {
    const bool tells_return = has_member("task_struct", "rseq_event_mask");
    base::replace_all(text, "RETURN", tells_return ? "rawtracepoint:rseq_update" : "rawtracepoint:sys_exit");
    base::replace_all(text, "IS_SEEN(curtask)", tells_return ? "((uint64)curtask.rseq != 0)" : "true");
    base::replace_all(text, "IS_SEEN(args.next)", tells_return ? "((uint64)args.next.rseq != 0)" : "true");
  }
  machine.store_facts();
}

// Kernels before 5.13 cannot go through the entries of maps, as scripts do at the end for what lasts then.
static bool leave_out_end(std::string& text) {
  const size_t begin = text.find("\nend {\n"), end = text.find("\n}\n", begin);
  if (end == text.npos || text.find("for (", begin) > end || bpf::has(bpf::Feature::for_each)) return false;
  text.erase(begin + 1, end + 2 - begin);
  return true;
}

// What the processes that are asked for have when the recording begins.
static std::string private_memory_of(const Filter& filter) {
  std::string out = "begin { @begun[0] = (uint64)0; ";
  for (int pid : filter.pids) {
    auto status = base::read_file("/proc/" + std::to_string(pid) + "/status");
    const size_t at = status.ok() ? status->find("\nRssAnon:") : std::string::npos;
    if (at == std::string::npos) continue;
    const uint64_t bytes = std::strtoull(status->c_str() + at + 9, nullptr, 10) << 10;
    out += "@begun[" + std::to_string(pid) + "] = (uint64)" + std::to_string(bytes) + "; ";
  }
  return out + "}\n";
}

// Events are sampled so that about `rate` stacks are taken in a second; with the clock's ticks, ten times as many as those of a CPU.
static std::string sampling(const spec::ProfileKind& kind, uint64_t rate, bool is_exact) {
  constexpr uint64_t samples = 64; // in a window, see sampling_functions
  const std::string least = std::to_string(is_exact ? 0 : kind.least_period), window = std::to_string(samples * 1'000'000'000 / (kind.ticks.empty() ? rate : 10 * rate));
  return std::string(spec::sampling_functions) + "begin { @least = (uint64)" + least + "; @period = @least; @window = (uint64)" +
         window + "; @since = (uint64)nsecs }\n";
}

base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const Filter& filter, uint64_t rate, bool is_exact,
                                                  uint64_t duration_ns, std::string_view allocation_blocks) {
  ACU_TRY(Condition condition, condition_of(filter));
  std::string text(kind.script);
  text += kind.ticks;
  if (kind.allocator == spec::AllocatorCalls::allocated || kind.allocator == spec::AllocatorCalls::freed) text += allocation_blocks;
  base::replace_all(text, "COUNT_DUE", spec::count_due);
  base::replace_all(text, "COUNT_WOKEN", spec::count_woken);
  base::replace_all(text, "COUNT_ASKED", spec::count_asked);
  base::replace_all(text, "IN_SYSTEM_CALL", spec::in_system_call);
  const bool lacks_end = kind.allocator == spec::AllocatorCalls::none && leave_out_end(text); // of leaks that is all
  base::replace_all(text, "COUNT_LEVELS", lacks_end ? spec::count_levels : spec::keep_levels);
  name_fields(text);
  base::replace_all(text, "RATE", std::to_string(rate));
  base::replace_all(text, "WAITS", spec::futex_waits);
  base::replace_all(text, "FILTER", condition.text); // at last: what people write stays as it is
  std::string first(limits);
  first.append(plain_counts).append(spec::kind_functions);
  if (kind.is_sampled) first += sampling(kind, rate, is_exact);
  if (!kind.duty_cycle.probes.empty()) first += spec::duty_cycle_functions;
  if (kind.duty_cycle.is_of_host) first += is_exact ? spec::no_gaps : spec::count_io_in_gaps;
  if (kind.allocator == spec::AllocatorCalls::live) first.append(live_memory).append(allocation_blocks);
  if (text.find("@begun") != text.npos) first += private_memory_of(filter);
  text = first + condition.before + text;
  constexpr uint64_t us = 1000;
  if (duration_ns)
    text += "interval:us:" + std::to_string(std::max(duration_ns / us, uint64_t{1})) + " { exit() }\n";
  return SamplingScript{std::move(text), std::move(condition.what), lacks_end};
}

} // namespace session
