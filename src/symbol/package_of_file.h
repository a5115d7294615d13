// The package a file was installed by, as the package manager of Debian and its relatives keeps it on disk: a
// list of paths for each package, /var/lib/dpkg/info/NAME[:ARCHITECTURE].list.
#pragma once

#include <string>
#include <string_view>

namespace symbol {

// "coreutils"; empty: not known. Reads all lists, which takes some 10 ms: for messages.
std::string package_of_file(std::string_view path, const std::string& lists = "/var/lib/dpkg/info");

} // namespace symbol
