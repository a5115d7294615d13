#include "target/thread_stop.h"

#include "base/privilege.h"
#include "base/process_status.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace target {

static std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> out;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(("/proc/" + std::to_string(pid) + "/task").c_str()),
                                             ::closedir);
  if (!folder) return out;
  while (const dirent* entry = ::readdir(folder.get()))
    if (auto id = base::parse_integer(entry->d_name)) out.push_back(static_cast<pid_t>(*id));
  std::sort(out.begin(), out.end());
  return out;
}

base::Error refusal(pid_t pid, int code) {
  std::string process = "process " + std::to_string(pid);
  std::string state = base::status_of(pid, "State");
  if (code == ESRCH || state.empty() || state.starts_with('Z') || state.starts_with('X'))
    return {base::Failure::nothing_matched,
            state.empty() ? "there is no " + process + " (any more)" : process + " has ended"};
  std::string tracer = base::status_of(pid, "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    auto name = base::read_file("/proc/" + tracer + "/comm");
    return {base::Failure::permission, process + " is held by another debugger: process " + tracer +
                                           (name.ok() ? " (" + base::printable(base::trim(*name)) + ")" : "") +
                                           "; end that first, or read without a stop: --no-stop"};
  }
  auto scope = base::read_file("/proc/sys/kernel/yama/ptrace_scope");
  std::string restricted = scope.ok() ? std::string(base::trim(*scope)) : "0";
  std::string own = std::to_string(::geteuid());
  bool is_own = base::status_of(pid, "Uid").starts_with(own + "\t" + own + "\t");
  std::string why = process + " may not be looked at: ";
  if (restricted == "3")
    return {base::Failure::permission, why + "/proc/sys/kernel/yama/ptrace_scope is 3, which allows it to "
                                             "nobody until the next start of the system"};
  if (!is_own && !base::has_capability(base::Capability::sys_ptrace))
    return {base::Failure::permission, why + "it belongs to another user" + base::not_permitted({base::Capability::sys_ptrace})};
  if (restricted != "0")
    return {base::Failure::permission, why + "/proc/sys/kernel/yama/ptrace_scope is " + restricted +
                                           (restricted == "1" ? ", which allows it to parents only" : "") +
                                           "; be root, have CAP_SYS_PTRACE, or write 0 there"};
  return {base::Failure::permission,
          why + "it is protected (setuid, or not dumpable), or this is a container without CAP_SYS_PTRACE"};
}

// A first thread that has ended stays until all others have; nobody can stop it, and a wait for it takes as long.
static bool has_ended(pid_t pid, pid_t id) {
  const auto text = base::read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(id) + "/stat");
  if (!text.ok()) return true;
  const size_t name_end = text->rfind(')');
  return name_end == text->npos || text->size() < name_end + 3 || (*text)[name_end + 2] == 'Z' || (*text)[name_end + 2] == 'X';
}

// False: it has ended.
static bool wait_for_stop(pid_t pid, pid_t id) {
  for (;;) {
    int status = 0;
    const pid_t who = ::waitpid(id, &status, __WALL | (id == pid ? WNOHANG : 0));
    if (who < 0 && errno == EINTR) continue;
    if (who != 0) return who == id && WIFSTOPPED(status);
    if (has_ended(pid, id)) return false;
    ::usleep(20);
  }
}

// Those that are not held yet; false: there were none.
bool ThreadStop::seize_new(pid_t pid, int& error) {
  bool is_any = false;
  for (pid_t id : threads_of(pid)) {
    if (std::find(held_.begin(), held_.end(), id) != held_.end()) continue;
    if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
      if (errno != ESRCH && !has_ended(pid, id)) error = errno;
      continue;
    }
    held_.push_back(id);
    is_any = true;
    ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  }
  return is_any;
}

base::Result<ThreadStop> ThreadStop::stop(pid_t pid) {
  ThreadStop out;
  // A thread that runs while others are stopped may start new ones.
  for (size_t stopped = 0;;) {
    int error = 0;
    bool is_any = out.seize_new(pid, error);
    if (error) return refusal(pid, error);
    if (!is_any) break;
    for (; stopped < out.held_.size(); stopped++) {
      if (wait_for_stop(pid, out.held_[stopped])) continue;
      out.held_.erase(out.held_.begin() + static_cast<ptrdiff_t>(stopped)); // it has ended
      stopped--;
    }
  }
  if (out.held_.empty()) return refusal(pid, ESRCH);
  return out;
}

ThreadStop::~ThreadStop() {
  for (pid_t id : held_) ::ptrace(PTRACE_DETACH, id, nullptr, nullptr);
}

std::vector<Thread> ThreadStop::threads() const {
  std::vector<Thread> out;
  for (pid_t id : held_) {
    user_regs_struct registers = {};
    static_assert(sizeof registers == general_registers * sizeof(uint64_t));
    if (::ptrace(PTRACE_GETREGS, id, nullptr, &registers) != 0) continue;
    Thread t{.id = static_cast<uint32_t>(id)};
    std::memcpy(t.registers.data(), &registers, sizeof registers);
    user_fpregs_struct vectors = {};
    if (::ptrace(PTRACE_GETFPREGS, id, nullptr, &vectors) == 0)
      take_vectors(t.registers, std::as_bytes(std::span(&vectors, 1)));
    out.push_back(t);
  }
  return out;
}

} // namespace target
