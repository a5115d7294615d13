// The HTTP API (docs/serve-api.md): a table of routes, each a function from a request to a response.
#pragma once

#include "agent/audit.h"
#include "store/store.h"
#include "web/http.h"
#include "web/jobs.h"
#include "web/samplers.h"

#include <deque>
#include <mutex>
#include <string>

namespace web {

struct ToolRow {
  std::string name, group, title;
};

// What the functions of the API know.
struct Api {
  std::string store; // path
  store::Limits limits;
  bool is_read_only = false;
  std::string version, host;
  std::vector<ToolRow> tools;
  Jobs* jobs = nullptr;
  const Samplers* samplers = nullptr;
  std::function<void(const agent::AuditLine&)> audit;
  // The last lines of the audit, as JSON.
  std::mutex lines_mutex;
  std::deque<std::string> lines;

  base::Result<std::unique_ptr<store::Store>> open() const { return store::open_sqlite(store, store::Mode::read); }
};

struct Route {
  Method method = Method::get;
  std::string_view path; // a `*` at its end: any number, and what follows it
  Response (*answer)(Api&, const Request&);
  bool is_change = false; // not in read-only mode, and audited
};
std::span<const Route> routes();
// Finds the route, keeps to read-only mode, and writes the audit.
Response answer(Api& api, const Request& request);

// The value of an expression, or the response of its failure.
#define ACU_RESPOND(decl, expr)                                                                              \
  auto ACU_JOIN(responded_, __LINE__) = (expr);                                                              \
  if (!ACU_JOIN(responded_, __LINE__).ok()) return failure(ACU_JOIN(responded_, __LINE__).error());          \
  decl = std::move(ACU_JOIN(responded_, __LINE__).value())

// From a failure: usage is 400, nothing found 404, no permission 403, anything else 500.
Response failure(const base::Error& error);

// ---- api_host.cc: the host and its services
Response get_me(Api&, const Request&);
Response get_overview(Api&, const Request&);
Response get_services(Api&, const Request&);
Response get_series(Api&, const Request&);
Response get_export(Api&, const Request&);
Response get_findings(Api&, const Request&);

// ---- api_profiles.cc: stacks
Response get_flame(Api&, const Request&);
Response get_compare(Api&, const Request&);
Response get_top(Api&, const Request&);
// A recording in any format, for a job too.
Response profile_in(const profile::Profile& profile, std::string_view format, const std::string& name);

// ---- api_jobs.cc: what takes time
Response get_verbs(Api&, const Request&);
Response get_tools(Api&, const Request&);
Response get_jobs(Api&, const Request&);
Response post_job(Api&, const Request&);
Response get_job(Api&, const Request&);
Response delete_job(Api&, const Request&);
Response post_check(Api&, const Request&);
Response post_sql(Api&, const Request&);
Response get_complete(Api&, const Request&);
Response get_audit(Api&, const Request&);
// Verdicts of `why`, as findings.
std::vector<store::Finding> findings_of(const Job& job);

// ---- metrics.cc
Response get_metrics(Api&, const Request&);

} // namespace web
