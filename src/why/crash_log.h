// What the kernel's log says of processes that a fault of the processor ended (show_signal_msg() of arch/x86/mm/fault.c, show_signal() of arch/x86/kernel/traps.c).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace why {

struct LoggedCrash {
  uint64_t pid = 0;
  std::string name, signal; // "SIGSEGV"
  std::string reason;       // as the kernel calls it: "segfault", "divide error", …
  uint64_t address = 0;     // that was accessed; only of a segfault
  std::string code;         // where it ran: "libc.so.6+0x1234"; empty: not known
};

// A line of the log, without its time; nothing: it is about something else.
std::optional<LoggedCrash> read_crash(std::string_view line);

} // namespace why
