// An engine and a backend without a kernel: they write down what is asked of them, and have the records, maps and stacks that a
// test gives them.
#pragma once

#include "session/backend.h"

#include <cstring>
#include <map>

class RecordingEngine : public ir::Engine {
public:
  std::string log; // "run1 put0 detach "
  std::vector<std::vector<std::byte>> queue;
  std::function<void(uint32_t)> on_run = [](uint32_t) {};
  std::map<uint32_t, std::vector<ir::Entry>> maps;
  std::map<uint64_t, std::vector<uint64_t>> stacks;
  ir::Counters lost;

  // A record of an action whose payload is one number.
  void send(uint32_t action, int64_t number = 0) {
    std::vector<std::byte> record(16);
    std::memcpy(record.data(), &action, 4);
    std::memcpy(record.data() + 8, &number, 8);
    queue.push_back(record);
  }
  base::Result<int64_t> run(uint32_t probe) override {
    log += "run" + std::to_string(probe) + " ";
    on_run(probe);
    return 0;
  }
  size_t drain(const std::function<void(std::span<const std::byte>)>& take) override {
    const size_t n = queue.size();
    for (const auto& record : std::exchange(queue, {})) take(record);
    return n;
  }
  base::Result<std::vector<ir::Entry>> read_map(uint32_t map) override { return maps[map]; }
  base::Status clear_map(uint32_t map) override {
    log += "clear" + std::to_string(map) + " ";
    maps[map].clear();
    return {};
  }
  base::Status zero_map(uint32_t map) override { return log += "zero" + std::to_string(map) + " ", base::Status(); }
  base::Status put(uint32_t map, std::span<const std::byte> key, std::span<const std::byte> value) override {
    log += "put" + std::to_string(map) + " ";
    maps[map].push_back({{key.begin(), key.end()}, {value.begin(), value.end()}});
    return {};
  }
  std::vector<uint64_t> stack(uint64_t id) override { return stacks[id]; }
  ir::Counters counters() override { return lost; }
};

class RecordingBackend : public session::Backend {
public:
  RecordingEngine recording;
  bool refuses = false; // each event that is to be attached
  RecordingEngine& engine() override { return recording; }
  base::Status attach(uint32_t probe, const Refused& refused) override {
    recording.log += "attach" + std::to_string(probe) + " ";
    return refuses ? refused(base::Error{base::Failure::unsupported, "no"}) : base::Status();
  }
  base::Status attach_more(uint32_t, std::span<const probe::Event* const>, std::span<const uint64_t>, const Refused&) override { return {}; }
  base::Result<bool> step(uint32_t) override { return false; }
  void detach_file(std::string_view) override {}
  void detach() override { recording.log += "detach "; }
  int wait_fd() const override { return -1; }
};
