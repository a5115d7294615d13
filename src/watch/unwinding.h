// Keeps the tables of the walker in the kernel true: which process has which code where, and how that code is
// unwound. Whoever runs a program that takes user stacks by tables (bpf::Engine::walker() is not nullptr) makes one of
// these between loading and attaching, and keeps it while the program runs; nothing else is needed, as long as
// ProcessWatch::drain and ir::Engine::drain are called in this order, and ProcessWatch::work when there is time:
//
//   ProcessWatch watch(names.users());
//   Unwinding unwinding(*engine.walker(), names.users(), names.codes(), watch, machine);
//
// At the begin nothing is known: a stack of a process that is not known is copied out and walked here, and the process
// is known from then on. Those that run are looked at one by one when there is time; what is new is told by events. A
// child has what its parent had, in the kernel from the moment of the fork on (bpf/lib/unwind.bpf.c).
//
// A process that has mapped a language runtime (runtime/runtimes.h) also gets a table of that, and its language frames take the places of
// the interpreter's.
#pragma once

#include "bpf/walker.h"
#include "probe/probe.h"
#include "runtime/code_names.h"
#include "runtime/runtimes.h"
#include "runtime/splice.h"
#include "symbol/user_symbols.h"
#include "unwind/file_frames.h"
#include "unwind/walk.h"
#include "watch/process_watch.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace watch {

class Unwinding : public ProcessWatch::Follower {
public:
  using TakeRuntime = std::function<void(uint32_t pid, const language_table& table)>;
  Unwinding(bpf::Walker& walker, symbol::UserSymbols& users, runtime::CodeNames& codes, ProcessWatch& watch, probe::Machine& machine);
  ~Unwinding() override;
  Unwinding(const Unwinding&) = delete;
  Unwinding& operator=(const Unwinding&) = delete;

  // Calls `take` for each process that runs a language runtime, with its table: now for those that are known, later for others, until the next call for
  // the same `owner`. Empty: never again.
  void tell_runtimes(const void* owner, TakeRuntime take);

  void take(const symbol::ProcessEvent& event) override;
  void settle() override;
  bool work() override;

  bpf::Walker::Counts counts() const { return walker_.counts(); }
  // For --verbose: how many stacks are complete, why others end, what was walked outside, what is known.
  std::string describe() const;

private:
  // A file with its tables, for the walker in the kernel and for walks here.
  struct File {
    std::shared_ptr<const format::ElfFile> elf;
    std::optional<unwind::FileFrames> frames; // nothing: it has no tables
    uint32_t number = bpf::WalkTables::no_file;
    uint32_t lists = 0; // that lead to it
    uint64_t last_use = 0;
    std::optional<runtime::FileRuntime> runtime; // nothing: it is none
  };
  struct List {
    uint32_t number = 0;
    std::vector<File*> files;
    uint32_t language = bpf::WalkTables::no_language;
  };
  using Lists = std::shared_ptr<List>;

  File* file_of(uint32_t index);
  bool put_into_kernel(File& file);
  bool make_room();
  bool survey(uint64_t longest);
  bool publish(uint32_t pid);
  void forget(uint32_t pid);
  void tell_runtime(uint32_t pid, const List& list) const;
  Lists make_list(uint32_t pid);
  unwind::CodePlace find_code(uint32_t pid, uint64_t address, uint64_t time);
  bpf::Walker::Frames walk(const walk_copy& copy);
  void add_runtime(uint32_t pid, List& list, const runtime::FileRuntime& file, uint64_t bias, const bpf::WalkTables::Range& code);
  bpf::Walker::Spliced splice(uint32_t pid, uint32_t language, const runtime::Lists& lists) const;
  void take_object(uint32_t pid, const language_object& object);
  void retry_names();

  bpf::Walker& walker_;
  symbol::UserSymbols& users_;
  runtime::CodeNames& codes_;
  std::map<const void*, TakeRuntime> take_runtime_; // by owner
  ProcessWatch& watch_;
  symbol::Cache cache_;
  std::unordered_map<std::string, File> files_;   // by build-id, or where they lie in memory
  std::vector<File*> by_index_;                   // of symbol::CodeFiles; nullptr: not asked yet
  std::unordered_map<uint32_t, Lists> processes_; // that the walker knows
  std::unordered_set<uint32_t> changed_;
  std::optional<std::vector<uint32_t>> survey_; // processes to be looked at yet
  std::unordered_map<uint32_t, uint64_t> healed_; // when a process was told anew because its code was not known
  uint64_t uses_ = 0;
  std::unordered_map<uint32_t, runtime::ProcessRuntime> languages_; // by number of their tables, those given back, too
  std::set<std::string> unknown_runtimes_;              // versions whose frames stay native
  uint64_t left_out_ = 0; // files and processes that there was no room for
};

} // namespace watch
