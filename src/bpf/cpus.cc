// Lists of processors from sysfs. Where sysfs is not mounted, the C library's own count stands in.
#include "bpf/cpus.h"

#include "base/fd.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>

namespace bpf {
namespace {

std::vector<int> read_list(const char* path) {
  base::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[4096];
  ssize_t n = file.valid() ? ::read(file.get(), text, sizeof text) : -1;
  return n > 0 ? parse_cpu_list({text, static_cast<size_t>(n)}) : std::vector<int>{};
}

std::vector<int> first_cpus(long count) {
  std::vector<int> cpus;
  for (int i = 0; i < std::max(count, 1L); i++) cpus.push_back(i);
  return cpus;
}

} // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int limit = 1 << 16; // more than any kernel is built for
  std::vector<int> cpus;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int first = 0;
    auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc()) break;
    int last = first;
    if (number.ptr < end && *number.ptr == '-') {
      number = std::from_chars(number.ptr + 1, end, last);
      if (number.ec != std::errc()) break;
    }
    if (first < 0 || last >= limit) break;
    for (int cpu = first; cpu <= last; cpu++) cpus.push_back(cpu);
    at = number.ptr;
    if (at >= end || *at != ',') break;
    at++;
  }
  return cpus;
}

uint32_t possible_cpus() {
  static const uint32_t count = [] {
    auto cpus = read_list("/sys/devices/system/cpu/possible");
    if (cpus.empty()) cpus = first_cpus(::sysconf(_SC_NPROCESSORS_CONF));
    return static_cast<uint32_t>(cpus.size());
  }();
  return count;
}

std::vector<int> online_cpus() {
  auto cpus = read_list("/sys/devices/system/cpu/online");
  return cpus.empty() ? first_cpus(::sysconf(_SC_NPROCESSORS_ONLN)) : cpus;
}

} // namespace bpf
