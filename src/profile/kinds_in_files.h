// How files tell the kind of a frame (spec/frame_kinds.h): acu's own by a number, those of other tools by marks and names.
#pragma once

#include "profile/profile.h"

#include <optional>
#include <string_view>

namespace profile {

// The kind, and whether the frame has a name: bits 0 and 1 of the kind's number, 1 bit if named, the kind's other bits.
uint64_t number_of_kind(const Frame& frame);
// False: there is no such kind.
bool take_kind(uint64_t number, Frame& to);

// Of a frame without a mark, by its name and file. `is_inlined`: it shares the address of another.
FrameKind kind_by_names(std::string_view name, std::string_view module, bool is_inlined = false);
// Removes the mark from a name's end; nothing: there is none.
std::optional<FrameKind> take_mark(std::string_view& name);

// The mark in files in which other kinds are known by their place or names; empty: it is one of those.
std::string_view mark_of_unusual(FrameKind kind);
std::optional<FrameKind> take_mark_of_unusual(std::string_view& name);

} // namespace profile
