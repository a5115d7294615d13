// What is mapped where in a process: /proc/PID/maps, see proc(5). A line is
//
//   7f0e1c228000-7f0e1c3bd000 r-xp 00028000 08:01 1443                       /usr/lib/libc.so.6
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace symbol {

struct Mapping {
  uint64_t begin = 0, end = 0;    // addresses
  uint64_t offset = 0;            // of `begin` in the file
  uint64_t device = 0, inode = 0; // of the file, as stat(2) packs devices; 0: no file
  std::string path;               // as the process sees it; "[vdso]"; empty for memory that is no file
  bool deleted = false;           // the file has no name any more
  bool may_be_executed = false;
  bool is_file() const { return !path.empty() && path[0] == '/'; }
};

enum class MappingsOf : uint8_t { code, all }; // code: what may be executed

// Mappings in the order of their addresses. Lines that are none are passed over.
std::vector<Mapping> parse_process_map(std::string_view text, MappingsOf which = MappingsOf::code);

// Empty when there is no such process any more, or it may not be looked at.
std::vector<Mapping> read_process_map(pid_t pid, MappingsOf which = MappingsOf::code);

// The processes that run, by their numbers in the /proc of acu; empty where there is none.
std::vector<uint32_t> all_processes();

// The mapping that holds the address, or nullptr.
const Mapping* find_mapping(const std::vector<Mapping>& map, uint64_t address);

} // namespace symbol
