// The maps of scripts of acu's own, by name.
#pragma once

#include "ir/engine.h"
#include "ir/ir.h"

#include "profile/naming.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace session {

std::optional<uint32_t> find_map(const ir::Program& program, std::string_view name);
// The sum over all CPUs of a number without keys; 0: it was never set, or there is no such map.
base::Result<uint64_t> read_number(const ir::Program& program, ir::Engine& engine, std::string_view map);
// The sum of the values of a map, over all keys and CPUs, and of what is counted in them; no such map: 0.
base::Result<profile::RawSample> read_sum(const ir::Program& program, ir::Engine& engine, std::string_view map);
// The same by process, which is the key.
base::Result<std::map<uint32_t, uint64_t>> read_sums(const ir::Program& program, ir::Engine& engine, std::string_view map);
// Sets a number without keys that all CPUs share.
base::Status set_number(const ir::Program& program, ir::Engine& engine, std::string_view map, uint64_t number);
// Adds the lock of a process's interpreter to the maps of scripts/interpreter_lock.bt. False: there is no room.
bool put_interpreter_lock(const ir::Program& program, ir::Engine& engine, uint32_t pid, uint64_t begin, uint64_t end);

} // namespace session
