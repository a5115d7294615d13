// The files that user probes were put into, watched while a script runs. The kernel keeps probes with the
// file itself (its inode), not with its name: after an upgrade or a rebuild another file lies under the name,
// and processes that start from then on run code without probes. Worse is a file that is written to in its
// place: the probes then stand in code that they were not made for.
#pragma once

#include "base/fd.h"
#include "base/file_map.h"

#include <cstdint>
#include <string>
#include <vector>

namespace watch {

class ProbedFiles {
public:
  struct Change {
    enum Kind : uint8_t {
      written,  // somebody began to write to the file itself
      replaced, // what lies under the name now is complete, and other than what was probed
    } kind = replaced;
    std::string path;
  };

  // Watches one more file; `id` is of what was probed. Failure: the kernel has no more room for watches.
  base::Status add(const std::string& path, const base::FileId& id);
  bool empty() const { return files_.empty(); }
  // Readable when something may have happened; -1: nothing is watched.
  int wait_fd() const { return notify_.get(); }
  // When to ask again although nothing happened (CLOCK_MONOTONIC, in ns): a file that is being written is not
  // looked at before it rests. 0: never.
  uint64_t next_look() const;
  std::vector<Change> take();

private:
  struct File {
    std::string path;
    base::FileId id;
    int watch = -1;    // of the file under the name
    bool told = false; // that it is written to
    uint64_t look = 0; // when to look at it
  };
  struct Place { // where the name, or what a link of that name leads to, stands
    int folder;
    std::string name;
    size_t file;
  };
  base::Status watch_folder(size_t file, const std::string& path);
  void watch_file(File& file);
  void happened(int watch, uint32_t what, std::string_view name, std::vector<Change>& changes);
  bool look_at(File& file);

  base::Fd notify_;
  std::vector<File> files_;
  std::vector<Place> places_;
};

} // namespace watch
