#include "timeline/wait_kinds.h"

#include <algorithm>
#include <span>
#include <utility>

namespace timeline {

namespace {

struct Rule {
  std::string_view part; // of a function's name
  State state;
};
// The innermost function that one of these knows decides. A condition variable waits in the futex functions too: its caller is asked first.
constexpr Rule user_rules[] = {
    {"pthread_cond", State::waiting}, {"pthread_join", State::waiting}, {"pthread_clockjoin", State::waiting},
    {"sem_wait", State::waiting},        {"sem_timedwait", State::waiting}, {"sem_clockwait", State::waiting}, {"new_sem_wait", State::waiting},
    {"pthread_barrier", State::waiting}, {"pthread_mutex", State::lock},   {"lll_lock_wait", State::lock},   {"pthread_rwlock", State::lock},
};
constexpr Rule kernel_rules[] = {
    {"io_schedule", State::disk},         {"bit_wait_io", State::disk},      {"folio_wait", State::disk},         {"wait_on_page", State::disk},
    {"wait_on_buffer", State::disk},      {"submit_bio_wait", State::disk},  {"blk_mq_get_tag", State::disk},     {"jbd2_log_wait", State::disk},
    {"iomap_dio", State::disk},           {"blkdev_issue", State::disk},     {"xfs_log_force", State::disk},      {"btrfs_wait", State::disk},
    {"rwsem_down", State::lock},          {"__mutex_lock", State::lock},     {"rt_mutex", State::lock},           {"percpu_rwsem", State::lock},
    {"futex_wait", State::lock},          {"futex_lock", State::lock},       {"sk_wait", State::network},         {"sk_stream_wait", State::network},
    {"inet_csk_accept", State::network},  {"inet_stream_connect", State::network}, {"tcp_", State::network},      {"udp_", State::network},
    {"unix_stream", State::network},      {"unix_dgram", State::network},    {"__skb_wait", State::network},      {"sock_", State::network},
    {"nanosleep", State::sleeping},       {"do_wait", State::waiting},       {"pipe_", State::waiting},           {"ep_poll", State::waiting},
    {"do_poll", State::waiting},          {"do_select", State::waiting},
};

std::optional<State> find(std::span<const Rule> rules, std::string_view name) {
  const auto at = std::ranges::find_if(rules, [&](const Rule& r) { return name.find(r.part) != name.npos; });
  if (at == rules.end()) return std::nullopt;
  return at->state;
}

constexpr std::pair<std::string_view, State> calls[] = {
    {"accept", State::network},  {"accept4", State::network},  {"clock_nanosleep", State::sleeping}, {"connect", State::network}, {"fdatasync", State::disk},
    {"fsync", State::disk},      {"futex", State::lock},       {"msync", State::disk},               {"nanosleep", State::sleeping}, {"recvfrom", State::network},
    {"recvmmsg", State::network}, {"recvmsg", State::network}, {"sendmmsg", State::network},         {"sendmsg", State::network}, {"sendto", State::network},
    {"sync", State::disk},       {"sync_file_range", State::disk}, {"syncfs", State::disk},
};

} // namespace

std::optional<State> WaitKinds::of_stack(uint32_t stack) {
  if (stack == 0) return std::nullopt;
  if (const auto at = known_.find(stack); at != known_.end()) return at->second;
  std::optional<State> kernel, user;
  for (uint32_t at = stack; at && user != State::gil && (!kernel || kernel == State::lock); at = names_.stacks[at].caller) {
    const recording::Frame& frame = names_.frames[names_.stacks[at].frame];
    const std::string_view name = names_.texts[frame.name];
    if (spec::row_of(frame.kind).side == spec::Side::kernel) {
      if (!kernel) kernel = find(kernel_rules, name);
    } else if (name == "take_gil") { // which waits for a condition variable
      user = State::gil;
    } else if (!user) {
      user = find(user_rules, name);
    }
  }
  // What a futex is for, the program's functions say.
  return known_[stack] = kernel && kernel != State::lock ? kernel : user ? user : kernel;
}

bool WaitKinds::is_interrupt(uint32_t stack) {
  constexpr std::string_view entries[] = {"asm_sysvec_", "asm_common_interrupt", "common_interrupt", "el1h_64_irq", "el0t_64_irq"};
  if (const auto at = interrupts_.find(stack); at != interrupts_.end()) return at->second;
  bool& found = interrupts_[stack];
  for (uint32_t at = stack; at && !found; at = names_.stacks[at].caller) {
    const std::string_view name = names_.texts[names_.frames[names_.stacks[at].frame].name];
    found = std::ranges::any_of(entries, [&](std::string_view entry) { return name.starts_with(entry); });
  }
  return found;
}

std::optional<State> wait_of_syscall(std::string_view name) {
  const auto at = std::ranges::find(calls, name, [](const auto& call) { return call.first; });
  if (at == std::end(calls)) return std::nullopt;
  return at->second;
}

} // namespace timeline
