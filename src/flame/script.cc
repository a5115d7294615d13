#include "flame/script.h"

#include "bpf/features.h"
#include "proc/text.h"

namespace flame {

// What the processes that are asked for have when the recording begins.
static std::string private_memory_of(const session::TargetFilter& filter) {
  std::string out = "begin { @begun[0] = (uint64)0; ";
  for (int pid : filter.pids) {
    const auto bytes = proc::read_named_numbers(proc::text_of("/proc/" + std::to_string(pid) + "/status")).find("RssAnon");
    if (bytes) out += "@begun[" + std::to_string(pid) + "] = (uint64)" + std::to_string(*bytes) + "; ";
  }
  return out + "}\n";
}

base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const session::TargetFilter& filter, uint64_t rate, bool is_exact,
                                                  uint64_t duration_ns, bool only_ended) {
  ACU_TRY(session::Condition condition, session::condition_of(filter));
  SamplingScript out = {session::BuiltinScript(kind.script), condition.what};
  session::BuiltinScript& script = out.script;
  script.set_whose(condition, filter, duration_ns);
  if (!filter.expression.empty()) script.set_expression("chosen", filter.expression, "--filter");
  script.set("ONE_COUNT", true);
  auto imports = [&](std::string_view file) { return script.text.find("import \"" + std::string(file)) != std::string_view::npos; };
  if (imports("scheduler.bt")) script.set_scheduler();
  if (imports("flame_begun.bt")) script.set_import("flame_begun.bt", private_memory_of(filter));
  if (imports("io_in_gaps.bt")) script.set("HAS_GAPS", !is_exact);
  if (script.text.find("#param GOES_THROUGH_MAPS") != std::string_view::npos) { // kernels before 5.13 do not, as scripts do at the end for what lasts then
    out.lacks_end = !only_ended && !bpf::has(bpf::Feature::for_each);
    script.set("GOES_THROUGH_MAPS", !only_ended && !out.lacks_end);
  }
  // Events are sampled so that about `rate` stacks are taken in a second; with the clock's ticks, ten times as many as those of a CPU.
  constexpr uint64_t samples = 64; // in a window, see flame_sampled.bt
  if (kind.is_sampled) {
    script.set("LEAST_PERIOD", is_exact ? 0 : kind.min_period);
    script.set("WINDOW_NS", samples * 1'000'000'000 / (kind.has_ticks ? 10 * rate : rate));
  }
  if (kind.has_ticks) {
    script.set("TICKS", true);
    script.set("RATE", rate);
  }
  script.set_places("ticks", (kind.name == "cycles" ? "hardware:cycles:" : "profile:hz:") + std::to_string(rate));
  return out;
}

} // namespace flame
