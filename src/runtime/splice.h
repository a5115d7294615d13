// One stack out of the two lists that a walker gives: native frames, and language frames by activation.
//
//   native      list_sort, EvalFrame, PyObject_Call, EvalFrame, Py_RunMain, __libc_start_main
//   language    [key, compare] [main, <module>]
//   spliced     list_sort, key, compare, main, <module>, __libc_start_main
//
// Each frame of the evaluation function is replaced by the frames of its activation. Frames of the interpreter's own code outside the innermost
// activation are folded, since they only carry out calls between language functions: what remains is what a traceback of the language shows,
// with the machine code that it runs on top.
#pragma once

#include "runtime/language.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace runtime {

// Code of a process, as far as splicing needs to know it.
struct ProcessRuntime {
  language_table table = {};
  language_code code = {}; // of the interpreter's file: folded
};

enum class Show : uint8_t {
  folded, // language frames; the interpreter's are left out
  both,     // they stay, each activation on top of its evaluation frame
  foldable, // as `both`, but what `folded` leaves out is marked (spec::FrameKind::interpreter)
  native,   // no language frames
};

// By the argument of `--lang`: folded (the default), both, native.
Show show_of(std::string_view name);

// Words of entries, innermost first (spec/stack_entry.h).
struct Lists {
  std::span<const uint64_t> native; // may end with why it is not complete; so does what is spliced then
  std::span<const uint64_t> language;
  bool is_cut = false; // outer native frames are missing
};
std::vector<uint64_t> splice(const Lists& lists, const ProcessRuntime& process, Show show = Show::folded);

// The same as places in the lists: of an address in `native`, of the first word of an entry in `language`.
struct SplicedFrame {
  bool is_language = false;
  size_t index = 0;
  bool folds = false; // `folded` leaves it out
};
std::vector<SplicedFrame> order_of(const Lists& lists, const ProcessRuntime& process, Show show = Show::folded);

} // namespace runtime
