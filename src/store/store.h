// What is recorded all the time: samples by stack, numbers over time, findings. `Store` is what any engine offers; open_sqlite() is the
// embedded one.
//
// Time is cut in slots of slot_seconds. A slot is named by its begin, in seconds since 1970.
#pragma once

#include "base/result.h"
#include "profile/profile.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace store {

constexpr int64_t slot_seconds = 10;
constexpr int64_t slot_of(int64_t seconds) { return seconds - seconds % slot_seconds; }

// What belongs together for people: a systemd unit, a container, or the processes of a name.
enum class ServiceType : uint8_t { process, unit, container, kernel };
std::string_view name_of(ServiceType type);
struct Service {
  std::string name;
  ServiceType type = ServiceType::process;
  bool operator==(const Service&) const = default;
  auto operator<=>(const Service&) const = default;
};

// Who recorded what, when and for how long. A source is written by one process at a time (writer_lock.h), and a slot as often as is needed: each time adds
// to it.
struct Slot {
  std::string source;       // "host", or a kind of samples: "cpu", "offcpu", … (spec/profile_kinds.h)
  int64_t begin = 0;        // slot_of()
  uint64_t covered_ns = 0;  // how long the source recorded: less than the slot's length where it began, ended, or was held up
};

// Samples of a slot, of the kind of its source. `profile` has the frames; weights are those of `gains`.
struct Batch {
  const profile::Profile* profile = nullptr;
  std::span<const profile::Gain> gains;
  std::vector<Service> services; // by the profile's threads
  double scale = 1;              // of weights: from the unit of the kind to the unit that is stored (ns, bytes, …)
};

// A number: its mean over what the slot covers. Sources that record the same number (own_lost) add up.
struct Point {
  Service service; // an empty name: the host
  std::string metric;
  double value = 0;
};
inline constexpr std::string_view lost_metric = "own_lost"; // of the host, for each second

// Seconds since 1970; `to` is not in it.
struct Range {
  int64_t from = 0, to = 0;
};

struct ProfileQuery {
  std::string kind = "cpu";
  Range range;
  std::string service, process, thread; // empty: all
  uint32_t pid = 0;                     // 0: all
};

struct Series {
  int64_t step = slot_seconds;
  std::vector<int64_t> times;
  std::vector<std::string> metrics;
  std::vector<std::vector<std::optional<double>>> values; // by metric; nothing: not recorded then
};

// Means over what was recorded of a range.
struct ServiceUse {
  Service service;
  std::vector<std::pair<std::string, double>> metrics;
  double metric(std::string_view name) const;
};

struct Finding {
  int64_t id = 0, time = 0;
  std::string service, verdict, cause, summary;
  std::string detail; // JSON
};

struct Sizes {
  uint64_t bytes = 0, free_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> rows; // by table
  int64_t from = 0, to = 0;                            // of samples and series; 0: there are none
};

// A host of a fleet (src/fleet), by the last report of its agent.
struct Host {
  std::string name;
  int64_t received = 0, slot = 0;  // when the last batch came, and of which time it is
  int64_t clock_offset = 0;        // seconds that its clock was ahead of the collector's
  uint64_t lost_batches = 0, lost_samples = 0; // that its spool had no room for
};

struct Limits {
  int64_t keep_seconds = 7 * 86400;
  uint64_t max_bytes = uint64_t{1} << 30;
};

class Store {
public:
  virtual ~Store() = default;
  // All or nothing. `batch`: none, where the source records only numbers.
  virtual base::Status write(const Slot& slot, const std::vector<Point>& points, const Batch* batch = nullptr) = 0;
  virtual base::Status write(const Finding& finding) = 0;
  // Frames are in the profile once; unit and title are for the caller to set. Its duration is the time that was recorded; its losses are those of the kind.
  virtual base::Result<profile::Profile> profile(const ProfileQuery& query) = 0;
  virtual base::Result<Series> series(const std::string& service, const std::vector<std::string>& metrics, Range range, uint64_t points) = 0;
  virtual base::Result<std::vector<ServiceUse>> services(Range range) = 0;
  virtual base::Result<std::vector<Finding>> findings(Range range, const std::string& service, size_t most) = 0;
  virtual base::Result<Sizes> sizes() = 0;
  // Of a fleet's store; of one host: none.
  virtual base::Result<std::vector<Host>> hosts() { return std::vector<Host>(); }
  // Merges old slots, deletes what is older than the limits or beyond them with all that only it referred to, and gives space back to the disk.
  virtual base::Status keep_within(const Limits& limits, int64_t now) = 0;
  // The same for all that is old, at once.
  virtual base::Status compact(const Limits& limits, int64_t now) = 0;
  // Sentences about what is damaged; none: it is whole.
  virtual base::Result<std::vector<std::string>> check() = 0;
};

// Failure: the store is of another version, damaged, no store, or cannot be written. Reading ends with a failure that is_time_limit() after `limit_ns`
// (0: never).
enum class Mode : uint8_t { read, write };
base::Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, Mode mode, uint64_t limit_ns = 0);
bool is_time_limit(const base::Error& error);
// A full disk, or a store that another program has locked: later it can be written again.
bool is_passing(const base::Error& error);

} // namespace store
