#include "symbol/process_history.h"

#include <algorithm>

namespace symbol {

// A process that forks and lets its child fork, and so on: at this depth the ranges are copied.
static constexpr uint32_t deepest = 16;
// A program that loads and unloads plugins, or makes code, all the time.
static constexpr size_t most_ranges = 4096;
static constexpr size_t most_spaces = 64;
static constexpr size_t most_ended = 8192, most_ended_wanted = 32768;

ProcessHistory::Space& ProcessHistory::current(uint32_t pid) {
  Process& p = processes_[pid];
  if (p.spaces.empty()) p.spaces.push_back(std::make_shared<Space>());
  return *p.spaces.back();
}

// What was seen by a look after that time belongs to the new space.
void ProcessHistory::begin_space(Process& p, std::shared_ptr<Space> space) {
  if (!p.spaces.empty()) {
    Space& last = *p.spaces.back();
    if (std::erase_if(last.ranges, [&](const CodeRange& r) { return r.looked > space->begin; }))
      last.is_whole = false;
    bool is_empty = last.begin == 0 && last.ranges.empty() && !last.parent;
    if (is_empty) p.spaces.pop_back();
  }
  if (p.spaces.size() == most_spaces) {
    p.spaces.erase(p.spaces.begin());
    forgotten_++;
  }
  p.spaces.push_back(std::move(space));
}

void ProcessHistory::fork(uint32_t parent, uint32_t child, uint64_t time) {
  if (parent == child) return;
  current(parent);
  std::shared_ptr<Space> from = processes_[parent].spaces.back();
  auto space = std::make_shared<Space>();
  space->begin = time;
  space->losses = from->losses;
  space->is_whole = from->is_whole;
  if (from->depth + 1 < deepest) {
    space->depth = from->depth + 1;
    space->forked = time;
    // A parent that has mapped nothing itself adds nothing.
    bool adds = !from->ranges.empty() || !from->parent || !from->is_whole;
    if (adds) {
      space->parent = std::move(from);
    } else {
      space->parent = from->parent;
      space->forked = from->forked;
      space->depth = from->depth;
    }
  } else {
    collect(*from, time, space->ranges);
    for (CodeRange& r : space->ranges) r.looked = 0; // it is sure by now
  }
  Process& p = processes_[child];
  p.ended = 0;
  begin_space(p, std::move(space));
}

void ProcessHistory::exec(uint32_t pid, uint64_t time) {
  auto space = std::make_shared<Space>();
  space->begin = time;
  space->losses = losses_;
  space->is_whole = true;
  begin_space(processes_[pid], std::move(space));
}

void ProcessHistory::map(uint32_t pid, const CodeRange& range) {
  if (range.begin >= range.end) return;
  Space& space = current(pid);
  for (size_t i = space.ranges.size(); i-- > 0;) {
    CodeRange& r = space.ranges[i];
    bool overlaps = r.begin < range.end && range.begin < r.end,
         touches = r.begin <= range.end && range.begin <= r.end;
    // Memory without a file has no offset: what is added to it, and what only changes its rights, makes one
    // range.
    if (touches && r.file == CodeRange::no_file && range.file == CodeRange::no_file) {
      r.begin = std::min(r.begin, range.begin);
      r.end = std::max(r.end, range.end);
      return;
    }
    if (!overlaps) continue;
    bool is_same =
        r.file == range.file && r.begin == range.begin && r.end == range.end && r.offset == range.offset;
    if (is_same) return;
    break;
  }
  if (space.ranges.size() >= most_ranges) {
    space.ranges.erase(space.ranges.begin(), space.ranges.begin() + most_ranges / 4);
    forgotten_ += most_ranges / 4;
  }
  space.ranges.push_back(range);
}

void ProcessHistory::look(uint32_t pid, std::span<const CodeRange> ranges, uint64_t time) {
  Space& space = current(pid);
  Process& p = processes_[pid];
  for (CodeRange r : ranges) {
    const CodeRange* known = find_in(space, r.begin, any_time);
    bool is_known = known && known->file == r.file && known->end >= r.end &&
                    (r.file == CodeRange::no_file || known->begin - known->offset == r.begin - r.offset);
    if (is_known || space.ranges.size() >= most_ranges) continue;
    // At the first look everything may have been there from the start, later only what is new since the last
    // one.
    r.since = p.looked > space.begin ? p.looked : space.is_whole ? time : space.begin;
    r.looked = time;
    space.ranges.push_back(r);
  }
  p.looked = time;
  space.losses = losses_;
  space.is_whole = true;
}

void ProcessHistory::exit(uint32_t pid, uint64_t time) {
  auto at = processes_.find(pid);
  if (at == processes_.end()) return;
  at->second.ended = time;
  ended_.push_back({pid, time});
  while (ended_.size() > most_ended) {
    Ended oldest = ended_.front();
    ended_.pop_front();
    auto p = processes_.find(oldest.pid);
    if (p != processes_.end() && p->second.is_wanted)
      ended_wanted_.push_back(oldest);
    else
      forget(oldest);
  }
  while (ended_wanted_.size() > most_ended_wanted) {
    forget(ended_wanted_.front());
    ended_wanted_.pop_front();
  }
}

// The number may be that of another process by now: of that nothing goes.
void ProcessHistory::forget(const Ended& ended) {
  auto at = processes_.find(ended.pid);
  if (at == processes_.end()) return;
  std::erase_if(at->second.spaces, [&](const auto& s) { return s->begin <= ended.time; });
  if (at->second.spaces.empty()) processes_.erase(at);
}

bool ProcessHistory::is_whole(uint32_t pid) const {
  auto at = processes_.find(pid);
  if (at == processes_.end() || at->second.spaces.empty()) return false;
  const Space& space = *at->second.spaces.back();
  return space.is_whole && space.losses == losses_;
}

bool ProcessHistory::has_ended(uint32_t pid) const {
  auto at = processes_.find(pid);
  return at != processes_.end() && at->second.ended;
}

uint64_t ProcessHistory::looked(uint32_t pid) const {
  auto at = processes_.find(pid);
  return at == processes_.end() ? 0 : at->second.looked;
}

void ProcessHistory::want(uint32_t pid) {
  auto at = processes_.find(pid);
  if (at != processes_.end()) at->second.is_wanted = true;
}

// The one that was mapped last before that time.
const CodeRange* ProcessHistory::find_in(const Space& space, uint64_t address, uint64_t time) {
  const Space* s = &space;
  while (s) {
    const CodeRange* best = nullptr;
    for (const CodeRange& r : s->ranges)
      if (r.holds(address) && r.since <= time && (!best || r.since >= best->since)) best = &r;
    if (best) return best;
    time = std::min(time, s->forked);
    s = s->parent.get();
  }
  return nullptr;
}

const CodeRange* ProcessHistory::find(uint32_t pid, uint64_t address, uint64_t time) const {
  auto at = processes_.find(pid);
  if (at == processes_.end()) return nullptr;
  const auto& spaces = at->second.spaces;
  for (size_t i = spaces.size(); i-- > 0;) {
    if (spaces[i]->begin > time) continue;
    const CodeRange* range = find_in(*spaces[i], address, time);
    // At a known time there was one space only.
    if (range || time != any_time) return range;
  }
  return nullptr;
}

void ProcessHistory::collect(const Space& space, uint64_t until, std::vector<CodeRange>& out) {
  if (space.parent) collect(*space.parent, std::min(until, space.forked), out);
  for (const CodeRange& r : space.ranges)
    if (r.since <= until) out.push_back(r);
}

std::vector<CodeRange> ProcessHistory::ranges(uint32_t pid) const {
  std::vector<CodeRange> out;
  auto at = processes_.find(pid);
  if (at != processes_.end() && !at->second.spaces.empty()) collect(*at->second.spaces.back(), any_time, out);
  return out;
}

} // namespace symbol
