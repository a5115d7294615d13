// Which files and functions of two recordings are the same although their paths and versions differ: two releases in two
// folders, a canary, containers, a library that was updated.
#pragma once

#include "profile/profile.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profile {

class Matching {
public:
  Matching(const Profile& a, const Profile& b);
  // The path under which a file stands for itself and its counterparts: as in B, if it is there. One path may be of two files.
  std::string_view file_of_a(std::string_view path) const { return in(files_of_a_, path); }
  std::string_view file_of_b(std::string_view path) const { return in(files_of_b_, path); }
  // The same for the name of a process.
  std::string_view process(std::string_view name) const { return in(processes_, name); }
  // Files that were taken for the same although their paths differ: as in A, as in B.
  const std::vector<std::pair<std::string, std::string>>& renamed() const { return renamed_; }

private:
  struct Group;
  using Names = std::map<std::string, std::string, std::less<>>; // what is not in it keeps its name
  static std::string_view in(const Names& names, std::string_view name);
  void join(Group& group);
  Names files_of_a_, files_of_b_, processes_;
  std::vector<std::pair<std::string, std::string>> renamed_;
};

// "libfoo.so" of "libfoo.so.1.2", "libc.so" of "libc-2.36.so", "app" of "app-1.2".
std::string without_version(std::string_view name);
// The function of which compilers made this copy: "parse" of "parse.constprop.0" and "parse [clone .cold]".
std::string_view function_of_copy(std::string_view name);

} // namespace profile
