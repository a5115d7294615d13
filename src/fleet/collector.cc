// Threads of the server receive and decode; one thread stores what has come meanwhile in one go. A group that ClickHouse refuses for
// its rows is halved until the delivery at fault is alone: that one is refused, the others are stored. Any other failure is answered with 503, and the
// batches come again, as retries.
#include "fleet/collector.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "fleet/ids.h"
#include "fleet/protocol.h"
#include "fleet/rows.h"
#include "fleet/schema.h"
#include "fleet/tokens.h"
#include "web/access.h"
#include "web/http_server.h"
#include "web/parameters.h"

#include <charconv>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <unistd.h>

namespace fleet {

namespace {

using web::Request;
using web::Response;

constexpr size_t most_batches = 1000;
constexpr uint32_t most_body = 16 << 20;
constexpr uint64_t most_plain = 64 << 20; // of the batches of a request
constexpr size_t most_group_rows = 400'000; // with the rows of one more request below the size of a block
constexpr size_t most_retries = 3000;       // batches to ask for: a query has at most 256 KiB
constexpr size_t most_days = 50;            // of a request and of a group: ClickHouse takes 100 partitions in a block
constexpr size_t most_failed_parts = 40;    // of a group: beyond that the rest is not tried
constexpr uint64_t most_waiting_bytes = uint64_t{1} << 30; // of all requests that are not yet answered
constexpr uint64_t latest_time = 4'000'000'000;           // seconds since 1970: the year 2096
constexpr auto group_wait = std::chrono::milliseconds(500); // requests that come meanwhile are stored together

void print(const std::string& text) { base::write_all(STDERR_FILENO, "acu collect: " + text + "\n"); }

// One request of an agent.
struct Delivery {
  std::string host;
  uint64_t spool = 0, dropped = 0, dropped_samples = 0;
  int64_t clock_offset = 0; // of the agent to this host, seconds
  bool is_retry = false;
  std::vector<BatchRows> batches;
  // Set by the thread that stores.
  std::optional<base::Status> outcome;
};

size_t rows_in(const Delivery& delivery) {
  size_t out = 0;
  for (const BatchRows& batch : delivery.batches) out += batch.content.samples.size() + batch.content.points.size() + 2;
  return out;
}

// Of UTC: each is a partition.
std::set<int64_t> days_of(const Delivery& delivery) {
  std::set<int64_t> out;
  for (const BatchRows& batch : delivery.batches) out.insert(batch.slot / 86400);
  return out;
}

std::optional<uint64_t> number_of(std::string_view text, int base = 10) {
  uint64_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

// The body: number, size and bytes of each batch.
base::Result<std::vector<BatchRows>> read_batches(std::string_view body, std::string_view host, uint64_t spool) {
  base::Reader in(std::as_bytes(std::span(body)));
  std::vector<BatchRows> out;
  size_t rows = 0;
  uint64_t plain = 0;
  while (in.ok() && in.at() < body.size()) {
    const uint64_t number = in.uleb128(), size = in.uleb128();
    const base::ByteSpan bytes = in.bytes(size);
    if (!in.ok()) return base::Error{base::Failure::usage, "the body ends within a batch"};
    auto head = read_head(bytes);
    if (head.ok() && (plain += head->plain_size) > most_plain) return base::Error{base::Failure::usage, "the request has more than 64 MiB of content"};
    auto content = head.ok() ? unpack(*head) : base::Result<Content>(std::move(head.error()));
    if (!content.ok()) return std::move(content.error()).with("batch " + std::to_string(number));
    rows += content->samples.size() + content->points.size();
    if (rows > most_rows || out.size() == most_batches) return base::Error{base::Failure::usage, "the request has more than 1000 batches or 200000 rows"};
    out.push_back(rows_of(host, spool, number, head->slot, std::move(*content)));
  }
  if (out.empty()) return base::Error{base::Failure::usage, "the request has no batch"};
  return out;
}

// Stores groups of deliveries, and knows what may be half done.
class Storing {
public:
  Storing(Address address, const Retention& retention) : clickhouse_(std::move(address)), retention_(retention) {}
  base::Status prepare() {
    if (is_prepared_) return {};
    ACU_CHECK(prepare_schema(clickhouse_, retention_, web::now_seconds()));
    is_prepared_ = true;
    return {};
  }
  base::Status store(std::span<Delivery* const> group);
  const ClickHouse& clickhouse() const { return clickhouse_; }

private:
  base::Status wait_for_failed();
  base::Result<std::map<uint64_t, uint8_t>> find_stored(std::span<Delivery* const> group) const;
  base::Status find_stored(std::span<const BatchRows* const> batches, std::map<uint64_t, uint8_t>& to) const;
  base::Status insert(std::string_view table, const RowWriter& rows, const std::string& id);

  ClickHouse clickhouse_;
  const Retention retention_;
  Names names_;
  bool is_prepared_ = false;
  uint64_t groups_ = 0;
  const std::string run_ = web::make_token().substr(0, 16);
  std::vector<std::string> failed_; // ids of inserts that ClickHouse may still be working at
  const uint64_t started_ns_ = base::clock_ns();
  bool is_first_ = true;
};

base::Status Storing::insert(std::string_view table, const RowWriter& rows, const std::string& id) {
  if (!rows.rows()) return {};
  auto done = clickhouse_.insert(table, rows.bytes(), id);
  if (!done.ok()) failed_.push_back(id);
  return done;
}

// Whether a batch is there can be asked only when nobody is adding it.
base::Status Storing::wait_for_failed() {
  if (is_first_) { // a collector before this one may have been killed
    const double seconds = static_cast<double>(base::clock_ns() - started_ns_) / 1e9;
    ACU_TRY(const std::vector<Row> older, clickhouse_.rows("SELECT query_id FROM system.processes WHERE query_id LIKE 'acu-%' AND elapsed > " + base::print("%.3f", seconds)));
    if (!older.empty()) return base::Error{base::Failure::runtime, "ClickHouse is still working at an insert of an earlier acu collect"};
    is_first_ = false;
  }
  if (failed_.empty()) return {};
  std::string ids;
  for (const std::string& id : failed_) ids += (ids.empty() ? "" : ", ") + quoted(id);
  ACU_TRY(const std::vector<Row> running, clickhouse_.rows("SELECT query_id FROM system.processes WHERE query_id IN (" + ids + ")"));
  if (!running.empty()) return base::Error{base::Failure::runtime, "ClickHouse is still working at an insert whose answer was lost"};
  failed_.clear();
  return {};
}

// The targets that have a batch, by its id, of all that may have been sent before.
base::Result<std::map<uint64_t, uint8_t>> Storing::find_stored(std::span<Delivery* const> group) const {
  std::map<uint64_t, uint8_t> out;
  std::vector<const BatchRows*> batches;
  for (const Delivery* delivery : group)
    for (const BatchRows& batch : delivery->batches)
      if (delivery->is_retry) batches.push_back(&batch);
  for (std::span<const BatchRows* const> rest = batches; !rest.empty(); rest = rest.subspan(std::min(rest.size(), most_retries)))
    ACU_CHECK(find_stored(rest.first(std::min(rest.size(), most_retries)), out));
  return out;
}

base::Status Storing::find_stored(std::span<const BatchRows* const> asked, std::map<uint64_t, uint8_t>& to) const {
  std::set<uint64_t> hosts, batches;
  std::set<int64_t> slots;
  for (const BatchRows* batch : asked) hosts.insert(batch->host_id), batches.insert(batch->batch_id), slots.insert(batch->slot);
  auto list = [](const auto& numbers) {
    std::string text;
    for (auto n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "(" + text + ")";
  };
  for (size_t i = 0; i < std::size(targets); i++) {
    const Target& target = targets[i];
    std::set<int64_t> starts;
    for (int64_t slot : slots) starts.insert(slot - slot % target.slot_seconds);
    const std::string id(target.is_series ? "service" : "stack");
    const std::string condition = target.is_series ? "metric = '#'" : std::string("kind = '#' AND ") + (target.has_hosts ? "host" : "service") + " IN " + list(hosts);
    ACU_TRY(const std::vector<Row> rows, clickhouse_.rows("SELECT DISTINCT " + id + " FROM " + std::string(target.table) + " WHERE " + condition + " AND slot IN " + list(starts) +
                                                          " AND " + id + " IN " + list(batches)));
    for (const Row& row : rows)
      if (const auto batch = number_of(row[0])) to[*batch] |= bit_of(i);
  }
  return {};
}

base::Status Storing::store(std::span<Delivery* const> group) {
  // The tables are there, and nothing else is being written.
  ACU_CHECK(prepare());
  ACU_CHECK(wait_for_failed());

  // For each batch, the tables that lack it.
  ACU_TRY(const auto stored, find_stored(group));
  uint8_t of_series = 0;
  for (size_t i = 0; i < std::size(targets); i++)
    if (targets[i].is_series) of_series |= bit_of(i);
  RowWriter samples, series, hosts;
  std::set<uint64_t> seen; // an agent that starts anew may send what its predecessor has just sent
  for (const Delivery* delivery : group) {
    int64_t newest = 0;
    for (const BatchRows& batch : delivery->batches) {
      newest = std::max(newest, batch.slot);
      if (!seen.insert(batch.batch_id).second) continue;
      const auto at = stored.find(batch.batch_id);
      const auto lacking = static_cast<uint8_t>(all_targets & ~(at == stored.end() ? 0 : at->second));
      if (lacking) names_.add(batch);
      if (lacking & ~of_series) add_samples(samples, batch, lacking & static_cast<uint8_t>(~of_series));
      if (lacking & of_series) add_series(series, batch, lacking & of_series);
    }
    hosts.number(host_id(delivery->host)).text(delivery->host).number(delivery->spool).number(static_cast<uint32_t>(web::now_seconds())).number(static_cast<uint32_t>(newest));
    hosts.number(delivery->clock_offset).number(delivery->dropped).number(delivery->dropped_samples).end_row();
  }

  // What rows refer to is there before them.
  const std::string id = "acu-" + run_ + "-" + std::to_string(groups_++);
  ACU_CHECK(names_.store(clickhouse_, id));
  ACU_CHECK(insert("series_in", series, id + "-series")); // for how long was recorded, before what
  ACU_CHECK(insert("samples_in", samples, id + "-samples"));
  return insert("hosts", hosts, id + "-hosts");
}

class Collector {
public:
  explicit Collector(const CollectorOptions& options, Tokens& tokens) : options_(options), tokens_(tokens), storing_(options.store, options.keep) {}
  ~Collector() { stop(); }
  base::Status start();
  void stop();
  // Of a request's header; its client is the host then.
  std::optional<Response> admit(Request& request);
  Response answer(const Request& request);
  void delete_old();

private:
  Response receive(const Request& request);
  base::Status wait_until_stored(Delivery& delivery);
  std::vector<Delivery*> take_group();
  void store(std::span<Delivery* const> group, size_t& failed_parts);
  void note_failure(const base::Error& why);
  void run();

  const CollectorOptions& options_;
  Tokens& tokens_;
  Storing storing_;
  std::mutex mutex_;
  std::condition_variable has_come_, is_done_;
  std::deque<Delivery*> waiting_;
  std::set<std::pair<std::string, uint64_t>> busy_; // hosts and spools with a request at work: a second one waits for the first
  bool has_stopped_ = false;
  std::string last_failure_, last_not_deleted_; // printed once
  std::map<std::string, std::pair<std::string, uint64_t>> refused_; // by host: the last reason, and how many requests
  std::thread thread_;
};

base::Status Collector::start() {
  auto prepared = storing_.prepare();
  if (!prepared.ok() && prepared.error().kind != base::Failure::runtime) return prepared;
  if (!prepared.ok()) print(last_failure_ = prepared.error().message + "; agents keep their batches");
  thread_ = std::thread([this] { run(); });
  return {};
}

void Collector::stop() {
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
  }
  has_come_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<Response> Collector::admit(Request& request) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view authorization = request.header("authorization"), spoken = request.header(protocol_header);
  const bool is_health = request.path == "/healthz";
  if (!is_health && request.path != batches_path) return web::failure(404, "there is nothing at `" + request.path.substr(0, 200) + "`");
  if (is_health ? request.has_body() : request.method != web::Method::post) return web::failure(405, "method not allowed");
  if (is_health) return std::nullopt;
  if (authorization.starts_with(scheme)) request.client = tokens_.host_of(authorization.substr(scheme.size()));
  if (request.client.empty()) return web::failure(401, "no agent has this token\nhint: a line `NAME TOKEN` in the file of `acu collect --agents`");
  if (spoken == protocol) return std::nullopt;
  const std::string why = other_version(spoken.empty() ? "of an older version" : base::printable(spoken.substr(0, 50)), protocol);
  return Response(web::failure(426, why));
}

Response Collector::answer(const Request& request) {
  if (request.path == "/healthz") return {.type = "text/plain", .body = "ok\n"};
  return receive(request);
}

Response Collector::receive(const Request& request) {
  Delivery delivery;
  delivery.host = request.client;
  const auto spool = number_of(request.header("acu-spool"), 16), time = number_of(request.header("acu-time"));
  const auto dropped = number_of(request.header("acu-dropped")), dropped_samples = number_of(request.header("acu-dropped-samples"));
  if (!spool || !time || !dropped || !dropped_samples) return web::failure(400, "a header is missing or not a number: acu-spool, acu-time, acu-dropped, acu-dropped-samples");
  if (*time > latest_time) return web::failure(400, "acu-time is not a time in seconds since 1970: " + std::to_string(*time));
  delivery.spool = *spool, delivery.dropped = *dropped, delivery.dropped_samples = *dropped_samples;
  delivery.clock_offset = static_cast<int64_t>(*time) - web::now_seconds();
  delivery.is_retry = request.header("acu-retry") != "0";
  auto batches = read_batches(request.body, delivery.host, delivery.spool);
  if (!batches.ok()) return web::failure(400, batches.error().message);
  delivery.batches = std::move(*batches);
  if (days_of(delivery).size() > most_days) return web::failure(400, "the batches of the request are of more than 50 days\nhint: send those of fewer days at once");
  if (auto stored = wait_until_stored(delivery); !stored.ok()) return web::failure(stored.error().kind == base::Failure::usage ? 400 : 503, stored.error().message);
  return {.body = "{\"stored\": " + std::to_string(delivery.batches.size()) + "}"};
}

base::Status Collector::wait_until_stored(Delivery& delivery) {
  const std::pair key(delivery.host, delivery.spool);
  std::unique_lock lock(mutex_);
  if (has_stopped_) return base::Error{base::Failure::runtime, "acu collect is ending"};
  if (!busy_.insert(key).second) return base::Error{base::Failure::runtime, "the last request of this agent is still being stored"};
  waiting_.push_back(&delivery);
  has_come_.notify_one();
  is_done_.wait(lock, [&] { return delivery.outcome.has_value(); });
  busy_.erase(key);
  return std::move(*delivery.outcome);
}

// The oldest ones, up to the limits of one insert.
std::vector<Delivery*> Collector::take_group() {
  std::vector<Delivery*> out;
  std::set<int64_t> days;
  size_t rows = 0, retries = 0;
  while (!waiting_.empty() && rows < most_group_rows && retries < most_retries) {
    std::set<int64_t> with = days_of(*waiting_.front());
    with.insert(days.begin(), days.end());
    if (!out.empty() && with.size() > most_days) break;
    days = std::move(with), rows += rows_in(*waiting_.front());
    if (waiting_.front()->is_retry) retries += waiting_.front()->batches.size();
    out.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return out;
}

void Collector::note_failure(const base::Error& why) {
  if (why.message != last_failure_) print(last_failure_ = why.message);
}

// Sets the outcome of each.
void Collector::store(std::span<Delivery* const> group, size_t& failed_parts) {
  base::Status stored = storing_.store(group);
  const bool may_be_of_rows = !stored.ok() && (stored.error().kind == base::Failure::usage || stored.error().kind == base::Failure::unsupported);
  if (may_be_of_rows && group.size() > 1 && failed_parts++ < most_failed_parts) {
    for (Delivery* delivery : group) delivery->is_retry = true; // some tables may have it
    store(group.first(group.size() / 2), failed_parts);
    return store(group.subspan(group.size() / 2), failed_parts);
  }
  if (stored.ok() && !last_failure_.empty()) print("stored again"), last_failure_.clear();
  if (may_be_of_rows && group.size() == 1 && stored.error().kind == base::Failure::usage) {
    auto& [reason, count] = refused_[group[0]->host];
    count++;
    const bool is_new = reason != stored.error().message;
    reason = stored.error().message;
    if (is_new) print("refused a request of " + group[0]->host + " (" + base::counted(count, "request") + " of it since the start): " + reason);
  } else if (!stored.ok()) {
    stored.error().kind = base::Failure::runtime;
    note_failure(stored.error());
  }
  const std::lock_guard lock(mutex_);
  for (Delivery* delivery : group) delivery->outcome = stored.ok() ? base::Status() : base::Status(base::Error(stored.error()));
  is_done_.notify_all();
}

void Collector::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    has_come_.wait(lock, [&] { return has_stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return; // stopped, and all were answered
    if (!has_stopped_) {
      lock.unlock();
      std::this_thread::sleep_for(group_wait);
      lock.lock();
    }
    const std::vector<Delivery*> group = take_group();
    lock.unlock();
    size_t failed_parts = 0;
    store(group, failed_parts);
  }
}

void Collector::delete_old() {
  // What fails is done the next time.
  const base::Status done = fleet::delete_old(storing_.clickhouse(), web::now_seconds(), options_.keep);
  if (done.ok()) return last_not_deleted_.clear();
  if (done.error().message != last_not_deleted_) print(last_not_deleted_ = done.error().message);
}

} // namespace

base::Status collect(const CollectorOptions& options) {
  ACU_TRY(const std::unique_ptr<Tokens> tokens, Tokens::open(options.agents, print));
  Collector collector(options, *tokens);
  // A request occupies a thread until it is stored.
  const web::HttpLimits limits = {.body_bytes = most_body, .connections = 16384, .threads = 2, .slow_threads = 256, .slow_waiting = 4096, .waiting_bytes = most_waiting_bytes, .request_seconds = 60};
  ACU_TRY(auto server, web::listen(options.address, options.port, limits,
                                   {.admit = [&](Request& request) { return collector.admit(request); },
                                    .answer = [&](const Request& request) { return collector.answer(request); },
                                    .lane = [](const Request& request) { return request.path == batches_path ? web::Lane::slow : web::Lane::quick; },
                                    .headers = {{std::string(protocol_header), std::string(protocol)}}}));
  if (options.tls.are_named()) {
    ACU_TRY(const std::shared_ptr<const web::Tls> tls, web::Tls::open(options.tls));
    server->use_tls(tls);
    server->on_hangup([&] {
      auto again = web::Tls::open(options.tls);
      if (again.ok()) server->use_tls(*again);
      print(again.ok() ? "read the certificate again: valid until " + (*again)->valid_until() : again.error().message + "\nkeeping the previous certificate");
    });
  }
  ACU_CHECK(collector.start());
  const net::Endpoint at = {.host = options.address, .port = server->port(), .is_encrypted = options.tls.are_named()};
  print("ready at " + at.shown() + ", storing in " + options.store.shown());
  if (!net::is_loopback(options.address) && !options.tls.are_named()) print("note: connections are not encrypted: use --tls-cert and --tls-key, or a private network");
  server->in_background([&] { collector.delete_old(); });
  server->repeat(1000, [&] { tokens->refresh(); });
  server->repeat(3'600'000, [&] { server->in_background([&] { collector.delete_old(); }); });
  server->run();
  return {};
}

} // namespace fleet
