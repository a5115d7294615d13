// Days of `acu serve` in a store, without waiting for them: serve_day STORE [DAYS]; with 0 days, it only measures what is there.
//
// A host with 4 CPUs, 60% busy, that runs 60 services with 300 threads, as the samplers write it every 10 s, with the upkeep of each minute. Stacks are drawn
// from 30,000 with frequencies after Zipf's law; 3% are new, and never come again, as those of programs that run once. All is synthetic, and the same in
// each run. Prints the size of the store and the CPU time of queries, as JSON.
#include "base/clock.h"
#include "store/store.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/resource.h>

namespace {

constexpr uint64_t ten_seconds = 10'000'000'000;
constexpr int services = 60, threads = 300, stacks = 30'000, functions = 12'000;

struct Host {
  std::mt19937 random{1};
  std::vector<double> popularity; // sums, by stack
  // As in a sampler, which is replaced each hour: what was seen is known.
  struct Known {
    profile::Profile profile;
    std::vector<store::Service> services; // by thread
    std::map<std::pair<int, int>, uint32_t> samples; // by stack and thread
  };
  std::map<std::string, Known> sources;
  int one_time = 0;

  Host() {
    double sum = 0;
    for (int i = 0; i < stacks; i++) popularity.push_back(sum += 1 / (1.0 + i));
  }
  int below(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }
  // A stack of 8 to 45 frames that shares its outer frames with its neighbours, as callers do.
  static uint32_t node(profile::Profile& p, int number, int seed) {
    std::mt19937 own(static_cast<uint32_t>(number) * 7919u + static_cast<uint32_t>(seed));
    const int depth = 8 + static_cast<int>(own() % 38);
    uint32_t out = 0;
    for (int i = 0; i < depth; i++) {
      const uint32_t shared = (static_cast<uint32_t>(number / (i < depth / 2 ? 200 : i < depth * 3 / 4 ? 20 : 1)) * 31u + static_cast<uint32_t>(i) * 977u) % functions;
      const std::string name = "namespace_" + std::to_string(shared % 97) + "::function_with_a_usual_name_" + std::to_string(shared);
      out = p.node(out, p.frame({.name = p.text(name), .module = p.text("/usr/lib/module_" + std::to_string(shared % 41) + ".so"), .kind = i > depth - 6 ? profile::FrameKind::kernel : profile::FrameKind::user}));
    }
    return out;
  }
  int draw() {
    if (below(100) < 3) return stacks + one_time++;
    const double at = std::uniform_real_distribution<double>(0, popularity.back())(random);
    return static_cast<int>(std::ranges::lower_bound(popularity, at) - popularity.begin());
  }

  // Samples of a slot.
  void write(store::Store& to, const char* source, int64_t slot, int samples, bool are_ticks) {
    if (slot % 3600 == 0) sources.erase(source);
    Known& known = sources[source];
    profile::Profile& p = known.profile;
    std::vector<profile::Gain> gains;
    for (int i = 0; i < samples; i++) {
      const int number = draw(), t = (number * 13 + below(3)) % threads;
      const uint64_t weight = are_ticks ? 1 : 10'000 + random() % 50'000'000;
      const auto [at, is_new] = known.samples.try_emplace({number, t});
      if (!is_new) {
        gains.push_back({at->second, weight, 1});
        continue;
      }
      const auto pid = static_cast<uint32_t>(1000 + t / 2);
      const uint32_t thread = p.thread({.pid = pid, .tid = static_cast<uint32_t>(t), .process = p.text("process_" + std::to_string(t % services)), .name = p.text("thread_" + std::to_string(t))});
      if (thread >= known.services.size()) known.services.resize(thread + 1);
      known.services[thread] = {"service_" + std::to_string(t % services) + ".service", store::ServiceType::unit};
      gains.push_back({at->second = p.add(thread, node(p, number, 5), 1, 1), weight, 1});
    }
    const store::Batch batch = {.profile = &p, .gains = gains, .services = known.services, .scale = are_ticks ? 1e9 / 19 : 1};
    const auto written = to.write({.source = source, .begin = slot, .covered_ns = ten_seconds}, {{{}, "own_samples", samples / 10.0}, {{}, "own_kernel_cpu", 0.001}}, &batch);
    if (!written.ok()) std::fprintf(stderr, "%s\n", written.error().message.c_str()), std::exit(1);
  }
  void write_numbers(store::Store& to, int64_t slot) {
    std::vector<store::Point> points;
    auto share = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
    for (const char* metric : {"busy", "cpu0", "cpu1", "cpu2", "cpu3", "memory", "switches", "run_queue", "pressure_cpu", "pressure_io", "disk_read", "disk_written", "own_cpu", "own_memory"})
      points.push_back({{}, metric, share()});
    for (int s = 0; s < services; s++)
      for (const char* metric : {"cpu", "run_queue", "memory", "read", "written", "faults", "processes"})
        if (s < 20 || share() < 0.4) points.push_back({{"service_" + std::to_string(s) + ".service", store::ServiceType::unit}, metric, share() * 1000});
    if (auto written = to.write({.source = "host", .begin = slot, .covered_ns = ten_seconds}, points); !written.ok()) std::exit(1);
  }
};

// Of CPU time, which does not depend on what else runs.
template<class Ask> double milliseconds(Ask ask) {
  const uint64_t begin = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  ask();
  return static_cast<double>(base::clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e6;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::fprintf(stderr, "usage: serve_day STORE [DAYS]\n"), 2;
  const double days = argc > 2 ? std::atof(argv[2]) : 1;
  auto opened = store::open_sqlite(argv[1], store::Mode::write);
  if (!opened.ok()) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  store::Store& store = **opened;
  Host host;
  const store::Sizes before = *store.sizes();
  const int64_t first = 1'796'000'400 / 3600 * 3600, begin = days > 0 ? first : before.from, end = days > 0 ? begin + static_cast<int64_t>(days * 86400) / 10 * 10 : before.to;
  double longest_upkeep = 0, all_upkeep = 0, all_writes = 0;
  for (int64_t slot = days > 0 ? begin : end; slot < end; slot += store::slot_seconds) {
    all_writes += milliseconds([&] {
      host.write(store, "cpu", slot, 456, true);
      host.write(store, "offcpu", slot, 1000, false);
      host.write_numbers(store, slot);
    });
    if (slot % 60 != 50) continue;
    const double took = milliseconds([&] { (void)store.keep_within({}, slot + 10); });
    longest_upkeep = std::max(longest_upkeep, took), all_upkeep += took;
  }
  const store::Sizes sizes = *store.sizes();
  std::printf("{\"days\": %g, \"megabytes\": %.1f, \"free_megabytes\": %.1f, \"upkeep_ms\": {\"mean\": %.1f, \"longest\": %.0f}, \"write_ms\": %.1f, \"rows\": {", days, static_cast<double>(sizes.bytes) / 1e6,
              static_cast<double>(sizes.free_bytes) / 1e6, all_upkeep / (static_cast<double>(end - begin) / 60), longest_upkeep, all_writes / (static_cast<double>(end - begin) / 10));
  for (const auto& [table, rows] : sizes.rows) std::printf("%s\"%s\": %llu", &table == &sizes.rows.front().first ? "" : ", ", table.c_str(), static_cast<unsigned long long>(rows));
  std::printf("}, \"query_ms\": {");
  const char* comma = "";
  for (auto [name, seconds] : {std::pair<const char*, int64_t>{"hour", 3600}, {"day", 86400}, {"week", 7 * 86400}}) {
    if (end - seconds < begin) continue;
    auto reader = store::open_sqlite(argv[1], store::Mode::read);
    for (const char* kind : {"cpu", "offcpu"}) {
      size_t samples = 0;
      double total = 0, other = 0;
      const double took = milliseconds([&] {
        auto profile = (*reader)->profile({.kind = kind, .range = {end - seconds - 10, end - 10}});
        samples = profile->samples().size(), total = static_cast<double>(profile->total());
        for (const profile::Sample& s : profile->samples())
          if (profile->name(profile->frame_of(s.node)) == "[other stacks]") other += static_cast<double>(s.weight);
      });
      std::printf("%s\"%s %s\": %.0f, \"%s %s samples\": %zu, \"%s %s other share\": %.3f", comma, name, kind, took, name, kind, samples, name, kind, other / total);
      comma = ", ";
    }
    std::printf(", \"%s services\": %.0f", name, milliseconds([&] { (void)(*reader)->services({end - seconds, end}); }));
    std::printf(", \"%s series\": %.0f", name, milliseconds([&] { (void)(*reader)->series("", {"busy", "memory"}, {end - seconds, end}, 300); }));
  }
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  std::printf("}, \"max_rss_megabytes\": %ld}\n", own.ru_maxrss / 1024);
}
