#include "trace/plan.h"

#include "base/text.h"
#include "spec/arch.h"
#include "spec/syscalls.h"
#include "trace/by_call.h"

#include <algorithm>
#include <utility>

namespace trace {

using Copy = ValueKind::Copy;

uint64_t register_of(size_t argument, bool is_32) {
  static constexpr auto words = [](std::span<const std::string_view> names) {
    std::array<uint8_t, 6> out = {};
    for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<uint8_t>(spec::arch.word_of(names[i]));
    return out;
  };
  static constexpr auto of_64 = words(spec::arch.syscall_arguments), of_32 = words(spec::arch.syscall_arguments_32);
  return (is_32 ? of_32 : of_64)[argument];
}

uint64_t Plan::pack() const {
  uint64_t out = static_cast<uint64_t>(shape) | uint64_t{returns} << 3 | uint64_t{takes_path_at_entry} << 4 |
                 uint64_t{is_seen_at_begin} << 5 | uint64_t{counts_entries} << 6 | uint64_t{takes_descriptor} << 7;
  if (timeout) out |= register_of(*timeout, is_32) << 56;
  if (word) out |= register_of(*word, is_32) << 60;
  for (size_t i = 0; i < slots.size(); i++) {
    const Slot& s = slots[i];
    constexpr uint64_t result = 15;
    const uint64_t counted = s.counted == by_result ? result : s.counted ? register_of(s.counted - size_t{1}, is_32) : 0;
    const uint64_t packed = register_of(s.argument, is_32) | counted << 4 | uint64_t{s.is_out} << 8 | uint64_t{s.bytes} << 9;
    out |= packed << (8 + 24 * i);
  }
  return out;
}

static Plan::Slot slot_of(const Argument& a, size_t index) {
  Plan::Slot out = {.argument = static_cast<uint8_t>(index),
                    .is_out = a.kind->is_out,
                    .counted = 0,
                    .bytes = a.kind->bytes};
  if (a.count) out.counted = *a.count == 'r' ? Plan::by_result : static_cast<uint8_t>(*a.count - '0' + 1);
  return out;
}

std::optional<Timeout> unpack_timeout(uint64_t argument) {
  const Timeout out = {argument << 1 >> 31, argument & 0x3fffffff};
  constexpr uint64_t second_ns = 1'000'000'000;
  const bool is_packed = argument >> 63 && out.fraction < second_ns; // else an address that no program has
  return is_packed ? std::optional(out) : std::nullopt;
}

std::vector<int> calls_of_32_bits(const std::vector<int>& like, bool all) {
  std::vector<int> out;
  for (int n = 0; n <= spec::last_syscall_32; n++)
    if (std::string_view name = spec::syscall_name_32(n); !name.empty())
      if (all || std::ranges::binary_search(like, spec::syscall_named(name))) out.push_back(Call::first_of_32 + n);
  return out;
}

static bool makes_two(std::string_view call) { return call == "pipe" || call == "pipe2" || call == "socketpair"; }

bool changes_descriptors(int number) {
  constexpr std::string_view others[] = {"close", "close_range", "fcntl", "chdir", "fchdir", "connect", "bind", "listen", "execve", "execveat", "clone", "clone3", "fork", "vfork", "exit_group"};
  const std::string_view name = known_name(number);
  const spec::SyscallRow* row = row_of(number);
  return base::is_one_of(others, name) || makes_two(name) || (row && row->result == "fd");
}

// What the slots have no room for: a timeout, and a number that the kernel has written.
static void take_one_more(Plan& plan, const std::vector<Argument>& arguments) {
  if (plan.is_32) return;
  const bool is_full = plan.shape != Shape::nothing && arguments.size() > plan.slots.size();
  for (size_t i = 0; i < arguments.size() && is_full; i++) {
    const ValueKind* kind = arguments[i].kind;
    if (!kind || kind->copy != Copy::memory || plan.slots[0].argument == i || plan.slots[1].argument == i) continue;
    if (kind->name == "timespec" && !plan.timeout) plan.timeout = static_cast<uint8_t>(i);
    if (kind->is_out && kind->bytes <= sizeof(uint64_t) && !arguments[i].count && arguments.size() < 6 && !plan.word) plan.word = static_cast<uint8_t>(i);
  }
}

static Plan copies_of(std::string_view call, const spec::SyscallRow* row, bool is_32) {
  Plan plan;
  plan.returns = call != "exit" && call != "exit_group";
  plan.takes_path_at_entry = call == "execve" || call == "execveat";
  plan.is_32 = is_32;
  if (call == "select" || call == "pselect6") plan.timeout = is_32 ? std::nullopt : std::optional<uint8_t>(4);
  plan.counts_entries = call == "getdents64" || (call == "getdents" && !is_32);
  if (!row) return plan;
  // Files are known by the path that they were opened by.
  plan.takes_descriptor = !is_32 && !call.starts_with("open") && (row->result == "fd" || makes_two(call));
  size_t texts = 0, all = 0;
  const std::vector<Argument> arguments = read_arguments(row->arguments);
  for (Copy wanted : {Copy::text, Copy::memory})
    for (size_t i = 0; i < arguments.size() && all < plan.slots.size(); i++)
      // Structures of 32-bit programs have other layouts.
      if (arguments[i].kind && arguments[i].kind->copy == wanted && !(is_32 && wanted == Copy::memory && arguments[i].kind->bytes > 1)) {
        plan.slots[all++] = slot_of(arguments[i], i);
        if (!is_32 && arguments[i].kind->name.ends_with("_left")) plan.timeout = static_cast<uint8_t>(i);
        texts += wanted == Copy::text;
      }
  static constexpr Shape shapes[3][3] = {
      {Shape::nothing, Shape::memory, Shape::two_memories}, // [texts][the rest]
      {Shape::text, Shape::text_and_memory, Shape::nothing},
      {Shape::two_texts, Shape::nothing, Shape::nothing}};
  plan.shape = shapes[texts][all - texts];
  for (size_t i = 0; i < arguments.size() && !is_32; i++) {
    const Copy copy = arguments[i].kind ? arguments[i].kind->copy : Copy::nothing;
    if (copy != Copy::vectors && copy != Copy::message) continue;
    plan.shape = copy == Copy::vectors ? Shape::vectors : Shape::message;
    plan.slots = {slot_of(arguments[i], i), {}};
    plan.slots[1].argument = plan.slots[0].argument;
    plan.slots[1].is_out = std::exchange(plan.slots[0].is_out, false); // the contents; the rest is there before
  }
  take_one_more(plan, arguments);
  return plan;
}

static Plan plan_of(std::string_view call, const spec::SyscallRow* row, bool is_32) {
  constexpr std::string_view others[] = {"select", "pselect6", "rt_sigreturn", "sigreturn"};
  Plan plan = copies_of(call, row, is_32);
  plan.is_seen_at_begin = plan.takes_path_at_entry || !plan.returns || plan.timeout || base::is_one_of(others, call);
  return plan;
}

Plan plan_of(std::string_view call) { return plan_of(call, spec::find_syscall_row(call), false); }
const Plan& plan_of(int number) {
  thread_local ByCall<Plan> plans;
  return plans.of(number, [](int n) { return plan_of(known_name(n), row_of(n), n >= Call::first_of_32); });
}

} // namespace trace
