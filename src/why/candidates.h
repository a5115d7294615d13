// Processes that a question names by a container or a name, and which one of them it is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace why {

// By the name that the kernel has (comm); without acu itself.
std::vector<int> processes_called(std::string_view name);
// In a control group and those below it; `folder`: its directory.
std::vector<int> processes_in(const std::string& folder);

// The one whose threads run or wait for a CPU most, looked at for 0.2 s; if none does, the one that has most in all its life. There is at least one.
int busiest_of(const std::vector<int>& pids);

} // namespace why
