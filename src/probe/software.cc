// software:EVENT[:COUNT]: each COUNT-th of perf's software events.
#include "probe/kinds.h"

#include <linux/perf_event.h>

namespace probe {

static constexpr Counted software_events[] = {
    {"alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
    {"bpf-output", "", PERF_COUNT_SW_BPF_OUTPUT, 1},
    {"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000},
    {"cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1'000'000},
    {"cpu-migrations", "", PERF_COUNT_SW_CPU_MIGRATIONS, 1},
    {"dummy", "", PERF_COUNT_SW_DUMMY, 1},
    {"emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS, 1},
    {"major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
    {"minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, 100},
    {"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100},
    {"task-clock", "", PERF_COUNT_SW_TASK_CLOCK, 1'000'000},
};

static std::vector<Event> match_software(Machine&, Parts parts, Mismatch& mismatch) {
  return match_counted(Kind::software, "software", software_events, parts, mismatch);
}

static void list_software(Machine&, std::vector<Event>& to) {
  list_counted(Kind::software, "software", software_events, to);
}

static Context choose_software(Machine&, const Event&, Fields) { return Context::perf_event; }

static base::Result<Attachment> attach_software(const Event& event, Context, int program_fd,
                                                const AttachOptions& options) {
  Sampling sampling{.type = PERF_TYPE_SOFTWARE, .config = event.perf_config, .period = event.sample_period};
  return attach_sampling(event, sampling, program_fd, options);
}

constinit const KindFunctions software_kind{
    .match = match_software,
    .list = list_software,
    .choose_context = choose_software,
    .attach = attach_software,
};

} // namespace probe
