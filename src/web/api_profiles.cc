// Stacks of a range as trees, tables, pages and files.
#include "web/api.h"

#include "base/text.h"
#include "monitor/sampler.h"
#include "profile/formats.h"
#include "profile/tables.h"
#include "report/json_object.h"
#include "web/call_tree.h"
#include "web/pages.h"
#include "web/parameters.h"

#include <algorithm>

namespace web {

namespace {

using report::JsonObject;
using store::ProfileQuery;

const monitor::StoredKind* find_stored(std::string_view name) {
  for (const monitor::StoredKind& kind : monitor::stored_kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

// `side`: of the names of parameters, "a_" or "b_", which come before those of both.
base::Result<ProfileQuery> read_query(const Request& request, std::string_view side, int64_t length) {
  ProfileQuery out;
  auto value = [&](std::string_view name) {
    const std::string own = std::string(side) + std::string(name);
    return std::string(request.parameter(request.has(own) ? std::string_view(own) : name));
  };
  if (request.has("kind")) out.kind = request.parameter("kind");
  if (!find_stored(out.kind)) {
    if (spec::find_profile_kind(out.kind)) return base::Error{base::Failure::usage, "`" + out.kind + "` is not sampled all the time\nhint: measure it now: POST /api/jobs with the verb flame"};
    return base::Error{base::Failure::usage, "there is no kind `" + out.kind.substr(0, 40) + "`\nhint: /api/me lists the kinds"};
  }
  ACU_TRY(out.range, range_of(request, side, length));
  out.service = value("service"), out.process = value("process"), out.thread = value("thread");
  const std::string pid = value("pid");
  if (!pid.empty()) {
    const auto number = base::parse_integer(pid);
    if (!number || *number == 0 || *number > 4194304) return base::Error{base::Failure::usage, "`pid` is the number of a process, not `" + pid.substr(0, 40) + "`"};
    out.pid = static_cast<uint32_t>(*number);
  }
  return out;
}

std::string what_of(const ProfileQuery& query) {
  if (query.pid) return "process " + std::to_string(query.pid);
  if (!query.process.empty()) return "processes named " + query.process;
  return query.service.empty() ? "all processes" : query.service;
}

base::Result<profile::Profile> read_profile(Api& api, const Request& request, store::Store& store, const ProfileQuery& query) {
  ACU_TRY(profile::Profile out, store.profile(query));
  monitor::describe_stored(out, query.kind, what_of(query), api.version);
  out.about.host = host_of(api, request);
  return out;
}

std::string processes_json(const profile::Profile& p) {
  constexpr size_t most = 100;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> sums;
  for (const profile::Sample& s : p.samples()) sums[{p.threads()[s.thread].pid, p.threads()[s.thread].process}] += s.weight;
  std::vector<std::pair<std::pair<uint32_t, uint32_t>, uint64_t>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (rows.size() > most) rows.resize(most);
  return report::json_list(rows, [&](const auto& row) {
    JsonObject one;
    return one.add("name", p.texts()[row.first.second]).raw("pid", std::to_string(row.first.first)).raw("value", std::to_string(row.second)).end();
  });
}

std::string threads_json(const profile::Profile& p) {
  constexpr size_t most = 100;
  std::vector<uint64_t> sums(p.threads().size());
  for (const profile::Sample& s : p.samples()) sums[s.thread] += s.weight;
  std::vector<uint32_t> rows;
  for (uint32_t t = 0; t < sums.size(); t++)
    if (sums[t]) rows.push_back(t);
  std::ranges::stable_sort(rows, [&](uint32_t a, uint32_t b) { return sums[a] > sums[b]; });
  if (rows.size() > most) rows.resize(most);
  return report::json_list(rows, [&](uint32_t t) {
    const profile::Thread& thread = p.threads()[t];
    JsonObject one;
    one.add("name", p.texts()[thread.name]).add("process", p.texts()[thread.process]).raw("pid", std::to_string(thread.pid));
    return one.raw("value", std::to_string(sums[t])).end();
  });
}

JsonObject header_of(const ProfileQuery& query, const profile::Profile& p) {
  JsonObject out;
  out.add("kind", query.kind).add("title", p.about.title).add("unit", p.about.unit).raw("from", std::to_string(query.range.from)).raw("to", std::to_string(query.range.to));
  out.raw("recorded_seconds", std::to_string(p.about.duration_ns / 1'000'000'000)).raw("total", std::to_string(p.total())).add("samples", p.about.samples);
  return out;
}

std::string range_json(const ProfileQuery& query, uint64_t total) {
  JsonObject out;
  return out.raw("from", std::to_string(query.range.from)).raw("to", std::to_string(query.range.to)).raw("total", std::to_string(total)).add("service", query.service).end();
}

} // namespace

Response profile_in(const profile::Profile& p, std::string_view format, const std::string& name) {
  if (format == "html") return page(profile::write_page(p), chart_sources);
  auto found = profile::format_of_name(format);
  if (!found.ok()) return failure(400, found.error().message);
  const std::string_view endings = (*found)->endings;
  const std::string ending(endings.substr(0, endings.find('|')));
  const std::string file = name + (ending.starts_with('.') ? "" : ".") + ending;
  return {.type = (*found)->name == "svg" ? "image/svg+xml" : "application/octet-stream", .body = (*found)->write(p), .headers = {{"Content-Disposition", "attachment; filename=\"" + file + "\""}}};
}

Response get_flame(Api& api, const Request& request) {
  ACU_RESPOND(const ProfileQuery query, read_query(request, "", 3600));
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const profile::Profile p, read_profile(api, request, *store, query));
  const std::string_view format = request.parameter("format");
  if (!format.empty() && format != "json") return profile_in(p, format, "acu-" + query.kind);
  const TreeJson tree = tree_json(p);
  JsonObject out = header_of(query, p);
  out.add("lost", p.about.lost).add("dropped_nodes", tree.dropped).raw("tree", tree.json);
  return {.body = out.raw("processes", processes_json(p)).raw("threads", threads_json(p)).end()};
}

Response get_compare(Api& api, const Request& request) {
  constexpr size_t most_functions = 200;
  ACU_RESPOND(const ProfileQuery query_a, read_query(request, "a_", 3600));
  ACU_RESPOND(const ProfileQuery query_b, read_query(request, "b_", 3600));
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const profile::Profile a, read_profile(api, request, *store, query_a));
  ACU_RESPOND(const profile::Profile b, read_profile(api, request, *store, query_b));
  ACU_RESPOND(const profile::Difference difference, profile::compare(a, b, "A", "B"));
  const std::string_view format = request.parameter("format");
  if (format == "html") return page(profile::difference_page(difference), chart_sources);
  if (!format.empty() && format != "json") return failure(400, "`format` is json or html");
  const TreeJson tree = tree_json(difference);
  std::vector<profile::Change> changes = profile::changes_of(difference);
  if (changes.size() > most_functions) changes.resize(most_functions);
  JsonObject out;
  out.add("kind", query_a.kind).add("unit", b.about.unit).raw("a", range_json(query_a, a.total())).raw("b", range_json(query_b, b.total())).raw("scale", json_number(difference.scale));
  out.add("dropped_nodes", tree.dropped).raw("tree", tree.json);
  out.raw("functions", report::json_list(changes, [](const profile::Change& c) {
            JsonObject one;
            one.add("name", c.name).add("module", c.where).raw("self_a", std::to_string(c.before)).raw("self_b", std::to_string(c.after));
            return one.raw("total_a", std::to_string(c.total_before)).raw("total_b", std::to_string(c.total_after)).raw("change", std::to_string(c.self)).end();
          }));
  return {.body = out.end()};
}

Response get_top(Api& api, const Request& request) {
  constexpr size_t most_functions = 100;
  ACU_RESPOND(const uint64_t seconds, number_of(request, "seconds", 60, 86400));
  ACU_RESPOND(const ProfileQuery query, read_query(request, "", static_cast<int64_t>(std::max<uint64_t>(seconds, 1))));
  ACU_RESPOND(auto store, api.open(request));
  ACU_RESPOND(const profile::Profile p, read_profile(api, request, *store, query));
  std::vector<profile::Row> rows = profile::functions_of(p, profile::SortBy::self);
  if (rows.size() > most_functions) rows.resize(most_functions);
  JsonObject out = header_of(query, p);
  out.raw("functions", report::json_list(rows, [](const profile::Row& r) {
            JsonObject one;
            one.add("name", r.name).add("module", r.where).add("kind", spec::row_of(r.kind).name);
            return one.raw("self", std::to_string(r.self)).raw("total", std::to_string(r.total)).end();
          }));
  return {.body = out.raw("threads", threads_json(p)).end()};
}

} // namespace web
