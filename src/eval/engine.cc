// The engine around the interpreter: what lies between runs (maps, queue, counters) and how session sees it.
#include "eval/engine.h"

#include "eval/interpreter.h"

#include <cstring>
#include <sys/random.h>

namespace eval {

State::State(const ir::Program& p, const Options& o) : program(p), options(o), random(o.seed) {
  for (const ir::Map& m : program.maps) maps.emplace_back(m);
  for (const ir::Frame& f : program.frames) {
    auto& offsets = object_offsets.emplace_back();
    uint32_t at = 0;
    for (const ir::Object& object : f.objects) {
      offsets.push_back(at);
      at += (object.size + 7) / 8 * 8;
    }
    offsets.push_back(at);
  }
  code.resize(program.functions.size());
  counters.sites.resize(program.sites.size());
  counters.map_full.resize(program.maps.size());
  if (random == 0 && getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 1;
}

void State::make(size_t function) {
  const ir::Function& f = program.functions[function];
  code[function] = make_code(f, object_offsets[f.frame], options.target);
}

std::vector<uint64_t> Engine::stack(uint64_t id) {
  return id % 2 && id / 2 < state_.stacks.size() ? *state_.stacks[id / 2] : std::vector<uint64_t>();
}

base::Result<int64_t> Engine::run(uint32_t probe) {
  const ir::Program& program = state_.program;
  if (probe >= program.probes.size()) return base::Error{base::Failure::runtime, "there is no such probe"};
  const ir::Probe& p = program.probes[probe];
  if (p.context != probe::Context::none && state_.options.context.empty() && !state_.thread)
    return base::Error{base::Failure::unsupported, p.name + ": the evaluator has no events of the kernel"};
  auto status = Interpreter(state_).run(p.function);
  // Nobody holds an address of script memory any more.
  state_.records.clear();
  for (MapTable& m : state_.maps) m.collect();
  if (!status) return std::move(status.error()).with(p.name);
  return *status;
}

size_t Engine::drain(const std::function<void(std::span<const std::byte>)>& take) {
  size_t n = 0;
  // `take` may run a probe, which sends more.
  for (; !state_.events.empty(); n++) {
    const std::vector<std::byte> record = std::move(state_.events.front());
    state_.events.pop_front();
    take(record);
  }
  return n;
}

base::Result<std::vector<ir::Entry>> Engine::read_map(uint32_t map) {
  const MapTable& table = state_.maps[map];
  std::vector<ir::Entry> entries;
  for (const MapTable::Entry& e : table.entries()) {
    if (!table.is_present(e)) continue;
    const auto* key = reinterpret_cast<const std::byte*>(e.key.data());
    entries.push_back({{key, key + e.key.size()}, {e.value.get(), e.value.get() + table.value_size()}});
  }
  return entries;
}

base::Status Engine::clear_map(uint32_t map) {
  state_.maps[map].clear();
  state_.maps[map].collect();
  return {};
}

base::Status Engine::put(uint32_t map, std::span<const std::byte> key, std::span<const std::byte> value) {
  MapTable& table = state_.maps[map];
  if (key.size() != table.key_size() || value.size() != table.value_size()) return base::Error{base::Failure::runtime, "an entry does not fit its map"};
  std::byte* at = table.slot({reinterpret_cast<const char*>(key.data()), key.size()});
  if (!at) return base::Error{base::Failure::runtime, "cannot set an entry of a map: it is full"};
  std::memcpy(at, value.data(), value.size());
  return {};
}

base::Status Engine::zero_map(uint32_t map) {
  state_.maps[map].zero();
  return {};
}

} // namespace eval
