#include "watch/process_watch.h"

#include "base/counted.h"
#include "probe/attach.h"

#include <algorithm>

namespace watch {

ProcessWatch::ProcessWatch(symbol::UserSymbols& users) : users_(users) {
  auto events = symbol::ProcessEvents::open(probe::online_cpus());
  if (!events.ok()) {
    problem_ = events.error().message;
    return;
  }
  events_ = std::move(*events);
  users_.follow();
}

void ProcessWatch::only(pid_t pid) {
  only_ = static_cast<uint32_t>(pid);
  family_ = {*only_};
  users_.survey_only(pid);
}

void ProcessWatch::all() {
  only_.reset();
  users_.survey_all();
}

bool ProcessWatch::concerns(const symbol::ProcessEvent& e) {
  using Kind = symbol::ProcessEvent::Kind;
  if (!only_ || e.kind == Kind::lost) return true;
  if (e.kind == Kind::fork && family_.contains(e.parent)) family_.insert(e.pid);
  return family_.contains(e.pid);
}

size_t ProcessWatch::drain() {
  if (!events_) return 0;
  size_t records = 0;
  events_->drain([&](const symbol::ProcessEvent& e) {
    if (!concerns(e)) return;
    records++;
    users_.take(e);
    for (Follower* f : followers_) f->take(e);
  });
  if (records)
    for (Follower* f : followers_) f->settle();
  return records;
}

bool ProcessWatch::work() {
  return std::ranges::any_of(followers_, [](Follower* f) { return f->work(); }) || users_.work();
}

std::string ProcessWatch::describe() const {
  if (!events_) return "process events are not available (" + problem_ + "): code of short-lived processes may have no names";
  const symbol::ProcessHistory& history = users_.history();
  std::string out = "processes: " + base::counted(events_->records(), "event") + ", " +
                    std::to_string(events_->lost()) + " lost; " + std::to_string(history.size()) + " known";
  if (history.forgotten()) out += ", " + std::to_string(history.forgotten()) + " mappings forgotten";
  return out;
}

} // namespace watch
