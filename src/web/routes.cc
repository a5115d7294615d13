// The table, and what holds for all of its rows.
#include "web/api.h"

#include "agent/json.h"
#include "base/clock.h"
#include "base/print.h"
#include "report/json_object.h"
#include "web/page.h"
#include "web/pages.h"
#include "web/parameters.h"

#include <algorithm>

namespace web {

namespace {

Response get_console(Api&, const Request&) {
  static const Response response = page(std::string(console_page), console_sources);
  return response;
}
Response get_health(Api&, const Request&) { return {.type = "text/plain", .body = "ok\n"}; }

constexpr Route table[] = {
    {Method::get, "/", get_console},
    {Method::get, "/healthz", get_health},
    {Method::get, "/metrics", get_metrics},
    {Method::get, "/api/me", get_me},
    {Method::get, "/api/overview", get_overview},
    {Method::get, "/api/services", get_services},
    {Method::get, "/api/series", get_series},
    {Method::get, "/api/flame", get_flame},
    {Method::get, "/api/compare", get_compare},
    {Method::get, "/api/top", get_top},
    {Method::get, "/api/findings", get_findings},
    {Method::get, "/api/export", get_export},
    {Method::get, "/api/verbs", get_verbs},
    {Method::get, "/api/tools", get_tools},
    {Method::get, "/api/jobs", get_jobs},
    {Method::post, "/api/jobs", post_job, true},
    {Method::get, "/api/jobs/*", get_job},
    {Method::erase, "/api/jobs/*", delete_job, true},
    {Method::post, "/api/check", post_check},
    {Method::post, "/api/sql", post_sql},
    {Method::get, "/api/complete", get_complete},
    {Method::get, "/api/audit", get_audit},
};

bool matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with('*')) return pattern == path;
  pattern.remove_suffix(1);
  return path.starts_with(pattern) && path.size() > pattern.size();
}

void note(Api& api, const Request& request, std::string_view method, const Response& response, uint64_t wall_ns) {
  constexpr size_t most_lines = 200, longest = 4096;
  rapidjson::Document body;
  std::string arguments; // on one line
  if (!request.body.empty() && agent::parse_json(request.body, body).ok()) arguments = agent::shortened(body, longest);
  const std::string verb = std::string(method) + " " + request.path;
  api.audit({.client = request.client, .verb = verb, .arguments = agent::is_json(arguments) ? arguments : "{}", .outcome = std::to_string(response.status), .wall_ns = wall_ns, .bytes = response.body.size()});
  report::JsonObject line;
  line.raw("time", base::print("%.3f", now_exactly())).add("client", request.client).add("action", verb).add("arguments", arguments).add("outcome", std::to_string(response.status));
  const std::lock_guard lock(api.lines_mutex);
  api.lines.push_front(line.end());
  if (api.lines.size() > most_lines) api.lines.pop_back();
}

} // namespace

std::span<const Route> routes() { return table; }

Response failure(const base::Error& error) {
  switch (error.kind) {
  case base::Failure::usage: return failure(400, error.message);
  case base::Failure::nothing_matched: return failure(404, error.message);
  case base::Failure::permission: return failure(403, error.message);
  default: return failure(500, error.message);
  }
}

Response answer(Api& api, const Request& request) {
  const Method method = request.method == Method::head ? Method::get : request.method;
  bool is_known = false;
  for (const Route& route : table) {
    if (!matches(route.path, request.path)) continue;
    is_known = true;
    if (route.method != method) continue;
    const uint64_t begin = base::clock_ns();
    Response out = route.is_change && api.is_read_only ? failure(403, "this server is read-only (--read-only)") : route.answer(api, request);
    // Nothing is kept by browsers, taken for another type, or sent on as an address.
    out.headers.insert(out.headers.end(), {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}});
    if (std::ranges::none_of(out.headers, [](const auto& header) { return header.first == "Content-Security-Policy"; }))
      out.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    if (method != Method::get) note(api, request, method == Method::post ? "POST" : "DELETE", out, base::clock_ns() - begin);
    return out;
  }
  if (is_known) return failure(405, "method not allowed");
  return failure(404, "there is nothing at `" + request.path.substr(0, 200) + "`\nhint: docs/serve-api.md lists what there is");
}

} // namespace web
