// What /proc tells of one process, read when it is worth mention: control group, open descriptors, language runtime, name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace proc {

// The path from the root of the hierarchy, "/" is the root itself: of version 2, or, where that is mounted for other things, of the CPU controller of
// version 1. Empty: the text has none.
std::string cgroup_of(std::string_view cgroup_file);
std::string cgroup_of_process(int pid);
// Open file descriptors; 0: the process has ended.
uint64_t open_descriptors(int pid);
// By the name of a mapped file: "java" of libjvm.so, "python" of libpython3.11.so.1.0 and python3.11; empty: it belongs to no runtime.
std::string_view language_of_file(std::string_view path);
// Language runtimes in processes. Each executable is looked at once.
class Languages {
public:
  // Empty: none is known.
  std::string of_process(int pid);

private:
  std::map<std::pair<uint64_t, uint64_t>, std::string> of_executables_; // by device and inode
};
// Its name (comm); empty: it has ended.
std::string name_of_process(int pid);

} // namespace proc
