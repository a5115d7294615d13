// Records of `acu trace` as lines: text in strace's notation, or JSON.
#pragma once

#include "report/report.h"
#include "trace/descriptors.h"
#include "trace/plan.h"
#include "trace/tracing.h"
#include "trace/values.h"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace trace {

class CallLines {
public:
  explicit CallLines(const TracingOptions& options);

  // The command that acu started: lines of its first thread have no ID.
  void started(uint32_t pid);
  // A running process.
  void look_at(uint32_t pid);
  // Calls that change descriptors must be traced, whether requested or not.
  bool names_descriptors() const { return !options_.counts && (options_.descriptors || !path_.empty()); }
  bool is_asked_for(int call) const;
  // Required fields of records: start times of calls, and thread names.
  bool needs_times() const;
  bool needs_threads() const;
  // With its newline; empty: not a requested call. `printer`: for stacks.
  std::string line(const type::Type& type, std::span<const std::byte> bytes, report::Printer& printer);
  // The line of a call that has not returned.
  struct Unfinished {
    uint32_t tid = 0;
    int call = 0;
    bool began_before = false;  // all that was seen
    std::optional<uint64_t> ns; // since it began, where that is known
    std::optional<std::array<uint64_t, 6>> arguments = {}; // the memory that they point to is not read
  };
  std::string line(const Unfinished& call) const;
  // The threads in printed lines, and whether the last call was from a 32-bit program.
  const std::unordered_map<uint32_t, bool>& threads() const { return threads_; }
  uint64_t told() const { return told_; } // calls; signals and ends of threads are none
  // Arguments whose memory was not mapped when the call returned: those read later, and those not available.
  uint64_t late() const { return late_; }
  uint64_t missing() const { return missing_; }

private:
  // The fields of a record, named as in scripts/trace.bt; nullptr: absent.
  struct Places {
    const type::Field *number, *result, *duration, *task, *time, *thread, *stack;
    std::array<const type::Field*, 6> arguments;
    std::vector<const type::Field*> copied; // in the order of the script
  };
  const Places& places_in(const type::Type& record);
  Call read(const type::Type& type, std::span<const std::byte> bytes);
  std::string prefix(const Call& call) const;
  std::string times(const Call& call);
  std::string text(const Call& call, const std::string& stack);
  std::string json(const Call& call, const std::string& stack);
  bool concerns_path(const Call& call);
  void undo_script(Call& call, const std::string& first_word);
  void read_sets(Call& call, const Places& places, std::span<const std::byte> bytes);
  void take_timeout(Call& call, const Plan& plan);
  void add_word(Call& call, size_t argument, size_t index, std::span<const std::byte> word);
  void read_later(Call& call, size_t argument, uint64_t length);

  const TracingOptions& options_;
  Options shown_;
  SeenDescriptors descriptors_;
  std::unordered_map<const type::Type*, Places> places_;
  uint32_t command_ = 0;
  std::unordered_map<uint32_t, bool> threads_;
  uint64_t told_ = 0, late_ = 0, missing_ = 0;
  uint64_t last_begin_ns_ = 0; // of the line before
  uint64_t epoch_ns_ = 0;      // when the clock of the probes was 0, in ns since 1970
  std::deque<std::vector<std::byte>> kept_; // of one call: what was read later
  std::string path_, real_path_; // of --path
};

} // namespace trace
