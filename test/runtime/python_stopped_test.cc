// Frames of CPython in memory that does not change.
#include "runtime/python.h"

#include "runtime/python_layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace runtime {
namespace {

constexpr uint64_t root = 0x100000, interpreter = 0x200000, thread = 0x300000, frames = 0x400000, codes = 0x500000;

// A handmade process: words by address; what was not set is not readable.
class Program {
public:
  explicit Program(uint16_t version) {
    table.kind = LANGUAGE_PYTHON;
    table.root = root;
    table.python = *std::ranges::find(python_layouts, version, &python_layout::version);
    word(root + l().interpreters_head, interpreter);
    add_thread(interpreter, thread, pointer);
  }
  const python_layout& l() const { return table.python; }
  void word(uint64_t address, uint64_t value) {
    for (unsigned i = 0; i < 8; i++) bytes_[address + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  void add_thread(uint64_t in, uint64_t at, uint64_t id) {
    word(in + l().threads_head, at);
    word(in + l().interpreter_next, 0);
    word(at + l().thread_next, 0);
    word(at + l().thread_id, id);
    if (l().cframe_frame != PYTHON_NO_FIELD) {
      word(at + l().thread_frame, at + 0x800);
      word(at + 0x800 + l().cframe_frame, frames);
    } else {
      word(at + l().thread_frame, frames);
    }
  }
  // Frame `n`, of code object `n`; the next one calls it.
  void add_frame(uint64_t n, uint8_t owner, bool is_last) {
    const uint64_t at = frames + n * 0x1000, code = codes + n * 0x1000;
    for (uint64_t i = 0; i < 0x1000; i += 8) word(at + i, 0); // a page, as memory comes in pages
    for (uint64_t i = 0; i < PYTHON_CODE_BYTES; i += 8) word(code + i, 0);
    word(at + l().frame_code, code);
    word(at + l().frame_previous, is_last ? 0 : at + 0x1000);
    word(at + l().frame_position, l().position_is_pointer ? code + l().code_instructions + 2 * (n + 5) : (2 * (n + 5)) >> l().position_shift);
    if (owner) bytes_[at + l().frame_owner] = owner;
    bytes_[code + l().code_first_line] = static_cast<uint8_t>(n);
  }
  void hide(uint64_t address) { bytes_.erase(address); }
  LanguageStack walk(uint64_t id = pointer) const {
    return walk_python(table, id, [this](uint64_t address, std::span<std::byte> to) {
      for (size_t i = 0; i < to.size(); i++) {
        const auto at = bytes_.find(address + i);
        if (at == bytes_.end()) return false;
        to[i] = static_cast<std::byte>(at->second);
      }
      return true;
    });
  }

  static constexpr uint64_t pointer = 0x7f1234;
  language_table table = {};

private:
  std::map<uint64_t, uint8_t> bytes_;
};

// "0* 1": the numbers of the frames, those that open an activation with a star; the position of each is tested.
std::string text(const LanguageStack& stack) {
  std::string out;
  for (size_t i = 0; i + 1 < stack.words.size(); i += 2) {
    const uint64_t number = (stack.words[i + 1] - codes) / 0x1000;
    EXPECT_EQ(stack.words[i] & LANGUAGE_POSITION_MASK, number + 5);
    out += (out.empty() ? "" : " ") + std::to_string(number) + (stack.words[i] & LANGUAGE_FIRST ? "*" : "");
  }
  return out;
}

TEST(PythonStopped, EachFrameIsAnActivation) {
  for (uint16_t version : {0x0308, 0x0309, 0x030a}) {
    Program p(version);
    p.add_frame(0, 0, false), p.add_frame(1, 0, true);
    EXPECT_EQ(text(p.walk()), "0* 1*");
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_COMPLETE});
  }
}

TEST(PythonStopped, AFlagEndsAnActivation) {
  Program p(0x030b);
  p.add_frame(0, 0, false), p.add_frame(1, 1, false), p.add_frame(2, 1, true);
  EXPECT_EQ(text(p.walk()), "0* 1 2*");
}

TEST(PythonStopped, AFrameOfCodeInCEndsAnActivation) {
  Program p(0x030c);
  p.add_frame(0, 0, false), p.add_frame(1, 1, false), p.add_frame(2, 3, false), p.add_frame(3, 0, false), p.add_frame(4, 3, true);
  EXPECT_EQ(text(p.walk()), "0* 1 3*");
}

TEST(PythonStopped, EachCodeObjectIsDescribedOnce) {
  Program p(0x030b);
  p.add_frame(0, 0, false), p.add_frame(1, 1, true);
  p.word(frames + 0x1000 + p.l().frame_code, codes);
  p.word(frames + 0x1000 + p.l().frame_position, codes + p.l().code_instructions + 10);
  EXPECT_EQ(text(p.walk()), "0* 0");
  EXPECT_EQ(p.walk().objects.size(), 1u);
}

TEST(PythonStopped, ThreadsOfOtherInterpretersAreFound) {
  Program p(0x030b);
  p.add_frame(0, 1, true);
  p.word(thread + p.l().thread_id, 0x999);
  p.word(interpreter + p.l().interpreter_next, interpreter + 0x10000);
  p.add_thread(interpreter + 0x10000, thread + 0x10000, Program::pointer);
  EXPECT_EQ(text(p.walk()), "0*");
}

TEST(PythonStopped, AThreadThatIsNotOfPythonHasNoFrames) {
  Program p(0x030b);
  p.add_frame(0, 1, true);
  EXPECT_EQ(p.walk(0x777).end, uint32_t{LANGUAGE_NO_THREAD});
  EXPECT_TRUE(p.walk(0x777).words.empty());
}

TEST(PythonStopped, WhatCannotBeReadEndsTheWalk) {
  Program p(0x030b);
  p.add_frame(0, 0, false), p.add_frame(1, 1, true);
  p.hide(frames + 0x1000 + 3);
  EXPECT_EQ(text(p.walk()), "0*");
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_UNREADABLE});
}

TEST(PythonStopped, CirclesEnd) {
  Program p(0x030b);
  p.add_frame(0, 0, false);
  p.word(frames + p.l().frame_previous, frames);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_TOO_DEEP});
  p.word(thread + p.l().thread_id, 0x999);
  p.word(thread + p.l().thread_next, thread);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_NO_THREAD});
}

} // namespace
} // namespace runtime
