// The number of possible CPUs, from sysfs. Where sysfs is not mounted, the C library's own count stands
// in.
#include "host/cpus.h"

#include "base/fd.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>

namespace host {

uint32_t count_cpus(std::string_view list) {
  constexpr uint32_t limit = 1 << 16; // more than any kernel is built for
  uint32_t count = 0;
  const char* at = list.data();
  const char* end = at + list.size();
  while (at < end) {
    uint32_t first = 0;
    auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc()) break;
    uint32_t last = first;
    if (number.ptr < end && *number.ptr == '-') {
      number = std::from_chars(number.ptr + 1, end, last);
      if (number.ec != std::errc()) break;
    }
    if (last < first || last >= limit) break;
    count += last - first + 1;
    at = number.ptr;
    if (at >= end || *at != ',') break;
    at++;
  }
  return count;
}

uint32_t possible_cpus() {
  static const uint32_t count = [] {
    base::Fd file(::open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC));
    char text[4096];
    ssize_t n = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
    uint32_t cpus = n > 0 ? count_cpus({text, static_cast<size_t>(n)}) : 0;
    return cpus ? cpus : static_cast<uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L));
  }();
  return count;
}

} // namespace host
