// Colors of what threads do, for pictures.
#pragma once

#include "waits/graph.h"

#include <string_view>

namespace waits {

enum class Doing : uint8_t { runs, runnable, lock, waits, idle, nothing };
struct DoingRow {
  Doing doing;
  std::string_view color, label;
};
inline constexpr DoingRow doings[] = {
    {Doing::runs, "#4c9f70", "runs"},
    {Doing::runnable, "#e0a030", "waits for a CPU"},
    {Doing::lock, "#c8504b", "waits for a lock"},
    {Doing::waits, "#4f81bd", "waits for something else"},
    {Doing::idle, "#b6bfc8", "waits for work"},
    {Doing::nothing, "#9067a9", "no thread: a timer, a device, a peer"},
};

inline Doing doing_of(const Activity& a) {
  if (a.kind == Activity::runs) return Doing::runs;
  if (a.kind == Activity::runnable) return Doing::runnable;
  return a.is_lock ? Doing::lock : a.is_idle ? Doing::idle : Doing::waits;
}
inline std::string_view color_of(Doing doing) { return doings[static_cast<size_t>(doing)].color; }

} // namespace waits
