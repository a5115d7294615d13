// The processors of this machine, as the kernel numbers them. Per-CPU values of maps have a part for each
// possible processor (also those that are switched off); events are opened on the online ones.
// Source: /sys/devices/system/cpu/{possible,online}, lists such as "0-3,6" (kernel: lib/bitmap.c, %*pbl).
#pragma once

#include "probe/attach.h"

#include <cstdint>
#include <string_view>

namespace bpf {

// Number of possible processors: at least 1. Read once.
uint32_t possible_cpus();
using probe::online_cpus;

// How many processors a list names: "0-3,6\n" -> 5. What cannot be read ends the list.
uint32_t count_cpus(std::string_view list);

} // namespace bpf
