#include "waits/interpreter_locks.h"

#include "session/script_maps.h"

namespace waits {

bool InterpreterLocks::add(uint32_t pid, const language_table& table) {
  const std::string_view name = runtime::runtime_of(table.kind).lock;
  if (!name.empty()) locks_[pid] = {table.root, table.root + table.root_bytes, name};
  return !name.empty();
}

void InterpreterLocks::add_to(session::Runner& runner, uint32_t pid, const language_table& table) {
  if (add(pid, table)) session::put_interpreter_lock(runner.program(), runner.backend().engine(), pid, table.root, table.root + table.root_bytes);
}

std::string_view InterpreterLocks::find(const Wait& wait) const {
  const auto at = locks_.find(wait.thread.pid);
  if (at == locks_.end() || wait.is_preempted || !wait.is_for_futex()) return {};
  const Lock& lock = at->second;
  return wait.arguments[0] >= lock.begin && wait.arguments[0] < lock.end ? lock.name : std::string_view();
}

std::vector<Wait> InterpreterLocks::join(const std::vector<Wait>& waits, const std::function<bool(const Wake&)>& is_interrupt) const {
  constexpr uint64_t most_between_ns = 200'000; // on the CPU, to ask for the lock
  std::vector<Wait> out;
  size_t last = 0; // of the waits for the lock, plus 1
  // By the thread that has released the lock.
  const auto was_given = [&](const Wait& wait) { return wait.wake && !is_interrupt(*wait.wake); };
  for (const Wait& wait : waits) {
    const bool is_for_lock = !find(wait).empty(), goes_on = is_for_lock && last && !was_given(out[last - 1]);
    if (goes_on) out[last - 1].wake = wait.wake;
    if (goes_on && last == out.size() && wait.left - out.back().back <= most_between_ns) {
      const uint64_t left = out.back().left;
      out.back() = wait;
      out.back().left = left;
    } else {
      out.push_back(wait);
      if (is_for_lock) last = out.size();
    }
  }
  return out;
}

} // namespace waits
