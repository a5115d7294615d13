// OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec/) of the newest slots.
#include "web/api.h"

#include "report/openmetrics.h"
#include "web/parameters.h"

#include <initializer_list>
#include <utility>

namespace web {

namespace {

struct Family {
  std::string_view name, unit, metric, help;
};
constexpr Family of_services[] = {
    {"acu_service_cpu_cores", "cores", "cpu", "CPU time of a service, in CPUs."},
    {"acu_service_offcpu_threads", "threads", "offcpu", "Time that threads of a service waited, in threads (estimated from samples)."},
    {"acu_service_run_queue_threads", "threads", "run_queue", "Time that threads of a service waited for a CPU, in threads."},
    {"acu_service_memory_bytes", "bytes", "memory", "Resident memory of the processes of a service; what they share counts in each."},
    {"acu_service_page_faults_per_second", "", "faults", "Page faults of a service."},
    {"acu_service_processes", "", "processes", "Processes of a service."},
};
constexpr Family of_host[] = {
    {"acu_own_cpu_cores", "cores", "own_cpu", "CPU time of acu serve and its processes."},
    {"acu_own_memory_bytes", "bytes", "own_memory", "Memory of acu serve and its processes, without mapped files."},
    {"acu_own_samples_per_second", "", "own_samples", "Samples that were stored."},
    {"acu_own_lost_per_second", "", "own_lost", "Samples that were lost."},
};

void begin(std::string& out, const Family& family) { report::append_family(out, family.name, "gauge", family.unit, family.help); }
void begin_counter(std::string& out, std::string_view name, std::string_view help) { report::append_family(out, name, "counter", "", help); }

// {a="1",b="x"}
std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  std::string out = "{";
  for (const auto& [name, value] : all) report::append_label(out, name, value);
  return out + "}";
}

// What other servers took of the stacks and findings that are sent to them.
void add_pushes(std::string& out, const push::Pushes& pushes) {
  const auto servers = pushes.counts();
  begin_counter(out, "acu_push_requests", "Requests to a server of --push, by what became of them.");
  for (const auto& [target, counts] : servers)
    for (const auto& [outcome, count] : {std::pair("sent", counts.sent), std::pair("refused", counts.refused), std::pair("dropped", counts.dropped)})
      out += "acu_push_requests_total" + labels({{"server", target->shown()}, {"line", std::to_string(target->line)}, {"outcome", outcome}}) + " " + std::to_string(count) + "\n";
  begin(out, {"acu_push_waiting_bytes", "bytes", "", "Requests to a server of --push that were not sent yet."});
  for (const auto& [target, counts] : servers) out += "acu_push_waiting_bytes" + labels({{"server", target->shown()}, {"line", std::to_string(target->line)}}) + " " + std::to_string(counts.waiting_bytes) + "\n";
  begin_counter(out, "acu_push_skipped_minutes", "Minutes that were not sent to any server of --push.");
  out += "acu_push_skipped_minutes_total " + std::to_string(pushes.skipped_minutes()) + "\n";
}

} // namespace

Response get_metrics(Api& api, const Request& request) {
  constexpr size_t most_services = 100;
  ACU_RESPOND(auto store, api.open(request));
  const int64_t now = store::slot_of(now_seconds());
  ACU_RESPOND(const auto uses, store->services({now - 2 * store::slot_seconds, now}));
  ACU_RESPOND(const auto findings, store->findings({now - 3600, now + store::slot_seconds}, "", 200));
  ACU_RESPOND(const store::Sizes sizes, store->sizes());
  std::string out;
  for (const Family& family : of_services) {
    begin(out, family);
    size_t shown = 0;
    for (const store::ServiceUse& use : uses)
      if (!use.service.name.empty() && shown++ < most_services)
        out.append(family.name).append(labels({{"service", use.service.name}, {"type", store::name_of(use.service.type)}}) + " " + json_number(use.metric(family.metric)) + "\n");
  }
  for (const Family& family : of_host) {
    begin(out, family); // without a sample where nothing was recorded
    for (const store::ServiceUse& use : uses)
      if (use.service.name.empty()) out.append(family.name).append(" " + json_number(use.metric(family.metric)) + "\n");
  }
  begin(out, {"acu_store_size_bytes", "bytes", "", "Size of the store."});
  out += "acu_store_size_bytes " + std::to_string(sizes.bytes) + "\n";
  begin_counter(out, "acu_sampler_restarts", "Samplers that ended and were started again.");
  out += "acu_sampler_restarts_total " + std::to_string(api.samplers ? api.samplers->restarts() : 0) + "\n";
  if (api.pushes) add_pushes(out, *api.pushes);
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> counts;
  for (const store::Finding& f : findings) counts[{f.cause, f.verdict, f.service}]++;
  begin(out, {"acu_findings", "", "", "Causes of slowness that acu why found in the last hour."});
  for (const auto& [key, count] : counts) {
    const auto& [cause, verdict, service] = key;
    out += "acu_findings" + labels({{"cause", cause}, {"verdict", verdict}, {"service", service}}) + " " + std::to_string(count) + "\n";
  }
  return {.type = std::string(report::openmetrics_type), .body = out + std::string(report::openmetrics_end)};
}

} // namespace web
