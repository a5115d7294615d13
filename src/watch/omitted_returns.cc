#include "watch/omitted_returns.h"

#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <set>
#include <string_view>
#include <unistd.h>

namespace watch {

static constexpr int most_records = 1 << 16; // read at the end; all that the kernel may have kept
static constexpr size_t most_named = 4;

OmittedReturns::OmittedReturns() : log_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (log_.valid() && ::lseek(log_.get(), 0, SEEK_END) < 0) log_.reset();
}

// "… omit uretprobe due to nestedness limit pid/tgid=3175/3174"
static std::optional<uint64_t> process_of(std::string_view record) {
  if (record.find("uprobe: omit uretprobe") == record.npos) return {};
  size_t at = record.find("pid/tgid=");
  at = at == record.npos ? at : record.find('/', at + sizeof "pid/tgid=" - 1);
  if (at == record.npos) return {};
  std::string_view number = record.substr(at + 1);
  return base::parse_integer(number.substr(0, number.find_first_not_of("0123456789")));
}

std::string OmittedReturns::told() {
  std::set<uint64_t> processes;
  char record[8192];
  for (int i = 0; log_.valid() && i < most_records; i++) {
    ssize_t size = ::read(log_.get(), record, sizeof record);
    if (size < 0 && (errno == EPIPE || errno == EINTR)) continue; // some were overwritten meanwhile
    if (size <= 0) break;
    if (auto p = process_of({record, static_cast<size_t>(size)})) processes.insert(*p);
  }
  if (processes.empty()) return {};
  std::string names;
  size_t named = 0;
  for (uint64_t p : processes)
    if (named++ < most_named) names += (names.empty() ? "" : ", ") + std::to_string(p);
  return "WARNING: returns of deeply recursive functions are missing: the kernel tracks 64 nested calls per thread, and " +
         std::string(processes.size() == 1 ? "process " : "processes ") + names + (processes.size() > most_named ? ", …" : "") + " had more.\n";
}

} // namespace watch
