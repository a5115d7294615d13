// Code that a program made while it runs, as a jitdump file (jit-PID.dump) tells it: names, and lines of the
// source. Specification: the Linux kernel's tools/perf/Documentation/jitdump-specification.txt, version 1.
//
//   header  {u32 magic "JiTD", version, bytes of the header, ELF machine, 0, pid; u64 time, flags}
//   record  {u32 id, bytes of the record; u64 time} and by id:
//     0 load   {u32 pid, tid; u64 vma, address, bytes of code, index} name NUL, code
//     1 move   {u32 pid, tid; u64 vma, old address, new address, bytes, index}
//     2 lines  {u64 address of the code, count} count times {u64 address; u32 line, discriminator} file NUL
//     others are passed over
//
// The lines of a function come before it is loaded. The program goes on writing, so what was appended is read
// when an address is asked for that is not known.
#pragma once

#include "base/reader.h"
#include "symbol/perf_map_file.h"

#include <vector>

namespace symbol {

class JitDump {
public:
  explicit JitDump(base::Fd fd) : fd_(std::move(fd)) {}

  struct Line {
    std::string file;
    uint32_t line = 0; // 0: not known
  };
  // Views live as long as this.
  std::optional<JitFunction> find(uint64_t address);
  // Where in the source an address of a function is, if it was told.
  Line line(const JitFunction& function, uint64_t address) const;
  size_t size(); // functions known; reads what there is

private:
  bool read_appended();
  void take_record(uint64_t at, uint32_t id, base::ByteSpan head);
  uint64_t load_of(uint64_t place) const;
  std::string_view name_at(uint64_t place);

  base::Fd fd_;
  uint64_t read_ = 0;
  JitTable table_;
  std::unordered_map<uint64_t, std::string> names_;  // by place of the record that loads
  std::unordered_map<uint64_t, uint64_t> loads_;     // place of the last load of an index of code
  std::unordered_map<uint64_t, uint64_t> moves_;     // place of a move: that of what it moved
  std::unordered_map<uint64_t, uint64_t> lines_;     // place of a load: that of its lines
  uint64_t next_lines_ = 0, next_lines_address_ = 0; // of the function to come; 0: none
};

} // namespace symbol
