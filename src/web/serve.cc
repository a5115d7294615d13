// The steps in their order.
#include "web/serve.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/fd.h"
#include "base/output_file.h"
#include "store/writer_lock.h"
#include "web/access.h"
#include "web/http_server.h"
#include "web/parameters.h"
#include "web/symptoms.h"

#include <algorithm>
#include <atomic>
#include <sys/utsname.h>
#include <unistd.h>

namespace web {

namespace {

void print(const std::string& text) { base::write_all(STDERR_FILENO, "acu serve: " + text + "\n"); }

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
void look_for_symptoms(Symptoms& symptoms, const Api& api, std::string& last_failure) {
  const agent::Verb* why = agent::find_verb("why", api.jobs->settings());
  if (api.is_read_only || !why) return;
  auto store = api.open();
  const int64_t now = now_seconds();
  if (!store.ok() || !symptoms.should_ask(**store, now)) return;
  auto job = api.jobs->start(*why, {}, "acu serve");
  if (job.ok()) return symptoms.has_asked(now), last_failure.clear();
  if (job.error().message != last_failure) print("cannot start acu why: " + (last_failure = job.error().message));
}

void keep_findings(const ServeOptions& options, const Job& job, push::Pushes* pushes) {
  const std::vector<store::Finding> findings = findings_of(job);
  if (findings.empty()) return;
  const auto write = [&]() -> base::Status {
    ACU_TRY(const auto store, store::open_sqlite(options.store, store::Mode::write));
    for (const store::Finding& finding : findings) ACU_CHECK(store->write(finding));
    return {};
  };
  // Who is told of one finds it in the store.
  if (const base::Status written = write(); !written.ok()) print(written.error().message);
  if (pushes)
    for (const store::Finding& finding : findings) pushes->send(finding);
}

std::vector<std::string> hosts_of(const std::string& address, uint16_t port, bool is_encrypted) {
  const std::string number = ":" + std::to_string(port);
  const bool is_v6 = address.find(':') != address.npos;
  const std::string literal = is_v6 ? "[" + address + "]" : address;
  std::vector<std::string> out = {literal + number, "localhost" + number};
  if (port == (is_encrypted ? 443 : 80)) out.insert(out.end(), {literal, "localhost"}); // browsers leave out the default port
  return out;
}

// This host by the certificate: its first name without a wildcard, or the host's own name in the place of the wildcard.
std::string name_of_host(const std::vector<std::string>& names) {
  const auto exact = std::ranges::find_if(names, [](const std::string& name) { return !name.starts_with('*'); });
  if (exact != names.end()) return *exact;
  utsname system = {};
  ::uname(&system);
  const std::string node = system.nodename;
  return node.substr(0, node.find('.')) + names.front().substr(1);
}

// The address for people: a name of the certificate, if the server has more than one address.
std::string origin_of(const ServeOptions& options, uint16_t port, const Tls* tls) {
  const bool is_any = options.address == "0.0.0.0" || options.address == "::";
  std::string host = hosts_of(options.address, port, tls).front();
  if (tls && is_any && !tls->names().empty()) host = name_of_host(tls->names()) + ":" + std::to_string(port);
  return (tls ? "https://" : "http://") + host;
}

void print_certificate(const ServeOptions& options, const Tls& tls) {
  constexpr int64_t month = 30 * 86400;
  print("certificate `" + options.tls.certificate + "`: valid until " + tls.valid_until());
  if (tls.seconds_left() < month) print("note: the certificate expires in " + base::counted(static_cast<uint64_t>(tls.seconds_left() / 86400), "day") + "; replace it and send SIGHUP");
}

// What cannot be read leaves what was read before in use.
void read_again(const ServeOptions& options, Access& access, HttpServer& server) {
  if (Login* login = access.login()) {
    auto read = login->read();
    print(read.ok() ? "read `" + options.users + "` again: " + base::counted(login->users(), "user") : read.error().message + "\nkeeping the previous users");
  }
  if (!options.tls.are_named()) return;
  auto tls = Tls::open(options.tls);
  if (!tls.ok()) return print(tls.error().message + "\nkeeping the previous certificate");
  server.use_tls(*tls);
  access.use_tls(*tls);
  print_certificate(options, **tls);
}

} // namespace

base::Status serve(const ServeOptions& options) {
  // Who may come in, and by what certificate, is known before anything is started.
  std::shared_ptr<const Tls> tls;
  if (options.tls.are_named()) {
    ACU_TRY(tls, Tls::open(options.tls));
  }
  if (!options.users.empty()) {
    ACU_TRY(const Users users, read_users(options.users));
  }

  // The store is ours, whole, and of this version; that of a fleet is there.
  base::Fd owned;
  if (options.open_fleet) {
    ACU_TRY(auto store, options.open_fleet(""));
    ACU_CHECK(store->hosts());
  } else {
    ACU_TRY(owned, store::lock_writer(options.store + ".lock", "another acu serve uses the store `" + options.store + "`", "--store FILE"));
    ACU_TRY(auto store, store::open_sqlite(options.store, store::Mode::write));
    ACU_CHECK(store->sizes());
  }

  // Requests have a place to go.
  utsname system = {};
  ::uname(&system);
  ACU_TRY(agent::Audit audit, agent::Audit::open(options.audit.empty() ? options.store + ".audit" : options.audit));
  HttpServer* running = nullptr;
  std::optional<push::Pushes> pushes;
  if (!options.push.empty())
    pushes.emplace(push::PushOptions{.targets = options.push, .host = system.nodename, .version = options.version, .open = [&options] { return store::open_sqlite(options.store, store::Mode::read, 10'000'000'000); }, .print = print}, now_seconds());
  push::Pushes* const pushed = pushes ? &*pushes : nullptr;
  Jobs jobs(options.settings, [&](std::function<void()> work) { running->in_background(std::move(work)); }, [&](const Job& job) { keep_findings(options, job, pushed); });
  std::optional<Samplers> samplers; // others record a fleet
  if (!options.open_fleet) samplers.emplace(options.store, print);
  Api api;
  api.store = options.store, api.limits = options.limits, api.is_read_only = options.is_read_only;
  api.version = options.version, api.host = system.nodename, api.tools = options.tools;
  api.jobs = &jobs, api.samplers = samplers ? &*samplers : nullptr, api.open_fleet = options.open_fleet;
  api.pushes = pushed;
  std::mutex audit_mutex;
  api.audit = [&](const agent::AuditLine& line) {
    const std::lock_guard guard(audit_mutex);
    audit.write_or_report(line, "serve");
  };

  // The port is open, and nobody gets past Access without a token.
  std::optional<Access> access;
  HttpLimits limits;
  if (options.open_fleet) limits.slow_threads = 16, limits.slow_waiting = 64; // they wait for ClickHouse and need no CPU here
  const bool is_fleet = options.open_fleet != nullptr;
  ACU_TRY(auto server, listen(options.address, options.port, limits,
                              {.admit = [&](Request& request) { return access->check(request); },
                               .answer = [&](const Request& request) { return access->is_login(request) ? access->login()->answer(request) : answer(api, request); },
                               .lane = [&, is_fleet](const Request& request) {
                                 if (access->is_login(request)) return request.method == Method::post ? Lane::login : Lane::quick;
                                 return is_slow(request, is_fleet) ? Lane::slow : Lane::quick;
                               }}));
  const std::string origin = origin_of(options, server->port(), tls.get());
  access.emplace(hosts_of(options.address, server->port(), tls != nullptr), [&](const std::string& token) { print("open " + origin + "/?token=" + token); });
  if (tls) {
    server->use_tls(tls);
    access->use_tls(tls);
    print_certificate(options, *tls);
  }
  if (!options.users.empty())
    ACU_CHECK(access->use_users(options.users, options.login_ns, [&](const Request& request, std::string_view action, std::string_view arguments, int status) { note(api, request, action, arguments, status); }));
  api.has_login = access->login() != nullptr;
  if (tls || access->login()) server->on_hangup([&] { read_again(options, *access, *server); });
  if (!options.token_file.empty()) ACU_CHECK(access->use_token_file(options.token_file));

  running = server.get();

  // Samplers record; jobs and upkeep run beside.
  if (samplers) samplers->advance();
  if (!access->login()) access->print_token();
  const std::string programs = options.token_file.empty() ? "" : " (programs: the token of " + options.token_file + ")";
  if (access->login() || !programs.empty()) print("ready at " + origin + programs);
  Upkeep upkeep(options, *server);
  server->repeat(100, [&] { jobs.advance(); });
  Symptoms symptoms;
  std::string last_failure; // of acu why, printed once
  if (samplers) {
    server->repeat(1000, [&] { samplers->advance(); });
    server->repeat(60'000, [&] { upkeep.start(); });
    server->repeat(10'000, [&] { look_for_symptoms(symptoms, api, last_failure); });
    if (pushed)
      server->repeat(10'000, [&] { server->in_background([pushed] { pushed->advance(now_seconds()); }); });
  }
  server->run();

  // What was measured is written.
  jobs.cancel_all();
  if (samplers) samplers->stop();
  return {};
}

} // namespace web
