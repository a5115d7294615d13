// A running verb: a child process with acu's own executable, in a process group of its own, with limits of time, output and cost.
//
// A measurement is ended as Ctrl-C ends it (SIGINT), so that it detaches and prints what there is. If it does not end within some
// seconds, SIGTERM and then SIGKILL follow. The child cannot gain privileges (PR_SET_NO_NEW_PRIVS), reads nothing from
// standard input, and ends when this process does.
#pragma once

#include "agent/verb.h"
#include "base/fd.h"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace agent {

enum class Outcome : uint8_t { complete, failed, time_limit, output_limit, cost_limit, cancelled };
std::string_view name_of(Outcome outcome);

// What a child left.
struct Finished {
  Outcome outcome = Outcome::complete;
  int exit_status = 0; // 128 and the signal, if one ended it
  std::string output, messages;
  bool truncated = false;
  uint64_t wall_ns = 0, cpu_ns = 0, probes_ns = 0;
};

class Call {
public:
  static base::Result<Call> start(const Plan& plan);
  Call(Call&& other) noexcept;
  Call& operator=(Call&&) = delete;
  ~Call(); // kills what still runs

  // Descriptors to wait for; -1: it is closed.
  int output() const { return output_.get(); }
  int messages() const { return messages_.get(); }
  // Reads what there is, applies the limits, and looks whether the child has ended.
  void advance(uint64_t now_ns);
  // The client does not want it any more.
  void cancel(uint64_t now_ns) { stop(Outcome::cancelled, now_ns); }
  bool has_ended() const { return has_ended_; }
  // Complete lines of messages since the last call; once it has ended, the rest. take() has all of them.
  std::string new_messages();
  uint64_t elapsed_ns(uint64_t now_ns) const { return now_ns - started_ns_; }
  const Plan& plan() const { return plan_; }
  // After it has ended, once.
  Finished take();

private:
  explicit Call(const Plan& plan) : plan_(plan) {}
  void read_output();
  void read_messages();
  void measure_cost(uint64_t now_ns);
  void stop(Outcome why, uint64_t now_ns);
  void send(int signal) const;
  void reap(uint64_t now_ns);
  bool has_run_out(uint64_t now_ns) const;

  Plan plan_;
  pid_t pid_ = -1;
  base::Fd output_, messages_, run_times_;
  Finished result_;
  uint64_t started_ns_ = 0, attached_ns_ = 0, cpu_at_attach_ns_ = 0;
  uint64_t stopped_ns_ = 0; // when it was asked to end; 0: it was not
  uint64_t looked_ns_ = 0;  // at its cost
  int signals_ = 0;         // sent since then
  size_t messages_given_ = 0; // bytes of messages that new_messages() gave
  bool has_ended_ = false, is_stopped_early_ = false;
};

// Starts it and waits.
base::Result<Finished> run_to_end(const Plan& plan);

} // namespace agent
