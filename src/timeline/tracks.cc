#include "timeline/tracks.h"

#include <algorithm>

namespace timeline {

void Segments::add(uint64_t begin, uint8_t of_class, uint32_t ref) {
  if (!begins.empty() && begins.back() >= begin) {
    begin = begins.back();
    begins.pop_back(), classes.pop_back(), refs.pop_back();
  }
  if (!begins.empty() && classes.back() == of_class && refs.back() == ref) return;
  begins.push_back(begin), classes.push_back(of_class), refs.push_back(ref);
}

namespace {

template<class Column> void crop(Column& column, size_t first, size_t last) {
  if (column.empty()) return;
  column.erase(column.begin() + static_cast<ptrdiff_t>(last), column.end());
  column.erase(column.begin(), column.begin() + static_cast<ptrdiff_t>(first));
}

void crop(Segments& s, uint64_t from, uint64_t until) {
  if (s.begins.empty()) return;
  // What began before goes on.
  const auto above = std::ranges::upper_bound(s.begins, from) - s.begins.begin();
  const size_t first = static_cast<size_t>(std::max<ptrdiff_t>(above - 1, 0));
  const size_t last = std::max(first, static_cast<size_t>(std::ranges::lower_bound(s.begins, until) - s.begins.begin()));
  crop(s.begins, first, last), crop(s.classes, first, last), crop(s.refs, first, last), crop(s.values, first, last);
  for (uint64_t& begin : s.begins) begin = begin > from ? begin - from : 0;
}

template<class Point> void crop_points(std::vector<Point>& points, uint64_t from, uint64_t until) {
  std::erase_if(points, [&](const Point& p) { return p.time < from || p.time > until; });
  for (Point& p : points) p.time -= from;
}

} // namespace

void keep_part(Timeline& timeline, uint64_t from, uint64_t until) {
  until = std::min(until, timeline.length);
  from = std::min(from, until);
  for (Track& track : timeline.tracks) crop(track.segments, from, until);
  // Of threads, functions and counters that are not in the part nothing is left.
  std::erase_if(timeline.tracks, [](const Track& t) {
    return t.kind != Track::cpu && (t.segments.begins.empty() || (t.kind != Track::counter && std::ranges::all_of(t.segments.classes, [](uint8_t c) { return c == 0; })));
  });
  crop_points(timeline.samples, from, until);
  crop_points(timeline.marks, from, until);
  timeline.from += from;
  timeline.length = until - from;
}

std::array<uint64_t, state_rows.size()> sum_states(const Timeline& timeline) {
  std::array<uint64_t, state_rows.size()> out = {};
  for (const Track& t : timeline.tracks)
    if (t.kind == Track::thread)
      for (size_t i = 0; i < t.segments.size(); i++) out[t.segments.classes[i]] += t.segments.end_of(i, timeline.length) - t.segments.begins[i];
  return out;
}

} // namespace timeline
