// From the records of scripts/flight.bt to events with names: what a file gets. Made for each file anew, so that a recorder that runs for weeks holds nothing of
// its last one.
#pragma once

#include "bpf/flight_ring.h"
#include "profile/naming.h"
#include "recording/event_kinds.h"
#include "session/runner.h"
#include "session/stack_map.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace recorder {

// Of the owner of a lock in records of scripts/flight.bt: its number is one of its process's own PID namespace.
inline constexpr uint64_t own_number = uint64_t{1} << 31;
// Maps of scripts/flight.bt, as session::BuiltinScript::own_maps has them.
inline constexpr std::string_view triggers_map = "flight.triggers", ended_map = "flight.ended";

// What `speculate` held back and commit() has sent: by then the rings may have much newer events.
struct HeldLine {
  const ir::Action* action;
  std::vector<std::byte> payload;
};
using HeldLines = std::deque<HeldLine>;

class FlightEvents {
public:
  // Keeps events from `from_ns` on; older ones count as overwritten.
  FlightEvents(session::Runner& runner, uint64_t from_ns);

  void take(const bpf::FlightRecord& record);
  // Lines of the user's script that came another way than by the rings. `forgotten`: how many more there were.
  void take(const HeldLines& lines, uint64_t forgotten);
  void add_mark(uint64_t time, uint64_t thread, const std::string& text);
  // Events are in the order of their times, and everything has a name. `counts`: by action.
  void finish(std::span<const bpf::FlightCount> counts);

  std::span<const recording::EventKind> kinds() const { return kinds_; }
  std::span<const recording::Batch> batches() const { return batches_; } // by kind
  std::span<const recording::Count> counts() const { return counts_; }   // by kind
  const recording::Names& names() const { return names_; }
  uint64_t first_ns() const; // of all events; without events ~0

private:
  // Where a column comes from in a record.
  struct Column {
    uint32_t number = 0;
    recording::FieldType to = recording::FieldType::number;
    const type::Type* type = nullptr;
    uint32_t offset = 0;
    std::string_view (*name_of)(int) = nullptr; // of texts that a record has as numbers
    bool is_owner = false; // a number that a program has in its memory, until name_owners()
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
    const ir::Action* log = nullptr; // its record is a line that a script printed
  };
  uint32_t kind_number(recording::Kind kind);
  std::optional<Plan> plan_of(const ir::Action& action);
  Plan plan_of_line(const ir::Action& action);
  void add_line(const Plan& plan, std::span<const std::byte> payload, uint32_t cpu);
  uint64_t value(const Column& column, std::span<const std::byte> payload);
  uint32_t text(std::string_view text);
  uint32_t thread(uint64_t ids);
  uint64_t stack(const Plan& plan, std::span<const std::byte> bytes);
  void sort();
  void name_stacks();
  std::string name_of_thread(uint64_t ids) const;
  uint64_t owner(uint64_t ids);
  void name_owners();
  void read_ended();
  void name_threads();

  session::Runner& runner_;
  const uint64_t from_ns_;
  std::vector<std::optional<Plan>> plans_; // by action
  std::vector<recording::EventKind> kinds_;
  std::map<recording::Kind, uint32_t> numbers_;
  std::vector<recording::Batch> batches_;
  std::vector<recording::Count> counts_;
  recording::Names names_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<uint64_t, uint32_t> threads_;      // by pid << 32 | tid
  std::unordered_map<uint64_t, std::string> exit_names_;  // of threads whose end is in the memory
  std::unordered_map<uint64_t, std::string> ended_names_; // of all that ended lately
  // By process: of its threads, from those in its own PID namespace to those in the initial one.
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, uint64_t>> own_numbers_;
  const bool has_proc_; // numbers of threads in records are those that /proc has
  session::StackReader stacks_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> pairs_; // kernel and user stack to a sample of stacks_.out
};

} // namespace recorder
