// `acu export`: the maps of a script as metrics, for Prometheus. They are read when somebody asks for them, and at no other time.
#include "base/output_file.h"
#include "base/text.h"
#include "budget/run.h"
#include "net/http_client.h"
#include "report/openmetrics.h"
#include "session/losses.h"
#include "tool/scripts.h"
#include "tool/store_options.h"
#include "tool/tool.h"
#include "web/http_server.h"
#include "web/sessions.h"
#include "web/tls.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

constexpr std::string_view metrics_path = "/metrics";
constexpr uint64_t usual_top = 10'000;

void print(const std::string& text) { base::write_all(STDERR_FILENO, "acu export: " + text + "\n"); }

struct ExportOptions {
  session::Options script;
  std::string address = "127.0.0.1";
  uint16_t port = 9435;
  web::TlsFiles tls;
  std::string token; // empty: none is needed
  uint64_t top = usual_top;
  std::string prefix; // of all names of metrics
};

// The script's maps for whoever asks over HTTP. Requests come on threads of the server and wait until the script's thread has read the maps.
class Exporter : public session::Beside {
public:
  explicit Exporter(const ExportOptions& options) : options_(options), asked_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  base::Status check() const { return asked_fd_.valid() ? base::Status() : base::errno_error("cannot wait for requests", errno); }

  web::Response answer(const web::Request& request) {
    if (!options_.token.empty() && !web::is_equal(request.header("authorization"), "Bearer " + options_.token))
      return web::failure(401, "the token is missing or wrong\nhint: send the token of --token-file as `Authorization: Bearer TOKEN`");
    if (request.method != web::Method::get && request.method != web::Method::head) return web::failure(405, "metrics are only read");
    if (request.path != metrics_path) return web::failure(404, "there is only " + std::string(metrics_path));
    std::unique_lock lock(mutex_);
    const uint64_t mine = ++asked_;
    const uint64_t one = 1;
    if (::write(asked_fd_.get(), &one, sizeof one) != sizeof one) return web::failure(503, "the script cannot be asked");
    const bool is_there = answered_.wait_for(lock, std::chrono::seconds(10), [&] { return has_ended_ || read_ >= mine; });
    if (!is_there || has_ended_) return web::failure(503, has_ended_ ? "the script has ended" : "the script is busy, or attaches its probes");
    return {.type = std::string(report::openmetrics_type), .body = text_};
  }

  bool shows_maps() const override { return true; }
  base::Result<session::Regular*> begin(const session::Running& running) override {
    program_ = &running.program, engine_ = &running.backend.engine(), printer_ = &running.printer;
    for (uint32_t i = 0; i < program_->maps.size(); i++) take_map(i);
    regular_.fd = asked_fd_.get();
    regular_.next_ns = session::Regular::never;
    regular_.tick = [] { return base::Result<bool>(true); };
    regular_.input = [this] { return read_maps(), true; };
    return &regular_;
  }

  // Who still waits is told.
  void end() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    answered_.notify_all();
  }

private:
  struct Exported {
    uint32_t map;
    std::string name;
    uint64_t omitted = 0; // keys, when it was read last
  };

  void take_map(uint32_t index) {
    const ir::Map& map = program_->maps[index];
    if (map.is_own || !map.value) return;
    const std::string_view why = report::not_a_metric(map);
    if (why.empty())
      maps_.push_back({index, options_.prefix + (map.name.empty() ? "map" : report::metric_name(map.name))});
    else if (options_.script.warnings)
      print("@" + map.name + " is not exported: " + std::string(why));
  }

  void read_maps() {
    uint64_t count = 0;
    if (::read(asked_fd_.get(), &count, sizeof count) != sizeof count) return; // another look has taken it
    uint64_t upto = 0;
    {
      const std::lock_guard lock(mutex_);
      upto = asked_;
    }
    std::string text = exposition();
    const std::lock_guard lock(mutex_);
    text_ = std::move(text), read_ = upto;
    answered_.notify_all();
  }

  std::string exposition() {
    std::string out;
    uint64_t failed = 0;
    for (Exported& exported : maps_) {
      const auto entries = engine_->read_map(exported.map);
      if (!entries.ok()) failed++;
      if (!entries.ok()) continue;
      exported.omitted = entries->size() > options_.top ? entries->size() - options_.top : 0;
      out += printer_->metrics(exported.map, *entries, options_.top, exported.name);
    }
    const ir::Counters counters = engine_->counters();
    auto count = [&](std::string_view name, uint64_t value, std::string_view help) {
      report::append_family(out, name, "counter", "", help);
      out.append(name).append("_total " + std::to_string(value) + "\n");
    };
    count("acu_export_lost_events", session::lost_events(counters), "Events that no map has.");
    count("acu_export_missed_runs", counters.missed_runs, "Runs of probes that the kernel skipped.");
    unread_ += failed;
    count("acu_export_unread_maps", unread_, "Maps that could not be read when they were asked for.");
    auto by_map = [&](std::string_view name, std::string_view suffix, auto value) {
      for (const Exported& exported : maps_) {
        out.append(name).append(suffix).append("{");
        report::append_label(out, "map", "@" + program_->maps[exported.map].name);
        out += "} " + std::to_string(value(exported)) + "\n";
      }
    };
    report::append_family(out, "acu_export_refused_updates", "counter", "", "Updates of a map that was full.");
    by_map("acu_export_refused_updates", "_total", [&](const Exported& e) { return e.map < counters.map_full.size() ? counters.map_full[e.map] : 0; });
    report::append_family(out, "acu_export_omitted_keys", "gauge", "", "Keys of a map that are not exported: there are more than --top permits.");
    by_map("acu_export_omitted_keys", "", [](const Exported& e) { return e.omitted; });
    return out + std::string(report::openmetrics_end);
  }

  const ExportOptions& options_;
  base::Fd asked_fd_;
  session::Regular regular_;
  // Of the script's thread.
  const ir::Program* program_ = nullptr;
  ir::Engine* engine_ = nullptr;
  report::Printer* printer_ = nullptr;
  std::vector<Exported> maps_;
  uint64_t unread_ = 0;
  // Of all threads.
  std::mutex mutex_;
  std::condition_variable answered_;
  uint64_t asked_ = 0, read_ = 0; // requests; up to which one the text holds
  bool has_ended_ = false;
  std::string text_;
};

// "acu_", with the name of the script's file or of the tool.
std::string prefix_of(const session::Options& script) {
  std::string_view name = script.tool.name.empty() ? std::string_view(script.file) : std::string_view(script.tool.name);
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
  name = name.substr(0, name.rfind('.'));
  return name.empty() || name == "-" ? "acu_" : "acu_" + report::metric_name(name) + "_";
}

base::Result<ExportOptions> read_export(const session::Arguments& arguments) {
  ExportOptions out;
  ACU_TRY(out.script, session::read_options(arguments));
  take_tool(out.script);
  out.prefix = prefix_of(out.script);
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, session::read_count("--top", *text));
  }
  ACU_TRY(out.tls, read_tls(arguments));
  if (const std::string* path = arguments.value(OptionId::token_file)) {
    ACU_TRY(out.token, read_token(*path));
  }
  const std::string* text = arguments.value(OptionId::listen);
  if (!text) return out;
  ACU_CHECK(read_listen(*text, out.address, out.port));
  if (!net::is_loopback(out.address) && (!out.tls.are_named() || out.token.empty()))
    return base::usage_error("`--listen " + *text + "`: connections from other hosts must be encrypted and have a token\nhint: --tls-cert FILE --tls-key FILE --token-file FILE; or stay on loopback");
  return out;
}

base::Result<std::unique_ptr<web::HttpServer>> open_server(const ExportOptions& options, Exporter& exporter) {
  std::shared_ptr<const web::Tls> tls;
  if (options.tls.are_named()) {
    ACU_TRY(tls, web::Tls::open(options.tls));
  }
  ACU_TRY(auto server, web::listen(options.address, options.port, {},
                                   {.admit = [](web::Request&) { return std::nullopt; },
                                    .answer = [&](const web::Request& request) { return exporter.answer(request); },
                                    .lane = [](const web::Request&) { return web::Lane::slow; },
                                    .ends_on_signals = false}));
  if (tls) server->use_tls(tls);
  const net::Endpoint at = {.host = options.address, .port = server->port(), .is_encrypted = tls != nullptr};
  if (!options.script.quiet) print("metrics at " + at.shown() + std::string(metrics_path));
  return server;
}

} // namespace

int export_maps(const session::Arguments& arguments) {
  const auto options = read_export(arguments);
  if (!options.ok()) return fail(options.error());
  Exporter exporter(*options);
  if (auto checked = exporter.check(); !checked.ok()) return fail(checked.error());
  auto server = open_server(*options, exporter);
  if (!server.ok()) return fail(server.error());
  std::thread serving([&] { (*server)->run(); });
  const int status = budget::run(options->script, {&exporter});
  exporter.end();
  (*server)->stop();
  serving.join();
  return status;
}

} // namespace tool
