#include "probe/user_values.h"

#include "probe/probe.h"
#include "symbol/binary.h"

namespace probe {

struct UserValues::State {
  UserSources sources;
};

UserValues::UserValues(UserSources sources) : state_(new State{std::move(sources)}) {}
UserValues::~UserValues() = default;

UserSources sources_of(symbol::Binary& binary, type::Table& table) {
  UserSources out;
  out.file = &binary.file();
  out.info = binary.debug_info();
  const symbol::DebugFile& found = binary.debug_file();
  if (found.debug.file) out.debug = &*found.debug.file;
  out.types = binary.types(table);
  out.table = &table;
  out.index = [&binary](std::string_view name) { return binary.index_for(name); };
  out.indexed_files = [&binary] { return &binary.indexed_files(); };
  return out;
}

UserValues& Machine::user_values(symbol::Binary& binary) {
  std::unique_ptr<UserValues>& values = user_values_[&binary];
  if (!values) values = std::make_unique<UserValues>(sources_of(binary, types_));
  return *values;
}

} // namespace probe
