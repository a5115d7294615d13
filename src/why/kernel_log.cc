#include "why/kernel_log.h"

#include "base/fd.h"
#include "base/text.h"
#include "proc/text.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace why {

// Each read gives one record: "priority,sequence,microseconds,flags;text", with lines of details behind it (Documentation/ABI/testing/dev-kmsg).
std::vector<LogLine> read_kernel_log() {
  std::vector<LogLine> out;
  const base::Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.valid()) return out;
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now); // the log's own clock is close to it
  const uint64_t now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  std::array<char, 8192> record;
  for (;;) {
    const ssize_t n = ::read(log.get(), record.data(), record.size());
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue; // older records were overwritten meanwhile
    if (n <= 0) return out;
    const std::string_view text(record.data(), static_cast<size_t>(n));
    const size_t begin = text.find(';');
    if (begin == text.npos) continue;
    const std::vector<std::string_view> head = base::split(text.substr(0, begin), ',');
    const uint64_t written_ns = head.size() > 2 ? proc::decimal(head[2]).value_or(0) * 1000 : 0;
    out.push_back({.age_ns = proc::growth(written_ns, now_ns), .text = std::string(text.substr(begin + 1, text.find('\n', begin) - begin - 1))});
  }
}

} // namespace why
