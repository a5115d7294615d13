#include "why/still_threads.h"

#include "base/fd.h"
#include "base/text.h"
#include "proc/text.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sched.h>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

namespace why {

namespace {

uint64_t hexadecimal(std::string_view word) {
  uint64_t out = 0;
  if (word.starts_with("0x")) word.remove_prefix(2);
  std::from_chars(word.data(), word.data() + word.size(), out, 16);
  return out;
}

// "202 0x5581 0x80 0x2 0x0 0x0 0x0 0x7f00 0x7f01"; "-1 0x7f00 0x7f01" outside of calls; "running".
void read_call(std::string_view text, StillThread& into) {
  const std::vector<std::string_view> words = proc::words_of(base::trim(text));
  if (words.size() < 3) return;
  if (words.size() == 9) {
    into.call = static_cast<int64_t>(proc::decimal(words[0]).value_or(0));
    for (size_t i = 0; i < into.arguments.size(); i++) into.arguments[i] = hexadecimal(words[i + 1]);
  }
  into.sp = hexadecimal(words[words.size() - 2]);
  into.pc = hexadecimal(words.back());
}

void read_status(const std::string& text, StillThread& into) {
  for (std::string_view line : base::split(text, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "State:") into.state = words[1].front();
    if (words[0] == "NSpid:") into.own_tid = static_cast<uint32_t>(proc::decimal(words.back()).value_or(0));
    if (words[0].ends_with("_ctxt_switches:")) into.switches += proc::decimal(words[1]).value_or(0);
  }
}

// When it was last given a CPU, in seconds of the scheduler's clock (CONFIG_SCHED_DEBUG); 0: not known.
double last_run(const std::string& folder) {
  const std::string text = proc::text_of(folder + "/sched");
  const size_t at = text.find("se.exec_start");
  if (at == text.npos) return 0;
  const std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
  double ms = 0;
  const std::string_view number = base::trim(line.substr(line.find(':') + 1));
  std::from_chars(number.data(), number.data() + number.size(), ms);
  return ms / 1e3;
}

// Each CPU has such a clock of its own (rq_clock_task, without interrupts and stolen time): now, on the CPU where a thread ran last.
class CpuClocks {
public:
  CpuClocks() { ::sched_getaffinity(0, sizeof allowed_, &allowed_); }
  ~CpuClocks() { ::sched_setaffinity(0, sizeof allowed_, &allowed_); }
  CpuClocks(const CpuClocks&) = delete;
  CpuClocks& operator=(const CpuClocks&) = delete;
  // 0: not known.
  double now(const std::string& folder) {
    const std::string stat = proc::text_of(folder + "/stat");
    const std::vector<std::string_view> words = proc::words_of(std::string_view(stat).substr(std::min(stat.rfind(')'), stat.size())));
    constexpr size_t processor = 37; // proc_pid_stat(5), counted from the name on
    const uint64_t cpu = words.size() > processor ? proc::decimal(words[processor]).value_or(CPU_SETSIZE) : CPU_SETSIZE;
    if (cpu >= CPU_SETSIZE) return 0;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    return ::sched_setaffinity(0, sizeof only, &only) == 0 ? last_run("/proc/thread-self") : 0;
  }

private:
  cpu_set_t allowed_ = {};
};

std::string folder_of(int pid, uint32_t tid) { return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid); }

} // namespace

std::map<uint32_t, StillThread> sleeping_threads(int pid) {
  std::map<uint32_t, StillThread> out;
  CpuClocks clocks;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    StillThread thread;
    thread.tid = static_cast<uint32_t>(proc::decimal(entry.path().filename().native()).value_or(0));
    read_status(proc::text_of(entry.path() / "status"), thread);
    if (thread.state == 0 || thread.state == 'R') continue;
    read_call(proc::text_of(entry.path() / "syscall"), thread);
    const double last = last_run(entry.path()), now = clocks.now(entry.path());
    if (last > 0 && now > last) thread.seconds = now - last;
    out[thread.tid] = thread;
  }
  return out;
}

std::vector<std::string> kernel_functions(int pid, uint32_t tid) {
  constexpr std::string_view common[] = {"schedule", "__schedule", "io_schedule", "schedule_timeout", "schedule_preempt_disabled", "wait_for_completion",
                                         "__wait_for_common", "wait_for_common"};
  std::vector<std::string> out;
  const std::string text = proc::text_of(folder_of(pid, tid) + "/stack"); // "[<0>] do_wait+0x46/0x80"
  for (std::string_view line : base::split(text, '\n')) {
    const size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string_view name = line.substr(space + 1, line.find('+') - space - 1);
    if (!name.empty() && !base::is_one_of(common, name)) out.emplace_back(name);
  }
  return out;
}

ReadMemory memory_of_process(int pid) {
  const auto file = std::make_shared<base::Fd>(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  return [file](uint64_t address, std::span<std::byte> to) { return ::pread(file->get(), to.data(), to.size(), static_cast<off_t>(address)) == static_cast<ssize_t>(to.size()); };
}

MutexWait mutex_of(const StillThread& thread, const ReadMemory& read) {
  constexpr uint64_t commands = 0x7f, wait = 0, lock_pi = 6, wait_bitset = 9, lock_pi2 = 13; // linux/futex.h
  if (thread.call != SYS_futex) return {};
  const uint64_t command = thread.arguments[1] & commands;
  const bool inherits = command == lock_pi || command == lock_pi2;
  if (!inherits && command != wait && command != wait_bitset) return {};
  uint32_t words[3] = {}; // __lock, __count, __owner
  if (!read(thread.arguments[0], std::as_writable_bytes(std::span(words)))) return {};
  constexpr uint32_t locked_with_waiters = 2, owner_bits = 0x3fffffff; // glibc's lowlevellock.h; FUTEX_TID_MASK
  if (inherits) return {.address = thread.arguments[0], .owner = words[0] & owner_bits};
  if (thread.arguments[2] != locked_with_waiters || words[0] != locked_with_waiters) return {};
  return {.address = thread.arguments[0], .owner = words[2]};
}

std::vector<std::vector<uint32_t>> find_circles(const std::map<uint32_t, uint32_t>& next) {
  std::vector<std::vector<uint32_t>> out;
  std::set<uint32_t> done;
  for (const auto& [first, second] : next) {
    std::vector<uint32_t> way;
    uint32_t at = first;
    while (next.contains(at) && !done.contains(at)) {
      done.insert(at);
      way.push_back(at);
      at = next.at(at);
    }
    const auto begin = std::ranges::find(way, at);
    if (begin == way.end()) continue;
    std::vector<uint32_t> circle(begin, way.end());
    std::ranges::rotate(circle, std::ranges::min_element(circle));
    out.push_back(std::move(circle));
  }
  return out;
}

} // namespace why
