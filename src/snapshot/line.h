// Lines of a stack, as text and JSON.
//
//    0  leaf+0x12 at /src/crash.c:7:12
//           p = 0x0, n = 5 | 7
#pragma once

#include "spec/frame_kinds.h"
#include "symbol/frame_source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace snapshot {

inline constexpr size_t longest_value = 100; // of a variable, in bytes

std::string hex(uint64_t n);

// One line of a stack: a function, or a call inlined into the next.
struct Line {
  uint64_t address = 0; // of the code
  std::string function, place, module;
  uint64_t offset = 0;
  spec::FrameKind kind = spec::FrameKind::user;
  bool is_inlined() const { return spec::is_inlined(kind); }
  size_t frame = 0; // number
  std::optional<size_t> entry; // of a language frame: its place in the words of the thread
  size_t left_out = 0; // instead: so many frames, …
  size_t of_function = 0; // … and so many of them of the function that most are of
  struct Value {
    std::string name, text;
    bool is_argument = false;
    std::vector<std::string> others = {}; // that it has in other threads with the same stack
  };
  std::vector<Value> values;
};

// Of a frame of a language.
Line language_line(const symbol::Frame& frame, size_t number, std::optional<size_t> entry = std::nullopt);

void append_line(std::string& out, const Line& line);
void append_line_json(std::string& out, const Line& line);

} // namespace snapshot
