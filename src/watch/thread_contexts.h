// Which processes publish what their threads work on (spec/thread_context.h), and where each has the variable: for programs that ask for trace_id or
// span_id (ir::Program::thread_contexts). Whoever runs one makes one of these between loading and attaching, and keeps it while the program runs.
//
// A process is known when its code is: those that run are looked at one by one when there is time, that of -p at once; those that start, and libraries
// that are loaded later, are told by events. A child has what its parent had. The loader writes at its own time where the variable is, so the program
// reads that in each event, and not this.
#pragma once

#include "format/thread_variable.h"
#include "ir/engine.h"
#include "symbol/user_symbols.h"
#include "watch/process_watch.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace watch {

class ThreadContexts : public ProcessWatch::Follower {
public:
  // All of these outlive this. `first`: a process that is looked at before the others.
  ThreadContexts(const ir::Program& program, ir::Engine& engine, symbol::UserSymbols& users, ProcessWatch& watch, std::optional<pid_t> first = {});
  ~ThreadContexts() override;
  ThreadContexts(const ThreadContexts&) = delete;
  ThreadContexts& operator=(const ThreadContexts&) = delete;

  void take(const symbol::ProcessEvent& event) override;
  void settle() override;
  bool work() override;

  // One line for --verbose.
  std::string describe() const;

private:
  using Variable = std::optional<spec::ThreadVariable>;

  const Variable& in_file(uint32_t index);
  void look(uint32_t pid);
  void put(uint32_t pid, const Variable& variable);
  bool survey(uint64_t longest);

  const ir::Program& program_;
  ir::Engine& engine_;
  symbol::UserSymbols& users_;
  ProcessWatch& watch_;
  std::unordered_map<uint32_t, Variable> files_;                // by number; with addresses of the file
  std::unordered_map<uint32_t, spec::ThreadVariable> processes_; // that publish
  std::unordered_set<uint32_t> changed_;
  std::vector<uint32_t> survey_; // processes to be looked at yet
  uint64_t refused_ = 0;         // that there was no room for
};

} // namespace watch
