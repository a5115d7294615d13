// Types of our own: what is written reads back, and the kernel takes it.
#include "bpf/btf_writer.h"

#include "format/btf.h"
#include "handmade.h"

namespace bpf {
namespace {

TEST(BtfWriter, ReadsBack) {
  BtfWriter writer;
  uint32_t number = writer.integer("int", 4, true);
  uint32_t word = writer.integer("unsigned long", 8, false);
  uint32_t array = writer.array(word, number, 3);
  uint32_t function = writer.function("body", 2, word, word);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(array, 3u);
  EXPECT_EQ(function, 5u); // behind its prototype
  EXPECT_EQ(writer.string("body"), writer.string("body"));
  EXPECT_EQ(writer.string(""), 0u);

  auto btf = format::Btf::parse(writer.finish());
  ASSERT_TRUE(btf.ok()) << btf.error().message;
  EXPECT_EQ((*btf)->find("int", format::BtfKind::integer), number);
  EXPECT_EQ((*btf)->find("body", format::BtfKind::function), function);
  type::Table types;
  const type::Type* type = (*btf)->type(types, array);
  ASSERT_TRUE(type);
  EXPECT_EQ(type->size, 24u);
}

Code code_of(size_t size) {
  test::Assembler a;
  for (size_t i = 2; i < size; i++) a.set(0, 0);
  return a.leave().code("tracepoint:a:b");
}

TEST(BtfWriter, NothingWhereNothingIsNeeded) {
  std::vector<Code> programs{code_of(4)};
  std::vector<MapSpec> maps(1);
  ObjectTypes types = describe(maps, programs, nullptr);
  EXPECT_TRUE(types.blob.empty());
  EXPECT_TRUE(types.programs[0].functions.empty());
}

// Every function must begin with a line, lines ascend, and the second half of a constant has none.
TEST(BtfWriter, Lines) {
  base::Source source("stdin", "begin\n{ @x = 1 }\n");
  test::Assembler a;
  a.map(1, 0).set(0, 0).leave().set(0, 0).exit();
  Code code = a.code("begin");
  code.functions = {{0, "begin", 1}, {5, "1 odd name", 2}};
  code.lines = {{1, {8, 10}}, {2, {8, 10}}, {2, {0, 1}}, {4, {0, 5}}, {99, {0, 1}}};
  std::vector<Code> programs{code};
  ObjectTypes types = describe({}, programs, &source);
  const auto& lines = types.programs[0].lines;
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].insn_off, 0u);
  EXPECT_EQ(lines[1].insn_off, 2u);
  EXPECT_EQ(lines[1].line_col, 2u << 10 | 3u);
  EXPECT_EQ(lines[2].insn_off, 4u);
  EXPECT_EQ(lines[3].insn_off, 5u);
  const auto& functions = types.programs[0].functions;
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].insn_off, 5u);
  auto btf = format::Btf::parse(types.blob);
  ASSERT_TRUE(btf.ok());
  EXPECT_EQ((*btf)->find("_1_odd_name", format::BtfKind::function), functions[1].type_id);
}

TEST(BtfWriter, TheKernelTakesIt) {
  NEEDS_BPF();
  base::Source source("stdin", "begin { @x = 1 }");
  std::vector<Code> programs{code_of(4)};
  programs[0].lines = {{1, {0, 5}}};
  std::vector<MapSpec> maps{{.value_size = 24, .needs_btf = true}};
  ObjectTypes types = describe(maps, programs, &source);
  char log[4096] = {};
  base::Fd btf(btf_load(types.blob, log));
  ASSERT_TRUE(btf.valid()) << log;
  base::Fd program(program_load({.insns = programs[0].insns,
                                 .name = "begin",
                                 .btf_fd = btf.get(),
                                 .functions = types.programs[0].functions,
                                 .lines = types.programs[0].lines,
                                 .log = log}));
  ASSERT_TRUE(program.valid()) << log;
  base::Fd map(map_create({.type = BPF_MAP_TYPE_TASK_STORAGE,
                           .value_size = 24,
                           .max_entries = 0,
                           .flags = BPF_F_NO_PREALLOC,
                           .name = "m",
                           .btf_fd = btf.get(),
                           .key_type = types.key,
                           .value_type = types.values[0]}));
  EXPECT_TRUE(map.valid()) << std::strerror(-map.get());
}

} // namespace
} // namespace bpf
