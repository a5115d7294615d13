#include "session/process_watch.h"

#include "probe/attach.h"

namespace session {

ProcessWatch::ProcessWatch(symbol::UserSymbols& users) : users_(users) {
  auto events = symbol::ProcessEvents::open(probe::online_cpus());
  if (!events.ok()) {
    problem_ = events.error().message;
    return;
  }
  events_ = std::move(*events);
  users_.follow();
}

size_t ProcessWatch::drain() {
  if (!events_) return 0;
  size_t records = events_->drain([this](const symbol::ProcessEvent& e) {
    users_.take(e);
    if (follower_) follower_->take(e);
  });
  if (records && follower_) follower_->settle();
  return records;
}

std::string ProcessWatch::describe() const {
  if (!events_) return "processes are not followed (" + problem_ + "): short-lived ones may have no names";
  const symbol::ProcessHistory& history = users_.history();
  std::string out = "processes: " + std::to_string(events_->records()) + " changes, " +
                    std::to_string(events_->lost()) + " lost; " + std::to_string(history.size()) + " known";
  if (history.forgotten()) out += ", " + std::to_string(history.forgotten()) + " mappings forgotten";
  return out;
}

} // namespace session
