// Events in words, as other tools show them: titles and threads.
#pragma once

#include "recording/ordered.h"

#include <string>
#include <string_view>

namespace recording {

// Its texts, such as "read" or "sda write"; of kinds without texts, or if they are empty, the kind's name.
std::string title_of(const Event& event, const EventKind& kind, const Names& names);

// "worker (1234)"; the idle thread is "idle".
std::string thread_text(const Names& names, uint64_t thread);
// As the kernel calls it: "swapper" if it is idle.
std::string_view thread_name(const Names& names, uint64_t thread);

// When an interval began; other events begin when they occur.
uint64_t begin_of(const Event& event, const EventKind& kind);

// Whether its intervals are of calls that the thread makes one within the other, so that they nest on the thread's own track. Others may overlap, such as disk requests.
bool is_nested(const EventKind& kind);

} // namespace recording
