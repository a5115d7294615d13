// The measurement `connections`: whom a process connects to, and for how long it waits for each (scripts/why_connections.bt); its listen queues and local
// ports from lists of the kernel's sockets. A thread waits for the peer that it asked last: with several requests at once others are not counted.
#include "proc/process_files.h"
#include "proc/tcp_sockets.h"
#include "proc/text.h"
#include "session/script_maps.h"
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/sampler.h"
#include "why/slots.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace why {

namespace {

constexpr std::string_view measurement = "connections";
constexpr size_t most_facts = 16;
// An attempt that takes longer has lost its first packet (RFC 6298).
constexpr uint64_t lost_after_ns = 1'000'000'000;
// Acknowledgements come with answers, so a slow server makes the measured round trip long; packets to this host itself take at most so long.
constexpr double own_round_trip_ns = 1e5;

struct Peer {
  std::string address;
  Sliced time;
  uint64_t connects = 0, connect_ns = 0, answers = 0, latency_ns = 0, trip_ns = 0, segments = 0, retransmits = 0;
  std::map<int, uint64_t> failures; // by error
};

std::string_view reason_of(int error) {
  switch (error) {
  case ECONNREFUSED: return "refused";
  case EHOSTUNREACH:
  case ENETUNREACH: return "unreachable";
  case EADDRNOTAVAIL: return "no port";
  default: return "timed out"; // or the program has given up before the kernel did
  }
}

class ConnectionsInstrument final : public CallsInstrument {
public:
  explicit ConnectionsInstrument(const Subject& subject) : CallsInstrument("why_connections", subject) {}

  base::Status prepare(const session::Options& run) override;
  void begin() override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  struct Queue {
    uint64_t length = 0, looks = 0, limit = 0, first_drops = 0, last_drops = 0;
  };

  void configure(session::BuiltinScript& script) const override;
  void arrange(session::Measurement&) override {}
  void look_at_queues();
  base::Status read_peers();
  base::Status read_failures();
  base::Status read_open();
  void add(std::string_view kind, Slots slots) { out_.push_back(fact_about(subject_.pid, kind, measurement, std::move(slots))); }
  void add_peer(const Peer& peer, const Sliced& busy);
  base::Status add_ports();
  base::Status add_queues();

  proc::TcpSockets sockets_;
  std::map<uint16_t, Queue> queues_; // by port
  std::map<uint64_t, Peer> peers_; // by the script's number
  std::vector<Fact> out_;
  Sampler sampler_; // last: it uses the others
};

void ConnectionsInstrument::configure(session::BuiltinScript& script) const {
  CallsInstrument::configure(script);
  std::vector<int> ports;
  for (const auto& [port, queue] : queues_) ports.push_back(port);
  if (!ports.empty()) script.set_expression("is_listening", session::one_of("port", ports));
}

base::Status ConnectionsInstrument::prepare(const session::Options& run) {
  ACU_CHECK(sockets_.open(subject_.pid));
  look_at_queues();
  return ScriptInstrument::prepare(run);
}

void ConnectionsInstrument::begin() {
  CallsInstrument::begin();
  queues_.clear();
  sampler_.start(std::chrono::milliseconds(100), [this] { look_at_queues(); });
}

void ConnectionsInstrument::look_at_queues() {
  const base::Result<std::vector<proc::TcpSocket>> sockets = sockets_.list(1U << TCP_LISTEN);
  if (!sockets.ok() || sockets->empty()) return;
  const std::set<uint32_t> own = proc::socket_inodes(subject_.pid);
  for (const proc::TcpSocket& s : *sockets) {
    if (!own.contains(s.inode)) continue;
    Queue& q = queues_[s.local_port];
    if (!q.looks++) q.first_drops = s.drops;
    q.length += s.queued;
    q.limit = s.limit;
    q.last_drops = s.drops;
  }
}

base::Status ConnectionsInstrument::read_peers() {
  const auto each = [&](std::string_view map, auto take) -> base::Status {
    ACU_TRY(const std::vector<ScriptRow> found, rows(map));
    for (const ScriptRow& r : found) take(r);
    return {};
  };
  ACU_CHECK(each("peers", [&](const ScriptRow& r) {
    peers_[r.number("key")].address = proc::peer_text(r.number("family"), r.number("port"), r.number("first"), r.number("second"));
  }));
  ACU_CHECK(each("connects", [&](const ScriptRow& r) { peers_[r.number("key")].connects = r.count(), peers_[r.number("key")].connect_ns = r.sum(); }));
  ACU_CHECK(each("latency", [&](const ScriptRow& r) { peers_[r.number("key")].answers = r.count(), peers_[r.number("key")].latency_ns = r.sum(); }));
  ACU_CHECK(each("trip", [&](const ScriptRow& r) { peers_[r.number("key")].trip_ns = r.number("ns"); }));
  ACU_CHECK(each("segments", [&](const ScriptRow& r) { peers_[r.number("key")].segments = r.sum(); }));
  ACU_CHECK(each("retransmits", [&](const ScriptRow& r) { peers_[r.number("key")].retransmits = r.sum(); }));
  return each("time", [&](const ScriptRow& r) { peers_[r.number("0")].time.add_to(r.number("1"), static_cast<double>(r.sum())); });
}

base::Status ConnectionsInstrument::read_failures() {
  ACU_TRY(const std::vector<ScriptRow> failures, rows("failures"));
  for (const ScriptRow& r : failures) peers_[r.number("0")].failures[static_cast<int>(r.number("1"))] += r.count();
  ACU_TRY(const std::vector<ScriptRow> at_once, rows("failed_at_once"));
  for (const ScriptRow& r : at_once) {
    const std::string address = proc::peer_text(r.number("0"), r.number("1"), r.number("2"), r.number("3"));
    const auto known = std::ranges::find_if(peers_, [&](const auto& p) { return p.second.address == address; });
    Peer& peer = known != peers_.end() ? known->second : peers_[(peers_.empty() ? 0 : peers_.rbegin()->first) + 1];
    peer.address = address;
    peer.connects += r.count();
    peer.failures[static_cast<int>(-r.integer("4"))] += r.count();
  }
  return {};
}

// Connects and waits for answers that go on.
base::Status ConnectionsInstrument::read_open() {
  ACU_TRY(const uint64_t first, session::read_number(runner_->program(), runner_->backend().engine(), "began"));
  const uint64_t end = first + subject_.interval_ns;
  ACU_TRY(const std::vector<ScriptRow> connecting, rows("connecting"));
  ACU_TRY(const std::vector<ScriptRow> asks, rows("asks"));
  ACU_TRY(const std::vector<ScriptRow> calls, rows("in_call"));
  std::map<uint64_t, uint64_t> peer_of; // by thread
  for (const ScriptRow& r : asks) peer_of[r.number("key")] = r.sum();
  for (const ScriptRow& r : connecting) {
    const uint64_t age = proc::growth(r.number("at"), end);
    if (age < lost_after_ns) continue;
    Peer& peer = peers_[r.number("peer")];
    peer.connects++;
    peer.connect_ns += age;
    peer.failures[ETIMEDOUT]++;
    peer_of.try_emplace(r.number("thread"), r.number("peer"));
  }
  for (const ScriptRow& r : calls) {
    const auto peer = peer_of.find(r.number("key"));
    if (peer == peer_of.end() || !r.number("at")) continue;
    peers_[peer->second].time.add_span(proc::growth(first, r.number("at")), subject_.interval_ns, slice_ns_);
  }
  return {};
}

void ConnectionsInstrument::add_peer(const Peer& peer, const Sliced& busy) {
  uint64_t failed = 0;
  for (const auto& [error, n] : peer.failures) failed += n;
  const auto most = std::ranges::max_element(peer.failures, {}, [](const auto& f) { return f.second; });
  const auto mean = [](uint64_t sum, uint64_t number) { return number ? static_cast<double>(sum) / static_cast<double>(number) : 0.0; };
  const bool is_here = peer.address.starts_with("127.") || peer.address.starts_with("[::1]");
  const double trip = is_here ? std::min(own_round_trip_ns, static_cast<double>(peer.trip_ns)) : static_cast<double>(peer.trip_ns);
  Slots slots = {{"address", peer.address},
                 {"connects", rate(peer.connects)},
                 {"failures", mean(failed, peer.connects)},
                 {"reason", failed ? std::string(reason_of(most->first)) : std::string()},
                 {"connect_latency", mean(peer.connect_ns, peer.connects)},
                 {"latency", mean(peer.latency_ns, peer.answers)},
                 {"round_trip", trip},
                 {"retransmits", mean(peer.retransmits, peer.segments)}};
  put_share(slots, share_of(peer.time, busy));
  add("peer", std::move(slots));
}

base::Status ConnectionsInstrument::add_ports() {
  constexpr uint32_t connected = ~(1U << TCP_LISTEN) & ~(1U << TCP_CLOSE);
  ACU_TRY(const std::vector<proc::TcpSocket> sockets, sockets_.list(connected));
  std::map<std::string_view, std::pair<uint64_t, uint64_t>> used; // in TIME_WAIT, all
  for (const proc::TcpSocket& s : sockets) {
    auto& [closing, all] = used[s.peer];
    closing += s.state == TCP_TIME_WAIT;
    all++;
  }
  for (const auto& [number, peer] : peers_) {
    const auto at = used.find(peer.address);
    if (at == used.end()) continue;
    const auto [closing, all] = at->second;
    add("ports", {{"peer", peer.address},
                  {"used", std::min(1.0, static_cast<double>(all) / static_cast<double>(std::max<uint64_t>(sockets_.local_ports(), 1)))},
                  {"closing", static_cast<double>(closing) / static_cast<double>(all)},
                  {"connects", rate(peer.connects)}});
  }
  return {};
}

base::Status ConnectionsInstrument::add_queues() {
  ACU_TRY(const std::vector<ScriptRow> accepted, rows("accepts"));
  std::map<uint64_t, uint64_t> accepts;
  for (const ScriptRow& r : accepted) accepts[r.number("key")] = r.count();
  for (const auto& [port, q] : queues_)
    add("listen-queue", {{"port", int64_t{port}},
                         {"length", static_cast<double>(q.length) / static_cast<double>(q.looks)},
                         {"limit", static_cast<int64_t>(q.limit)},
                         {"overflows", rate(proc::growth(q.first_drops, q.last_drops))},
                         {"accepts", rate(accepts[port])},
                         {"name", proc::name_of_process(subject_.pid)}});
  return {};
}

base::Result<std::vector<Fact>> ConnectionsInstrument::end(uint64_t) {
  sampler_.stop();
  ACU_CHECK(read_peers());
  ACU_CHECK(read_failures());
  ACU_CHECK(read_open());
  ACU_TRY(const Sliced own, busy());
  std::vector<const Peer*> largest;
  for (const auto& [number, peer] : peers_)
    if (!peer.address.empty()) largest.push_back(&peer);
  std::ranges::sort(largest, std::greater(), [](const Peer* p) { return std::pair(p->time.sum(), p->connects); });
  if (largest.size() > most_facts) largest.resize(most_facts);
  for (const Peer* p : largest) add_peer(*p, own);
  ACU_CHECK(add_ports());
  ACU_CHECK(add_queues());
  return std::move(out_);
}

} // namespace

std::unique_ptr<Instrument> make_connections_instrument(const Subject& subject) { return std::make_unique<ConnectionsInstrument>(subject); }

} // namespace why
