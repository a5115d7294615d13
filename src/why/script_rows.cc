#include "why/script_rows.h"

#include "session/script_maps.h"
#include "session/stack_map.h"

#include <algorithm>
#include <cstring>

namespace why {

ScriptRow::Place ScriptRow::place(std::string_view field) const {
  for (const auto& [type, bytes] : {std::pair(map_->key, &entry_.key), std::pair(map_->value, &entry_.values)}) {
    if (!type) continue;
    if (!type->is(type::Kind::tuple)) {
      if (field == (bytes == &entry_.key ? "key" : "value") && type->size <= bytes->size()) return {bytes->data(), type};
      continue;
    }
    const std::optional<type::Field> found = type->find(field);
    if (found && found->offset + found->type->size <= bytes->size()) return {bytes->data() + found->offset, found->type};
  }
  return {};
}

uint64_t ScriptRow::number(std::string_view field) const {
  const Place at = place(field);
  uint64_t out = 0;
  if (at.type) std::memcpy(&out, at.bytes, std::min<uint32_t>(at.type->size, sizeof out));
  return out;
}

int64_t ScriptRow::integer(std::string_view field) const {
  const Place at = place(field);
  const uint64_t bits = number(field);
  if (!at.type || !at.type->is_signed || at.type->size >= 8) return static_cast<int64_t>(bits);
  const unsigned unused = 64 - 8 * at.type->size;
  return static_cast<int64_t>(bits << unused) >> unused;
}

std::string ScriptRow::text(std::string_view field) const {
  const Place at = place(field);
  if (!at.type) return {};
  const char* begin = reinterpret_cast<const char*>(at.bytes);
  return std::string(begin, ::strnlen(begin, at.type->size));
}

waits::StackId ScriptRow::stack(std::string_view field, uint32_t pid) const { return {.id = number(field), .pid = pid, .type = place(field).type}; }

uint64_t ScriptRow::sum() const {
  profile::RawSample out;
  session::add_values(*map_, entry_, out);
  return out.weight;
}

uint64_t ScriptRow::count() const {
  profile::RawSample out;
  session::add_values(*map_, entry_, out);
  return out.count;
}

base::Result<std::vector<ScriptRow>> read_rows(session::Runner& runner, std::string_view map) {
  std::vector<ScriptRow> out;
  const std::optional<uint32_t> index = session::find_map(runner.program(), map);
  if (!index) return out;
  ACU_TRY(std::vector<ir::Entry> entries, runner.backend().engine().read_map(*index));
  for (ir::Entry& e : entries) out.emplace_back(runner.program().maps[*index], std::move(e));
  return out;
}

} // namespace why
