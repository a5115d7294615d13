// The host, its services, series and findings. Numbers come from the store, so that a page that is opened anew shows what others saw.
#include "web/api.h"

#include "base/print.h"
#include "base/text.h"
#include "monitor/sampler.h"
#include "profile/formats.h"
#include "proc/text.h"
#include "report/json_object.h"
#include "web/parameters.h"

#include <sys/utsname.h>
#include <unistd.h>

namespace web {

namespace {

using report::JsonObject;

constexpr std::string_view service_metrics[] = {"cpu", "offcpu", "run_queue", "memory", "read", "written", "faults", "processes"};
constexpr std::string_view host_metrics[] = {"busy", "memory", "pressure_cpu", "pressure_memory", "pressure_io", "run_queue", "switches", "disk_read", "disk_written", "own_cpu", "own_memory", "own_lost", "own_samples"};

std::string_view unit_of(std::string_view metric) {
  if (metric == "cpu" || metric == "own_cpu" || metric == "own_kernel_cpu") return "cores";
  if (metric == "offcpu" || metric == "run_queue") return "threads";
  if (metric == "memory" || metric == "own_memory") return "bytes";
  if (metric == "read" || metric == "written" || metric == "disk_read" || metric == "disk_written") return "bytes/s";
  if (metric == "processes") return "processes";
  return metric == "busy" || metric.starts_with("pressure") || metric.starts_with("cpu") ? "share" : "1/s";
}

std::string kinds_json() {
  std::string out;
  for (const spec::ProfileKind& kind : spec::profile_kinds) {
    const monitor::StoredKind* stored = nullptr;
    for (const monitor::StoredKind& s : monitor::stored_kinds)
      if (s.name == kind.name) stored = &s;
    JsonObject one;
    one.add("name", kind.name).add("title", kind.title).add("unit", stored ? monitor::stored_unit(kind) : kind.unit).add("doc", kind.doc).raw("stored", stored ? "true" : "false");
    one.raw("needs_process", kind.allocator == spec::AllocatorCalls::none ? "false" : "true");
    out += (out.empty() ? "" : ", ") + one.end();
  }
  return "[" + out + "]";
}

std::string quoted_list(std::span<const std::string_view> words) {
  JsonObject list;
  std::vector<std::string> texts(words.begin(), words.end());
  list.add("", texts);
  const std::string whole = list.end();
  return whole.substr(whole.find('['), whole.size() - whole.find('[') - 1);
}

// The mean of the newest complete slots: two, as samplers write at different times.
store::Range latest(int64_t newest) { return {newest - 2 * store::slot_seconds, newest}; }

std::string metric_or_zero(const std::vector<store::ServiceUse>& uses, std::string_view metric) {
  for (const store::ServiceUse& use : uses)
    if (use.service.name.empty()) return json_number(use.metric(metric));
  return "0";
}

std::string load_json() {
  const std::string text = proc::text_of("/proc/loadavg");
  const auto words = proc::words_of(text);
  return words.size() < 3 ? "[]" : "[" + std::string(words[0]) + ", " + std::string(words[1]) + ", " + std::string(words[2]) + "]";
}

} // namespace

base::Result<std::unique_ptr<store::Store>> Api::open(const Request& request) const {
  const std::string asked(request.parameter("host"));
  if (open_fleet) return open_fleet(asked);
  if (!asked.empty() && asked != host) return base::Error{base::Failure::nothing_matched, "this store has no host `" + base::printable(asked.substr(0, 100)) + "`, but " + host};
  return open();
}

std::string host_of(const Api& api, const Request& request) {
  if (!api.open_fleet) return api.host;
  return request.parameter("host").empty() ? "all hosts" : std::string(request.parameter("host"));
}

Response get_hosts(Api& api, const Request& request) {
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const auto hosts, store->hosts());
  JsonObject out;
  return {.body = out.raw("hosts", report::json_list(hosts, [](const store::Host& h) {
            JsonObject one;
            one.add("host", h.name).raw("received", std::to_string(h.received)).raw("slot", std::to_string(h.slot)).raw("clock_offset", std::to_string(h.clock_offset));
            return one.add("lost_batches", h.lost_batches).add("lost_samples", h.lost_samples).end();
          })).end()};
}

Response get_me(Api& api, const Request& request) {
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const store::Sizes sizes, store->sizes());
  utsname system = {};
  ::uname(&system);
  JsonObject in_store;
  in_store.add("path", api.store).add("bytes", sizes.bytes).raw("from", std::to_string(sizes.from)).raw("to", std::to_string(sizes.to));
  in_store.raw("keep_seconds", std::to_string(api.limits.keep_seconds)).add("max_bytes", api.limits.max_bytes);
  JsonObject out;
  out.raw("now", base::print("%.3f", now_exactly())).add("host", host_of(api, request)).add("version", api.version).add("kernel", system.release).raw("read_only", api.is_read_only ? "true" : "false");
  out.raw("fleet", api.open_fleet ? "true" : "false");
  out.add("user", request.client).add("role", name_of(request.role)).raw("login", api.has_login ? "true" : "false");
  out.raw("cpus", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))).raw("slot_seconds", std::to_string(store::slot_seconds)).raw("store", in_store.end()).raw("kinds", kinds_json());
  out.raw("service_metrics", quoted_list(service_metrics)).raw("host_metrics", quoted_list(host_metrics));
  std::string formats = "[\"json\", \"html\"";
  for (const profile::Format& format : profile::formats())
    if (format.name != "html" && format.name != "json") formats += ", \"" + std::string(format.name) + "\"";
  return {.body = out.raw("formats", formats + "]").end()};
}

namespace {

// Shares of the CPUs: of this host as many as there are; of a host in a fleet those that were recorded.
std::string cpus_json(const Api& api, const store::ServiceUse& host) {
  long count = api.open_fleet ? 0 : ::sysconf(_SC_NPROCESSORS_CONF);
  if (api.open_fleet)
    for (const auto& [metric, value] : host.metrics)
      if (const auto cpu = metric.starts_with("cpu") ? base::parse_integer(metric.substr(3)) : std::nullopt; cpu && *cpu < 10'000) count = std::max(count, static_cast<long>(*cpu) + 1);
  std::string out;
  for (long cpu = 0; cpu < count; cpu++) out += (out.empty() ? "" : ", ") + json_number(host.metric("cpu" + std::to_string(cpu)));
  return out;
}

} // namespace

Response get_overview(Api& api, const Request& request) {
  constexpr size_t most_services = 20, most_findings = 10;
  ACU_RESPOND(auto store, api.open(request));
  const int64_t now = now_seconds();
  ACU_RESPOND(const auto uses, store->services(latest(store::slot_of(now))));
  ACU_RESPOND(const auto findings, store->findings({now - api.limits.keep_seconds, now + 1}, "", most_findings));
  ACU_RESPOND(const auto recent, store->series("", {"busy"}, {now - 300, now}, 30));
  int64_t flushed = 0;
  for (size_t i = 0; i < recent.times.size(); i++)
    if (recent.values[0][i]) flushed = recent.times[i] + recent.step;
  std::string cpus, services;
  for (const store::ServiceUse& use : uses)
    if (use.service.name.empty() && !(api.open_fleet && request.parameter("host").empty())) cpus = cpus_json(api, use);
  size_t shown = 0;
  for (const store::ServiceUse& use : uses)
    if (!use.service.name.empty() && shown++ < most_services) services += (services.empty() ? "" : ", ") + to_json(use);
  JsonObject pressure, memory, own, out;
  for (std::string_view resource : {"cpu", "memory", "io"}) {
    JsonObject one;
    one.raw("some", metric_or_zero(uses, "pressure_" + std::string(resource))).raw("full", metric_or_zero(uses, "pressure_full_" + std::string(resource)));
    pressure.raw(resource, one.end());
  }
  const proc::NamedNumbers numbers = proc::read_named_numbers(proc::text_of("/proc/meminfo"));
  memory.add("total", api.open_fleet ? 0 : numbers.get("MemTotal")).add("available", api.open_fleet ? 0 : numbers.get("MemAvailable")); // 0: not known
  own.raw("cpu", metric_or_zero(uses, "own_cpu")).raw("kernel_cpu", metric_or_zero(uses, "own_kernel_cpu")).raw("memory", metric_or_zero(uses, "own_memory"));
  own.raw("lost", metric_or_zero(uses, "own_lost")).raw("samples", metric_or_zero(uses, "own_samples")).raw("flushed", std::to_string(flushed)).add("restarts", api.samplers ? api.samplers->restarts() : 0);
  out.raw("now", base::print("%.3f", now_exactly())).add("host", host_of(api, request)).add("version", api.version).raw("read_only", api.is_read_only ? "true" : "false");
  out.raw("busy", metric_or_zero(uses, "busy")).raw("cpus", "[" + cpus + "]").raw("load", api.open_fleet ? "[]" : load_json()).raw("pressure", pressure.end()).raw("run_queue", metric_or_zero(uses, "run_queue"));
  out.raw("memory", memory.end()).raw("services", "[" + services + "]");
  out.raw("findings", report::json_list(findings, [](const store::Finding& f) { return to_json(f); })).raw("own", own.end());
  return {.body = out.end()};
}

Response get_services(Api& api, const Request& request) {
  ACU_RESPOND(const store::Range range, range_of(request));
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const auto uses, store->services(range));
  std::string services;
  for (const store::ServiceUse& use : uses)
    if (!use.service.name.empty()) services += (services.empty() ? "" : ", ") + to_json(use);
  JsonObject out;
  return {.body = out.raw("from", std::to_string(range.from)).raw("to", std::to_string(range.to)).raw("services", "[" + services + "]").end()};
}

namespace {

struct SeriesRequest {
  std::string service;
  store::Range range;
  store::Series series;
};

base::Result<SeriesRequest> read_series(Api& api, const Request& request) {
  constexpr size_t most_metrics = 50;
  SeriesRequest out;
  out.service = request.parameter("service");
  ACU_TRY(out.range, range_of(request));
  ACU_TRY(const uint64_t points, number_of(request, "points", 300, 5000));
  std::vector<std::string> names;
  const std::span<const std::string_view> all = out.service.empty() ? std::span<const std::string_view>(host_metrics) : service_metrics;
  for (std::string_view name : base::split(request.parameter("names"), ','))
    if (!name.empty()) names.emplace_back(name);
  if (names.empty()) names.assign(all.begin(), all.end());
  if (names.size() > most_metrics) return base::Error{base::Failure::usage, "`names` has more than 50 names"};
  ACU_TRY(auto store, api.open(request));
  ACU_TRY(out.series, store->series(out.service, names, out.range, points));
  return out;
}

std::string csv_text(std::string_view text) {
  std::string out(text);
  base::replace_all(out, "\"", "\"\"");
  return "\"" + out + "\"";
}

} // namespace

Response get_series(Api& api, const Request& request) {
  ACU_RESPOND(const SeriesRequest asked, read_series(api, request));
  const store::Series& series = asked.series;
  std::string times, all;
  for (int64_t time : series.times) times += (times.empty() ? "" : ", ") + std::to_string(time);
  for (size_t m = 0; m < series.metrics.size(); m++) {
    std::string values;
    for (const auto& value : series.values[m]) values += (values.empty() ? "" : ", ") + (value ? json_number(*value) : "null");
    JsonObject one;
    one.add("name", series.metrics[m]).add("unit", unit_of(series.metrics[m])).raw("values", "[" + values + "]");
    all += (all.empty() ? "" : ", ") + one.end();
  }
  JsonObject out;
  out.add("service", asked.service).raw("from", std::to_string(asked.range.from)).raw("to", std::to_string(asked.range.to)).raw("step", std::to_string(series.step));
  return {.body = out.raw("times", "[" + times + "]").raw("series", "[" + all + "]").end()};
}

Response get_findings(Api& api, const Request& request) {
  constexpr size_t most = 200;
  ACU_RESPOND(const store::Range range, range_of(request, {}, api.limits.keep_seconds));
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const auto findings, store->findings(range, std::string(request.parameter("service")), most));
  JsonObject out;
  return {.body = out.raw("findings", report::json_list(findings, [](const store::Finding& f) { return to_json(f); })).end()};
}

Response get_export(Api& api, const Request& request) {
  const std::string_view what = request.parameter("what"), format = request.has("format") ? request.parameter("format") : "csv";
  if (format != "csv" && format != "json") return failure(400, "`format` is csv or json");
  Response out;
  std::string csv;
  if (what == "series") {
    out = get_series(api, request);
    if (out.status != 200 || format == "json") return out.headers.emplace_back("Content-Disposition", "attachment; filename=\"series.json\""), out;
    ACU_RESPOND(const SeriesRequest asked, read_series(api, request));
    csv = "time";
    for (const std::string& name : asked.series.metrics) csv += "," + csv_text(name);
    csv += "\n";
    for (size_t i = 0; i < asked.series.times.size(); i++) {
      csv += std::to_string(asked.series.times[i]);
      for (const auto& column : asked.series.values) csv += "," + (column[i] ? json_number(*column[i]) : "");
      csv += "\n";
    }
  } else if (what == "services" || what == "findings") {
    const bool is_services = what == "services";
    if (format == "json") {
      out = is_services ? get_services(api, request) : get_findings(api, request);
      return out.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + std::string(what) + ".json\""), out;
    }
    ACU_RESPOND(const store::Range range, range_of(request, {}, is_services ? 3600 : api.limits.keep_seconds));
    ACU_RESPOND(auto store, api.open(request));
    if (is_services) {
      ACU_RESPOND(const auto uses, store->services(range));
      csv = "service,type";
      for (std::string_view metric : service_metrics) csv += "," + std::string(metric);
      csv += "\n";
      for (const store::ServiceUse& use : uses) {
        if (use.service.name.empty()) continue;
        csv += csv_text(use.service.name) + "," + std::string(store::name_of(use.service.type));
        for (std::string_view metric : service_metrics) csv += "," + json_number(use.metric(metric));
        csv += "\n";
      }
    } else {
      ACU_RESPOND(const auto findings, store->findings(range, std::string(request.parameter("service")), 10'000));
      csv = "time,service,verdict,cause,summary\n";
      for (const store::Finding& f : findings)
        csv += std::to_string(f.time) + "," + csv_text(f.service) + "," + csv_text(f.verdict) + "," + csv_text(f.cause) + "," + csv_text(f.summary) + "\n";
    }
  } else {
    return failure(400, "`what` is series, services or findings\nhint: flame graphs: /api/flame?format=pprof");
  }
  return {.type = "text/csv; charset=utf-8", .body = std::move(csv), .headers = {{"Content-Disposition", "attachment; filename=\"" + std::string(what) + ".csv\""}}};
}

} // namespace web
