#include "why/program_code.h"

#include "base/print.h"
#include "profile/tables.h"

#include <algorithm>

namespace why {

ProgramLocation ProgramCode::location(const StillThread& thread) {
  if (!thread.pc) return {};
  unwind::Registers start;
  start.set(unwind::Registers::rip, thread.pc);
  start.set(unwind::Registers::rsp, thread.sp);
  for (const unwind::Frame& frame : stacks_.from(start).frames)
    for (const symbol::Frame& f : names_.frames_at(frame.look_up(), false))
      if (!f.name.empty() && !profile::is_shared_code(f.module, f.name) && !profile::is_of_library(f))
        return {.function = std::string(f.name), .file = std::string(f.file.substr(f.file.rfind('/') + 1)), .line = f.line};
  return {};
}

std::string ProgramCode::variable(uint64_t address) {
  std::string out = names_.data_at(address);
  if (out.ends_with("+0")) out.resize(out.size() - 2);
  return out.empty() ? base::print("0x%llx", static_cast<unsigned long long>(address)) : out;
}

namespace {

Slots lock_cycle(const std::vector<uint32_t>& circle, const std::map<uint32_t, StillThread>& threads, const std::map<uint32_t, uint64_t>& locks, ProgramCode* code, double seconds) {
  const auto location = [&](uint32_t tid) { return code ? code->location(threads.at(tid)) : ProgramLocation(); };
  std::string way, names;
  double since = 0; // the last that came into the circle closed it
  for (const uint32_t tid : circle) {
    const std::string function = location(tid).function;
    way += std::to_string(tid) + (function.empty() ? "" : " in " + function) + " -> ";
    names += (names.empty() ? "" : ", ") + (code ? code->variable(locks.at(tid)) : base::print("0x%llx", static_cast<unsigned long long>(locks.at(tid))));
    since = since > 0 ? std::min(since, threads.at(tid).seconds) : threads.at(tid).seconds;
  }
  Slots out = {{"threads", way + std::to_string(circle.front())}, {"count", static_cast<int64_t>(circle.size())}, {"locks", names}, {"seconds", std::max(since, seconds)}};
  put_location(out, location(circle.front()));
  return out;
}

} // namespace

std::vector<Slots> lock_cycles(const std::map<uint32_t, StillThread>& threads, const ReadMemory& read, ProgramCode* code, double seconds) {
  std::map<uint32_t, uint32_t> by_own, next;
  std::map<uint32_t, uint64_t> locks;
  for (const auto& [tid, thread] : threads) by_own[thread.own_tid] = tid;
  for (const auto& [tid, thread] : threads) {
    const MutexWait wait = mutex_of(thread, read);
    const auto owner = by_own.find(wait.owner);
    if (!wait.owner || owner == by_own.end()) continue;
    next[tid] = owner->second;
    locks[tid] = wait.address;
  }
  std::vector<Slots> out;
  for (const std::vector<uint32_t>& circle : find_circles(next)) out.push_back(lock_cycle(circle, threads, locks, code, seconds));
  return out;
}

} // namespace why
