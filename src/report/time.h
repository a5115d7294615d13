// Points in time as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace report {

// strftime(3) in the local time zone, and %f for microseconds (six digits). `wall_ns`: nanoseconds since
// 1970.
std::string format_time(std::string_view format, int64_t wall_ns);
// CLOCK_REALTIME.
int64_t wall_now_ns();

} // namespace report
