// Walks of a thread's frames in memory made by hand.
#include "runtime/python.h"

#include "made_python.h"
#include "spec/stack_entries.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace runtime {
namespace {

constexpr uint64_t root = 0x500000, text_pages = 0x7f0000100000;

// Small structures, in an order of their own.
constexpr python_layout small = {.version = 0x030b, .boundary = PYTHON_EACH_FRAME, .shim_owner = 0, .interpreters_head = 16, .interpreter_next = 8,
                                 .threads_head = 24, .thread_next = 0, .thread_id = 32, .thread_frame = 16, .cframe_frame = PYTHON_NO_FIELD,
                                 .frame_bytes = 40, .frame_previous = 8, .frame_code = 16, .frame_position = 24, .frame_owner = 33,
                                 .position_is_pointer = 0, .position_shift = 0, .code_bytes = 48, .code_size = 8, .code_first_line = 4,
                                 .code_file = 24, .code_name = 32, .code_lines = 40, .code_instructions = 64, .text_length = 0, .text_state = 8,
                                 .text_ascii = 16, .text_compact = 32, .bytes_size = 0, .bytes_data = 8};

constexpr python_layout layout_of(uint8_t boundary) {
  python_layout out = small;
  out.boundary = boundary;
  if (boundary == PYTHON_EACH_FRAME) return out;
  out.position_is_pointer = 1;
  out.cframe_frame = 8;
  if (boundary == PYTHON_ENTRY_FLAG) return out;
  out.shim_owner = 3;
  out.cframe_frame = PYTHON_NO_FIELD;
  out.code_mask = 3;
  return out;
}

// A program's memory. It has bytes in whole pages, as far as it was written.
class Process {
public:
  explicit Process(python_layout layout) : table(table_of(layout)), l(table.python) { table.root = root; }

  template<class T> void write(uint64_t address, T value) {
    Memory bytes;
    put(bytes, 0, value);
    write(address, bytes);
  }
  void write(uint64_t address, const Memory& bytes) {
    for (size_t i = 0; i < bytes.size(); i++) page(address + i)[(address + i) % page_size] = bytes[i];
  }
  void remove(uint64_t address) { pages_.erase(address / page_size); }

  // Each at an address of the caller's choice.
  void interpreter(uint64_t at, uint64_t next, uint64_t first_thread) {
    write(at + l.interpreter_next, next);
    write(at + l.threads_head, first_thread);
  }
  void first_interpreter(uint64_t at) { write(root + l.interpreters_head, at); }
  void thread(uint64_t at, uint64_t next, uint64_t id, uint64_t frame) {
    write(at + l.thread_next, next);
    write(at + l.thread_id, id);
    write(at + l.thread_frame, frame);
    if (l.cframe_frame == PYTHON_NO_FIELD) return;
    write(at + l.thread_frame, at + 0x100); // the cframe
    write(at + 0x100 + l.cframe_frame, frame);
  }
  // `position` in instructions.
  void frame(uint64_t at, uint64_t previous, uint64_t code, int32_t position, uint8_t owner = 0) {
    write(at + l.frame_previous, previous);
    write(at + l.frame_code, code | (l.code_mask & 1));
    if (l.position_is_pointer)
      write(at + l.frame_position, code + l.code_instructions + 2 * static_cast<uint64_t>(int64_t{position}));
    else
      write(at + l.frame_position, (2 * position) >> l.position_shift);
    write(at + l.frame_owner, owner);
  }
  // A function whose strings are in pages of their own.
  void code(uint64_t at, std::string_view name, uint32_t line = 1) {
    CodeParts parts = code_parts(l, name, "app.py", line, "\x80\x01\x02");
    parts.name_at = next_text_, parts.file_at = next_text_ + page_size, parts.lines_at = next_text_ + 2 * page_size;
    next_text_ += 4 * page_size;
    write(parts.name_at, parts.name);
    write(parts.file_at, parts.file);
    write(parts.lines_at, parts.lines);
    write(at, code_object(l, parts));
  }

  ReadMemory reader() {
    return [this](uint64_t from, std::span<std::byte> to) {
      for (uint64_t page = from / page_size; page <= (from + to.size() - 1) / page_size; page++)
        if (!pages_.contains(page)) return false;
      for (size_t done = 0; done < to.size();) {
        const size_t at = (from + done) % page_size, size = std::min(to.size() - done, page_size - at);
        std::memcpy(to.data() + done, pages_.at((from + done) / page_size).data() + at, size);
        done += size;
      }
      return true;
    };
  }
  LanguageStack walk(uint64_t thread_pointer) { return walk_python(table, {.thread_pointer = thread_pointer, .frames = {}}, reader()); }
  // The frames of a walk by name and position, the innermost first; "|" before the first one of each activation.
  std::string text(const LanguageStack& stack) {
    std::string out;
    for (std::span<const uint64_t> rest = stack.words; !rest.empty();) {
      const spec::StackEntry entry = spec::take_entry(rest);
      EXPECT_EQ(entry.tag, spec::row_of(spec::FrameKind::python).tag);
      const uint64_t check = entry.number >> LANGUAGE_CHECK_SHIFT & LANGUAGE_CHECK_MASK;
      const auto object =
          std::ranges::find_if(stack.objects, [&](const language_object& o) { return o.address == entry.address && o.check == check; });
      if (object == stack.objects.end()) return "a frame without an object";
      const auto code = decode_python(*object, table, reader());
      if (!out.empty()) out += ' ';
      out += (entry.number & LANGUAGE_FIRST ? "|" : "") + (code ? code->name : "?") + ":" + std::to_string(entry.number & LANGUAGE_POSITION_MASK);
    }
    return out;
  }
  std::string frames(uint64_t thread_pointer) { return text(walk(thread_pointer)); }

  language_table table;
  const python_layout& l;

private:
  static constexpr size_t page_size = 4096;
  Memory& page(uint64_t address) {
    Memory& out = pages_[address / page_size];
    out.resize(page_size);
    return out;
  }
  std::map<uint64_t, Memory> pages_;
  uint64_t next_text_ = text_pages;
};

constexpr uint64_t interpreter = 0x610000, thread = 0x620000, id = 0x7ffff7d80740;
constexpr uint64_t frame(uint64_t i) { return 0x630000 + i * 0x1000; } // each in a page of its own, so that it can be taken away
constexpr uint64_t code(uint64_t i) { return 0x650000 + i * 0x1000; }

// A thread in leaf, called by work, called by main; owners as given, and a shim behind each frame that asks for it.
class Stopped : public testing::TestWithParam<int> {
protected:
  Stopped() : p(layout_of(static_cast<uint8_t>(GetParam()))) {
    p.first_interpreter(interpreter);
    p.interpreter(interpreter, 0, thread);
    p.thread(thread, 0, id, frame(0));
    p.code(code(0), "leaf", 10);
    p.code(code(1), "work", 20);
    p.code(code(2), "main", 30);
    p.frame(frame(0), frame(1), code(0), 3);
    p.frame(frame(1), frame(2), code(1), 14);
    p.frame(frame(2), 0, code(2), 159);
  }
  bool each_frame_is_first() const { return GetParam() == PYTHON_EACH_FRAME; }
  Process p;
};

TEST_P(Stopped, FramesAndPositions) {
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_COMPLETE});
  EXPECT_EQ(stack.objects.size(), 3u);
  EXPECT_EQ(p.text(stack), each_frame_is_first() ? "|leaf:3 |work:14 |main:159" : "|leaf:3 work:14 main:159");
}

TEST_P(Stopped, AFunctionThatCallsItselfIsOneObject) {
  p.frame(frame(1), frame(2), code(0), 5);
  p.frame(frame(2), 0, code(0), 6);
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.objects.size(), 1u);
  EXPECT_EQ(stack.objects[0].address, code(0));
  EXPECT_EQ(p.text(stack), each_frame_is_first() ? "|leaf:3 |leaf:5 |leaf:6" : "|leaf:3 leaf:5 leaf:6");
}

TEST_P(Stopped, AFrameThatHasNotRunYet) {
  p.frame(frame(0), 0, code(0), -1);
  const LanguageStack stack = p.walk(id);
  ASSERT_EQ(stack.words.size(), 2u);
  const auto decoded = decode_python(stack.objects.at(0), p.table, p.reader());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(line_of_python(*decoded, stack.words[0] & LANGUAGE_POSITION_MASK), 10u);
}

TEST_P(Stopped, AThreadWithoutFrames) {
  p.thread(thread, 0, id, 0);
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_COMPLETE});
  EXPECT_TRUE(stack.words.empty());
}

TEST_P(Stopped, TheThreadMayBeBehindOthers) {
  p.interpreter(interpreter, 0, thread + 0x1000);
  p.thread(thread + 0x1000, thread + 0x2000, id + 1, frame(2));
  p.thread(thread + 0x2000, thread, id + 2, frame(1));
  EXPECT_EQ(p.walk(id).words.size(), 6u);
  EXPECT_EQ(p.walk(id + 1).words.size(), 2u);
  EXPECT_EQ(p.walk(id + 2).words.size(), 4u);
}

TEST_P(Stopped, TheThreadMayBeInAnotherInterpreter) {
  p.first_interpreter(interpreter + 0x1000);
  p.interpreter(interpreter + 0x1000, interpreter + 0x2000, thread + 0x1000);
  p.thread(thread + 0x1000, 0, id + 1, frame(2));
  p.interpreter(interpreter + 0x2000, interpreter, 0); // without threads
  EXPECT_EQ(p.walk(id).words.size(), 6u);
}

TEST_P(Stopped, AThreadThatIsNotThere) {
  const LanguageStack stack = p.walk(id + 1);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_NO_THREAD});
  EXPECT_TRUE(stack.words.empty());
}

TEST_P(Stopped, ThreadsThatCannotBeRead) {
  for (const uint64_t address : {thread, interpreter, root}) {
    p.remove(address);
    const LanguageStack stack = p.walk(id);
    EXPECT_EQ(stack.end, uint32_t{LANGUAGE_NO_THREAD});
    EXPECT_TRUE(stack.words.empty());
  }
}

TEST_P(Stopped, ACircleOfThreadsEnds) {
  p.thread(thread, thread, id, frame(0));
  EXPECT_EQ(p.walk(id + 1).end, uint32_t{LANGUAGE_NO_THREAD});
  EXPECT_EQ(p.walk(id).end, uint32_t{LANGUAGE_COMPLETE});
}

TEST_P(Stopped, ACircleOfInterpretersEnds) {
  p.interpreter(interpreter, interpreter, thread);
  EXPECT_EQ(p.walk(id + 1).end, uint32_t{LANGUAGE_NO_THREAD});
}

TEST_P(Stopped, AFrameThatCannotBeRead) {
  p.remove(frame(1));
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_UNREADABLE});
  EXPECT_EQ(p.text(stack), "|leaf:3");
}

TEST_P(Stopped, ACodeObjectThatCannotBeRead) {
  p.remove(code(2));
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_UNREADABLE});
  EXPECT_EQ(p.text(stack), each_frame_is_first() ? "|leaf:3 |work:14" : "|leaf:3 work:14");
}

TEST_P(Stopped, ACircleOfFramesEnds) {
  p.frame(frame(2), frame(0), code(2), 159);
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_TOO_DEEP});
  EXPECT_EQ(stack.objects.size(), 3u);
  EXPECT_GE(stack.words.size(), 2u * LANGUAGE_MAX_FRAMES);
}

// The walk reads more than a string has, up to the end of its page.
TEST_P(Stopped, StringsAtTheEndOfMemory) {
  CodeParts parts = code_parts(p.l, "edge", "/a/file.py", 7, "\x80\x01\x02");
  const auto at_end = [&](uint64_t page, const Memory& bytes) {
    const uint64_t at = (page + 4096 - bytes.size()) & ~uint64_t{7};
    p.write(at, bytes);
    return at;
  };
  parts.name_at = at_end(0x701000, parts.name);
  parts.file_at = at_end(0x703000, parts.file);
  parts.lines_at = at_end(0x705000, parts.lines);
  p.write(code(0), code_object(p.l, parts));
  const LanguageStack stack = p.walk(id);
  const auto decoded = decode_python(stack.objects.at(0), p.table, {});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->name, "edge");
  EXPECT_EQ(decoded->file, "/a/file.py");
  EXPECT_EQ(decoded->lines.size(), 3u);
}

TEST_P(Stopped, AnotherObjectAtTheSameAddressHasAnotherCheck) {
  const LanguageStack before = p.walk(id);
  p.code(code(0), "other", 10);
  const LanguageStack after = p.walk(id);
  EXPECT_EQ(before.objects.at(0).address, after.objects.at(0).address);
  EXPECT_NE(before.objects.at(0).check, after.objects.at(0).check);
  EXPECT_EQ(before.objects.at(1).check, after.objects.at(1).check);
}

TEST_P(Stopped, TheCheckIsOfEachFieldThatIdentifiesAnObject) {
  std::set<uint32_t> checks;
  const auto add = [&](const CodeParts& parts) {
    p.write(code(0), code_object(p.l, parts));
    checks.insert(p.walk(id).objects.at(0).check);
  };
  const CodeParts parts = {.first_line = 3, .size = 40};
  for (int turn = 0; turn < 2; turn++) add(parts);
  EXPECT_EQ(checks.size(), 1u);
  for (const auto& change : {+[](CodeParts& c) { c.first_line++; }, +[](CodeParts& c) { c.size++; }, +[](CodeParts& c) { c.name_at += 64; },
                             +[](CodeParts& c) { c.file_at += 64; }}) {
    CodeParts changed = parts;
    change(changed);
    add(changed);
  }
  EXPECT_EQ(checks.size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Boundaries, Stopped, testing::Values(PYTHON_EACH_FRAME, PYTHON_ENTRY_FLAG, PYTHON_SHIM), [](const auto& info) {
  return info.param == PYTHON_EACH_FRAME ? "EachFrame" : info.param == PYTHON_ENTRY_FLAG ? "EntryFlag" : "Shim";
});

// ------------------------------------------------------------------------------------------- of one boundary

class StoppedWith : public testing::Test {
protected:
  void begin(Process& p) {
    p.first_interpreter(interpreter);
    p.interpreter(interpreter, 0, thread);
    p.thread(thread, 0, id, frame(0));
    for (uint64_t i = 0; i < 4; i++) p.code(code(i), std::string(1, static_cast<char>('a' + i)));
  }
};

TEST_F(StoppedWith, AnEntryFlagIsOnTheOutermostFrameOfAnActivation) {
  Process p(layout_of(PYTHON_ENTRY_FLAG));
  begin(p);
  p.frame(frame(0), frame(1), code(0), 0, 0);
  p.frame(frame(1), frame(2), code(1), 1, 1);
  p.frame(frame(2), frame(3), code(2), 2, 1);
  p.frame(frame(3), 0, code(3), 3, 1);
  EXPECT_EQ(p.frames(id), "|a:0 b:1 |c:2 |d:3");
}

TEST_F(StoppedWith, ShimsAreSkipped) {
  Process p(layout_of(PYTHON_SHIM));
  begin(p);
  p.frame(frame(0), frame(1), code(0), 0);
  p.frame(frame(1), frame(5), code(1), 1);
  p.frame(frame(5), frame(2), 0, 0, 3); // a shim has no code
  p.frame(frame(2), frame(6), code(2), 2, 2); // a generator's
  p.frame(frame(6), frame(7), 0, 0, 4);
  p.frame(frame(7), frame(3), 0, 0, 3); // an activation that has not begun
  p.frame(frame(3), frame(8), code(3), 3);
  p.frame(frame(8), 0, 0, 0, 3);
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(p.text(stack), "|a:0 b:1 |c:2 |d:3");
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_COMPLETE});
}

TEST_F(StoppedWith, ACircleOfShimsEnds) {
  Process p(layout_of(PYTHON_SHIM));
  begin(p);
  p.frame(frame(0), frame(0), 0, 0, 3);
  const LanguageStack stack = p.walk(id);
  EXPECT_EQ(stack.end, uint32_t{LANGUAGE_TOO_DEEP});
  EXPECT_TRUE(stack.words.empty());
}

TEST_F(StoppedWith, PositionsThatAreCountedInInstructions) {
  python_layout l = layout_of(PYTHON_EACH_FRAME);
  l.position_shift = 1; // 3.10
  Process p(l);
  begin(p);
  p.frame(frame(0), 0, code(0), 70000);
  EXPECT_EQ(p.frames(id), "|a:70000");
}

TEST_F(StoppedWith, ACframeThatCannotBeRead) {
  Process p(layout_of(PYTHON_ENTRY_FLAG));
  begin(p);
  p.write(thread + p.l.thread_frame, uint64_t{0x990000});
  EXPECT_EQ(p.walk(id).end, uint32_t{LANGUAGE_UNREADABLE});
}

TEST_F(StoppedWith, EachLayoutOfTheTable) {
  for (const python_layout& l : python_layouts) {
    Process p(l);
    begin(p);
    p.frame(frame(0), frame(1), code(0), 4);
    p.frame(frame(1), 0, code(1), 5, l.boundary == PYTHON_ENTRY_FLAG);
    EXPECT_EQ(p.frames(id), l.boundary == PYTHON_EACH_FRAME ? "|a:4 |b:5" : "|a:4 b:5") << std::hex << l.version;
  }
}

} // namespace
} // namespace runtime
