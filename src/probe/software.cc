// software:EVENT[:COUNT]: each COUNT-th of perf's software events. Without a count each event has a default,
// one that keeps the cost low for those that happen often.
#include "probe/kinds.h"

#include "base/text.h"

#include <linux/perf_event.h>

namespace probe {

namespace {

struct Software {
  std::string_view name, alias;
  uint32_t config;
  uint64_t period;
};
constexpr Software software_events[] = {
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

Event software_event(const Software& row) {
  Event e{.kind = Kind::software, .name = "software:" + std::string(row.name) + ":", .provider = "software"};
  e.event = row.name;
  e.perf_config = row.config;
  e.sample_period = row.period;
  return e;
}

std::vector<Event> match_software(Machine&, Parts parts, Mismatch& mismatch) {
  if (parts.size() < 2 || parts.size() > 3 || parts[1].empty())
    return malformed(mismatch, "software", "`" + join(parts) + "` does not name a software event");
  const Software* row = nullptr;
  std::vector<std::string_view> names;
  for (const Software& s : software_events) {
    if (parts[1] == s.name || (!s.alias.empty() && parts[1] == s.alias)) row = &s;
    names.push_back(s.name);
    if (!s.alias.empty()) names.push_back(s.alias);
  }
  if (!row) {
    mismatch = {Mismatch::missing, "there is no software event `" + std::string(parts[1]) + "`", ""};
    if (std::string_view near = base::nearest(parts[1], names); !near.empty())
      mismatch.hint = "did you mean `software:" + std::string(near) + "`?";
    else
      mismatch.hint = "`acu list 'software:*'` shows them all";
    return {};
  }
  Event e = software_event(*row);
  e.name = "software:" + join(parts.subspan(1));
  if (parts.size() == 3 && !parts[2].empty()) { // `software:faults:` leaves the default
    auto count = parse_count(parts[2]);
    if (!count || *count == 0)
      return malformed(mismatch, "software", "`" + join(parts) + "`: the count must be a number above 0");
    e.sample_period = *count;
  }
  return {std::move(e)};
}

void list_software(Machine&, std::vector<Event>& to) {
  for (const Software& row : software_events) to.push_back(software_event(row));
}

Context choose_software(Machine&, const Event&, Fields) { return Context::perf_event; }

base::Result<Attachment> attach_software(const Event& event, Context, int program_fd,
                                         const AttachOptions& options) {
  Sampling sampling{.config = event.perf_config, .period = event.sample_period};
  return attach_sampling(event, sampling, program_fd, options);
}

} // namespace

constinit const KindFunctions software_kind{
    .name = "software",
    .match = match_software,
    .list = list_software,
    .choose_context = choose_software,
    .attach = attach_software,
};

} // namespace probe
