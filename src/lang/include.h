// The files of a script beside itself: headers that it includes, scripts that it imports. Finds them as a C
// compiler does, reads each once, and adds them to the Source so that places in them can be told.
#pragma once

#include "base/arena.h"
#include "base/result.h"
#include "base/source.h"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lang {

struct SourceFile {
  std::string path; // as shown
  std::string_view text;
  uint32_t begin = 0;     // in the Source
  bool is_system = false; // found in a folder of the system: its mistakes are not the user's
  size_t folder = 0;      // of the search path, for #include_next
  // Nothing of it is read again while this macro is defined, or at all.
  std::string_view guard;
  bool is_once = false;
};

class Files {
public:
  Files(base::Source& source, base::Arena& arena, const std::vector<std::string>& include_dirs);
  SourceFile* script() { return &script_; }

  // #include "name", <name>. nullptr: there is none; an error: it can't be read.
  base::Result<SourceFile*> header(const std::string& name, bool quoted, const SourceFile& from);
  base::Result<SourceFile*> next_header(const std::string& name, const SourceFile& from);
  // import "name": a file, or all *.h and then *.bt of a folder in the order of their names; none: there is no such thing.
  base::Result<std::vector<SourceFile*>> import(const std::string& name, const SourceFile& from);
  // A script that acu brings along: one file, however often it is imported.
  SourceFile* own(const std::string& name, std::string_view text);
  // Text that stands in no file.
  SourceFile* add(std::string name, std::string_view text);

private:
  struct Folder {
    std::string path;
    bool is_system;
  };
  void find_folders();
  base::Result<SourceFile*> search(const std::string& name, size_t first_folder);
  base::Result<SourceFile*> read(const std::string& path, bool is_system, size_t folder);
  base::Result<std::vector<SourceFile*>> read_folder(const std::string& path);

  base::Source& source_;
  base::Arena& arena_;
  const std::vector<std::string>& include_dirs_;
  SourceFile script_;
  std::vector<Folder> folders_; // found out at the first #include
  std::deque<SourceFile> files_;
  // By device and inode, so that a file is one however it is named; those that acu brings along by their
  // names.
  std::map<std::pair<uint64_t, uint64_t>, SourceFile*> read_;
  std::unordered_map<std::string, SourceFile*> builtin_;
};

} // namespace lang
