#include "why/kernel_log.h"

#include "base/fd.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace why {

// Each read gives one record: "priority,sequence,microseconds,flags;text", with lines of details behind it (Documentation/ABI/testing/dev-kmsg).
std::vector<std::string> read_kernel_log() {
  std::vector<std::string> out;
  const base::Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.valid()) return out;
  std::array<char, 8192> record;
  for (;;) {
    const ssize_t n = ::read(log.get(), record.data(), record.size());
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue; // older records were overwritten meanwhile
    if (n <= 0) return out;
    const std::string_view text(record.data(), static_cast<size_t>(n));
    const size_t begin = text.find(';');
    if (begin != text.npos) out.emplace_back(text.substr(begin + 1, text.find('\n', begin) - begin - 1));
  }
}

} // namespace why
