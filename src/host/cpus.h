// The number of CPUs, as the kernel numbers them: per-CPU values of maps have a part for each possible CPU, also for
// those that are switched off.
// Source: /sys/devices/system/cpu/possible, a list such as "0-3,6" (kernel: lib/bitmap.c, %*pbl).
#pragma once

#include <cstdint>
#include <string_view>

namespace host {

// Of this host, at least 1. Read once.
uint32_t possible_cpus();
// The highest number of a CPU that is online now, plus 1: a virtual machine may be able to get many more. At most possible_cpus().
uint32_t online_cpus();

// How many CPUs a list names, and the highest number plus 1: "0-3,6\n" -> 5 and 7. What cannot be read ends the list.
uint32_t count_cpus(std::string_view list);
uint32_t end_of_cpus(std::string_view list);

} // namespace host
