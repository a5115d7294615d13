// Names of language frames by process, address and check.
#include "runtime/code_names.h"

#include "made_python.h"
#include "report/names.h"

#include <gtest/gtest.h>

namespace runtime {
namespace {

constexpr uint64_t address = 0x7f1234567890;
const python_layout& layout = python_layouts[3];
const std::string lines("\xd9\x01\x02\xd9\x01\x02", 6); // two lines of two instructions each, from the one behind the first on

language_object object(uint64_t at, uint32_t check, std::string_view name, std::string_view file = "/srv/app.py", uint32_t line = 10) {
  language_object out = object_of(layout, code_parts(layout, name, file, line, lines));
  out.address = at;
  out.check = check;
  return out;
}

symbol::RawFrame raw_frame(uint32_t pid, uint64_t at, uint32_t check, uint64_t position = 0) {
  const uint64_t number = uint64_t{check} << LANGUAGE_CHECK_SHIFT | LANGUAGE_FIRST | position;
  return {.entry = {.address = at, .number = number, .tag = spec::row_of(spec::FrameKind::python).tag}, .pid = static_cast<pid_t>(pid)};
}

class Names : public testing::Test {
protected:
  void add(uint32_t pid, const language_object& o) { names.add(pid, o, table_of(layout), {}); }
  std::string name(uint32_t pid, uint64_t at, uint32_t check) { return std::string(frame_of(names, raw_frame(pid, at, check)).name); }
  CodeNames names;
};

TEST_F(Names, BelongToProcessAddressAndCheck) {
  add(1, object(address, 7, "first"));
  add(2, object(address, 7, "second"));
  add(1, object(address + 8, 7, "third"));
  add(1, object(address, LANGUAGE_CHECK_MASK, "fourth"));
  EXPECT_EQ(names.size(), 4u);
  EXPECT_EQ(name(1, address, 7), "first");
  EXPECT_EQ(name(2, address, 7), "second");
  EXPECT_EQ(name(1, address + 8, 7), "third");
  EXPECT_EQ(name(1, address, LANGUAGE_CHECK_MASK), "fourth");
}

TEST_F(Names, OfAnotherObjectAtTheAddress) {
  add(1, object(address, 7, "f"));
  for (const auto& raw : {raw_frame(1, address, 8), raw_frame(2, address, 7), raw_frame(1, address + 1, 7)}) {
    const symbol::Frame frame = frame_of(names, raw);
    EXPECT_EQ(frame.name, "[code object gone]");
    EXPECT_EQ(frame.kind, spec::FrameKind::python);
    EXPECT_EQ(frame.file, "");
    EXPECT_EQ(frame.line, 0u);
  }
  EXPECT_EQ(names.find(1, address, 8), nullptr);
}

TEST_F(Names, FilesLinesAndKinds) {
  add(1, object(address, 7, "Worker.run"));
  const symbol::Frame frame = frame_of(names, raw_frame(1, address, 7, 0));
  EXPECT_EQ(frame.name, "Worker.run");
  EXPECT_EQ(frame.file, "/srv/app.py");
  EXPECT_EQ(frame.module, "/srv/app.py");
  EXPECT_EQ(frame.kind, spec::FrameKind::python);
  EXPECT_EQ(frame.line, 11u);
  EXPECT_EQ(frame_of(names, raw_frame(1, address, 7, 1)).line, 11u);
  EXPECT_EQ(frame_of(names, raw_frame(1, address, 7, 2)).line, 12u);
  EXPECT_EQ(frame_of(names, raw_frame(1, address, 7, 3)).line, 12u);
  EXPECT_EQ(frame_of(names, raw_frame(1, address, 7, 4)).line, 10u); // no line: the function's
}

TEST_F(Names, AnObjectThatIsAddedAgainIsReplaced) {
  add(1, object(address, 7, "old"));
  add(1, object(address, 7, "new"));
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(name(1, address, 7), "new");
}

TEST_F(Names, WhatIsNoCodeObjectHasNone) {
  add(1, language_object{.address = address, .check = 7});
  EXPECT_EQ(names.size(), 0u);
  EXPECT_EQ(name(1, address, 7), "[code object gone]");
}

TEST_F(Names, EqualFunctionsOfSeveralProcessesAreOne) {
  add(1, object(address, 7, "f"));
  add(2, object(address + 64, 9, "f"));
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(names.find(1, address, 7), names.find(2, address + 64, 9));
  EXPECT_NE(names.find(1, address, 7), nullptr);
  // Functions that differ in one thing are two.
  add(3, object(address, 1, "g"));
  add(3, object(address, 2, "f", "/srv/other.py"));
  add(3, object(address, 3, "f", "/srv/app.py", 11));
  for (uint32_t check = 1; check <= 3; check++) EXPECT_NE(names.find(3, address, check), names.find(1, address, 7)) << check;
}

TEST_F(Names, KeysOfTheSource) {
  report::SystemNames system;
  add_language_frames(system.sources(), names);
  add(1, object(address, 7, "f"));
  add(2, object(address + 64, 9, "f"));
  add(2, object(address + 128, 9, "g"));
  const auto key = [&](const symbol::RawFrame& raw) { return system.sources().of(raw).key_of(raw); };
  EXPECT_EQ(key(raw_frame(1, address, 7)), key(raw_frame(2, address + 64, 9)));
  EXPECT_EQ(key(raw_frame(1, address, 7, 1)), key(raw_frame(1, address, 7, 2))); // the function
  EXPECT_NE(key(raw_frame(2, address + 128, 9)), key(raw_frame(2, address + 64, 9)));
  EXPECT_NE(key(raw_frame(1, address, 8)), key(raw_frame(1, address, 7)));
  EXPECT_EQ(system.frame(raw_frame(2, address + 128, 9)).name, "g");
}

TEST_F(Names, ShowIsKept) {
  EXPECT_EQ(names.show(), Show::folded);
  names.set_show(Show::both);
  EXPECT_EQ(names.show(), Show::both);
}

} // namespace
} // namespace runtime
