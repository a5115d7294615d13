// What this kernel can do, as far as acu makes use of it: one row for each ability. An ability is found out
// by doing the thing with something tiny (a map, a program of two instructions, a link), never by version
// numbers, which distributions' backports make wrong; and only when somebody asks, once, since each question
// costs 10 µs or more.
#pragma once

#include "bpf/object.h"
#include "host/environment.h"
#include "probe/attach_kernel.h"
#include "probe/attach_user.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace bpf {

enum class Feature : uint8_t {
  ring_buffer,
  batch_read,
  run_program,
  raw_tracepoint,
  btf_tracepoint,
  tracepoint,
  sampling,
  kernel_types,
  task_storage,
  task_iterator,
  for_each,
  loop,
  lookup_percpu,
  boot_clock,
  tai_clock,
  large_keys,
  cmpxchg,
  task_registers,
  uprobe_multi,
  uprobe_multi_pid,
  uprobe_session,
  attach_cookie,
  trampoline,
  kprobe,
  kprobe_multi,
  kprobe_session,
  function_address,
  current_task,
  find_task,
  socket_cookie,
  watchpoint,
};

inline constexpr size_t feature_count = static_cast<size_t>(Feature::watchpoint) + 1;

enum class Answer : uint8_t {
  unasked,
  yes,
  no,
  refused, // not permitted to ask
};
std::string_view to_string(Answer answer);

struct FeatureRow {
  Feature id;
  std::string_view name;
  std::string_view since;      // the kernel that brought it
  std::string_view use;        // what acu does with it
  std::string_view substitute; // what happens without it
  Answer (*probe)();
};
// As host::Environment::answer knows it.
std::string question_of(const FeatureRow& row);
// All abilities, in the order of Feature.
std::span<const FeatureRow> feature_table();

// "this kernel lacks `loop` (Linux 5.17 has it)": how a message about something that cannot be done begins.
std::string lack_of(Feature feature);

// Answers of a host, each asked for at most once.
class Features {
public:
  explicit Features(host::Environment& host = host::this_host()) : host_(&host) {}
  host::Environment& host() const { return *host_; }
  Answer ask(Feature feature) const;
  bool has(Feature feature) const { return ask(feature) == Answer::yes; }
  // The answer that is known already.
  Answer known(Feature feature) const { return answers_[static_cast<size_t>(feature)]; }
  // Takes this answer as given (tests, and pretending to be an older kernel).
  void set(Feature feature, Answer answer) { answers_[static_cast<size_t>(feature)] = answer; }
  // From now on as if it lacked an ability, and what is built upon that. Names that are not in the table are no abilities
  // that acu makes use of.
  void do_without(std::string_view name);

private:
  host::Environment* host_;
  mutable std::array<Answer, feature_count> answers_{};
};

// Those of the running kernel.
const Features& features();
void do_without(std::string_view name);
inline bool has(Feature feature) { return features().has(feature); }

// What a user probe is attached by.
probe::UserLink user_link(const ir::Probe& probe, const Features& features = bpf::features());

// What a program on functions of the kernel is attached by.
probe::KernelLink kernel_link(const ir::Program& program, const ir::Probe& probe, const Features& features = bpf::features());
// Whether a program on several events like this one can tell which of them it is at.
bool tells_events(const Features& features, const probe::Event& event);
// How to emit a program for a kernel. Only abilities that the program needs are asked for.
EmitOptions options_for(const ir::Program& program, const Features& features = bpf::features(), const PieceSizes& pieces = {});

} // namespace bpf
