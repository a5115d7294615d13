// CPython: its files, its code objects, its tables of lines.
#include "runtime/python.h"

#include "runtime/code_names.h"
#include "runtime/python_layouts.h"
#include "spec/stack_entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <unistd.h>

namespace runtime {
namespace {

const python_layout& layout_of(uint16_t version) { return *std::ranges::find(python_layouts, version, &python_layout::version); }

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) out.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return out;
}

std::vector<uint32_t> lines(uint16_t version, std::string_view table, size_t instructions) {
  const Code code = {.first_line = 2, .lines = from_hex(table), .kind = LANGUAGE_PYTHON, .version = version};
  std::vector<uint32_t> out;
  for (size_t i = 0; i < instructions; i++) out.push_back(line_of_python(code, i));
  return out;
}

using Lines = std::vector<uint32_t>;

// The tables are those of one function by each version: co_lnotab, co_linetable; the lines are those of co_lines() and dis.findlinestarts().
TEST(PythonLines, PairsOfBytes) {
  EXPECT_EQ(lines(0x0308, "000204010c010201020102ff02ff06040401060106ff", 28),
            (Lines{4, 4, 5, 5, 5, 5, 5, 5, 6, 7, 8, 7, 6, 6, 6, 10, 10, 11, 11, 11, 12, 12, 12, 11, 11, 11, 11, 11}));
}

TEST(PythonLines, Ranges) {
  EXPECT_EQ(lines(0x030a, "04020c0102010201020102ff06ff04040601060106ff04ff", 28),
            (Lines{4, 4, 5, 5, 5, 5, 5, 5, 6, 7, 8, 7, 6, 6, 6, 10, 10, 11, 11, 11, 12, 12, 12, 11, 11, 11, 10, 10}));
}

TEST(PythonLines, RangesWithoutLine) { EXPECT_EQ(lines(0x030a, "02010280020104ff", 5), (Lines{3, 0, 4, 3, 3})); }

TEST(PythonLines, Locations) {
  EXPECT_EQ(lines(0x030b,
                  "8000e008098041dd0d12903189588c58f00003050ff00003050f8801d80809d80c0dd80c0df103010d0ef10302090f88018801f008000809f0000205"
                  "1ff00201101ff00001101fdd151a983191589458f00301101ff10001101ff40001101ff00001091ff00302051ff00002051f",
                  58),
            (Lines{2, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 7, 7, 6, 6, 6, 6, 10, 10, 11, 11, 12, 12, 12, 12,
                   12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 11, 11, 11, 11, 11, 11, 11, 11, 11, 10, 10}));
}

TEST(PythonLines, BeforeTheFirstInstructionIsTheFirst) {
  const Code code = {.first_line = 2, .lines = from_hex("8000e008"), .version = 0x030b};
  EXPECT_EQ(line_of_python(code, LANGUAGE_POSITION_MASK), 2u);
}

TEST(PythonLines, NoTableHasNoLine) {
  for (uint16_t version : {0x030a, 0x030b, 0x030d}) EXPECT_EQ(line_of_python({.first_line = 7, .version = version}, 3), 0u);
  EXPECT_EQ(line_of_python({.first_line = 7, .version = 0x0308}, 3), 7u);
}

TEST(PythonLines, AnyBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; i++) {
    Code code = {.first_line = 1, .version = layout_of(static_cast<uint16_t>(0x0308 + i % 5)).version};
    for (size_t n = random() % 40; n--;) code.lines.push_back(static_cast<std::byte>(random()));
    (void)line_of_python(code, random() % 200);
  }
}

// A code object of a version, with strings of one kind.
struct Object {
  explicit Object(uint16_t version) {
    table.kind = LANGUAGE_PYTHON;
    table.python = layout_of(version);
    set(object.object, l().code_first_line, 12, 4);
    set(object.object, l().code_name, 0x7000, 8);
    set(object.object, l().code_file, 0x8000, 8);
    set(object.object, l().code_lines, 0x9000, 8);
    text(object.name, "work");
    text(object.file, "/srv/app.py");
    set(object.lines, l().bytes_size, 0, 8);
  }
  const python_layout& l() const { return table.python; }
  static void set(uint8_t* bytes, size_t at, uint64_t value, size_t size) { std::memcpy(bytes + at, &value, size); }
  // kind: bytes of a character.
  void header(uint8_t* bytes, uint64_t length, uint32_t kind, bool is_ascii, bool is_compact = true) const {
    set(bytes, l().text_length, length, 8);
    // What is behind the bits may be anything.
    set(bytes, l().text_state, uint32_t{kind << 2 | uint32_t{is_compact} << 5 | uint32_t{is_ascii} << 6 | 0xabcd0000}, 4);
  }
  void text(uint8_t* bytes, std::string_view text) const {
    header(bytes, text.size(), 1, true);
    std::memcpy(bytes + l().text_ascii, text.data(), text.size());
  }
  std::optional<Code> decoded(const ReadMemory& read = {}) const { return decode_python(object, table, read); }

  language_table table = {};
  language_object object = {};
};

TEST(PythonCode, NamesOfEachVersion) {
  for (const python_layout& l : python_layouts) {
    const auto code = Object(l.version).decoded();
    ASSERT_TRUE(code) << l.version;
    EXPECT_EQ(code->name, "work");
    EXPECT_EQ(code->file, "/srv/app.py");
    EXPECT_EQ(code->first_line, 12u);
  }
}

TEST(PythonCode, StringsOfWiderCharacters) {
  Object o(0x030b);
  o.header(o.object.name, 2, 1, false);
  std::memcpy(o.object.name + o.l().text_compact, "\xe9z", 2); // Latin-1
  EXPECT_EQ(o.decoded()->name, "éz");
  o.header(o.object.name, 2, 2, false);
  std::memcpy(o.object.name + o.l().text_compact, u"λx", 4);
  EXPECT_EQ(o.decoded()->name, "λx");
  o.header(o.object.name, 1, 4, false);
  std::memcpy(o.object.name + o.l().text_compact, U"🐍", 4);
  EXPECT_EQ(o.decoded()->name, "🐍");
}

TEST(PythonCode, WhatIsLongerThanWhatWasReadIsCompletedOrCut) {
  Object o(0x030b);
  const std::string whole(600, 'n');
  o.header(o.object.name, whole.size(), 1, true);
  std::memset(o.object.name + o.l().text_ascii, 'n', LANGUAGE_NAME_BYTES - o.l().text_ascii);
  EXPECT_EQ(o.decoded()->name, std::string(LANGUAGE_NAME_BYTES - o.l().text_ascii, 'n') + "…");
  EXPECT_EQ(o.decoded([&](uint64_t address, std::span<std::byte> to) {
                EXPECT_EQ(address, 0x7000u + o.l().text_ascii);
                std::ranges::fill(to, std::byte{'n'});
                return true;
              })->name,
            whole);
}

TEST(PythonCode, WhatIsNoCodeObjectHasNoName) {
  EXPECT_FALSE(decode_python({}, Object(0x030b).table, {}));
  Object o(0x030b);
  o.header(o.object.name, 4, 1, true, false); // not compact
  EXPECT_FALSE(o.decoded());
  o.header(o.object.name, uint64_t{1} << 40, 1, true);
  EXPECT_FALSE(o.decoded());
  o.header(o.object.name, 4, 3, true); // no size of characters
  EXPECT_FALSE(o.decoded());
}

TEST(PythonCode, AnyBytes) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; i++) {
    language_object object;
    auto* bytes = reinterpret_cast<uint8_t*>(&object);
    for (size_t n = 0; n < sizeof object; n++) bytes[n] = static_cast<uint8_t>(random());
    language_table table = {};
    table.python = python_layouts[i % std::size(python_layouts)];
    (void)decode_python(object, table, {});
  }
}

TEST(PythonLayouts, WhatIsReadIsAsLongAsItsFields) {
  for (const python_layout& l : python_layouts) {
    for (uint16_t field : {l.frame_previous, l.frame_code}) EXPECT_LE(field + 8, l.frame_bytes) << l.version;
    EXPECT_LT(l.frame_bytes, PYTHON_FRAME_BYTES);
    for (uint16_t field : {l.code_file, l.code_name, l.code_lines, l.code_size}) EXPECT_LE(field + 8, l.code_bytes) << l.version;
    EXPECT_LT(l.code_bytes, PYTHON_CODE_BYTES);
    EXPECT_LT(l.frame_owner, l.frame_bytes);
  }
}

// ---- offsets that the runtime publishes

// Those of 3.13, with the fields that are read.
std::vector<uint64_t> offsets(uint64_t version = 0x030d00f0) {
  std::vector<uint64_t> out(100);
  std::memcpy(out.data(), "xdebugpy", 8);
  out[1] = version;
  const size_t thread = 19, frame = thread + 9, code = frame + 6, bytes = code + 10 + 20, unicode = bytes + 3;
  out[5] = 632, out[8] = 7376, out[9] = 7344;                                          // interpreters.head, next, threads.head
  out[thread + 2] = 8, out[thread + 4] = 72, out[thread + 5] = 152;                    // next, current_frame, thread_id
  out[frame + 1] = 8, out[frame + 3] = 56, out[frame + 4] = 80, out[frame + 5] = 70;   // previous, instr_ptr, localsplus, owner
  out[code + 1] = 112, out[code + 3] = 128, out[code + 4] = 136, out[code + 5] = 68, out[code + 9] = 200;
  out[bytes + 1] = 16, out[bytes + 2] = 32, out[unicode + 1] = 32, out[unicode + 2] = 16, out[unicode + 3] = 40;
  return out;
}
std::optional<python_layout> published(const std::vector<uint64_t>& words) { return published_layout(std::as_bytes(std::span(words))); }

TEST(PythonPublished, FieldsByTheirPlaces) {
  const auto l = published(offsets());
  ASSERT_TRUE(l);
  EXPECT_EQ(l->version, 0x030d);
  EXPECT_EQ(l->interpreters_head, 632u);
  EXPECT_EQ(l->threads_head, 7344u);
  EXPECT_EQ(l->thread_frame, 72);
  EXPECT_EQ(l->frame_bytes, 80);
  EXPECT_EQ(l->code_name, 128);
  EXPECT_EQ(l->text_ascii, 40);
  EXPECT_EQ(l->boundary, PYTHON_SHIM);
}

TEST(PythonPublished, WhatIsNotUnderstoodIsRefused) {
  auto words = offsets();
  words[0] ^= 1; // the cookie
  EXPECT_FALSE(published(words));
  EXPECT_FALSE(published(offsets(0x030f00b2)));
  words = offsets();
  words[2] = 1; // free-threaded
  EXPECT_FALSE(published(words));
  words = offsets();
  words[28 + 4] = 4096; // a frame longer than is read
  EXPECT_FALSE(published(words));
  words = offsets();
  words[19 + 5] = 1 << 20; // more than an offset may be
  EXPECT_FALSE(published(words));
  words = offsets();
  words.resize(60);
  EXPECT_FALSE(published(words));
  EXPECT_FALSE(published({}));
}

// ---- files

TEST(PythonFiles, TheInstalledOneIsKnown) {
  char path[4096] = {};
  if (::readlink("/usr/bin/python3", path, sizeof path - 1) < 0) GTEST_SKIP() << "there is no /usr/bin/python3";
  auto file = format::ElfFile::open(std::string("/usr/bin/") + path);
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  const auto found = recognise(*file);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->version.starts_with("CPython 3.")) << found->version;
  if (!found->problem.empty()) GTEST_SKIP() << found->version << ": " << found->problem;
  const language_table moved_table = moved(found->table, 0x1000);
  EXPECT_EQ(moved_table.root, found->table.root + 0x1000);
  EXPECT_LT(moved_table.evaluation[0].begin, moved_table.evaluation[0].end);
}

TEST(PythonFiles, OthersAreNot) {
  auto file = format::ElfFile::open("/bin/ls");
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(recognise(*file));
}

// ---- names

TEST(CodeNames, BelongToProcessAddressAndCheck) {
  CodeNames names;
  Object o(0x030b);
  o.object.address = 0x5000, o.object.check = 77;
  names.add(17, o.object, o.table, {});
  names.add(18, o.object, o.table, {});
  ASSERT_TRUE(names.find(17, 0x5000, 77));
  EXPECT_EQ(names.find(17, 0x5000, 77), names.find(18, 0x5000, 77));
  EXPECT_FALSE(names.find(17, 0x5000, 78));
  EXPECT_FALSE(names.find(19, 0x5000, 77));
  const auto entry = [](uint64_t check) {
    return symbol::RawFrame{.entry = {.address = 0x5000, .number = check << LANGUAGE_CHECK_SHIFT, .tag = LANGUAGE_TAG_PYTHON}, .pid = 17};
  };
  EXPECT_EQ(frame_of(names, entry(77)).name, "work");
  EXPECT_EQ(frame_of(names, entry(77)).file, "/srv/app.py");
  EXPECT_EQ(frame_of(names, entry(77)).line, 12u); // no table: the first
  EXPECT_EQ(frame_of(names, entry(78)).name, "[code object gone]");
}

} // namespace
} // namespace runtime
