// The processors of this machine, as the kernel numbers them. Per-CPU values of maps have a part for each
// possible processor (also those that are switched off); events are opened on the online ones.
// Source: /sys/devices/system/cpu/{possible,online}, lists such as "0-3,6" (kernel: lib/bitmap.c, %*pbl).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bpf {

// Number of possible processors: at least 1. Read once.
uint32_t possible_cpus();

// Numbers of the processors that are online, ascending.
std::vector<int> online_cpus();

// "0-3,6\n" -> 0 1 2 3 6. What cannot be read ends the list.
std::vector<int> parse_cpu_list(std::string_view text);

} // namespace bpf
