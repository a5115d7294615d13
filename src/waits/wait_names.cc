#include "waits/wait_names.h"

#include "base/text.h"
#include "spec/syscalls.h"
#include "trace/values.h"

#include <algorithm>
#include <string_view>

namespace waits {

namespace {

struct FutexUse {
  std::string_view caller; // how the function is called that waits, or a part of its name
  std::string_view what;
  bool is_lock = false; // who ends the wait had it
  bool has_name = true; // it is named by its address
};
// The first that is met, from the outermost frame inward, would be the program's own: so the innermost counts.
constexpr FutexUse futex_uses[] = {
    {"pthread_mutex", "the lock", true},       {"lll_lock_wait", "the lock", true},   {"pthread_rwlock", "the read-write lock", true},
    {"pthread_cond", "the condition"},         {"sem_wait", "the semaphore"},         {"sem_timedwait", "the semaphore"},
    {"sem_clockwait", "the semaphore"},        {"new_sem_wait", "the semaphore"},     {"pthread_join", "the end of a thread", false, false},
    {"pthread_clockjoin", "the end of a thread", false, false},                       {"pthread_barrier", "the barrier"},
    {"cxa_guard_acquire", "the initialisation of"},
};

// The first functions of the kernel that a system call, an exception or an interrupt runs; nothing behind them tells more.
bool is_entry(std::string_view name) {
  constexpr std::string_view starts[] = {"__x64_sys_", "__do_sys_", "__se_sys_", "x64_sys_call", "do_syscall_64", "entry_SYSCALL", "asm_exc_", "asm_sysvec_", "ret_from_fork"};
  return std::ranges::any_of(starts, [&](std::string_view s) { return name.starts_with(s); });
}

bool is_interrupt(std::string_view name) {
  constexpr std::string_view starts[] = {"asm_sysvec_", "asm_common_interrupt", "common_interrupt", "el1h_64_irq"};
  return std::ranges::any_of(starts, [&](std::string_view s) { return name.starts_with(s); });
}

bool is_waking(std::string_view name) {
  constexpr std::string_view parts[] = {"try_to_wake_up", "wake_up", "wake_function", "ttwu"};
  return std::ranges::any_of(parts, [&](std::string_view s) { return name.find(s) != name.npos; });
}

const FutexUse* use_of_futex(const std::vector<std::string>& user) {
  for (const std::string& frame : user)
    for (const FutexUse& use : futex_uses)
      if (frame.find(use.caller) != frame.npos) return &use;
  return nullptr;
}

bool has_part(const std::vector<std::string>& frames, std::string_view part) {
  return std::ranges::any_of(frames, [&](const std::string& f) { return f.find(part) != f.npos; });
}

} // namespace

NamedStack WaitNames::stack(const StackId& kernel, const StackId& user) {
  NamedStack out;
  for (const symbol::Frame& f : stacks_.frames(kernel)) {
    if (is_entry(f.name)) break;
    out.kernel.emplace_back(f.name);
  }
  for (const symbol::Frame& f : stacks_.frames(user)) {
    if (spec::is_note(f.kind))
      out.end = f.name;
    else
      out.user.emplace_back(f.name);
  }
  return out;
}

std::string WaitNames::call(const Thread& thread, int number, const std::array<uint64_t, 6>& arguments, const int64_t* result) {
  trace::Call traced;
  traced.number = number;
  traced.arguments = arguments;
  traced.pid = thread.pid;
  traced.tid = thread.tid;
  traced.result = result ? *result : -1; // what it would write is not there yet
  std::string text = trace::call_text(traced, {.descriptors = &descriptors_});
  // strace aligns results.
  const size_t equals = text.rfind(" = ");
  if (equals == text.npos) return text;
  const std::string_view left = base::trim(std::string_view(text).substr(0, equals));
  return (traced.is_32() ? "[32 bit] " : "") + std::string(left) + (result ? text.substr(equals) : "");
}

// "g_cache_lock", "g_cache+16"
std::string WaitNames::variable(uint32_t pid, uint64_t address) {
  std::string out = names_.variable(pid, address, true);
  if (out.ends_with("+0")) out.resize(out.size() - 2);
  return out;
}

std::string WaitNames::what(const Wait& wait, const NamedStack& stack) {
  if (wait.is_preempted) return "a CPU";
  if (const std::string_view lock = locks_.find(wait); !lock.empty()) return std::string(lock);
  if (wait.is_for_futex()) {
    const FutexUse* use = use_of_futex(stack.user);
    if (use && !use->has_name) return std::string(use->what);
    // A condition has two futexes, next to each other, which take turns.
    const uint64_t address = use && use->what == "the condition" ? wait.arguments[0] & ~uint64_t{7} : wait.arguments[0];
    return std::string(use ? use->what : "the futex") + " " + variable(wait.thread.pid, address);
  }
  if (wait.call >= 0) return call(wait.thread, wait.call, wait.arguments, nullptr);
  if (has_part(stack.kernel, "fault")) return "a page of memory (page fault)";
  return stack.kernel.empty() ? "something" : stack.kernel.back();
}

std::string WaitNames::what_in_short(const Wait& wait, const NamedStack& stack) {
  if (wait.is_preempted || wait.call < 0 || wait.is_for_futex()) return what(wait, stack);
  const std::string name = trace::call_name(wait.call);
  if (!trace::known_call(wait.call).is_of_descriptor()) return name;
  const int descriptor = static_cast<int>(wait.arguments[0]);
  const std::string shown = descriptors_.shown(wait.thread.pid, descriptor);
  return name + "(" + std::to_string(descriptor) + (shown.empty() ? "" : "<" + shown + ">") + ")";
}

bool WaitNames::is_for_lock(const Wait& wait, const NamedStack& stack) const {
  const FutexUse* use = wait.is_for_futex() ? use_of_futex(stack.user) : nullptr;
  return (use && use->is_lock) || !locks_.find(wait).empty();
}

bool WaitNames::is_by_interrupt(const Wake& wake) {
  return wake.by.pid == 0 || std::ranges::any_of(stacks_.frames(wake.kernel), [](const symbol::Frame& f) { return is_interrupt(f.name); });
}

std::string WaitNames::interrupt(const Wake& wake) {
  const std::vector<symbol::Frame>& kernel = stacks_.frames(wake.kernel);
  const auto at = std::ranges::find_if_not(kernel, [](const symbol::Frame& f) { return is_waking(f.name) && f.name != "hrtimer_wakeup"; });
  return at == kernel.end() ? "an interrupt" : std::string(at->name);
}

} // namespace waits
