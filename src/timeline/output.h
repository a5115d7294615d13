// A timeline for people.
#pragma once

#include "timeline/tracks.h"

#include <string>

namespace timeline {

// What the recording has, in a line: events, CPUs, threads, samples, and what is missing.
std::string summary(const Timeline& timeline);
// "threads: running 12.3 s, lock 40 ms, …": of all threads together.
std::string state_line(const Timeline& timeline);
// A page that needs nothing else: page/ and the tracks, packed.
std::string write_page(const Timeline& timeline);
// SVG for documents: CPUs, and the threads that ran longest.
std::string write_picture(const Timeline& timeline);

} // namespace timeline
