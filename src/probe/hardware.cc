// hardware:EVENT[:COUNT]: each COUNT-th event of the processor's counters. Whether there are any is known only
// when a probe is attached: virtual machines often have none.
#include "probe/kinds.h"

#include <linux/perf_event.h>

namespace probe {

static constexpr Counted hardware_events[] = {
    {"backend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1'000'000},
    {"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100'000},
    {"branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES, 100'000},
    {"bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES, 100'000},
    {"cache-misses", "", PERF_COUNT_HW_CACHE_MISSES, 1'000'000},
    {"cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES, 1'000'000},
    {"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1'000'000},
    {"frontend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1'000'000},
    {"instructions", "", PERF_COUNT_HW_INSTRUCTIONS, 1'000'000},
    {"ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES, 1'000'000},
};

static std::vector<Event> match_hardware(Machine&, Parts parts, Mismatch& mismatch) {
  return match_counted(Kind::hardware, "hardware", hardware_events, parts, mismatch);
}

static void list_hardware(Machine&, std::vector<Event>& to) {
  list_counted(Kind::hardware, "hardware", hardware_events, to);
}

static Context choose_hardware(Machine&, const Event&, Fields) { return Context::perf_event; }

static base::Result<Attachment> attach_hardware(const Event& event, Context, int program_fd,
                                                const AttachOptions& options) {
  Sampling sampling{.type = PERF_TYPE_HARDWARE, .config = event.perf_config, .period = event.sample_period};
  auto attached = attach_sampling(event, sampling, program_fd, options);
  if (!attached.ok() && attached.error().kind != base::Failure::permission)
    attached.error().message += " (a machine without this counter? virtual machines often have none)";
  return attached;
}

constinit const KindFunctions hardware_kind{
    .match = match_hardware,
    .list = list_hardware,
    .choose_context = choose_hardware,
    .attach = attach_hardware,
};

} // namespace probe
