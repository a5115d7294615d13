// Processes and threads, from /proc (proc(5)).
#include "sql/proc.h"
#include "sql/sources.h"

#include "base/clock.h"
#include "base/process_status.h"
#include "base/text.h"
#include "proc/process_files.h"
#include "proc/process_stat.h"
#include "proc/text.h"
#include "symbol/containers.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <pwd.h>
#include <unistd.h>

namespace sql {

namespace {

using namespace proc::stat_fields;
using Stat = proc::ProcessStat;

double started_at(const Stat& stat) {
  static const double boot = static_cast<double>(base::boot_to_wall_ns()) / 1e9;
  return boot + stat.seconds(start);
}

std::string state_name(std::string_view letter) {
  constexpr std::pair<char, std::string_view> names[] = {{'R', "running"}, {'S', "sleeping"}, {'D', "uninterruptible"}, {'I', "idle"},
                                                         {'T', "stopped"}, {'t', "traced"},   {'Z', "zombie"},          {'X', "dead"}};
  for (const auto& [known, name] : names)
    if (letter == std::string_view(&known, 1)) return std::string(name);
  return std::string(letter);
}

std::string user_name(uint32_t uid) {
  static std::map<uint32_t, std::string> known;
  const auto [at, is_new] = known.try_emplace(uid);
  if (!is_new) return at->second;
  const passwd* found = ::getpwuid(uid);
  return at->second = found ? found->pw_name : std::to_string(uid);
}

struct Process {
  int64_t pid = 0, parent_pid = 0, user_id = 0, thread_count = 0, nice = 0, minor_faults = 0, major_faults = 0, virtual_bytes = 0, resident = 0;
  std::string name, state, user;
  std::optional<std::string> command, executable, cgroup, container, language;
  std::optional<int64_t> namespace_pid;
  std::optional<int64_t> swapped, descriptors;
  double user_seconds = 0, system_seconds = 0, started = 0;
  bool is_kernel_thread = false;
};

constexpr Column process_columns[] = {
    column<&Process::pid>("pid", "", "Process ID.", Role::pushed),
    column<&Process::parent_pid>("parent", "", "Process ID of the parent."),
    column<&Process::name>("name", "", "Name of the main thread (comm)."),
    column<&Process::state>("state", "", "running, sleeping, uninterruptible, stopped, zombie, …, of the main thread."),
    column<&Process::user_id>("uid", "", "Effective user ID."),
    column<&Process::user>("user", "", "Name of that user."),
    column<&Process::thread_count>("threads", "", "Number of threads."),
    column<&Process::user_seconds>("user_time", "s", "CPU time in user mode, of all threads."),
    column<&Process::system_seconds>("system_time", "s", "CPU time in the kernel."),
    column<&Process::resident>("resident", "bytes", "Memory in RAM, with shared pages."),
    column<&Process::swapped>("swapped", "bytes", "Memory in swap."),
    column<&Process::virtual_bytes>("virtual", "bytes", "Size of the address space."),
    column<&Process::minor_faults>("minor_faults", "", "Page faults without I/O."),
    column<&Process::major_faults>("major_faults", "", "Page faults that read from a disk."),
    column<&Process::started>("started", "s", "Start time, in seconds since 1970."),
    column<&Process::nice>("nice", "", "Nice value."),
    column<&Process::descriptors>("descriptors", "", "Number of open files."),
    column<&Process::cgroup>("cgroup", "", "Path of its control group.", Role::pushed),
    column<&Process::container>("container", "", "Name of its container; else the systemd unit, the path of its control group, or host."),
    column<&Process::namespace_pid>("nspid", "", "Its process ID in its own pid namespace."),
    column<&Process::command>("command", "", "Command line, as words of a shell; NULL: a kernel thread or a zombie."),
    column<&Process::executable>("executable", "", "Path of the executable."),
    column<&Process::language>("language", "", "Language runtime: python, java, go, …; NULL: none is known."),
    column<&Process::is_kernel_thread>("kernel_thread", "", "1: a thread of the kernel."),
};

std::optional<std::string> link_of(const std::string& path) {
  std::error_code none;
  std::string out = std::filesystem::read_symlink(path, none).native();
  return none ? std::nullopt : std::optional(std::move(out));
}

std::optional<std::string> command_of(const std::string& text) {
  std::string out;
  for (std::string_view word : base::split(std::string_view(text).substr(0, text.find_last_not_of('\0') + 1), '\0')) out += (out.empty() ? "" : " ") + base::in_shell(word);
  return text.empty() ? std::nullopt : std::optional(std::move(out));
}

void add_status(const std::string& text, Process& to) {
  const std::vector<std::string_view> users = proc::words_of(base::status_line(text, "Uid")), swapped = proc::words_of(base::status_line(text, "VmSwap"));
  if (users.size() > 1) to.user_id = static_cast<int64_t>(proc::decimal(users[1]).value_or(0)); // real, effective, …
  if (!swapped.empty()) to.swapped = static_cast<int64_t>(proc::decimal(swapped[0]).value_or(0)) * 1024;
  to.user = user_name(static_cast<uint32_t>(to.user_id));
}

// What the query needs beside /proc/PID/stat.
std::optional<int64_t> innermost_pid(const std::string& status) {
  const std::vector<std::string_view> pids = proc::words_of(base::status_line(status, "NSpid"));
  const auto innermost = pids.empty() ? std::nullopt : proc::decimal(pids.back());
  return innermost ? std::optional(static_cast<int64_t>(*innermost)) : std::nullopt;
}

void add_details(const Request& request, const std::string& folder, proc::Languages& languages, symbol::Containers& containers, Process& to) {
  const int pid = static_cast<int>(to.pid);
  if (request.uses("uid") || request.uses("user") || request.uses("swapped")) add_status(proc::text_of(folder + "/status"), to);
  if (request.uses("command")) to.command = command_of(proc::text_of(folder + "/cmdline"));
  if (request.uses("executable")) to.executable = link_of(folder + "/exe");
  if (request.uses("cgroup")) to.cgroup = proc::cgroup_of_process(pid);
  if (request.uses("container")) to.container = containers.of_process(pid).title();
  if (request.uses("nspid")) to.namespace_pid = innermost_pid(proc::text_of(folder + "/status"));
  if (request.uses("descriptors")) to.descriptors = static_cast<int64_t>(proc::open_descriptors(pid));
  if (request.uses("language") && !to.is_kernel_thread)
    if (std::string language = languages.of_process(pid); !language.empty()) to.language = std::move(language);
}

base::Result<std::vector<Process>> read_processes(const Request& request) {
  std::vector<Process> out;
  proc::Languages languages;
  symbol::Containers containers;
  const std::optional<std::string> cgroup = request.text("cgroup");
  for_each_process(request, [&](int pid, const std::string& folder) {
    const Stat stat(proc::text_of(folder + "/stat"));
    if (!stat.is_valid()) return; // it has ended
    Process p = {.pid = pid, .parent_pid = stat.number(parent), .thread_count = stat.number(thread_count), .nice = stat.number(nice_field),
                 .minor_faults = stat.number(minor_faults), .major_faults = stat.number(major_faults), .virtual_bytes = stat.number(virtual_bytes),
                 .resident = stat.number(resident_pages) * ::sysconf(_SC_PAGESIZE), .name = stat.name(), .state = state_name(stat.word(state_field)),
                 .user_seconds = stat.seconds(user_time), .system_seconds = stat.seconds(system_time), .started = started_at(stat),
                 .is_kernel_thread = (static_cast<uint64_t>(stat.number(flags)) & proc::kernel_thread_flag) != 0};
    add_details(request, folder, languages, containers, p);
    if (!cgroup || p.cgroup == cgroup) out.push_back(std::move(p));
  });
  return out;
}

struct Thread {
  int64_t tid = 0, pid = 0, nice = 0, cpu = 0, policy = 0;
  std::string name, state;
  std::optional<std::string> wait_channel, system_call;
  double user_seconds = 0, system_seconds = 0, started = 0;
  std::optional<double> run_queue_seconds;
  std::optional<int64_t> voluntary_switches, involuntary_switches;
  bool is_kernel_thread = false;

  std::string policy_name() const {
    constexpr std::string_view names[] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext"};
    return policy >= 0 && static_cast<size_t>(policy) < std::size(names) ? std::string(names[policy]) : std::to_string(policy);
  }
};

constexpr Column thread_columns[] = {
    column<&Thread::tid>("tid", "", "Thread ID."),
    column<&Thread::pid>("pid", "", "Its process.", Role::pushed),
    column<&Thread::name>("name", "", "Name of the thread (comm)."),
    column<&Thread::state>("state", "", "running, sleeping, uninterruptible, stopped, …"),
    column<&Thread::wait_channel>("wait_channel", "", "Kernel function in which it waits; NULL: it runs, or is not permitted to know."),
    column<&Thread::system_call>("system_call", "", "Name of the system call that it is in."),
    column<&Thread::user_seconds>("user_time", "s", "CPU time in user mode."),
    column<&Thread::system_seconds>("system_time", "s", "CPU time in the kernel."),
    column<&Thread::run_queue_seconds>("run_queue_time", "s", "Time for which it waited for a CPU."),
    column<&Thread::voluntary_switches>("voluntary_switches", "", "Times that it gave up the CPU to wait."),
    column<&Thread::involuntary_switches>("involuntary_switches", "", "Times that it was preempted."),
    column<&Thread::cpu>("cpu", "", "CPU that it ran on last."),
    column<&Thread::policy_name>("policy", "", "Scheduling policy: other, fifo, rr, batch, idle, deadline."),
    column<&Thread::nice>("nice", "", "Nice value."),
    column<&Thread::started>("started", "s", "Start time, in seconds since 1970."),
    column<&Thread::is_kernel_thread>("kernel_thread", "", "1: a thread of the kernel."),
};

void add_details(const Request& request, const std::string& folder, Thread& to) {
  if (request.uses("wait_channel"))
    if (std::string channel = proc::text_of(folder + "/wchan"); !channel.empty() && channel != "0") to.wait_channel = std::move(channel);
  if (request.uses("system_call")) to.system_call = system_call_name(proc::text_of(folder + "/syscall"));
  if (request.uses("run_queue_time")) {
    const std::string schedstat = proc::text_of(folder + "/schedstat");
    if (const std::vector<std::string_view> words = proc::words_of(schedstat); words.size() == 3) to.run_queue_seconds = static_cast<double>(proc::decimal(words[1]).value_or(0)) / 1e9;
  }
  if (request.uses("voluntary_switches") || request.uses("involuntary_switches")) {
    const proc::NamedNumbers status = proc::read_named_numbers(proc::text_of(folder + "/status"));
    if (const auto n = status.find("voluntary_ctxt_switches")) to.voluntary_switches = static_cast<int64_t>(*n);
    if (const auto n = status.find("nonvoluntary_ctxt_switches")) to.involuntary_switches = static_cast<int64_t>(*n);
  }
}

base::Result<std::vector<Thread>> read_threads(const Request& request) {
  std::vector<Thread> out;
  for_each_process(request, [&](int pid, const std::string& process) {
    for (int tid : numbers_in(process + "/task")) {
      const std::string folder = process + "/task/" + std::to_string(tid);
      const Stat stat(proc::text_of(folder + "/stat"));
      if (!stat.is_valid()) continue;
      Thread t = {.tid = tid, .pid = pid, .nice = stat.number(nice_field), .cpu = stat.number(last_cpu), .policy = stat.number(policy_field), .name = stat.name(),
                  .state = state_name(stat.word(state_field)), .user_seconds = stat.seconds(user_time), .system_seconds = stat.seconds(system_time),
                  .started = started_at(stat), .is_kernel_thread = (static_cast<uint64_t>(stat.number(flags)) & proc::kernel_thread_flag) != 0};
      add_details(request, folder, t);
      out.push_back(std::move(t));
    }
  });
  return out;
}

} // namespace

const Table processes = {.name = "processes", .doc = "Processes, with kernel threads.", .example = "select pid, name, resident from processes order by resident desc limit 5",
                         .columns = process_columns, .read = rows_of<read_processes>, .expected_rows = 500};
const Table threads = {.name = "threads", .doc = "Threads of all processes.", .example = "select wait_channel, count(*) from threads group by 1 order by 2 desc limit 5",
                       .columns = thread_columns, .read = rows_of<read_threads>, .expected_rows = 2000};

} // namespace sql
