// profile:hz:RATE and its other forms: a timer on every CPU (or for the threads of one process) that
// interrupts what runs there, by perf's software clock. A fixed time between two samples is the event's
// period in nanoseconds.
#include "probe/kinds.h"

#include <linux/perf_event.h>

namespace probe {

static std::vector<Event> match_profile(Machine&, Parts parts, Mismatch& mismatch) {
  auto rate = parse_rate("profile", parts, mismatch);
  if (!rate) return {};
  Event e{.kind = Kind::profile, .name = "profile:" + join_counts(parts.subspan(1)), .provider = "profile"};
  e.frequency = rate->frequency;
  e.period_ns = rate->period_ns;
  e.perf_config = PERF_COUNT_SW_CPU_CLOCK;
  return {std::move(e)};
}

static void list_profile(Machine&, std::vector<Event>& to) {
  for (const char* form : {"hz:", "ms:", "s:", "us:"})
    to.push_back({.kind = Kind::profile, .name = std::string("profile:") + form, .provider = "profile"});
}

static Context choose_profile(Machine&, const Event&, Fields) { return Context::perf_event; }

static base::Result<Attachment> attach_profile(const Event& event, Context, int program_fd,
                                               const AttachOptions& options) {
  Sampling sampling{.type = PERF_TYPE_SOFTWARE,
                    .config = event.perf_config,
                    .period = event.period_ns,
                    .frequency = event.frequency};
  return attach_sampling(event, sampling, program_fd, options);
}

constinit const KindFunctions profile_kind{
    .match = match_profile,
    .list = list_profile,
    .choose_context = choose_profile,
    .attach = attach_profile,
};

} // namespace probe
