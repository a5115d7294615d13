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
    {Method::get, "/metrics", get_metrics, false, Speed::stored},
    {Method::get, "/api/me", get_me, false, Speed::stored},
    {Method::get, "/api/hosts", get_hosts, false, Speed::slow},
    {Method::get, "/api/overview", get_overview, false, Speed::stored},
    {Method::get, "/api/services", get_services, false, Speed::slow},
    {Method::get, "/api/series", get_series, false, Speed::slow},
    {Method::get, "/api/flame", get_flame, false, Speed::slow},
    {Method::get, "/api/compare", get_compare, false, Speed::slow},
    {Method::get, "/api/top", get_top, false, Speed::slow},
    {Method::get, "/api/findings", get_findings, false, Speed::stored},
    {Method::get, "/api/export", get_export, false, Speed::slow},
    {Method::get, "/api/verbs", get_verbs},
    {Method::get, "/api/tools", get_tools},
    {Method::get, "/api/jobs", get_jobs, false, Speed::quick, Role::measure},
    {Method::post, "/api/jobs", post_job, true, Speed::quick, Role::measure},
    {Method::get, "/api/jobs/*", get_job, false, Speed::quick, Role::measure},
    {Method::erase, "/api/jobs/*", delete_job, true, Speed::quick, Role::measure},
    {Method::post, "/api/check", post_check, false, Speed::slow, Role::measure},
    {Method::post, "/api/sql", post_sql, false, Speed::slow}, // of the host: Role::measure
    {Method::get, "/api/complete", get_complete, false, Speed::slow, Role::measure},
    {Method::get, "/api/audit", get_audit, false, Speed::quick, Role::admin},
};

bool matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with('*')) return pattern == path;
  pattern.remove_suffix(1);
  return path.starts_with(pattern) && path.size() > pattern.size();
}

// The body on one line, or {}.
std::string arguments_of(const Request& request) {
  constexpr size_t longest = 4096;
  rapidjson::Document body;
  if (request.body.empty() || !agent::parse_json(request.body, body).ok()) return "{}";
  const std::string out = agent::shortened(body, longest);
  return agent::is_json(out) ? out : "{}";
}

} // namespace

std::span<const Route> routes() { return table; }

void note(Api& api, const Request& request, std::string_view action, std::string_view arguments, int status, uint64_t wall_ns, size_t bytes) {
  constexpr size_t most_lines = 200;
  const std::string outcome = std::to_string(status);
  api.audit({.client = request.client, .verb = std::string(action), .arguments = std::string(arguments), .address = request.address, .outcome = outcome, .wall_ns = wall_ns, .bytes = bytes});
  report::JsonObject line;
  line.raw("time", base::print("%.3f", now_exactly())).add("client", request.client).add("address", request.address).add("action", action).add("arguments", arguments).add("outcome", outcome);
  const std::lock_guard lock(api.lines_mutex);
  api.lines.push_front(line.end());
  if (api.lines.size() > most_lines) api.lines.pop_back();
}

std::optional<Response> refuse_role(const Request& request, Role needed) {
  if (request.role >= needed) return std::nullopt;
  return failure(403, "`" + request.client + "` has the role " + std::string(name_of(request.role)) + "; this needs the role " + std::string(name_of(needed)) +
                          "\nhint: an administrator of this host can change it: acu serve --users FILE --add-user NAME --role " + std::string(name_of(needed)));
}

bool is_slow(const Request& request, bool is_fleet) {
  const Speed slowest = is_fleet ? Speed::stored : Speed::slow;
  return std::ranges::any_of(table, [&](const Route& route) { return route.speed >= slowest && matches(route.path, request.path); });
}

Response failure(const base::Error& error) {
  if (store::is_time_limit(error)) return failure(503, error.message);
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
    auto refused = refuse_role(request, route.role);
    const bool is_audited = method != Method::get || refused;
    Response out = refused ? std::move(*refused) : route.is_change && api.is_read_only ? failure(403, "this server is read-only (--read-only)") : route.answer(api, request);
    // Nothing is kept by browsers, taken for another type, or sent on as an address.
    out.headers.insert(out.headers.end(), {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}});
    if (std::ranges::none_of(out.headers, [](const auto& header) { return header.first == "Content-Security-Policy"; }))
      out.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    if (is_audited)
      note(api, request, (method == Method::get ? "GET " : method == Method::post ? "POST " : "DELETE ") + request.path, arguments_of(request), out.status, base::clock_ns() - begin, out.body.size());
    return out;
  }
  if (is_known) return failure(405, "method not allowed");
  return failure(404, "there is nothing at `" + request.path.substr(0, 200) + "`\nhint: docs/serve-api.md lists what there is");
}

} // namespace web
