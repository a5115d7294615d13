// One value as text, as print() shows it. Layouts of bytes are those of type/type.h.
#pragma once

#include "report/context.h"

#include <functional>

namespace report {

// `div` divides numbers that stand alone (not those inside tuples and structures); 0: 1.
void append_text(std::string& out, Context& context, const type::Type& type, Bytes bytes, uint64_t div = 1);
inline std::string text_of(Context& context, const type::Type& type, Bytes bytes) {
  std::string out;
  append_text(out, context, type, bytes);
  return out;
}

// The bytes of a buffer value, without its length.
Bytes buffer_bytes(const type::Type& type, Bytes bytes);
// Printable bytes as they are, others as \xNN.
void append_escaped(std::string& out, Bytes bytes);
// Characters up to a NUL or the end.
std::string_view characters(Bytes bytes);

// Takes a member's name, type and bytes.
using TakeMember = std::function<void(std::string_view, const type::Type&, Bytes)>;
// The members of a structure, tuple or record. Those of anonymous members come in their place.
void for_each_member(const type::Type& type, Bytes bytes, const TakeMember& take);

// A function that the kernel calls between a tracepoint, or a function, and a program on it: not part of what was traced.
bool is_glue(std::string_view function);
// The function of a frame and how far in it the frame stands: "vfs_read+1"; without a name "libc.so.6+0x27f01", or the address.
std::string text_of(const symbol::Frame& frame, uint64_t address, bool with_offset);
// The frames of a stack value, one a line (stack.cc).
void append_stack(std::string& out, Context& context, const type::Type& type, Bytes bytes);

} // namespace report
