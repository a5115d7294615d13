// What a thread does, one row each: the classes of segments of a thread's track.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace timeline {

// Packed pages hold these numbers.
enum class State : uint8_t { none, running, runnable, lock, gil, disk, network, sleeping, waiting, unknown };

struct StateRow {
  State state;
  std::string_view name, label;
  std::string_view color, dark_color; // on a light and on a dark page
};

inline constexpr std::array state_rows = {
    StateRow{State::none, "none", "not there", "", ""},
    StateRow{State::running, "running", "running", "#3f9c63", "#4cae74"},
    StateRow{State::runnable, "runnable", "waits for a CPU", "#eda323", "#e8a63a"},
    StateRow{State::lock, "lock", "lock", "#c9423c", "#dd5f57"},
    StateRow{State::gil, "gil", "interpreter lock", "#a63a8f", "#c060ad"},
    StateRow{State::disk, "disk", "disk", "#7a5a3c", "#a9825c"},
    StateRow{State::network, "network", "network", "#3573c4", "#5590dc"},
    StateRow{State::sleeping, "sleeping", "sleeping", "#dfe4ea", "#2b3138"},
    StateRow{State::waiting, "waiting", "other wait", "#b4c3d4", "#47586b"},
    StateRow{State::unknown, "unknown", "unknown", "#f0dcdc", "#4a3032"},
};

constexpr bool state_rows_are_in_order() {
  for (size_t i = 0; i < state_rows.size(); i++)
    if (state_rows[i].state != static_cast<State>(i)) return false;
  return true;
}
static_assert(state_rows_are_in_order());

constexpr const StateRow& row_of(State state) { return state_rows[static_cast<size_t>(state)]; }
// Off its CPU until something wakes it.
constexpr bool is_blocked(State state) { return state >= State::lock; }

} // namespace timeline
