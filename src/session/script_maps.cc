#include "session/script_maps.h"

#include "session/stack_map.h"

#include <cstring>

namespace session {

std::optional<uint32_t> find_map(const ir::Program& program, std::string_view name) {
  for (uint32_t i = 0; i < program.maps.size(); i++)
    if (program.maps[i].name == name) return i;
  return std::nullopt;
}

base::Result<uint64_t> read_number(const ir::Program& program, ir::Engine& engine, std::string_view map) {
  ACU_TRY(profile::RawSample sum, read_sum(program, engine, map));
  return sum.weight;
}

base::Result<profile::RawSample> read_sum(const ir::Program& program, ir::Engine& engine, std::string_view map) {
  profile::RawSample sum;
  const std::optional<uint32_t> index = find_map(program, map);
  if (!index) return sum;
  ACU_TRY(std::vector<ir::Entry> entries, engine.read_map(*index));
  for (const ir::Entry& e : entries) add_values(program.maps[*index], e, sum);
  return sum;
}

base::Result<std::map<uint32_t, uint64_t>> read_sums(const ir::Program& program, ir::Engine& engine, std::string_view map) {
  std::map<uint32_t, uint64_t> out;
  const std::optional<uint32_t> index = find_map(program, map);
  if (!index) return out;
  ACU_TRY(std::vector<ir::Entry> entries, engine.read_map(*index));
  for (const ir::Entry& e : entries) {
    profile::RawSample sum;
    uint32_t pid = 0;
    add_values(program.maps[*index], e, sum);
    std::memcpy(&pid, e.key.data(), sizeof pid);
    out[pid] += sum.weight;
  }
  return out;
}

base::Status set_number(const ir::Program& program, ir::Engine& engine, std::string_view map, uint64_t number) {
  const std::optional<uint32_t> index = find_map(program, map);
  if (!index) return base::Error{base::Failure::runtime, "the script has no map `@" + std::string(map) + "`"};
  const ir::Map& to = program.maps[*index];
  std::vector<std::byte> value(to.value_size);
  std::memcpy(value.data(), &number, sizeof number);
  if (to.present_offset < value.size()) value[to.present_offset] = std::byte{1};
  return engine.put(*index, {}, value);
}

bool put_interpreter_lock(const ir::Program& program, ir::Engine& engine, uint32_t pid, uint64_t begin, uint64_t end) {
  const uint64_t key = pid;
  for (const auto& [map, value] : {std::pair<std::string_view, uint64_t>("gil_begin", begin), {"gil_end", end}}) {
    const auto index = find_map(program, map);
    if (!index || !engine.put(*index, std::as_bytes(std::span(&key, 1)), std::as_bytes(std::span(&value, 1))).ok()) return false;
  }
  return set_number(program, engine, "interpreters", 1).ok();
}

} // namespace session
