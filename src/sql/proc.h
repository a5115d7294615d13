// Processes of /proc, as tables go through them.
#pragma once

#include "sql/table.h"

#include <functional>
#include <string>
#include <vector>

namespace sql {

// Entries of a folder whose names are numbers, in order; of a folder that is gone, none.
std::vector<int> numbers_in(const std::string& folder);
// Those of the query: of its condition on `pid`, or all. Ends early when the query does.
void for_each_process(const Request& request, const std::function<void(int pid, const std::string& folder)>& take);
// An argument names a process that is not there.
base::Error no_process(std::string_view process);
// Of /proc/PID/syscall; nothing: it is in none, or must not be known.
std::optional<std::string> system_call_name(const std::string& text);

} // namespace sql
