// flame::watch() with a viewer that writes what each look gained.
#include "monitor/sampler.h"
#include "monitor/service_names.h"
#include "monitor/writer.h"

#include "base/text.h"
#include "flame/sampling.h"
#include "proc/text.h"
#include "profile/completeness.h"

#include <sys/mman.h>

namespace monitor {

std::string_view stored_unit(const spec::ProfileKind& kind) { return kind.unit == "samples" ? "ns" : kind.unit; }

void describe_stored(profile::Profile& profile, std::string_view kind, std::string what, std::string_view version) {
  const spec::ProfileKind& row = *spec::find_profile_kind(kind);
  profile.about.title = row.title;
  profile.about.unit = stored_unit(row);
  profile.about.what = std::move(what);
  profile.about.version = version;
  profile.about.incomplete = profile::why_incomplete(profile);
  profile.about.complete = profile::complete_samples(profile);
}

namespace {

// Files of code and of names are mapped where they are read. Their pages stay in the page cache, and need not be this process's until they are read again.
// (madvise(2): a mapping of a file that is shared and not written to is read from the file again.)
void release_mapped_files() {
  const std::string maps = proc::text_of("/proc/self/maps");
  for (std::string_view line : base::split(maps, '\n')) {
    uint64_t begin = 0, end = 0;
    if (!base::take_hex(line, '-', begin) || !base::take_hex(line, ' ', end) || !line.starts_with("r--s ") || line.find('/') == line.npos) continue;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

class StackSampler {
public:
  StackSampler(const StoredKind& kind, const flame::SamplingOptions& sampling, Writer& writer) : kind_(kind), sampling_(sampling), writer_(writer) {}
  bool look(const flame::Look& look);
  base::Status failure;

private:
  void add_points(const flame::Look& look, const store::Batch& batch, std::vector<store::Point>& to);

  const StoredKind& kind_;
  const flame::SamplingOptions& sampling_;
  Writer& writer_;
  ServiceNames services_;
  uint64_t lost_ = 0, kernel_ns_ = 0;
};

// What waited, by service; and what this sampler has lost and cost.
void StackSampler::add_points(const flame::Look& look, const store::Batch& batch, std::vector<store::Point>& to) {
  const double seconds = std::max(static_cast<double>(look.passed_ns) / 1e9, 0.001);
  const profile::About& about = look.profile.about;
  double samples = 0;
  std::map<store::Service, double> waits;
  for (const profile::Gain& gain : look.gains) {
    samples += static_cast<double>(gain.count);
    waits[batch.services[look.profile.samples()[gain.sample].thread]] += static_cast<double>(gain.weight) * batch.scale;
  }
  if (kind_.name == "offcpu")
    for (const auto& [service, ns] : waits) to.push_back({service, "offcpu", ns / 1e9 / seconds});
  auto add_own = [&](std::string metric, double value) { to.push_back({{}, std::move(metric), value / seconds}); };
  add_own("own_samples", samples);
  add_own(std::string(store::lost_metric), static_cast<double>(about.lost - std::min(lost_, about.lost)));
  add_own("own_kernel_cpu", static_cast<double>(about.kernel_ns - std::min(kernel_ns_, about.kernel_ns)) / 1e9);
  lost_ = about.lost, kernel_ns_ = about.kernel_ns;
}

bool StackSampler::look(const flame::Look& look) {
  store::Batch batch = {.profile = &look.profile, .gains = look.gains};
  // Only of threads that gained something: the others may have ended long ago.
  batch.services.resize(look.profile.threads().size());
  std::map<std::pair<uint32_t, uint32_t>, store::Service> known; // by process and its name: one that runs another program has another service
  for (const profile::Gain& gain : look.gains) {
    const uint32_t thread = look.profile.samples()[gain.sample].thread;
    const profile::Thread& t = look.profile.threads()[thread];
    const auto [at, is_new] = known.try_emplace({t.pid, t.process});
    if (is_new) at->second = services_.of_process(static_cast<int>(t.pid), look.profile.texts()[t.process]);
    batch.services[thread] = at->second;
  }
  if (sampling_.kind->unit == "samples" && sampling_.rate) batch.scale = 1e9 / static_cast<double>(sampling_.rate);
  std::vector<store::Point> points;
  add_points(look, batch, points);
  failure = writer_.write(slot_until(look.time_ns, kind_.name, look.passed_ns), std::move(points), &batch);
  release_mapped_files();
  return failure.ok();
}

} // namespace

base::Status sample_stacks(const StoredKind& kind, const SamplerOptions& options) {
  ACU_TRY(const base::Fd owned, options.own(kind.name));
  ACU_TRY(std::unique_ptr<store::Store> store, options.open());
  Writer writer(*store);
  flame::SamplingOptions sampling = {.kind = spec::find_profile_kind(kind.name), .rate = kind.rate, .duration_ns = options.duration_ns, .only_ended = true, .quiet = true};
  StackSampler sampler(kind, sampling, writer);
  flame::Viewer viewer;
  viewer.period_ns = options.flush_ns;
  viewer.is_by_wall_clock = true;
  viewer.look = [&](const flame::Look& look) { return sampler.look(look); };
  auto recorded = flame::watch(sampling, viewer);
  ACU_CHECK(std::move(sampler.failure));
  return recorded.ok() ? base::Status() : base::Status(std::move(recorded.error()));
}

} // namespace monitor
