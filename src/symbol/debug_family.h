// The debug information of a program together with the files that belong to it: the one that several debug
// files share (dwz), and split units, in one package or each in a file of its own. They are looked for when
// an entry first leads there.
#pragma once

#include "dwarf/debug_info.h"
#include "dwarf/type_search.h"
#include "symbol/debug_files.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace symbol {

class DebugFamily {
public:
  // `file` has the debug information: the program itself, or debug.debug.file. `path` is that of the program,
  // as seen in search.root. All must outlive this.
  DebugFamily(const format::ElfFile& file, const DebugFile& debug, const std::string& path,
              const DebugSearch& search, bool with_locations = false);
  DebugFamily(const DebugFamily&) = delete;

  dwarf::DebugInfo& info() { return info_; }
  const format::ElfFile& file() const { return file_; }
  // All files there are, in the order that an index wants them (dwarf::index_main, …); nullptr: no such file.
  // Looks for all split units.
  const std::vector<const format::ElfFile*>& files();
  // The same ones opened.
  const dwarf::IndexedFiles& infos();

private:
  // A further file, open as long as this.
  struct Member {
    Member(format::ElfFile from, bool with_locations);
    format::ElfFile file;
    dwarf::DebugInfo info;
  };
  dwarf::DebugInfo* alternate();
  dwarf::DebugInfo* split(const dwarf::Unit& skeleton);
  std::unique_ptr<Member> open(FoundFile found) const;
  void find_all();

  const format::ElfFile& file_;
  const DebugFile& debug_;
  const std::string& path_;
  const DebugSearch& search_;
  const bool with_locations_;
  dwarf::DebugInfo info_;
  std::optional<dwarf::DebugInfo> alternate_;
  bool looked_for_package_ = false, found_all_ = false;
  std::unique_ptr<Member> package_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Member>> units_; // by folder and name
  std::vector<const format::ElfFile*> files_;
  dwarf::IndexedFiles infos_;
};

} // namespace symbol
