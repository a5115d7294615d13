// The entries of a script's map, field by field: of a key or value that is a record or a tuple, by the field's name; others are "key" and "value".
#pragma once

#include "base/result.h"
#include "session/runner.h"
#include "waits/records.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace why {

class ScriptRow {
public:
  ScriptRow(const ir::Map& map, ir::Entry entry) : map_(&map), entry_(std::move(entry)) {}

  // A field of the key or, if that has none of this name, of the value. 0, or empty: there is no such field.
  uint64_t number(std::string_view field) const;
  int64_t integer(std::string_view field) const; // with the sign that its type has
  std::string text(std::string_view field) const;
  // Of code of this process; 0: of the kernel.
  waits::StackId stack(std::string_view field, uint32_t pid) const;
  // Of count(), sum() and stats(), over all CPUs.
  uint64_t sum() const;
  uint64_t count() const;

private:
  struct Place {
    const std::byte* bytes = nullptr;
    const type::Type* type = nullptr;
  };
  Place place(std::string_view field) const;

  const ir::Map* map_;
  ir::Entry entry_;
};

// The script's own part of the runner's program; a map that it does not have has no rows.
base::Result<std::vector<ScriptRow>> read_rows(session::Runner& runner, std::string_view map);

} // namespace why
