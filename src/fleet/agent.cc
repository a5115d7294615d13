// The main thread looks after the samplers, another one sends: a collector that does not answer stops no measuring. At the end acu waits for neither
// longer than most_end_ns: what was not delivered stays in the spool.
#include "fleet/agent.h"

#include "agent/json.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/fd.h"
#include "base/leb128.h"
#include "base/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "fleet/batch.h"
#include "fleet/protocol.h"
#include "fleet/spool.h"
#include "net/backoff.h"
#include "store/writer_lock.h"
#include "web/samplers.h"

#include <atomic>
#include <cinttypes>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>

namespace fleet {

namespace {

// Of a request and of the end of the samplers, together: the rest of 2 s is for ending their processes.
constexpr uint64_t most_end_ns = 1'700'000'000, most_samplers_end_ns = 1'200'000'000;

void print(const std::string& text) { base::write_all(STDERR_FILENO, "acu agent: " + text + "\n"); }

// From {"error": "sentence", "hint": "…"}: the sentence, and the hint on its own line. Nothing: it is another answer.
std::optional<std::string> sentence_of(const std::string& body) {
  rapidjson::Document answer;
  if (!agent::parse_json(body, answer).ok() || !answer.IsObject()) return std::nullopt;
  const rapidjson::Value *error = agent::member(answer, "error"), *hint = agent::member(answer, "hint");
  if (!error || !error->IsString()) return std::nullopt;
  std::string out = base::printable(agent::text_of(*error).substr(0, 500));
  if (hint && hint->IsString()) out += "\nhint: " + base::printable(agent::text_of(*hint).substr(0, 500));
  return out;
}

class Sender {
public:
  Sender(const AgentOptions& options, Spool spool) : options_(options), spool_(std::move(spool)) {
    // What an earlier agent left may have been sent by it.
    for (const SpoolEntry& entry : spool_.list()) attempted_.insert(entry.number);
  }
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  // No request begins any more, and one that is at work is given up at that time.
  void begin_stop(uint64_t end_ns) {
    {
      const std::lock_guard guard(mutex_);
      has_stopped_ = true, end_ns_ = end_ns;
    }
    wake_.notify_all();
  }
  // After begin_stop(): tries once more, with what was measured last.
  void stop() {
    thread_.join();
    if (!is_at_end()) (void)send_next();
    if (const size_t left = spool_.list().size()) print(base::counted(left, "batch") + (left == 1 ? " stays" : " stay") + " in the spool; the next acu agent sends " + (left == 1 ? "it" : "them"));
  }

private:
  static constexpr size_t most_batches = 64, most_bytes = 4 << 20;

  enum class Sent : uint8_t { nothing_left, stored, refused, failed };
  void run();
  bool wait(double seconds);
  bool is_at_end() const { return base::clock_ns() >= end_ns_; }
  Sent send_next();
  Sent judge(const base::Result<net::HttpAnswer>& answer, const std::vector<SpoolEntry>& entries);
  void note(const std::string& failure);

  const AgentOptions& options_;
  Spool spool_;
  std::set<uint64_t> attempted_; // batches that may be stored already
  size_t group_ = most_batches;
  std::string last_failure_; // printed once
  net::Backoff backoff_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool has_stopped_ = false;
  std::atomic<uint64_t> end_ns_ = UINT64_MAX; // when everything is given up
  std::thread thread_;
};

bool Sender::wait(double seconds) {
  std::unique_lock guard(mutex_);
  wake_.wait_for(guard, std::chrono::duration<double>(seconds), [&] { return has_stopped_; });
  return !has_stopped_;
}

void Sender::run() {
  constexpr double between = 1;
  // Agents of a fleet write at the same time: each sends a little later, always by the same.
  std::random_device random;
  const double phase = std::uniform_real_distribution<>(0, 3)(random);
  bool is_idle = true;
  for (bool goes_on = wait(between); goes_on;) {
    if (auto kept = spool_.keep_within(options_.max_bytes); !kept.ok()) note(kept.error().message);
    if (is_idle && !spool_.list().empty() && !wait(phase)) return;
    const Sent sent = send_next();
    is_idle = sent == Sent::nothing_left;
    if (sent == Sent::stored || is_idle) {
      backoff_.reset();
      goes_on = is_idle ? wait(between) : wait(0);
      continue;
    }
    // A refusal lasts until somebody changes the token, the address or the collector.
    if (sent == Sent::refused) backoff_.slow_down();
    goes_on = wait(backoff_.next());
  }
}

Sender::Sent Sender::send_next() {
  std::string body;
  std::vector<SpoolEntry> entries;
  bool is_retry = false;
  for (const SpoolEntry& entry : spool_.list()) {
    if (entries.size() == group_ || (!entries.empty() && body.size() + entry.bytes > most_bytes)) break;
    const auto bytes = spool_.read(entry.number);
    if (!bytes.ok()) return note(bytes.error().message), Sent::failed;
    if (!read_head(std::as_bytes(std::span(*bytes))).ok()) { // the system crashed while it was written
      print("batch " + std::to_string(entry.number) + " of the spool is damaged; dropped");
      if (auto dropped = spool_.drop(entry); !dropped.ok()) return note(dropped.error().message), Sent::failed;
      continue;
    }
    base::put(body, entry.number), base::put(body, std::string_view(*bytes));
    is_retry |= attempted_.contains(entry.number);
    entries.push_back(entry);
  }
  if (entries.empty()) return Sent::nothing_left;
  const auto state = spool_.state();
  if (!state.ok()) return note(state.error().message), Sent::failed;
  for (const SpoolEntry& entry : entries) attempted_.insert(entry.number);
  const net::HttpRequest request = {.target = std::string(batches_path),
                               .headers = {{"Authorization", "Bearer " + options_.token},
                                           {"Content-Type", "application/octet-stream"},
                                           {std::string(protocol_header), std::string(protocol)},
                                           {"acu-spool", base::print("%016" PRIx64, state->id)},
                                           {"acu-time", std::to_string(base::clock_ns(CLOCK_REALTIME) / 1'000'000'000)},
                                           {"acu-dropped", std::to_string(state->dropped)},
                                           {"acu-dropped-samples", std::to_string(state->dropped_samples)},
                                           {"acu-retry", is_retry ? "1" : "0"}},
                               .body = body,
                               .gives_up = [this] { return is_at_end(); }};
  return judge(net::post(options_.to, request), entries);
}

Sender::Sent Sender::judge(const base::Result<net::HttpAnswer>& answer, const std::vector<SpoolEntry>& entries) {
  if (!answer.ok()) {
    if (!is_at_end()) note(answer.error().message);
    return Sent::failed;
  }
  const std::string body = base::printable(base::trim(std::string_view(answer->body).substr(0, 500))), why = sentence_of(answer->body).value_or(body);
  const std::string_view spoken = answer->header(protocol_header);
  if (!spoken.starts_with(protocol_name)) { // any other server may have that address, or a proxy answers alone
    note(options_.to.shown() + " is not a collector: status " + std::to_string(answer->status) + ": " + why);
    return answer->status >= 500 ? Sent::failed : Sent::refused;
  }
  if (spoken != protocol) return note(other_version(protocol, base::printable(spoken.substr(0, 50)))), Sent::refused;
  switch (answer->status) {
  case 200:
    if (body != "{\"stored\": " + std::to_string(entries.size()) + "}") return note("the collector did not confirm " + base::counted(entries.size(), "batch") + ": " + why), Sent::refused;
    if (auto removed = spool_.remove_stored(entries); !removed.ok()) return note(removed.error().message), Sent::failed;
    for (const SpoolEntry& entry : entries) attempted_.erase(entry.number);
    group_ = std::min(2 * group_, most_batches);
    if (!last_failure_.empty()) print("batches are stored again"), last_failure_.clear();
    return Sent::stored;
  case 401: return note("the collector refuses the token: " + why), Sent::refused;
  case 400:
  case 413:
    // One of them is not accepted: which one shows when they are sent one by one.
    note("the collector does not accept a batch: " + why);
    if (group_ > 1) return group_ = 1, Sent::stored;
    if (auto dropped = spool_.drop(entries[0]); !dropped.ok()) return note(dropped.error().message), Sent::failed;
    return Sent::stored;
  default: return note("the collector answers with status " + std::to_string(answer->status) + ": " + why), Sent::failed;
  }
}

void Sender::note(const std::string& failure) {
  if (failure == last_failure_) return;
  last_failure_ = failure;
  const size_t sentence = std::min(failure.find('\n'), failure.size()); // before a hint
  print(failure.substr(0, sentence) + "; " + base::counted(spool_.list().size(), "batch") + " in the spool" + failure.substr(sentence));
}

} // namespace

base::Status run_agent(const AgentOptions& options) {
  // The spool is ours.
  ACU_TRY(Spool spool, Spool::open(options.spool));
  ACU_TRY(const base::Fd owned, store::lock_writer(options.spool + "/lock", "another acu agent uses the spool `" + options.spool + "`", "--spool FOLDER"));
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // Samplers fill it, a thread empties it.
  web::Samplers samplers(std::string(spool_scheme) + options.spool, print);
  Sender sender(options, std::move(spool));
  samplers.advance();
  sender.start();
  print("recording, and sending to " + options.to.shown());
  const timespec moment = {0, 500'000'000};
  for (int signal = 0; signal <= 0;) {
    signal = ::sigtimedwait(&signals, nullptr, &moment);
    samplers.advance();
  }

  // What was measured is sent, or stays in the spool.
  sender.begin_stop(base::clock_ns() + most_end_ns);
  samplers.stop(most_samplers_end_ns);
  sender.stop();
  return {};
}

} // namespace fleet
