#include "why/slots.h"

#include "base/text.h"

namespace why {

ProgramLocation location_at(std::string function, std::string_view place) {
  ProgramLocation out = {.function = std::move(function), .file = {}, .line = 0};
  const size_t colon = place.rfind(':');
  if (colon == place.npos) return out;
  out.file = place.substr(0, colon);
  if (const auto line = base::parse_integer(place.substr(colon + 1))) out.line = static_cast<int64_t>(*line);
  return out;
}

std::string in_words(const ProgramLocation& location) {
  return location.file.empty() ? location.function : location.function + " (" + location.file + ":" + std::to_string(location.line) + ")";
}

void put_location(Slots& slots, const ProgramLocation& location) {
  slots.insert(slots.end(), {{"function", location.function}, {"file", location.file}, {"line", location.line}});
}

void put_share(Slots& slots, const ShareInterval& share) { slots.insert(slots.end(), {{"share", share.share}, {"low", share.low}, {"high", share.high}}); }

Fact fact_about(int pid, std::string_view kind, std::string_view measurement, Slots slots) {
  slots.emplace_back("pid", int64_t{pid});
  return {.kind = find_fact_kind(kind), .slots = std::move(slots), .measurement = measurement};
}

} // namespace why
