// Objects of the standard libraries of C++ and Rust as what they hold, not as what they are made of: strings as text,
// containers as their elements, enums of Rust as the variant that is there. Elements are read from the memory of a
// stopped program (Options::memory); without it nothing but enums has a view.
//
// Layouts: those of libstdc++ and libc++ are in layouts.h, Rust's alloc and core as its debug information describes them. What an
// object says is not trusted: each view ends after so many elements, and says what it could not read.
#pragma once

#include "report/context.h"

namespace report {

// Writes the view of a structure; false: it has none, and nothing was written.
bool append_view(std::string& out, Context& context, const type::Type& type, Bytes bytes, bool json);

} // namespace report
