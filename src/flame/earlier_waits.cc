#include "flame/earlier_waits.h"

#include "base/counted.h"
#include "session/script_maps.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace flame {

static constexpr uint64_t still_waits = 1; // in @before; else the time when it ended

using Key = std::array<uint64_t, 2>; // process, address of the goroutine

static Key key_of(const ir::Entry& e) {
  Key out = {};
  std::memcpy(out.data(), e.key.data(), std::min(sizeof out, e.key.size()));
  return out;
}

// Which processes a condition chooses, only the kernel knows.
static bool names_all(const session::TargetFilter& f) {
  const bool is_by_process = !f.pids.empty() || f.pid >= 0;
  return f.expression.empty() && (is_by_process || (f.threads.empty() && f.user.empty() && f.cgroup.empty() && f.container.empty()));
}

// Goroutines are listed first: one that goes on from then on is noted by the script, and the others can be looked at without hurry. False: there is no room.
bool EarlierWaits::watch(const RunningGoroutines& running, const ir::Program& program, ir::Engine& engine) {
  const auto before = session::find_map(program, "before");
  if (!before) return false;
  for (const auto& [pid, address] : running.all()) {
    const Key key = {pid, address};
    if (!engine.put(*before, std::as_bytes(std::span(key)), std::as_bytes(std::span(&still_waits, 1))).ok()) return false;
  }
  return session::set_number(program, engine, "has_before", 1).ok();
}

// A wait that the script saw begin is its own.
void EarlierWaits::keep(std::vector<WaitingGoroutine> found, const ir::Program& program, ir::Engine& engine) {
  const auto gone = session::find_map(program, "gone"), runs = session::find_map(program, "runs");
  if (!gone || !runs) return;
  for (uint64_t last = 0; const WaitingGoroutine& w : found) // the script notes when they exit
    if (const uint64_t pid = w.pid; std::exchange(last, pid) != pid) (void)engine.put(*runs, std::as_bytes(std::span(&pid, 1)), std::as_bytes(std::span(&still_waits, 1)));
  std::set<Key> seen_to_begin;
  if (auto entries = engine.read_map(*gone); entries.ok())
    for (const ir::Entry& e : *entries) seen_to_begin.insert(key_of(e));
  std::erase_if(found, [&](const WaitingGoroutine& w) { return seen_to_begin.contains({w.pid, w.address}); });
  waiting_.insert(waiting_.end(), found.begin(), found.end());
}

void EarlierWaits::list(const Goroutines& goroutines, const session::TargetFilter& filter, const ir::Program& program, ir::Engine& engine, std::vector<std::string>& notes) {
  if (filter.command) return;
  if (!names_all(filter)) {
    notes.emplace_back("waits that had begun before the recording are not counted: that needs -p, or all processes, without --filter");
    return;
  }
  const std::vector<int> pids = filter.processes();
  RunningGoroutines running(goroutines.programs, pids);
  if (!watch(running, program, engine)) {
    notes.emplace_back("there are too many goroutines: waits that had begun before the recording are not counted");
    return;
  }
  keep(running.waiting(), program, engine);
  if (running.unreadable())
    notes.push_back("waits that had begun before the recording are not counted in " + base::counted(running.unreadable(), "process") + ": the lists of goroutines could not be read");
  if (running.in_calls())
    notes.push_back(base::counted(running.in_calls(), "goroutine") + " " + std::string(base::was_or_were(running.in_calls())) +
                    " in system calls when the recording began: the time of these calls is not counted");
}

void EarlierWaits::add(const GoProgram& added, const session::TargetFilter& filter, uint32_t pid, uint64_t attached_ns, const ir::Program& program, ir::Engine& engine) {
  if (!names_all(filter)) return;
  const std::vector<GoProgram> programs = {added};
  RunningGoroutines running(programs, {static_cast<int>(pid)});
  if (!watch(running, program, engine)) return;
  std::vector<WaitingGoroutine> found = running.waiting();
  for (WaitingGoroutine& w : found) w.since_ns = attached_ns;
  keep(std::move(found), program, engine);
}

base::Result<std::vector<uint64_t>> EarlierWaits::ends(const ir::Program& program, ir::Engine& engine, uint64_t until_ns) const {
  std::vector<uint64_t> out;
  if (waiting_.empty()) return out;
  std::map<Key, uint64_t> ended;
  ACU_TRY(const std::vector<ir::Entry> entries, engine.read_map(*session::find_map(program, "before")));
  for (const ir::Entry& e : entries) {
    uint64_t time = 0;
    std::memcpy(&time, e.values.data(), std::min(sizeof time, e.values.size()));
    if (time > still_waits) ended[key_of(e)] = time;
  }
  ACU_TRY(const auto exited, session::read_sums(program, engine, "exited"));
  for (const WaitingGoroutine& w : waiting_) {
    const auto went_on = ended.find({w.pid, w.address});
    const auto exit = exited.find(w.pid);
    out.push_back(went_on != ended.end() ? went_on->second : exit != exited.end() ? exit->second : until_ns);
  }
  return out;
}

} // namespace flame
