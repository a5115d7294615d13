// The steps in their order.
#include "web/serve.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/output_file.h"
#include "web/access.h"
#include "web/http_server.h"
#include "web/parameters.h"
#include "web/symptoms.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace web {

namespace {

void print(const std::string& text) { base::write_all(STDERR_FILENO, "acu serve: " + text + "\n"); }

// One server for a store. The lock goes with the process, however it ends.
base::Result<base::Fd> lock(const std::string& store) {
  const std::string path = store + ".lock";
  base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return base::errno_error("cannot write `" + path + "`", errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return base::errno_error("cannot lock `" + path + "`", errno);
  return base::Error{base::Failure::runtime, "another acu serve uses the store `" + store + "`\nhint: --store FILE names another one"};
}

// Merging, deleting, giving back space: once a minute, beside the answers.
class Upkeep {
public:
  Upkeep(const ServeOptions& options, HttpServer& server) : options_(options), server_(server) {}
  void start() {
    if (is_running_.exchange(true)) return;
    server_.in_background([this] {
      auto store = store::open_sqlite(options_.store, store::Mode::write);
      const base::Status done = store.ok() ? (*store)->keep_within(options_.limits, now_seconds()) : base::Status(std::move(store.error()));
      if (!done.ok() && done.error().message != last_) print(last_ = done.error().message);
      if (done.ok()) last_.clear();
      is_running_ = false;
    });
  }

private:
  const ServeOptions& options_;
  HttpServer& server_;
  std::string last_; // message, which is printed once
  std::atomic<bool> is_running_ = false;
};

// `acu why` for the whole host, as a job that everybody sees.
void look_for_symptoms(Symptoms& symptoms, const Api& api) {
  const agent::Verb* why = agent::find_verb("why", api.jobs->settings());
  if (api.is_read_only || !why) return;
  auto store = api.open();
  if (!store.ok() || !symptoms.should_ask(**store, now_seconds())) return;
  if (auto job = api.jobs->start(*why, {}, "acu serve"); !job.ok()) print("acu why could not be started: " + job.error().message);
}

void keep_findings(const ServeOptions& options, const Job& job) {
  const std::vector<store::Finding> findings = findings_of(job);
  if (findings.empty()) return;
  auto store = store::open_sqlite(options.store, store::Mode::write);
  if (!store.ok()) return print(store.error().message);
  for (const store::Finding& finding : findings)
    if (auto written = (*store)->write(finding); !written.ok()) return print(written.error().message);
}

std::vector<std::string> hosts_of(const std::string& address, uint16_t port) {
  const std::string number = ":" + std::to_string(port);
  const bool is_v6 = address.find(':') != address.npos;
  const std::string literal = is_v6 ? "[" + address + "]" : address;
  std::vector<std::string> out = {literal + number, "localhost" + number};
  if (port == 80) out.insert(out.end(), {literal, "localhost"}); // browsers leave out the default port
  return out;
}

} // namespace

base::Status serve(const ServeOptions& options) {
  // The store is ours, whole, and of this version.
  ACU_TRY(const base::Fd owned, lock(options.store));
  ACU_TRY(auto store, store::open_sqlite(options.store, store::Mode::write));
  ACU_CHECK(store->sizes());
  store.reset();

  // Requests have a place to go.
  utsname system = {};
  ::uname(&system);
  ACU_TRY(agent::Audit audit, agent::Audit::open(options.audit.empty() ? options.store + ".audit" : options.audit));
  HttpServer* running = nullptr;
  Jobs jobs(options.settings, [&](const Job& job) { running->in_background([&options, job] { keep_findings(options, job); }); });
  Samplers samplers(options.store);
  Api api;
  api.store = options.store, api.limits = options.limits, api.is_read_only = options.is_read_only;
  api.version = options.version, api.host = system.nodename, api.tools = options.tools;
  api.jobs = &jobs, api.samplers = &samplers;
  std::mutex audit_mutex;
  api.audit = [&](const agent::AuditLine& line) {
    const std::lock_guard guard(audit_mutex);
    audit.write(line);
  };

  // The port is open, and nobody gets past Access without a token.
  std::optional<Access> access;
  ACU_TRY(auto server, listen(options.address, options.port, {}, [&](Request request) {
            if (auto refused = access->check(request)) return std::move(*refused);
            return answer(api, request);
          }));
  const std::string origin = "http://" + hosts_of(options.address, server->port()).front();
  access.emplace(hosts_of(options.address, server->port()), [&](const std::string& token) { print("open " + origin + "/?token=" + token); });
  if (!options.token_file.empty()) ACU_CHECK(access->use_token_file(options.token_file));

  running = server.get();

  // Samplers record; jobs and upkeep run beside.
  samplers.advance();
  access->print_token();
  if (!options.token_file.empty()) print("ready at " + origin + " (programs: the token of " + options.token_file + ")");
  Upkeep upkeep(options, *server);
  server->repeat(100, [&] { jobs.advance(); });
  server->repeat(1000, [&] { samplers.advance(); });
  server->repeat(60'000, [&] { upkeep.start(); });
  Symptoms symptoms;
  server->repeat(10'000, [&] { look_for_symptoms(symptoms, api); });
  server->run();

  // What was measured is written.
  jobs.cancel_all();
  samplers.stop();
  return {};
}

} // namespace web
