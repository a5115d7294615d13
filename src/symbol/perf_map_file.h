// Names that a program gives the code it makes while it runs: /tmp/perf-PID.map, as perf reads it. A line is
// `START SIZE NAME`, both numbers hexadecimal; the name may hold blanks. The program goes on writing, so what
// was appended is read when an address is asked for that is not known; lines that are not complete yet are
// left for then.
//
// The file belongs to someone else: it is read in pieces, never mapped, and a name is read, and its line
// compared, when it is asked for.
#pragma once

#include "base/fd.h"
#include "symbol/jit_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace symbol {

struct JitFunction {
  std::string_view name; // ends with a NUL
  uint64_t start = 0, size = 0;
  uint64_t place = 0; // in the file
};

class PerfMapFile {
public:
  explicit PerfMapFile(base::Fd fd) : fd_(std::move(fd)) {}
  // Views live as long as this, or until the file was written anew. Reads what was appended if it is not
  // known yet.
  std::optional<JitFunction> find(uint64_t address);
  size_t size(); // functions known; reads what there is

private:
  bool read_appended();
  std::string_view name_at(const JitTable::Function& function);

  base::Fd fd_;
  uint64_t read_ = 0; // so many bytes of the file are in the table
  JitTable table_;
  std::unordered_map<uint64_t, std::string> names_; // by place
};

} // namespace symbol
