// What all processes of the machine have mapped as code, each file once: for probes that are looked for
// everywhere. A file is the one that a process has, also where another one lies under its name by now, or for
// us (containers).
#include "symbol/binaries.h"

#include "symbol/process_map.h"

#include <cstdio>
#include <set>

namespace symbol {

// The file of a mapping: by its path where that leads to it, else as the process sees it, else by the
// mapping.
Binary* Binaries::open_running(pid_t pid, const Mapping& mapping) {
  std::string process = "/proc/" + std::to_string(pid);
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%lx-%lx", mapping.begin, mapping.end);
  const BinaryPlace places[] = {
      {.name = mapping.path, .path = mapping.path, .search = search_below({})},
      {.name = process + "/root" + mapping.path, .path = mapping.path, .search = search_below(process + "/root")},
      {.name = process + range, .path = process + range, .search = search_below({})},
  };
  for (const BinaryPlace& place : places) {
    auto binary = open(place);
    if (binary.ok() && (*binary)->file().id().inode == mapping.inode) return *binary;
  }
  return nullptr;
}

std::vector<Binary*> Binaries::find_running() {
  std::vector<Binary*> out;
  std::set<std::pair<uint64_t, uint64_t>> seen; // device and inode
  for (uint32_t process : all_processes()) {
    const auto pid = static_cast<pid_t>(process);
    for (const Mapping& m : read_process_map(pid)) {
      if (!m.is_file() || !seen.insert({m.device, m.inode}).second) continue;
      if (Binary* binary = open_running(pid, m)) out.push_back(binary);
    }
  }
  return out;
}

} // namespace symbol
