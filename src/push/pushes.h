// Each minute of a store, and each finding, for all servers.
#pragma once

#include "base/result.h"
#include "push/outbox.h"
#include "store/store.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace push {

struct PushOptions {
  std::vector<Target> targets;
  std::string host, version;
  std::function<base::Result<std::unique_ptr<store::Store>>()> open; // the store, to read
  std::function<void(const std::string&)> print;                     // of any thread
};

class Pushes {
public:
  // `now`: seconds since 1970. The first minute that is sent is the one in which acu starts.
  Pushes(PushOptions options, int64_t now);

  // Puts what has become due into the outboxes; on one thread at a time.
  void advance(int64_t now);
  void send(const store::Finding& finding);

  // By target, in the order of the file.
  std::vector<std::pair<const Target*, Counts>> counts() const;
  uint64_t skipped_minutes() const { return skipped_minutes_; }

private:
  base::Status put_minute(int64_t begin);
  void put(std::string_view kind, const profile::Profile& minute);

  const PushOptions options_;
  std::vector<std::unique_ptr<Outbox>> outboxes_;
  int64_t next_; // begin of a minute
  std::atomic<uint64_t> skipped_minutes_ = 0;
  uint32_t failures_ = 0; // of reading the minute next_
  std::string noted_;
};

} // namespace push
