// Names of code in processes, also of those that have ended: what they had mapped is kept with the time
// (process_history.h), files are opened when their mapping is seen (code_files.h).
//
// Processes are followed by events if `take` is given them. Processes that ran before are looked at when they
// show a stack, when they fork, and one by one while there is nothing else to do (`work`). Without events a
// process is looked at again when an address is asked for that was not mapped then.
#pragma once

#include "symbol/code_files.h"
#include "symbol/jit_code.h"
#include "symbol/process_events.h"
#include "symbol/process_history.h"
#include "symbol/variables.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace symbol {

class UserSymbols {
public:
  // Whether C++ and Rust names are shown as they are written.
  void set_demangle(bool on) { demangle_ = on; }
  // Events come from now on.
  void follow() { follows_ = true; }
  void take(const ProcessEvent& event);
  // What holds the address; views live until the next call. `stack`: id of a stack that was seen, 0: of none.
  Frame find(pid_t pid, uint64_t address, uint64_t stack = 0);
  // The same in two steps: what is in a file has its name once, whichever processes showed it.
  struct CodePlace {
    uint32_t file = CodeFiles::none;
    uint64_t offset = 0; // in the file
    bool is_mapped = false;
    bool is_made = false; // names may be those of code that the process made itself
  };
  CodePlace place_of(pid_t pid, uint64_t address, uint64_t stack = 0);
  Frame name_of(const CodePlace& place, pid_t pid, uint64_t address);
  // The variable that holds the address, or only its module. Empty where none is known, or contents are not kept.
  Frame find_variable(pid_t pid, uint64_t address);
  // Calls that were inlined: `take` gets the number of a place, and the names of the functions, the innermost
  // first, the last being the one whose code it is. Nothing where that is not known. The files must be kept.
  void find_inlined(std::span<const CodePlace> places, const Module::TakeFrames& take);
  void keep_files() { files_.keep_open(); }
  // The process showed this stack (0: none) at that time (CLOCK_MONOTONIC, ns; 0: now), with these words,
  // and lives perhaps: what names them is read while it can be. No words: the process begins to run, its
  // libraries are not there yet. pid 0: not known. No two processes have stacks of one id.
  void seen(pid_t pid, std::span<const uint64_t> words, uint64_t stack = 0, uint64_t time = 0);
  // Nobody will ask for this stack any more.
  void forget_stack(uint64_t id) { stack_times_.erase(id); }
  // When there is nothing else to do: a little of what makes later answers better. False: nothing is left.
  bool work();

  // Only this process is looked at before it is asked for.
  void survey_only(pid_t pid) { survey_ = {pid}; }
  void survey_all() { survey_.reset(); }
  // Looks at the process if its code is not known, and opens its files. False: nothing is known of it.
  bool know(pid_t pid);
  void search_in(std::vector<std::string> folders) { files_.search_in(std::move(folders)); }
  // What its files say is asked for too, not only their names (CodeFiles::elf).
  void keep_contents() { files_.keep_content(); }
  // What the loader added to the addresses of the file of a range; nothing where contents are not kept, or
  // the file does not fit.
  std::optional<uint64_t> bias_of(pid_t pid, const CodeRange& range) const;
  const CodeFiles& files() const { return files_; }
  const ProcessHistory& history() const { return history_; }

private:
  bool look(pid_t pid, uint64_t time);
  void open_new(pid_t pid);
  void look_for(pid_t pid, uint64_t address, uint64_t now);
  void open(pid_t pid, const CodeRange& range);
  void open_all(pid_t pid);
  bool is_made(const CodeRange& range) const;
  const CodeRange* range_of(pid_t pid, uint64_t address, uint64_t stack);
  JitCode* jit_of(pid_t pid);
  Frame find_made(pid_t pid, uint64_t address);
  std::string_view shown(std::string_view name);
  void start_survey();

  bool demangle_ = true;
  bool follows_ = false;
  ProcessHistory history_;
  CodeFiles files_;
  std::unordered_map<uint32_t, uint32_t> parents_;
  std::unordered_map<uint64_t, uint64_t> stack_times_; // by id
  std::unordered_map<uint32_t, uint64_t> vain_looks_;  // when a process had nothing at an address
  std::unordered_set<uint32_t> beginning_;             // processes that just begin to run
  std::unordered_set<uint32_t> opened_;                // processes with all their files open, what they map later too
  std::optional<std::vector<pid_t>> survey_;           // processes to be looked at yet
  std::deque<uint32_t> unread_;                        // files whose names will be asked for
  std::vector<bool> is_queued_;                        // by file
  std::unordered_map<pid_t, std::unique_ptr<JitCode>>
      jits_;                    // of processes that make code; nullptr: out of reach
  std::deque<pid_t> jit_order_; // the newest last
  std::unordered_map<std::string, std::string> demangled_;
  struct FileVariables {
    std::shared_ptr<const format::ElfFile> file; // its names are parts of it
    Variables all;
  };
  std::unordered_map<uint32_t, FileVariables> variables_; // by file
};

} // namespace symbol
