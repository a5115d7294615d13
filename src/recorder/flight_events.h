// From the records of scripts/flight.bt to events with names: what a file gets. Made for each file anew, so that a recorder that runs for weeks holds nothing of
// its last one.
#pragma once

#include "bpf/flight_ring.h"
#include "profile/naming.h"
#include "recording/event_kinds.h"
#include "session/runner.h"
#include "session/stack_map.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace recorder {

class FlightEvents {
public:
  // Keeps events from `from_ns` to `until_ns`.
  FlightEvents(session::Runner& runner, uint64_t from_ns, uint64_t until_ns);

  void take(const bpf::FlightRecord& record);
  void add_mark(uint64_t time, uint64_t thread, const std::string& text);
  // Events are in the order of their times, and everything has a name. `counts`: by action.
  void finish(std::span<const bpf::FlightCount> counts);

  std::span<const recording::EventKind> kinds() const { return kinds_; }
  std::span<const recording::Batch> batches() const { return batches_; } // by kind
  std::span<const recording::Count> counts() const { return counts_; }   // by kind
  const recording::Names& names() const { return names_; }
  uint64_t first_ns() const;

private:
  // Where a column comes from in a record.
  struct Column {
    uint32_t number = 0;
    const type::Type* type = nullptr;
    uint32_t offset = 0;
    bool is_thread = false, is_syscall = false;
  };
  struct StackPlace {
    const type::Type* type = nullptr;
    uint32_t offset = 0;
  };
  struct Plan {
    uint32_t kind = 0, time = 0, thread = 0;
    std::vector<Column> columns;
    StackPlace kernel, user;
    std::optional<uint32_t> stack_column;
    std::optional<uint32_t> comm;
  };
  uint32_t kind_number(recording::Kind kind);
  std::optional<Plan> plan_of(const ir::Action& action);
  uint32_t text(std::string_view text);
  uint32_t thread(uint64_t ids);
  uint64_t stack(const Plan& plan, std::span<const std::byte> bytes);
  void sort();
  void name_stacks();
  void name_threads();

  session::Runner& runner_;
  const uint64_t from_ns_, until_ns_;
  std::vector<std::optional<Plan>> plans_; // by action
  std::vector<recording::EventKind> kinds_;
  std::map<recording::Kind, uint32_t> numbers_;
  std::vector<recording::Batch> batches_;
  std::vector<recording::Count> counts_;
  recording::Names names_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<uint64_t, uint32_t> threads_;      // by pid << 32 | tid
  std::unordered_map<uint64_t, std::string> exit_names_; // of threads that ended
  session::StackReader stacks_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> pairs_; // kernel and user stack to a sample of stacks_.out
};

} // namespace recorder
