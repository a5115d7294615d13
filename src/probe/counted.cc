// KIND:EVENT[:COUNT]: events that perf counts, for software.cc and hardware.cc, which have the tables of their
// names. Without a count each event has a default, one that keeps the cost low for those that happen often.
#include "probe/kinds.h"

#include "base/text.h"

namespace probe {

static Event counted_event(Kind kind, std::string_view provider, const Counted& row) {
  Event e{.kind = kind, .provider = std::string(provider)};
  e.name.append(provider).append(1, ':').append(row.name).append(1, ':');
  e.event = row.name;
  e.perf_config = row.config;
  e.sample_period = row.period;
  return e;
}

std::vector<Event> match_counted(Kind kind, std::string_view provider, std::span<const Counted> rows, Parts parts,
                                 Mismatch& mismatch) {
  std::string what(provider);
  if (parts.size() < 2 || parts.size() > 3 || parts[1].empty())
    return malformed(mismatch, provider, "`" + join(parts) + "` does not name a " + what + " event");
  const Counted* row = nullptr;
  std::vector<std::string_view> names;
  for (const Counted& r : rows) {
    if (parts[1] == r.name || (!r.alias.empty() && parts[1] == r.alias)) row = &r;
    names.push_back(r.name);
    if (!r.alias.empty()) names.push_back(r.alias);
  }
  if (!row) {
    mismatch = {Mismatch::missing, "there is no " + what + " event `" + std::string(parts[1]) + "`", ""};
    if (std::string_view near = base::nearest(parts[1], names); !near.empty())
      mismatch.hint = "did you mean `" + what + ":" + std::string(near) + "`?";
    else
      mismatch.hint = "`acu list '" + what + ":*'` shows them all";
    return {};
  }
  Event e = counted_event(kind, provider, *row);
  e.name = what + ":" + join_counts(parts.subspan(1));
  if (parts.size() == 3 && !parts[2].empty()) { // `software:faults:` leaves the default
    auto count = parse_count(parts[2]);
    if (!count || *count == 0)
      return malformed(mismatch, provider, "`" + join(parts) + "`: the count must be a number above 0");
    e.sample_period = *count;
  }
  return {std::move(e)};
}

void list_counted(Kind kind, std::string_view provider, std::span<const Counted> rows, std::vector<Event>& to) {
  for (Counted row : rows) {
    to.push_back(counted_event(kind, provider, row));
    row.name = row.alias;
    if (!row.name.empty()) to.push_back(counted_event(kind, provider, row));
  }
}

} // namespace probe
