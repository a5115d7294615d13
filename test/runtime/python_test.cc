// CPython: tables of lines, code objects, published layouts, and installed programs.
#include "runtime/python.h"

#include "made_python.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace runtime {
namespace {

// ------------------------------------------------------------------------------------------ lines

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

Code code_of(uint16_t version, uint32_t first_line, std::string_view table) {
  Code out = {.first_line = first_line, .kind = LANGUAGE_PYTHON, .version = version};
  const auto bytes = std::as_bytes(std::span(table));
  out.lines.assign(bytes.begin(), bytes.end());
  return out;
}

// A piece of a function: up to which instruction, and its line.
struct Piece {
  uint64_t end;
  uint32_t line;
};
struct Function {
  uint16_t version;
  uint32_t first_line;
  std::string_view table; // hexadecimal
  std::vector<Piece> pieces;
};

// Compiled by CPython 3.8.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0. The table is co_lnotab before 3.10 and co_linetable from then on. Pieces are
// what dis.findlinestarts() gives before 3.10 and what co_lines() gives from then on, with None as 0. From its second line on, the source is
//   def plain(a):                           def cleanup(a):                  def far(a):
//       b = a + 1                               for i in a:                      a()
//       return b                                    with a:                      (301 empty lines)
//   def negative(a):                                    try:                     return (a,
//       x = sum(                                            a.x = 1              (141 empty lines)
//           a,                                          finally:                        a())
//           len(                                            a.y = 2
//               a),                             return 1
//       )
//       return x
const Function functions[] = {
    // plain
    {0x0308, 2, "00010801", {{4, 3}, {6, 4}}},
    {0x030a, 2, "08010401", {{4, 3}, {6, 4}}},
    {0x030b, 2, "8000d80809884189058041d80b0c8048", {{1, 2}, {6, 3}, {8, 4}}},
    // negative: lines go back
    {0x0308, 5, "000102010201020102ff02fe0405", {{1, 6}, {2, 7}, {3, 8}, {4, 9}, {5, 8}, {7, 6}, {9, 11}}},
    {0x0309, 5, "000102010201020102ff02fe0405", {{1, 6}, {2, 7}, {3, 8}, {4, 9}, {5, 8}, {7, 6}, {9, 11}}},
    {0x030a, 5, "020102010201020102ff04fe0405", {{1, 6}, {2, 7}, {3, 8}, {4, 9}, {5, 8}, {7, 6}, {9, 11}}},
    {0x030b, 5, "8000dd080bd80809dd080bd80c0df10301090ff40001090ff105040906f4000409068041f00a000c0d8048",
     {{1, 5}, {7, 6}, {8, 7}, {14, 8}, {15, 9}, {22, 8}, {30, 6}, {32, 11}}},
    {0x030c, 5, "8000dc080bd80809dc080bd80c0df30301090ff3050409068041f00a000c0d8048",
     {{1, 5}, {6, 6}, {7, 7}, {12, 8}, {13, 9}, {17, 8}, {22, 6}, {24, 11}}},
    // cleanup: instructions without a line
    {0x0308, 12, "00010801060102010a021401", {{4, 13}, {7, 14}, {8, 15}, {13, 16}, {23, 18}, {25, 19}}},
    {0x030a, 12, "080106010201080112021cfc02800405", {{4, 13}, {7, 14}, {8, 15}, {12, 16}, {21, 18}, {35, 14}, {36, 0}, {38, 19}}},
    {0x030c, 12,
     "8000d80d0ef2000505188801d80d0ef100040918f002030d18d8161790019403e0161790019503f709040918f000040918f003050518f00c000c0df8"
     "f00300171890019503faf709040918f000040918fa",
     {{1, 12}, {6, 13}, {9, 14}, {10, 15}, {17, 16}, {25, 18}, {34, 14}, {35, 13}, {36, 19}, {37, 0}, {45, 18}, {48, 0}, {57, 14}, {60, 0}}},
    {0x030d, 12,
     "8000db0d0e8801da0d0ef002030d18d8161790019403e0161790019503f709000e0f8951f103000e0ff00c000c0df8f00300171890019503faf709000e0f8e51fa",
     {{1, 12}, {6, 13}, {9, 14}, {10, 15}, {17, 16}, {25, 18}, {35, 14}, {37, 13}, {38, 19}, {39, 0}, {47, 18}, {50, 0}, {65, 14}, {68, 0}}},
    // far: lines go on, and back, by more than one byte holds
    {0x0308, 20, "0001067f007f0030027f000f048000f2", {{3, 21}, {4, 323}, {6, 465}, {8, 323}}},
    {0x030a, 20, "0601007f007f0230007f040f008104f1", {{3, 21}, {4, 323}, {6, 465}, {8, 323}}},
    {0x030b, 20, "8000d804058041814384438043f05c09000d0ef05c04000809807181738473f05d044e020c0cf0004e02050c",
     {{1, 20}, {11, 21}, {12, 323}, {21, 465}, {23, 323}}},
    {0x030d, 20, "8000d904058443f05c09000d0ef15c040008098373f05d044e020c0cf0004e02050c", {{1, 20}, {8, 21}, {9, 323}, {15, 465}, {17, 323}}},
    // one line of 320 bytes of bytecode: x = a+a+… with 80 operands, and a return
    {0x0308, 1, "0001ff004101", {{160, 2}, {162, 3}}},
    {0x030a, 1, "fe0142000401", {{160, 2}, {162, 3}}},
};

TEST(PythonLines, AsTheCompilerSays) {
  for (const Function& f : functions) {
    const Code code = code_of(f.version, f.first_line, bytes_of(f.table));
    uint64_t at = 0;
    for (const Piece& piece : f.pieces)
      for (; at < piece.end; at++) EXPECT_EQ(line_of_python(code, at), piece.line) << std::hex << f.version << " " << f.table << std::dec << " at " << at;
  }
}

// Behind the last instruction: tables from 3.10 on know their end, older ones do not.
TEST(PythonLines, BehindTheEnd) {
  for (const Function& f : functions) {
    const Code code = code_of(f.version, f.first_line, bytes_of(f.table));
    const uint32_t last = f.version < 0x030a ? f.pieces.back().line : 0;
    EXPECT_EQ(line_of_python(code, f.pieces.back().end), last) << f.table;
    EXPECT_EQ(line_of_python(code, LANGUAGE_POSITION_MASK / 2), last) << f.table;
  }
}

// Between two entries: positions of those that are still there have their line, others have none. The end of the function is missing.
TEST(PythonLines, TablesThatEndTooEarly) {
  for (const Function& f : functions) {
    if (f.version < 0x030a) continue;
    const std::string table = bytes_of(f.table);
    const Code whole = code_of(f.version, f.first_line, table);
    const uint64_t end = f.pieces.back().end;
    for (size_t size = 0; size < table.size(); size++) {
      const Code cut = code_of(f.version, f.first_line, table.substr(0, size));
      EXPECT_EQ(line_of_python(cut, end), 0u) << f.table << " " << size;
      if (f.version == 0x030a ? size % 2 : !(table[size] & 0x80)) continue;
      uint64_t known = end;
      while (known && !line_of_python(cut, known - 1)) known--;
      for (uint64_t at = 0; at < known; at++) EXPECT_EQ(line_of_python(cut, at), line_of_python(whole, at)) << f.table << " " << size;
      EXPECT_TRUE(known || size < table.size() / 2) << f.table << " " << size;
    }
  }
}

TEST(PythonLines, PairsThatAreCutHaveNoEffect) {
  EXPECT_EQ(line_of_python(code_of(0x0308, 7, {}), 0), 7u);
  EXPECT_EQ(line_of_python(code_of(0x0308, 7, "\x00"), 0), 7u);
  EXPECT_EQ(line_of_python(code_of(0x0308, 7, bytes_of("0001ff")), 200), 8u);
  EXPECT_EQ(line_of_python(code_of(0x030a, 7, {}), 0), 0u);
  EXPECT_EQ(line_of_python(code_of(0x030a, 7, bytes_of("0401ff")), 1), 8u);
  EXPECT_EQ(line_of_python(code_of(0x030a, 7, bytes_of("0401ff")), 2), 0u);
  EXPECT_EQ(line_of_python(code_of(0x030b, 7, {}), 0), 0u);
}

// A frame that has not run yet is before its first instruction: at -1, in 24 bits. Before 3.10, that is the line of `def` (f_lineno).
TEST(PythonLines, BeforeTheFirstInstruction) {
  for (const Function& f : functions) {
    const Code code = code_of(f.version, f.first_line, bytes_of(f.table));
    EXPECT_EQ(line_of_python(code, LANGUAGE_POSITION_MASK), f.version < 0x030a ? f.first_line : f.pieces.front().line) << f.table;
  }
}

TEST(PythonLines, RangesWithoutALine) {
  // Two instructions without a line, and a range of no length whose lines count.
  const Code code = code_of(0x030a, 10, bytes_of("0402" "0480" "0005" "0401"));
  EXPECT_EQ(line_of_python(code, 1), 12u);
  EXPECT_EQ(line_of_python(code, 2), 0u);
  EXPECT_EQ(line_of_python(code, 3), 0u);
  EXPECT_EQ(line_of_python(code, 4), 18u);
}

// An entry of a table of locations: its kind, how many instructions it is for, and what follows its first byte.
std::string entry(unsigned kind, unsigned length, std::string_view more = {}) {
  return static_cast<char>(0x80 | kind << 3 | (length - 1)) + std::string(more);
}
std::string signed_number(int64_t number) {
  uint64_t value = number < 0 ? static_cast<uint64_t>(-number) << 1 | 1 : static_cast<uint64_t>(number) << 1;
  std::string out;
  for (; value >= 64; value >>= 6) out += static_cast<char>(64 | (value & 63));
  return out + static_cast<char>(value);
}

TEST(PythonLines, FormsOfLocations) {
  std::string table;
  for (unsigned kind = 0; kind < 10; kind++) table += entry(kind, 1, "\x12"); // short forms: the line stays
  table += entry(10, 8, "\x01\x02") + entry(11, 1, "\x7f\x7f") + entry(12, 2, "\x01\x02");
  table += entry(13, 3, signed_number(-3)) + entry(15, 2) + entry(14, 1, signed_number(100) + std::string("\x01\x42\x03\x04", 4)) + entry(13, 1, signed_number(0));
  const Code code = code_of(0x030b, 50, table);
  const std::vector<Piece> pieces = {{10, 50}, {18, 50}, {19, 51}, {21, 53}, {24, 50}, {26, 0}, {27, 150}, {28, 150}, {29, 0}};
  uint64_t at = 0;
  for (const Piece& piece : pieces)
    for (; at < piece.end; at++) EXPECT_EQ(line_of_python(code, at), piece.line) << at;
}

TEST(PythonLines, NumbersOfSeveralBytes) {
  for (const int64_t number : {0, 1, 31, 32, 63, 64, 2047, 2048, 65535, 65536, 131071, 131072, 100'000'000}) {
    const std::string there = entry(13, 1, signed_number(number)), back = entry(14, 1, signed_number(-number) + std::string(3, '\0'));
    const Code code = code_of(0x030d, 5, there + back);
    EXPECT_EQ(line_of_python(code, 0), static_cast<uint32_t>(5 + number));
    EXPECT_EQ(line_of_python(code, 1), 5u) << number;
  }
}

TEST(PythonLines, ANumberThatNeverEndsIsPassed) {
  const std::string endless(100, '\x7f');
  const Code code = code_of(0x030d, 5, entry(13, 1, endless) + entry(15, 1) + entry(13, 2, endless));
  EXPECT_EQ(line_of_python(code, 1), 0u);
  EXPECT_EQ(line_of_python(code, 4), 0u);
}

TEST(PythonLines, AnyBytes) {
  std::minstd_rand random(1);
  for (int i = 0; i < 2000; i++) {
    std::string table(random() % 64, '\0');
    for (char& c : table) c = static_cast<char>(random() >> 8);
    for (const uint16_t version : {0x0308, 0x030a, 0x030b, 0x030e}) {
      const Code code = code_of(version, static_cast<uint32_t>(random()), table);
      for (const uint64_t at : std::array<uint64_t, 3>{0, random() % 100, LANGUAGE_POSITION_MASK}) (void)line_of_python(code, at);
    }
  }
}

// ------------------------------------------------------------------------------------------- code objects

// Of each version of the table, and as 3.13 and 3.14 publish theirs.
std::vector<python_layout> all_layouts() {
  std::vector<python_layout> out(std::begin(python_layouts), std::end(python_layouts));
  for (const uint16_t version : {0x030d, 0x030e}) {
    out.push_back(out[4]);
    out.back().version = version;
  }
  return out;
}

std::optional<Code> decoded(const python_layout& l, const CodeParts& parts, const ReadMemory& read = {}) {
  return decode_python(object_of(l, parts), table_of(l), read);
}

TEST(PythonCode, NamesLinesAndFiles) {
  for (const python_layout& l : all_layouts()) {
    auto code = decoded(l, code_parts(l, "Worker.run", "/srv/app.py", 12, bytes_of("00010801")));
    ASSERT_TRUE(code) << std::hex << l.version;
    EXPECT_EQ(code->name, "Worker.run");
    EXPECT_EQ(code->file, "/srv/app.py");
    EXPECT_EQ(code->first_line, 12u);
    EXPECT_EQ(code->kind, uint32_t{LANGUAGE_PYTHON});
    EXPECT_EQ(code->version, l.version);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(code->lines.data()), code->lines.size()), bytes_of("00010801"));
  }
}

TEST(PythonCode, CharactersOfEachWidth) {
  for (const python_layout& l : all_layouts()) {
    CodeParts parts = code_parts(l, "f", "f.py");
    for (auto [text, expected] : {std::pair<std::u32string_view, std::string_view>{U"a\x7f", "a\x7f"},
                                  {U"\u00e9t\u00e9\u0080\u00ff", "\u00e9t\u00e9\u0080\u00ff"},              // Latin-1
                                  {U"\u03c0r\u00b2\u0100\u07ff\u0800\uffff", "\u03c0r\u00b2\u0100\u07ff\u0800\uffff"}, // 2 bytes
                                  {U"a\U00010000\U0001f40d\U0010ffff\u20ac\u00e9", "a\U00010000\U0001f40d\U0010ffff\u20ac\u00e9"}}) {
      parts.name = text_object(l, text);
      auto code = decoded(l, parts);
      ASSERT_TRUE(code) << expected;
      EXPECT_EQ(code->name, expected);
    }
  }
}

// A read of one string in the program, which notes what was asked for.
struct Program {
  uint64_t address;
  Memory bytes;
  std::vector<std::pair<uint64_t, size_t>> asked = {}; // offset in it, size
  ReadMemory reader() {
    return [this](uint64_t from, std::span<std::byte> to) {
      asked.emplace_back(from - address, to.size());
      if (from < address || from - address + to.size() > bytes.size()) return false;
      std::memcpy(to.data(), bytes.data() + (from - address), to.size());
      return true;
    };
  }
};

TEST(PythonCode, TextsLongerThanWhatWasReadAreCompleted) {
  for (const python_layout& l : all_layouts()) {
    CodeParts parts = code_parts(l, "f", "f.py");
    std::u32string text;
    for (unsigned i = 0; i < 300; i++) text += static_cast<char32_t>(0x400 + i);
    parts.name = text_object(l, text);
    Program program = {parts.name_at, parts.name};
    auto code = decoded(l, parts, program.reader());
    ASSERT_TRUE(code);
    EXPECT_EQ(code->name.size(), 600u);
    EXPECT_EQ(code->name.substr(598), "\u052b");
    EXPECT_EQ(program.asked, (std::vector<std::pair<uint64_t, size_t>>{{l.text_compact, 600}}));
  }
}

TEST(PythonCode, TextsThatCannotBeCompletedAreCut) {
  for (const python_layout& l : all_layouts()) {
    CodeParts parts = code_parts(l, "f", "f.py");
    parts.file = text_object(l, std::string(LANGUAGE_FILE_BYTES, 'p'));
    const std::string expected = std::string(LANGUAGE_FILE_BYTES - l.text_ascii, 'p') + "…";
    EXPECT_EQ(decoded(l, parts)->file, expected);
    EXPECT_EQ(decoded(l, parts, [](uint64_t, std::span<std::byte>) { return false; })->file, expected);
    // No half of a character.
    parts.name = text_object(l, std::u32string(200, U'\U0001f40d'));
    const size_t characters = (LANGUAGE_NAME_BYTES - l.text_compact) / 4;
    EXPECT_EQ(decoded(l, parts)->name.size(), characters * 4 + std::string_view("…").size());
  }
}

TEST(PythonCode, TextsThatJustFitAreNotReadAgain) {
  const python_layout& l = python_layouts[3];
  CodeParts parts = code_parts(l, "f", "f.py");
  const std::string name(LANGUAGE_NAME_BYTES - l.text_ascii, 'n');
  parts.name = text_object(l, name);
  Program program = {parts.name_at, {}};
  EXPECT_EQ(decoded(l, parts, program.reader())->name, name);
  EXPECT_TRUE(program.asked.empty());
}

TEST(PythonCode, TablesLongerThanWhatWasReadAreCompleted) {
  const python_layout& l = python_layouts[4];
  const std::string table(5000, '\x80');
  CodeParts parts = code_parts(l, "f", "f.py", 1, table);
  Program program = {parts.lines_at, parts.lines};
  EXPECT_EQ(decoded(l, parts, program.reader())->lines.size(), table.size());
  EXPECT_FALSE(decoded(l, parts, program.reader())->is_table_cut);
  EXPECT_EQ(decoded(l, parts)->lines.size(), size_t{LANGUAGE_LINES_BYTES} - l.bytes_data);
  put<uint64_t>(parts.lines, l.bytes_size, uint64_t{1} << 40); // no table has so many
  program.asked.clear();
  EXPECT_TRUE(decoded(l, parts, program.reader())->lines.empty());
  EXPECT_TRUE(program.asked.empty());
}

// Positions behind the part of a table that is known have no line; before it they have.
TEST(PythonCode, LinesOfTablesThatWereCut) {
  for (const python_layout& l : all_layouts()) {
    std::string table;
    for (int i = 0; i < 1000; i++) table += l.version >= 0x030b ? entry(11, 1, "\x01\x02") : bytes_of("0201");
    auto code = decoded(l, code_parts(l, "f", "f.py", 1, table));
    ASSERT_TRUE(code);
    EXPECT_TRUE(code->is_table_cut);
    const uint32_t from = l.version < 0x030a ? 0 : 1; // whether the first pair is in front of the first instruction
    EXPECT_EQ(line_of_python(*code, 9), 10 + from) << std::hex << l.version;
    EXPECT_EQ(line_of_python(*code, 900), 0u) << std::hex << l.version;
  }
}

TEST(PythonCode, WhatIsNoStringIsNoCode) {
  for (const python_layout& l : all_layouts()) {
    const CodeParts good = code_parts(l, "f", "f.py");
    ASSERT_TRUE(decoded(l, good));
    for (Memory CodeParts::*text : {&CodeParts::name, &CodeParts::file}) {
      const auto with = [&](auto change) {
        CodeParts parts = good;
        change(parts.*text);
        return decoded(l, parts);
      };
      for (const uint64_t length : {uint64_t{0}, uint64_t{4097}, uint64_t{1} << 32, ~uint64_t{0}})
        EXPECT_FALSE(with([&](Memory& m) { put(m, l.text_length, length); })) << length;
      for (const unsigned kind : {0u, 3u, 5u, 7u}) EXPECT_FALSE(with([&](Memory& m) { put(m, l.text_state, text_state(l, kind, true, true)); })) << kind;
      EXPECT_FALSE(with([&](Memory& m) { put(m, l.text_state, text_state(l, 1, false, true)); })); // not compact
      EXPECT_FALSE(with([](Memory& m) { m.clear(); }));                                            // could not be read
    }
  }
}

TEST(PythonCode, AnyBytes) {
  std::minstd_rand random(2);
  const auto layouts = all_layouts();
  for (int i = 0; i < 4000; i++) {
    const python_layout& l = layouts[i % layouts.size()];
    language_object object = object_of(l, code_parts(l, "name", "file.py", 3, "\x80\x81"));
    auto bytes = std::as_writable_bytes(std::span(&object, 1));
    if (i % 4 == 0)
      for (std::byte& b : bytes) b = static_cast<std::byte>(random() >> 8);
    else
      for (int n = 0; n < 20; n++) bytes[random() % bytes.size()] = static_cast<std::byte>(random() >> 8);
    const ReadMemory read = [&](uint64_t from, std::span<std::byte> to) {
      std::ranges::fill(to, static_cast<std::byte>(from));
      return from % 2 == 0;
    };
    if (auto code = decode_python(object, table_of(l), read)) (void)line_of_python(*code, random() % 1000);
  }
}

// --------------------------------------------------------------------------------------------- layouts

TEST(PythonLayouts, RowsFitInTheBuffersOfAWalk) {
  uint16_t last = 0;
  for (const python_layout& l : python_layouts) {
    EXPECT_GT(l.version, last);
    last = l.version;
    EXPECT_LT(l.frame_bytes, PYTHON_FRAME_BYTES); // not equal: sizes are masked
    EXPECT_LT(l.code_bytes, PYTHON_CODE_BYTES);
    for (const unsigned offset : {l.frame_previous, l.frame_code}) {
      EXPECT_EQ(offset & (PYTHON_FRAME_BYTES - 8), offset);
      EXPECT_LE(offset + 8, l.frame_bytes);
    }
    const unsigned position_bytes = l.position_is_pointer ? 8 : 4;
    EXPECT_EQ(l.frame_position & (PYTHON_FRAME_BYTES - position_bytes), unsigned{l.frame_position});
    EXPECT_LE(l.frame_position + position_bytes, l.frame_bytes);
    EXPECT_LT(l.frame_owner, l.frame_bytes);
    for (const unsigned offset : {l.code_size, l.code_file, l.code_name, l.code_lines}) {
      EXPECT_EQ(offset & (PYTHON_CODE_BYTES - 8), offset);
      EXPECT_LE(offset + 8, l.code_bytes);
    }
    EXPECT_EQ(l.code_first_line & (PYTHON_CODE_BYTES - 4), unsigned{l.code_first_line});
    EXPECT_LE(l.code_first_line + 4, l.code_bytes);
    EXPECT_LT(l.text_compact, LANGUAGE_NAME_BYTES);
    EXPECT_LT(l.bytes_data, LANGUAGE_LINES_BYTES);
    EXPECT_EQ(l.boundary, l.version < 0x030b ? PYTHON_EACH_FRAME : l.version < 0x030c ? PYTHON_ENTRY_FLAG : PYTHON_SHIM);
  }
}

// _Py_DebugOffsets, with the names that Include/internal/pycore_debug_offsets.h has. Fields that are not needed are absurd.
struct Offsets {
  static constexpr uint64_t other = 0xbad0bad0bad0bad0;
  uint64_t version = 0x030d00f0, free_threaded = 0;
  uint64_t interpreters_head = 632;
  uint64_t next = 7176, threads_head = 7344;
  uint64_t thread_next = 8, current_frame = 72, thread_id = 152;
  uint64_t previous = 8, executable = 0, instr_ptr = 56, localsplus = 80, owner = 70;
  uint64_t filename = 112, qualname = 128, linetable = 136, firstlineno = 68, co_code_adaptive = 208;
  uint64_t ob_size = 16, ob_sval = 32;
  uint64_t state = 32, length = 16, asciiobject_size = 40;

  std::string bytes() const {
    std::vector<uint64_t> out = {version, free_threaded};
    const bool is_3_14 = version >> 16 >= 0x030e;
    const auto group = [&](size_t size, std::initializer_list<uint64_t> begin) {
      out.insert(out.end(), begin);
      out.insert(out.end(), size - begin.size(), other);
    };
    group(3, {other, other, interpreters_head});
    group(is_3_14 ? 16 : 13, {other, other, next, threads_head});
    group(9, {other, other, thread_next, other, current_frame, thread_id});
    group(is_3_14 ? 8 : 6, {other, previous, executable, instr_ptr, localsplus, owner});
    group(is_3_14 ? 11 : 10, {other, filename, other, qualname, linetable, firstlineno, other, other, other, co_code_adaptive});
    group(2 + 4 + 3 + 3, {}); // object, type, tuple, list
    if (is_3_14) group(4, {}); // set
    group(3 + 2 + 3, {});     // dict, float, long
    group(3, {other, ob_size, ob_sval});
    group(4, {other, state, length, asciiobject_size});
    return "xdebugpy" + std::string(reinterpret_cast<const char*>(out.data()), out.size() * sizeof out[0]);
  }
  std::optional<python_layout> layout() const {
    const std::string all = bytes();
    return published_layout(std::as_bytes(std::span(all)));
  }
};

TEST(PublishedLayout, EachFieldIsFound) {
  for (const uint64_t version : {0x030d00f0, 0x030e00f0}) {
    Offsets o;
    o.version = version;
    auto l = o.layout();
    ASSERT_TRUE(l) << std::hex << version;
    EXPECT_EQ(l->version, version >> 16);
    EXPECT_EQ(l->boundary, PYTHON_SHIM);
    EXPECT_EQ(l->shim_owner, 3);
    EXPECT_EQ(l->interpreters_head, o.interpreters_head);
    EXPECT_EQ(l->interpreter_next, o.next);
    EXPECT_EQ(l->threads_head, o.threads_head);
    EXPECT_EQ(l->thread_next, o.thread_next);
    EXPECT_EQ(l->thread_id, o.thread_id);
    EXPECT_EQ(l->thread_frame, o.current_frame);
    EXPECT_EQ(l->cframe_frame, PYTHON_NO_FIELD);
    EXPECT_EQ(l->frame_bytes, o.localsplus);
    EXPECT_EQ(l->frame_previous, o.previous);
    EXPECT_EQ(l->frame_code, o.executable);
    EXPECT_EQ(l->frame_position, o.instr_ptr);
    EXPECT_EQ(l->frame_owner, o.owner);
    EXPECT_EQ(l->code_mask, version >= 0x030e0000 ? 3 : 0);
    EXPECT_EQ(l->position_is_pointer, 1);
    EXPECT_EQ(l->code_bytes, o.linetable + 8);
    EXPECT_EQ(l->code_size, 16);
    EXPECT_EQ(l->code_first_line, o.firstlineno);
    EXPECT_EQ(l->code_file, o.filename);
    EXPECT_EQ(l->code_name, o.qualname);
    EXPECT_EQ(l->code_lines, o.linetable);
    EXPECT_EQ(l->code_instructions, o.co_code_adaptive);
    EXPECT_EQ(l->text_state, o.state);
    EXPECT_EQ(l->text_length, o.length);
    EXPECT_EQ(l->text_ascii, o.asciiobject_size);
    EXPECT_EQ(l->text_compact, o.asciiobject_size + 16);
    EXPECT_EQ(l->bytes_size, o.ob_size);
    EXPECT_EQ(l->bytes_data, o.ob_sval);
  }
}

TEST(PublishedLayout, OfVersionsThatAreNotKnownThereIsNone) {
  for (const uint64_t version : {0, 0x030c00f0, 0x030f00f0, 0x040d00f0}) {
    Offsets o;
    o.version = version;
    EXPECT_FALSE(o.layout()) << std::hex << version;
  }
}

TEST(PublishedLayout, OfFreeThreadedBuildsThereIsNone) {
  Offsets o;
  o.free_threaded = 1;
  EXPECT_FALSE(o.layout());
}

TEST(PublishedLayout, WithoutItsMarkThereIsNone) {
  std::string bytes = Offsets().bytes();
  bytes[0] = 'X';
  EXPECT_FALSE(published_layout(std::as_bytes(std::span(bytes))));
}

TEST(PublishedLayout, TruncatedThereIsNone) {
  for (const uint64_t version : {0x030d00f0, 0x030e00f0}) {
    Offsets o;
    o.version = version;
    const std::string bytes = o.bytes();
    for (size_t size = 0; size < bytes.size(); size++) EXPECT_FALSE(published_layout(std::as_bytes(std::span(bytes.data(), size)))) << size;
  }
}

TEST(PublishedLayout, SenselessOffsetsAreNone) {
  using Field = uint64_t Offsets::*;
  const auto with = [](Field field, uint64_t value) {
    Offsets o;
    o.*field = value;
    return o.layout();
  };
  // More than a field holds.
  for (const Field field : {&Offsets::interpreters_head, &Offsets::next, &Offsets::threads_head}) EXPECT_FALSE(with(field, uint64_t{1} << 32));
  for (const Field field : {&Offsets::thread_next, &Offsets::current_frame, &Offsets::thread_id, &Offsets::state, &Offsets::length,
                            &Offsets::asciiobject_size, &Offsets::ob_size, &Offsets::ob_sval, &Offsets::co_code_adaptive})
    EXPECT_FALSE(with(field, 0x10050));
  // Outside of what is read of a frame, or of a code object.
  for (const Field field : {&Offsets::previous, &Offsets::executable, &Offsets::instr_ptr, &Offsets::owner}) EXPECT_FALSE(with(field, 80));
  EXPECT_FALSE(with(&Offsets::localsplus, PYTHON_FRAME_BYTES));
  for (const Field field : {&Offsets::filename, &Offsets::qualname, &Offsets::linetable, &Offsets::firstlineno})
    for (const uint64_t value : {256, 4096, 65528, 65535}) {
      Offsets o;
      o.co_code_adaptive = 65535;
      o.*field = value;
      EXPECT_FALSE(o.layout()) << value;
    }
  EXPECT_FALSE(with(&Offsets::ob_sval, 16));
  EXPECT_FALSE(with(&Offsets::asciiobject_size, 16));
  EXPECT_FALSE(with(&Offsets::asciiobject_size, 65535)); // characters of other strings are 16 bytes behind
  EXPECT_FALSE(with(&Offsets::co_code_adaptive, 100));   // bytecode is behind all fields
}

TEST(PublishedLayout, AnyOffsetsFitInTheBuffersOfAWalk) {
  std::minstd_rand random(3);
  for (int i = 0; i < 3000; i++) {
    std::string bytes = Offsets().bytes();
    for (int n = 0; n < 6; n++) bytes[24 + random() % (bytes.size() - 24)] = static_cast<char>(random() >> 8);
    auto l = published_layout(std::as_bytes(std::span(bytes)));
    if (!l) continue;
    EXPECT_LT(l->frame_bytes, PYTHON_FRAME_BYTES);
    EXPECT_LT(l->code_bytes, PYTHON_CODE_BYTES);
    EXPECT_LE(std::max({l->code_file, l->code_name, l->code_lines, l->code_first_line}), l->code_bytes);
  }
}

// ------------------------------------------------------------------------------------------- installed programs

// The file of an installation that has the interpreter: its library, or else the program.
std::optional<FileRuntime> installed(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const char* part : {"lib", "bin"})
    for (const auto& e : std::filesystem::directory_iterator(folder / part, none))
      if (const std::string name = e.path().filename(); name.starts_with(part[0] == 'l' ? "libpython" : "python")) files.push_back(e.path());
  for (const auto& path : files) {
    auto file = format::ElfFile::open(path.string());
    if (!file.ok()) continue;
    if (auto found = recognise_python(*file)) return found;
  }
  return std::nullopt;
}

TEST(RecognisePython, EachInstalledVersion) {
  std::error_code none;
  size_t seen = 0;
  const char* home = std::getenv("HOME");
  const std::string versions = std::string(home ? home : "") + "/.pyenv/versions";
  for (const auto& e : std::filesystem::directory_iterator(versions, none)) {
    const std::string version = e.path().filename();
    auto found = installed(e.path());
    if (!found) continue; // of a stripped program
    seen++;
    EXPECT_EQ(found->version, "CPython " + version);
    const int minor = version.starts_with("3.") ? std::stoi(version.substr(2)) : 0;
    if (minor < 8 || minor > 14) {
      EXPECT_EQ(found->problem, "layout not known") << version;
      EXPECT_EQ(found->table.kind, uint32_t{LANGUAGE_NONE});
      continue;
    }
    EXPECT_EQ(found->problem, "") << version;
    EXPECT_EQ(found->table.kind, uint32_t{LANGUAGE_PYTHON});
    EXPECT_EQ(found->table.python.version, 0x0300 | minor);
    EXPECT_NE(found->table.root, 0u);
    const auto& [hot, cold] = found->table.evaluation;
    EXPECT_LT(hot.begin, hot.end);
    EXPECT_LE(cold.begin, cold.end);
    EXPECT_TRUE(cold.end <= hot.begin || cold.begin >= hot.end);
  }
  if (!seen) GTEST_SKIP() << "no CPython in " << versions;
}

TEST(RecognisePython, TheOneOfTheSystem) {
  auto file = format::ElfFile::open("/usr/bin/python3");
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  auto found = recognise(*file);
  if (!found) GTEST_SKIP() << "/usr/bin/python3 has no interpreter in it";
  EXPECT_TRUE(found->version.starts_with("CPython 3.")) << found->version;
}

TEST(RecognisePython, OtherProgramsAreNone) {
  for (const char* path : {"/bin/ls", "/proc/self/exe"}) {
    auto file = format::ElfFile::open(path);
    if (!file.ok()) GTEST_SKIP() << file.error().message;
    EXPECT_FALSE(recognise(*file)) << path;
  }
}

TEST(Runtimes, TablesAreMovedByWhatTheLoaderAdds) {
  language_table table = table_of(python_layouts[0]);
  table.evaluation[0] = {0x1000, 0x2000};
  table.root = 0x5000;
  const language_table at = moved(table, 0x555500000000);
  EXPECT_EQ(at.evaluation[0].begin, 0x555500001000u);
  EXPECT_EQ(at.evaluation[0].end, 0x555500002000u);
  EXPECT_EQ(at.evaluation[1].end, 0u); // there is none
  EXPECT_EQ(at.root, 0x555500005000u);
  EXPECT_EQ(at.python.version, table.python.version);
}

TEST(Runtimes, EachKindHasARow) {
  EXPECT_EQ(runtimes().size(), size_t{LANGUAGE_KINDS} - 1);
  for (uint32_t kind = LANGUAGE_NONE + 1; kind < LANGUAGE_KINDS; kind++) EXPECT_EQ(runtime_of(kind).kind, kind);
}

} // namespace
} // namespace runtime
