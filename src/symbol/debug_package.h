// Which package would bring the debug information of a file: what the distribution of its root folder calls
// it, and the command that installs it. Debian and its kin name packages of debug information after the
// package that owns the file, which dpkg's lists tell; those of rpm are found by build-id. See os-release(5),
// dpkg-query(1).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace symbol {

struct CodeFile {
  std::string path;     // as seen in the root
  std::string build_id; // as hexadecimal digits; empty: it has none
};

// For each file, whose debug information was not found, one line such as "apt install libc6-dbg"; empty where nothing is known. `root` as in
// DebugSearch. Reads the lists of all packages: tens of milliseconds, for questions of people only.
std::vector<std::string> debug_packages(std::span<const CodeFile> files, const std::string& root = {});

} // namespace symbol
