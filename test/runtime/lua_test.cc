// Lua: its files and prototypes.
#include "runtime/lua.h"

#include "runtime/lua_layouts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace runtime {
namespace {

TEST(Lua, IsRecognised) {
  size_t found = 0;
  for (const char* version : {"5.1", "5.2", "5.3", "5.4"})
    for (const std::string& place : {std::string("/usr/bin/lua") + version, std::string("/usr/lib/x86_64-linux-gnu/liblua") + version + ".so.0"}) {
      auto file = format::ElfFile::open(place);
      if (!file) continue;
      found++;
      const auto runtime = recognise_lua(*file);
      ASSERT_TRUE(runtime) << place;
      EXPECT_TRUE(runtime->version.starts_with(std::string("Lua ") + version)) << runtime->version;
      EXPECT_EQ(runtime->problem, "") << place;
      const language_table& t = runtime->table;
      EXPECT_EQ(t.kind, static_cast<uint32_t>(LANGUAGE_LUA));
      EXPECT_GT(t.evaluation[0].end - t.evaluation[0].begin, 3000u);
      EXPECT_TRUE(t.lua.state_is_in_rbp || t.lua.sites) << place;
    }
  if (!found) GTEST_SKIP() << "there is no Lua here";
}

TEST(Lua, OtherFilesAreNone) {
  for (const char* place : {"/proc/self/exe", "/usr/bin/luajit"})
    if (auto file = format::ElfFile::open(place)) {
      EXPECT_FALSE(recognise_lua(*file)) << place;
    }
}

TEST(Lua, LayoutsFitWhatIsRead) {
  for (const lua_layout& l : lua_layouts) {
    EXPECT_LE(l.proto_bytes, 128u);
    EXPECT_LE(l.call_bytes, 127u);
    EXPECT_LE(l.closure_proto + 8u, static_cast<unsigned>(LUA_CLOSURE_READ));
    EXPECT_LE(l.state_call + 8u, static_cast<unsigned>(LUA_STATE_READ));
  }
}

template<class T> void put(uint8_t* at, T value) { std::memcpy(at, &value, sizeof value); }

// A function that begins on line 10 of "@a/b.lua", with three instructions on lines 11, 300 and 12.
struct Sample {
  language_table table = {.kind = LANGUAGE_LUA};
  language_object object = {};

  explicit Sample(const lua_layout& l) {
    table.lua = l;
    object.object[LUA_TYPE] = static_cast<uint8_t>(l.proto_type);
    put<uint32_t>(object.object + l.proto_instructions, 3);
    put<uint32_t>(object.object + l.proto_first_line, 10);
    put<uint64_t>(object.object + l.proto_lines, 0x1000);
    constexpr std::string_view chunk = "@a/b.lua";
    if (l.version >= 503)
      object.name[LUA_TYPE] = LUA_TEXT_SHORT, object.name[LUA_TEXT_SHORT_LENGTH] = chunk.size();
    else
      put<uint64_t>(object.name + LUA_TEXT_LENGTH, chunk.size());
    std::memcpy(object.name + LUA_TEXT, chunk.data(), chunk.size());
    if (l.proto_absolute_count) {
      constexpr int8_t distances[] = {1, -128, 2};
      constexpr int32_t full[] = {1, 300};
      std::memcpy(object.lines, distances, sizeof distances);
      std::memcpy(object.file, full, sizeof full);
      put<uint32_t>(object.object + l.proto_absolute_count, 1);
      put<uint64_t>(object.object + l.proto_absolute_lines, 0x2000);
    } else {
      constexpr int32_t lines[] = {11, 300, 302};
      std::memcpy(object.lines, lines, sizeof lines);
    }
  }
};

TEST(Lua, DecodesPrototypes) {
  for (const lua_layout& l : lua_layouts) {
    const Sample s(l);
    const auto code = decode_lua(s.object, s.table, {});
    ASSERT_TRUE(code) << l.version;
    EXPECT_EQ(code->name, "b.lua:10");
    EXPECT_EQ(code->file, "a/b.lua");
    std::vector<uint32_t> lines;
    for (uint64_t at = 0; at < 4; at++) lines.push_back(line_of_lua(*code, at));
    EXPECT_EQ(lines, (std::vector<uint32_t>{11, 300, 302, 0})) << l.version;
    EXPECT_EQ(line_of_lua(*code, LUA_NO_POSITION), 0u);
  }
}

TEST(Lua, DamagedObjectsAreDecodedOrNot) {
  std::mt19937 random(7);
  for (const lua_layout& l : lua_layouts)
    for (int i = 0; i < 5'000; i++) {
      Sample s(l);
      for (int n = 0; n < 8; n++) {
        s.object.object[random() % l.proto_bytes] = static_cast<uint8_t>(random());
        s.object.name[random() % LANGUAGE_NAME_BYTES] = static_cast<uint8_t>(random());
      }
      if (const auto code = decode_lua(s.object, s.table, {}))
        for (uint64_t at : {uint64_t{0}, uint64_t{5}, uint64_t{LANGUAGE_POSITION_MASK}}) line_of_lua(*code, at);
    }
}

} // namespace
} // namespace runtime
