// Lines of /proc/PID/status (proc_pid_status(5)), each "Name:\tvalue".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace base {

// The value of a line of such a text, without the blanks around it; empty: there is no such line.
std::string_view status_line(std::string_view status, std::string_view name);
// The same of a process or thread as it is now; empty also: it has ended.
std::string status_of(pid_t id, std::string_view name);
// The process that a thread belongs to; nothing: it has ended.
std::optional<pid_t> process_of_thread(pid_t thread);

} // namespace base
