// LuaJIT: its files, its prototypes, names of Lua functions.
#include "runtime/luajit.h"

#include "runtime/lua_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace runtime {
namespace {

constexpr const char* places[] = {"/usr/bin/luajit", "/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2"};

TEST(LuaJit, IsRecognised) {
  size_t found = 0;
  for (const char* place : places) {
    auto file = format::ElfFile::open(place);
    if (!file) continue;
    found++;
    const auto runtime = recognise_luajit(*file);
    ASSERT_TRUE(runtime) << place;
    EXPECT_EQ(runtime->version, "LuaJIT");
    EXPECT_EQ(runtime->problem, "") << place;
    const language_table& t = runtime->table;
    EXPECT_EQ(t.kind, static_cast<uint32_t>(LANGUAGE_LUAJIT));
    EXPECT_GT(t.evaluation[0].end - t.evaluation[0].begin, 10'000u);
    EXPECT_LT(t.luajit.global, 0);
    EXPECT_NE(t.luajit.jit_base, 0);
    EXPECT_GT(t.luajit.leave_bytes, 100u);
    EXPECT_LT(t.luajit.leave + t.luajit.leave_bytes, t.evaluation[0].end - t.evaluation[0].begin);
  }
  if (!found) GTEST_SKIP() << "there is no LuaJIT here";
}

TEST(LuaJit, OtherFilesAreNone) {
  auto file = format::ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_FALSE(recognise_luajit(*file));
}

template<class T> void put(uint8_t* at, T value) { std::memcpy(at, &value, sizeof value); }

// A function on lines 10 to 14 of "@/srv/app/handler.lua", with six instructions.
language_object prototype() {
  language_object o = {};
  o.object[LUAJIT_TYPE] = LUAJIT_PROTO;
  put<uint32_t>(o.object + LUAJIT_PROTO_INSTRUCTIONS, 6);
  put<uint32_t>(o.object + LUAJIT_PROTO_FIRST_LINE, 10);
  put<uint32_t>(o.object + LUAJIT_PROTO_LINES, 4);
  put<uint64_t>(o.object + LUAJIT_PROTO_LINE_TABLE, 0x1000);
  constexpr std::string_view chunk = "@/srv/app/handler.lua";
  put<uint32_t>(o.name + LUAJIT_TEXT_LENGTH, chunk.size());
  std::memcpy(o.name + LUAJIT_TEXT, chunk.data(), chunk.size());
  constexpr uint8_t lines[] = {1, 1, 2, 3, 4};
  std::memcpy(o.lines, lines, sizeof lines);
  return o;
}

TEST(LuaJit, DecodesPrototypes) {
  const auto code = decode_luajit(prototype(), {}, {});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->name, "handler.lua:10");
  EXPECT_EQ(code->file, "/srv/app/handler.lua");
  std::vector<uint32_t> lines;
  for (uint64_t at = 0; at < 7; at++) lines.push_back(line_of_luajit(*code, at));
  EXPECT_EQ(lines, (std::vector<uint32_t>{10, 11, 11, 12, 13, 14, 0}));
  EXPECT_EQ(line_of_luajit(*code, LUAJIT_NO_POSITION), 0u);
}

TEST(LuaJit, LinesOfLongFunctionsAreWider) {
  language_object o = prototype();
  put<uint32_t>(o.object + LUAJIT_PROTO_LINES, 300);
  put<uint16_t>(o.lines + 2, 299);
  const auto code = decode_luajit(o, {}, {});
  ASSERT_TRUE(code);
  EXPECT_EQ(line_of_luajit(*code, 2), 309u);
}

TEST(LuaJit, LinesThatWereNotCopiedAreRead) {
  language_object o = prototype();
  put<uint32_t>(o.object + LUAJIT_PROTO_INSTRUCTIONS, 2000);
  const auto code = decode_luajit(o, {}, [](uint64_t address, std::span<std::byte> to) {
    EXPECT_EQ(address, 0x1000u + LANGUAGE_LINES_BYTES);
    std::memset(to.data(), 3, to.size());
    return true;
  });
  ASSERT_TRUE(code);
  EXPECT_EQ(line_of_luajit(*code, 1999), 13u);
  EXPECT_EQ(line_of_luajit(*decode_luajit(o, {}, {}), 1999), 0u);
}

TEST(LuaJit, DamagedObjectsAreDecodedOrNot) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; i++) {
    language_object o = prototype();
    for (int n = 0; n < 8; n++) {
      o.object[random() % LUAJIT_PROTO_BYTES] = static_cast<uint8_t>(random());
      o.name[random() % LANGUAGE_NAME_BYTES] = static_cast<uint8_t>(random());
    }
    if (const auto code = decode_luajit(o, {}, {}))
      for (uint64_t at : {uint64_t{0}, uint64_t{5}, uint64_t{LANGUAGE_POSITION_MASK}}) line_of_luajit(*code, at);
  }
}

std::pair<std::string, std::string> named(std::string_view chunk, uint32_t first_line) {
  Code code = {.first_line = first_line};
  name_lua_function(code, chunk);
  return {code.name, code.file};
}

TEST(LuaNames, AreChunkAndLine) {
  using Names = std::pair<std::string, std::string>;
  EXPECT_EQ(named("@a/b.lua", 3), Names("b.lua:3", "a/b.lua"));
  EXPECT_EQ(named("@b.lua", 0), Names("main chunk b.lua", "b.lua"));
  EXPECT_EQ(named("=stdin", 1), Names("stdin:1", "stdin"));
  EXPECT_EQ(named("return 1", 1), Names("[string \"return 1\"]:1", "[string \"return 1\"]"));
  EXPECT_EQ(named("x = 1\ny = 2", 2), Names("[string \"x = 1...\"]:2", "[string \"x = 1...\"]"));
  EXPECT_EQ(named("", 0), Names("main chunk [string \"\"]", "[string \"\"]"));
}

} // namespace
} // namespace runtime
