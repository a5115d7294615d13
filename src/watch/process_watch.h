// Follows the life of processes for the names of their code: while a script runs whose results will have such
// names, and only then, what processes execute and map is taken from the kernel and handed to
// symbol::UserSymbols.
#pragma once

#include "symbol/process_events.h"
#include "symbol/user_symbols.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace watch {

class ProcessWatch {
public:
  // From now on. Where the kernel does not allow it (`problem`) names come from looks at the processes that
  // show stacks.
  explicit ProcessWatch(symbol::UserSymbols& users);
  // From now on only what happens to this process, and to those that come from it, is taken; only it is looked at.
  void only(pid_t pid);
  void all(); // again
  std::optional<uint32_t> only() const { return only_; }
  // Takes what happened up to now. Returns the number of records.
  size_t drain();
  // Who else wants to know.
  class Follower {
  public:
    virtual ~Follower() = default;
    virtual void take(const symbol::ProcessEvent& event) = 0; // symbol::UserSymbols knows it already
    virtual void settle() = 0;                                // these were all for now
    virtual bool work() = 0;                                  // see symbol::UserSymbols::work
  };
  void add_follower(Follower* follower) { followers_.push_back(follower); }
  void remove_follower(Follower* follower) { std::erase(followers_, follower); }
  // See symbol::UserSymbols::work.
  bool work();
  // Readable when something happened; -1: nothing is followed.
  int wait_fd() const { return events_ ? events_->wait_fd() : -1; }
  const std::string& problem() const { return problem_; }
  uint64_t lost() const { return events_ ? events_->lost() : 0; }
  // One line for --verbose.
  std::string describe() const;

private:
  bool concerns(const symbol::ProcessEvent& event);

  symbol::UserSymbols& users_;
  std::optional<uint32_t> only_;
  std::unordered_set<uint32_t> family_; // with only_
  std::vector<Follower*> followers_; // in the order in which they came
  std::unique_ptr<symbol::ProcessEvents> events_;
  std::string problem_;
};

} // namespace watch
