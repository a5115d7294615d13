// The evaluator as an engine: runs probes without a context (begin, end, interval, signal) in this process,
// without the kernel and without privileges. It is the oracle of the kernel engine: records, keys and values
// are the same, byte for byte. It limits neither stack nor program size; loops have only the limits that the
// program states.
//
// Addresses of Space::script are addresses of this process. Kernel and user memory are what Options::kernel
// and Options::user say; without them every such read faults.
#pragma once

#include "eval/maps.h"
#include "eval/memory.h"
#include "ir/engine.h"

#include <deque>
#include <memory>

namespace eval {

struct Options {
  Memory* kernel = nullptr;
  Memory* user = nullptr;
  std::span<const std::byte> context; // of the probes that are run; what is outside reads as 0
  uint64_t seed = 0;        // of Query::random; 0: another one each time
  uint64_t step_budget = 0; // instructions after which a run fails; 0: none
};

// What runs of probes change and share.
struct State {
  State(const ir::Program& program, const Options& options);

  const ir::Program& program;
  Options options;
  std::deque<MapTable> maps;                         // by Program::maps
  std::vector<std::vector<uint32_t>> object_offsets; // of each frame's objects, with its size as the last
  std::deque<std::vector<std::byte>> events;         // sent, not yet drained
  std::vector<std::unique_ptr<std::byte[]>> records; // opened by the current run
  ir::Counters counters;
  uint64_t random = 0;
};

class Engine final : public ir::Engine {
public:
  // `program` and the memories must outlive the engine.
  explicit Engine(const ir::Program& program, const Options& options = {}) : state_(program, options) {}

  base::Result<int64_t> run(uint32_t probe) override;
  size_t drain(const std::function<void(std::span<const std::byte>)>& take) override;
  base::Result<std::vector<ir::Entry>> read_map(uint32_t map) override;
  base::Status clear_map(uint32_t map) override;
  base::Status zero_map(uint32_t map) override;
  std::vector<uint64_t> stack(uint64_t) override { return {}; } // Op::stack gives no ids
  ir::Counters counters() override { return state_.counters; }

private:
  State state_;
};

} // namespace eval
