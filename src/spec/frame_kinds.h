// The kinds of frames that a stack may have, one row each. Whatever differs by kind on the way from a frame's source
// (symbol/frame_source.h) to a table, a file, the terminal or the page is a column here: nothing in between asks for a
// kind by its name. A new kind is a row and a source.
#pragma once

#include "spec/stack_entry.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace spec {

// Recordings hold these numbers (profile/formats.h): they stay as they are, and new ones come at the end.
enum class FrameKind : uint8_t {
  user,
  inlined,
  kernel,
  note, // no code, but what is known of the stack there: why it ends, or what the thread waited for
  test, // of acu's own tests: no stack has it
  python,
  php,
  lua,
  perl,
  interpreter, // machine code that carries out calls between functions of a language
  java,
  ruby,
  javascript,
};

// Who runs the code. Kinds of one side are shown, hidden and folded together.
enum class Side : uint8_t { none, user, kernel };
inline constexpr std::string_view side_names[] = {"none", "user", "kernel"};

// In interpreted programs: functions of the language, or of the interpreter, which is hidden where the language is shown.
enum class Layer : uint8_t { none, language, interpreter };
inline constexpr std::string_view layer_names[] = {"none", "language", "interpreter"};

// By what a kind is recognised in files of other tools, which have no field for it.
enum class KnownBy : uint8_t {
  nothing,          // it is what no other is
  position,         // it shares the address of the function it was inlined into
  bracketed_name,   // "[stack not readable]", in no file
  bracketed_module, // "[nf_tables]"
  mark,             // its mark follows the name, in any file
};

struct FrameKindRow {
  FrameKind kind;
  std::string_view name;        // one word, in JSON
  std::string_view label;       // on the page
  std::string_view mark = {};   // behind the name in folded stacks
  std::string_view remark = {}; // behind the name in tables and on the terminal
  std::string_view module = {}; // of those whose file is not told, as in folded stacks
  std::string_view perf_module = {}; // what the text of perf script calls that module
  std::string_view language = {};    // on the page; empty: guessed from the name
  Side side = Side::user;
  Layer layer = Layer::none;
  KnownBy known_by = KnownBy::mark;
  uint8_t tag = 0;        // of its entries in walked stacks (stack_entry.h); 0: they are addresses, or have no entry
  uint16_t hue = 0;       // on the page, in degrees; of notes 0: they are grey
  uint8_t richness = 76;  // on the page, in percent
  uint16_t picture_hue;   // in SVG files
  int8_t terminal_color = -1; // ANSI; -1: the terminal's own
};

inline constexpr std::array frame_kinds{
    FrameKindRow{.kind = FrameKind::user,
                 .name = "user",
                 .label = "user code",
                 .known_by = KnownBy::nothing,
                 .hue = 43,
                 .picture_hue = 46},
    FrameKindRow{.kind = FrameKind::inlined,
                 .name = "inlined",
                 .label = "inlined",
                 .mark = "_[i]",
                 .remark = " (inlined)",
                 .known_by = KnownBy::position,
                 .hue = 84,
                 .richness = 52,
                 .picture_hue = 78,
                 .terminal_color = 2},
    FrameKindRow{.kind = FrameKind::kernel,
                 .name = "kernel",
                 .label = "kernel",
                 .mark = "_[k]",
                 .module = "[kernel]",
                 .perf_module = "[kernel.kallsyms]",
                 .language = "kernel",
                 .side = Side::kernel,
                 .known_by = KnownBy::bracketed_module,
                 .hue = 12,
                 .picture_hue = 22,
                 .terminal_color = 1},
    FrameKindRow{.kind = FrameKind::note,
                 .name = "note",
                 .label = "note",
                 .language = "note",
                 .side = Side::none,
                 .known_by = KnownBy::bracketed_name,
                 .picture_hue = 0,
                 .terminal_color = 6},
    FrameKindRow{.kind = FrameKind::test,
                 .name = "test",
                 .label = "test code",
                 .mark = "_[t]",
                 .remark = " (test)",
                 .language = "test",
                 .tag = 0xff,
                 .hue = 270,
                 .picture_hue = 270,
                 .terminal_color = 5},
    FrameKindRow{.kind = FrameKind::python,
                 .name = "python",
                 .label = "Python",
                 .mark = "_[py]",
                 .language = "Python",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_PYTHON,
                 .hue = 210,
                 .richness = 62,
                 .picture_hue = 210,
                 .terminal_color = 4},
    FrameKindRow{.kind = FrameKind::php,
                 .name = "php",
                 .label = "PHP",
                 .mark = "_[php]",
                 .language = "PHP",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_PHP,
                 .hue = 250,
                 .richness = 50,
                 .picture_hue = 250,
                 .terminal_color = 4},
    FrameKindRow{.kind = FrameKind::lua,
                 .name = "lua",
                 .label = "Lua",
                 .mark = "_[lua]",
                 .language = "Lua",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_LUA,
                 .hue = 150,
                 .richness = 62,
                 .picture_hue = 150,
                 .terminal_color = 4},
    FrameKindRow{.kind = FrameKind::perl,
                 .name = "perl",
                 .label = "Perl",
                 .mark = "_[pl]",
                 .language = "Perl",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_PERL,
                 .hue = 180,
                 .richness = 58,
                 .picture_hue = 180,
                 .terminal_color = 6},
    FrameKindRow{.kind = FrameKind::interpreter,
                 .name = "interpreter",
                 .label = "interpreter",
                 .mark = "_[int]",
                 .layer = Layer::interpreter,
                 .tag = INTERPRETER_TAG,
                 .hue = 60,
                 .richness = 30,
                 .picture_hue = 60},
    FrameKindRow{.kind = FrameKind::java,
                 .name = "java",
                 .label = "Java",
                 .mark = "_[java]",
                 .language = "Java",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_JAVA,
                 .hue = 120,
                 .richness = 52,
                 .picture_hue = 120,
                 .terminal_color = 2},
    FrameKindRow{.kind = FrameKind::ruby,
                 .name = "ruby",
                 .label = "Ruby",
                 .mark = "_[rb]",
                 .language = "Ruby",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_RUBY,
                 .hue = 345,
                 .richness = 58,
                 .picture_hue = 345,
                 .terminal_color = 5},
    FrameKindRow{.kind = FrameKind::javascript,
                 .name = "javascript",
                 .label = "JavaScript",
                 .mark = "_[js]",
                 .language = "JavaScript",
                 .layer = Layer::language,
                 .tag = LANGUAGE_TAG_NODE,
                 .hue = 52,
                 .richness = 70,
                 .picture_hue = 56,
                 .terminal_color = 3},
};

constexpr bool frame_kinds_are_in_order() {
  for (size_t i = 0; i < frame_kinds.size(); i++)
    if (frame_kinds[i].kind != static_cast<FrameKind>(i)) return false;
  return true;
}
static_assert(frame_kinds_are_in_order());

constexpr const FrameKindRow& row_of(FrameKind kind) { return frame_kinds[static_cast<size_t>(kind)]; }
constexpr bool is_note(FrameKind kind) { return row_of(kind).side == Side::none; }
constexpr bool is_inlined(FrameKind kind) { return row_of(kind).known_by == KnownBy::position; }

// The kind whose entries have this tag; nullptr: none has.
constexpr const FrameKindRow* kind_with_tag(uint8_t tag) {
  for (const FrameKindRow& row : frame_kinds)
    if (tag && row.tag == tag) return &row;
  return nullptr;
}

} // namespace spec
