// What one server has not taken yet, and the thread that sends it.
#pragma once

#include "net/backoff.h"
#include "push/requests.h"
#include "push/targets.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace push {

// Of requests, since the start.
struct Counts {
  uint64_t sent = 0;
  uint64_t refused = 0; // by the server
  uint64_t dropped = 0; // without room
  uint64_t waiting = 0, waiting_bytes = 0;
};

class Outbox {
public:
  static constexpr size_t most_bytes = 16 << 20, most_waiting = 4096;
  static constexpr uint32_t request_seconds = 30;

  // `print`: of any thread; each failure once until the next success.
  Outbox(Target target, std::function<void(const std::string&)> print);
  // Sends nothing more, and prints how many requests wait. A request under way is given up.
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  const Target& target() const { return target_; }
  // What is beyond the limits goes, the oldest first.
  void put(std::string body);
  Counts counts() const;

private:
  void run();
  bool wait(std::unique_lock<std::mutex>& guard, double seconds);
  struct Waiting {
    std::string body;
    std::chrono::steady_clock::time_point since;
  };
  Judgement send(const std::string& body) const;
  void note(const std::string& why);

  const Target target_;
  const std::function<void(const std::string&)> print_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  size_t bytes_ = 0;
  uint64_t first_ = 0; // how many went before waiting_.front()
  std::optional<uint64_t> on_its_way_;
  Counts counts_;
  std::string noted_;
  net::Backoff backoff_;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

} // namespace push
