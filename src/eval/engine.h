// The evaluator as an engine: runs probes without a context (begin, end, interval, signal) in this process,
// without the kernel and without privileges. It is the oracle of the kernel engine: records, keys and values
// are the same, byte for byte. It limits neither stack nor program size; loops have only the limits that the
// program states.
//
// Addresses of Space::script are addresses of this process. Kernel and user memory are what Options::kernel
// and Options::user say; without them every such read faults.
//
// Over a stopped program (Options::target) user memory is that program's, a run is in one of its
// threads (set_thread), and a read that fails ends the run: what follows would work on a value that is none.
#pragma once

#include "eval/code.h"
#include "eval/maps.h"
#include "eval/memory.h"
#include "eval/nearby.h"
#include "ir/engine.h"
#include "target/target.h"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace eval {

// Whose registers, stack and name a run sees.
struct Thread {
  uint32_t pid = 0, id = 0, user = 0, group = 0;
  std::string_view name;
  std::span<const std::byte> context; // struct user_regs_struct; empty: none
  std::span<const uint64_t> stack;    // innermost first
};

struct Options {
  Memory* kernel = nullptr;
  Memory* user = nullptr;
  std::span<const std::byte> context; // of the probes that are run; what is outside reads as 0
  uint64_t seed = 0;                  // of Query::random; 0: another one each time
  uint64_t step_budget = 0;           // jumps and calls after which a run fails; 0: none
  target::Memory* target = nullptr;   // of a stopped program; then `user` is not asked
  // Answers Op::memory_map; missing: 0.
  std::function<uint64_t(ir::MemoryQuestion question, uint64_t address)> memory_map;
  std::function<bool()> interrupted;  // asked now and then: whether a run is to end
};

// What runs of probes change and share.
struct State {
  State(const ir::Program& program, const Options& options);

  const ir::Program& program;
  Options options;
  std::deque<MapTable> maps;                         // by Program::maps
  std::vector<std::vector<uint32_t>> object_offsets; // of each frame's objects, with its size as the last
  std::vector<FunctionCode> code;                    // by Program::functions, made at the first call
  FunctionCode& code_of(size_t function) {
    FunctionCode& made = code[function];
    if (made.code.empty()) [[unlikely]]
      make(function);
    return made;
  }
  void make(size_t function);
  // Of calls: registers and objects. Memory that is not touched costs nothing.
  static constexpr size_t stack_words = 8 << 20;
  std::unique_ptr<int64_t[]> stack = std::make_unique_for_overwrite<int64_t[]>(stack_words);
  std::deque<std::vector<std::byte>> events;         // sent, not yet drained
  std::vector<std::unique_ptr<std::byte[]>> records; // opened by the current run
  ir::Counters counters;
  uint64_t random = 0;
  // Of a stopped program.
  std::optional<Thread> thread;
  std::array<target::Window, 4> windows = {};          // areas of its memory that were read last
  Nearby nearby;
  target::Missing missing = target::Missing::none;     // why the last read failed
  std::map<std::vector<uint64_t>, uint64_t> stack_ids; // odd numbers, as Op::stack wants them
  std::vector<const std::vector<uint64_t>*> stacks;    // by id / 2
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
  base::Status put(uint32_t map, std::span<const std::byte> key, std::span<const std::byte> value) override;
  std::vector<uint64_t> stack(uint64_t id) override; // without a target Op::stack gives no ids
  // Runs from here on are in this thread of the target; what it points to lives until the next call.
  void set_thread(const Thread& thread) { state_.thread = thread; }
  ir::Counters counters() override { return state_.counters; }

private:
  State state_;
};

} // namespace eval
