// Names of code in processes. Of a process what it had mapped is read once, when it is first asked for or
// said to be seen, and again when an address is asked for that was not mapped then; a file is read once,
// however many processes run it. So a process may end before its stacks are printed.
#pragma once

#include "symbol/elf_symbols.h"
#include "symbol/process_map.h"

#include <chrono>
#include <map>
#include <memory>
#include <unordered_map>

namespace symbol {

class UserSymbols {
public:
  struct Found {
    std::string_view name; // empty: no function is known to be there
    uint64_t offset = 0;
    std::string_view module; // file of the code, "[vdso]", "/tmp/perf-PID.map"; empty where nothing is mapped
  };
  // Code of a process as it was at one time; it may run another program now.
  struct Snapshot {
    std::vector<Mapping> map;
    std::vector<std::shared_ptr<ElfSymbols>> files; // of each mapping; nullptr: no file
  };

  // Whether C++ names are shown as they are written.
  void set_demangle(bool on) { demangle_ = on; }
  // What holds the address; views live until the next call.
  Found find(pid_t pid, uint64_t address);
  // The process is alive and has code at the address: what names it is read while it can be. Address 0: it
  // begins to run, its libraries are not there yet.
  void seen(pid_t pid, uint64_t address);

private:
  using Clock = std::chrono::steady_clock;

  struct File {
    uint64_t device = 0, inode = 0;
    int64_t size = 0;
    timespec changed = {};
    bool operator<(const File& o) const;
  };
  struct Process {
    std::vector<Snapshot> snapshots; // the newest last
    bool begins = false;             // that is from the begin of the process
    Clock::time_point read;
    // Code without a file.
    std::string perf_path;
    int64_t perf_size = -1;
    FunctionTable perf;
    Clock::time_point perf_read;
  };

  Process& process(pid_t pid);
  void look(pid_t pid, Process& p);
  std::shared_ptr<ElfSymbols> open(pid_t pid, const Mapping& m);
  Found find_in_perf_map(pid_t pid, Process& p, uint64_t address);
  std::string_view shown(std::string_view name);

  bool demangle_ = true;
  std::unordered_map<pid_t, Process> processes_;
  std::map<File, std::weak_ptr<ElfSymbols>> files_;
  std::shared_ptr<ElfSymbols> vdso_;
  std::unordered_map<std::string, std::string> demangled_;
};

} // namespace symbol
