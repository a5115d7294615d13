// Numbers of CPUs, from sysfs. Where sysfs is not mounted, the C library's own counts stand in.
#include "host/cpus.h"

#include "base/fd.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>

namespace host {

namespace {

struct Cpus {
  uint32_t count = 0, end = 0;
};

Cpus read_cpus(std::string_view list) {
  constexpr uint32_t limit = 1 << 16; // more than any kernel is built for
  Cpus out;
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
    out.count += last - first + 1;
    out.end = std::max(out.end, last + 1);
    at = number.ptr;
    if (at >= end || *at != ',') break;
    at++;
  }
  return out;
}

Cpus cpus_in(const char* path) {
  base::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t n = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
  return n > 0 ? read_cpus({text, static_cast<size_t>(n)}) : Cpus();
}

uint32_t counted(int what) { return static_cast<uint32_t>(std::max(::sysconf(what), 1L)); }

} // namespace

uint32_t count_cpus(std::string_view list) { return read_cpus(list).count; }
uint32_t end_of_cpus(std::string_view list) { return read_cpus(list).end; }

uint32_t possible_cpus() {
  static const uint32_t count = [] {
    const uint32_t cpus = cpus_in("/sys/devices/system/cpu/possible").count;
    return cpus ? cpus : counted(_SC_NPROCESSORS_CONF);
  }();
  return count;
}

uint32_t online_cpus() {
  const uint32_t end = cpus_in("/sys/devices/system/cpu/online").end;
  return std::min(end ? end : counted(_SC_NPROCESSORS_ONLN), possible_cpus());
}

} // namespace host
