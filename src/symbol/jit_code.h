// Code that a process made while it runs, by the files in which the process tells the names (perf_map_file.h,
// jitdump.h). Where they will be and whose they must be is noted while the process lives: some write them
// only when they end.
//
// Anybody may write where such files lie. They are looked for in the root folder of the process, under the id
// that it has in its own namespace, through no symbolic link; read are regular files that belong to its user
// or to root.
#pragma once

#include "base/fd.h"
#include "symbol/jitdump.h"
#include "symbol/perf_map_file.h"

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace symbol {

// A regular file that belongs to one of the users, or to root; `path` is taken from the folder `root` on, and
// leads nowhere else. Not valid: there is none.
base::Fd open_in_root(int root, const std::string& path, const std::vector<uid_t>& users);

// Whether a mapped file of this path is a jitdump: mapping it is how a program tells of it.
bool is_jitdump(std::string_view path);

class JitCode {
public:
  struct Found {
    std::string_view name;
    uint64_t offset = 0;
    std::string_view file; // as the process sees it
  };
  // nullptr: the process is gone, or may not be looked at.
  static std::unique_ptr<JitCode> of(pid_t pid);
  void add_dump(const std::string& path);
  // Views live until the next call. Reads what was written since; looks for files that were not there not
  // more often than each 100 ms.
  std::optional<Found> find(uint64_t address);
  // Where in a source the code at an address comes from, as jitdumps tell.
  JitDump::Line line(uint64_t address);

private:
  struct File {
    std::string path;
    bool is_dump = false;
    uint64_t inode = 0; // of the open one
    std::unique_ptr<PerfMapFile> map;
    std::unique_ptr<JitDump> dump;
  };
  void open_new();

  base::Fd root_;
  base::Fd maps_; // the folder of perf maps: what is mounted there is out of reach by the root when its namespace is gone
  std::vector<uid_t> users_;
  std::vector<File> files_;
  uint64_t looked_ = 0;
};

} // namespace symbol
