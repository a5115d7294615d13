// The maps of scripts of acu's own, by name.
#pragma once

#include "ir/engine.h"
#include "ir/ir.h"

#include <optional>
#include <string_view>
#include <vector>

namespace session {

std::optional<uint32_t> find_map(const ir::Program& program, std::string_view name);
// The sum over all CPUs of a number without keys; 0: it was never set, or there is no such map.
base::Result<uint64_t> read_number(const ir::Program& program, ir::Engine& engine, std::string_view map);
// Sets such a number, of which all CPUs have one.
base::Status set_number(const ir::Program& program, ir::Engine& engine, std::string_view map, uint64_t number);

} // namespace session
