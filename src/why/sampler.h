// Does something again and again while a measurement goes on, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace why {

class Sampler {
public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler() { stop(); }

  void start(std::chrono::milliseconds each, std::function<void()> sample) {
    thread_ = std::thread([this, each, sample = std::move(sample)] {
      std::unique_lock lock(mutex_);
      while (!wake_.wait_for(lock, each, [this] { return stops_; })) sample();
    });
  }
  // No sample is taken afterwards.
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stops_ = false;
  std::thread thread_;
};

} // namespace why
