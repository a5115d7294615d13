// Places of functions and static probes in the files that a process has mapped, for probes of scripts (session::BuiltinScript::set_places). Which of the files have
// them is found when the script is compiled: it ignores probes that are missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace why {

class MappedFiles {
public:
  explicit MappedFiles(int pid);
  bool has(std::string_view part) const; // a file with this in its name
  // `what`: "malloc", "python:gc__start"; in files with `part` in their names. Empty: there are no such files, or `what` is empty; the probe is left
  // out then.
  std::string places(std::string_view provider, std::string_view part, std::string_view what) const;

private:
  std::vector<std::string> paths_;
};

} // namespace why
