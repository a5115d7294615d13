#include "why/candidates.h"

#include "base/text.h"
#include "proc/process_files.h"
#include "symbol/containers.h"
#include "why/call_time.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>
#include <unistd.h>

namespace why {

namespace {

uint64_t runnable_time(int pid) {
  uint64_t out = 0;
  for (const auto& [thread, ns] : runnable_times(pid)) out += ns;
  return out;
}

} // namespace

std::vector<int> processes_called(std::string_view name) {
  std::vector<int> out;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    const auto number = base::parse_integer(entry.path().filename().native());
    if (!number || static_cast<pid_t>(*number) == ::getpid()) continue;
    if (proc::name_of_process(static_cast<int>(*number)) == name) out.push_back(static_cast<int>(*number));
  }
  return out;
}

std::vector<int> processes_in(const std::string& folder) { return symbol::processes_of_group(folder); }

int busiest_of(const std::vector<int>& pids) {
  constexpr std::chrono::milliseconds look(200);
  if (pids.size() == 1) return pids.front();
  std::map<int, uint64_t> before;
  for (int pid : pids) before[pid] = runnable_time(pid);
  std::this_thread::sleep_for(look);
  const auto used = [&](int pid) {
    const uint64_t now = runnable_time(pid);
    return std::pair(now > before[pid] ? now - before[pid] : 0, now);
  };
  return *std::ranges::max_element(pids, {}, used);
}

} // namespace why
