// The measurement `kernel-log`: processes that the kernel killed for lack of memory, as far back as its log reaches.
#include "why/instruments.h"

#include "base/privilege.h"
#include "proc/text.h"
#include "why/kernel_log.h"
#include "why/oom_report.h"

#include <unistd.h>

namespace why {

namespace {

constexpr size_t most_facts = 16; // the last ones

class KernelLogInstrument final : public Instrument {
public:
  base::Status prepare(const session::Options&) override {
    if (!base::is_accessible("/dev/kmsg", R_OK)) return base::Error{base::Failure::permission, "the kernel's log (/dev/kmsg) cannot be read"};
    return {};
  }
  // Of kills in the interval, too, it has all there is to say.
  base::Result<std::vector<Fact>> end(uint64_t) override {
    OomReports reports(static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
    for (const LogLine& line : read_kernel_log()) reports.add(line.text);
    const uint64_t total = proc::read_named_numbers(proc::text_of("/proc/meminfo")).get("MemTotal");
    const std::vector<OomKill>& kills = reports.kills();
    std::vector<Fact> out;
    for (size_t i = kills.size() > most_facts ? kills.size() - most_facts : 0; i < kills.size(); i++) {
      const OomKill& k = kills[i];
      out.push_back({.kind = find_fact_kind("oom-kill"),
                     .slots = {{"victim", static_cast<int64_t>(k.victim)},
                               {"name", k.name},
                               {"cgroup", k.cgroup},
                               {"limit", static_cast<int64_t>(k.cgroup == "/" ? total : k.limit)},
                               {"rss", static_cast<int64_t>(k.rss)},
                               {"largest", k.largest},
                               {"largest_pid", static_cast<int64_t>(k.largest_pid)},
                               {"largest_rss", static_cast<int64_t>(k.largest_rss)}},
                     .measurement = "kernel-log"});
    }
    return out;
  }
};

} // namespace

std::unique_ptr<Instrument> make_kernel_log_instrument(const Subject&) { return std::make_unique<KernelLogInstrument>(); }

} // namespace why
