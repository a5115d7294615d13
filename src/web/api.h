// The HTTP API (docs/serve-api.md): a table of routes, each a function from a request to a response.
#pragma once

#include "agent/audit.h"
#include "push/pushes.h"
#include "store/store.h"
#include "web/http.h"
#include "web/jobs.h"
#include "web/samplers.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

namespace web {

struct ToolRow {
  std::string name, group, title;
};

// Opens the store of a fleet, to read of one host, or of all if the name is empty.
using OpenFleet = std::function<base::Result<std::unique_ptr<store::Store>>(const std::string& host)>;

// What the functions of the API know.
struct Api {
  std::string store; // path
  store::Limits limits;
  bool is_read_only = false, has_login = false;
  std::string version, host;
  std::vector<ToolRow> tools;
  Jobs* jobs = nullptr;
  const Samplers* samplers = nullptr;
  const push::Pushes* pushes = nullptr;
  std::function<void(const agent::AuditLine&)> audit;
  // The last lines of the audit, as JSON.
  std::mutex lines_mutex;
  std::deque<std::string> lines;

  // What runs now and holds a thread of the slow lane: SQL, and all questions that acu answers as a child process, or the store by SQL.
  std::atomic<uint32_t> queries = 0, questions = 0;
  OpenFleet open_fleet; // not set: the store has one host, this one

  base::Result<std::unique_ptr<store::Store>> open() const { return store::open_sqlite(store, store::Mode::read, 10'000'000'000); }
  // The store of the request's `host`.
  base::Result<std::unique_ptr<store::Store>> open(const Request& request) const;
};

// How long an answer takes: `stored` ones read a little of the store, which is quick unless the store is a fleet's, elsewhere.
enum class Speed : uint8_t { quick, stored, slow };

struct Route {
  Method method = Method::get;
  std::string_view path; // a `*` at its end: any number, and what follows it
  Response (*answer)(Api&, const Request&);
  bool is_change = false; // not in read-only mode, and audited
  Speed speed = Speed::quick;
  Role role = Role::view;
};
std::span<const Route> routes();
// Whether it waits for its turn among others of its like, beside the quick ones.
bool is_slow(const Request& request, bool is_fleet);
// Adds a line to the audit. `arguments`: JSON.
void note(Api& api, const Request& request, std::string_view action, std::string_view arguments, int status, uint64_t wall_ns = 0, size_t bytes = 0);
// Nothing: the client of the request may do what needs this role.
std::optional<Response> refuse_role(const Request& request, Role needed);
// Finds the route, keeps to read-only mode, and writes the audit.
Response answer(Api& api, const Request& request);

// The value of an expression, or the response of its failure.
#define ACU_RESPOND(decl, expr)                                                                              \
  auto ACU_JOIN(responded_, __LINE__) = (expr);                                                              \
  if (!ACU_JOIN(responded_, __LINE__).ok()) return failure(ACU_JOIN(responded_, __LINE__).error());          \
  decl = std::move(ACU_JOIN(responded_, __LINE__).value())

// From a failure: usage is 400, nothing found 404, no permission 403, a query that took too long 503, anything else 500.
Response failure(const base::Error& error);

// ---- api_host.cc: the host and its services
Response get_me(Api&, const Request&);
Response get_hosts(Api&, const Request&);
Response get_overview(Api&, const Request&);
Response get_services(Api&, const Request&);
Response get_series(Api&, const Request&);
Response get_export(Api&, const Request&);
Response get_findings(Api&, const Request&);

// Of whom the answer is.
std::string host_of(const Api& api, const Request& request);

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
