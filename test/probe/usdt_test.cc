// Marked probes: places, names, and what becomes of their arguments' operands. The notes are written by hand,
// so that there are also operands that compilers seldom choose.
#include "helpers.h"
#include "probe/kinds.h"
#include "spec/arch.h"
#include "symbol/binary.h"

#include "format/elf_file.h"

#include <cstdlib>
#include <elf.h>
#include <fstream>

using probe::Access;
using probe::Kind;
using probe::Mismatch;
using probe::Recipe;
using probe::Step;

namespace {

struct Usdt : Fixture {
  std::string folder = testing::TempDir() + "usdt_probe_" + std::to_string(getpid());
  std::string file = folder + "/marked";

  void SetUp() override {
    if (::access("/usr/include/x86_64-linux-gnu/sys/sdt.h", R_OK) != 0)
      GTEST_SKIP() << "systemtap-sdt-dev is not installed";
    ASSERT_EQ(std::system(("mkdir -p " + folder).c_str()), 0);
  }
  void TearDown() override { EXPECT_EQ(std::system(("rm -rf " + folder).c_str()), 0); }

  // A program with a probe app:x for each text of operands, at the start of main.
  void build(const std::vector<std::string>& operands, const std::string& options = "") {
    std::ofstream out(file + ".c");
    out << "#include <sys/sdt.h>\n"
           "__attribute__((used)) static volatile long global = 5;\n"
           "__attribute__((used)) static __thread volatile long own = 5;\n"
           "int main(int n, char **v) {\n";
    for (const std::string& o : operands)
      out << "__asm__ volatile(\"990: nop\\n\" _SDT_ASM_BASE \".pushsection "
             ".note.stapsdt,\\\"\\\",\\\"note\\\"\\n"
             ".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n"
             "993: .8byte 990b, _.stapsdt.base, 0\\n.asciz \\\"app\\\"\\n.asciz \\\"x\\\"\\n.asciz \\\""
          << o << "\\\"\\n994: .balign 4\\n.popsection\\n\");\n";
    out << "return 0; }\n";
    out.close();
    ASSERT_EQ(std::system(("gcc -O0 " + options + " -o " + file + " " + file + ".c").c_str()), 0);
  }
  Access access(const probe::Event& e, std::string_view field) {
    return probe::access(machine, e, probe::Context::registers, field);
  }
  Step reg(std::string_view name) { return {.op = Step::reg, .value = *spec::find_register(name)}; }
  Step constant(int64_t n) { return {.op = Step::constant, .value = n}; }
  Step op(Step::Op o) { return {.op = o}; }
};

} // namespace

TEST_F(Usdt, operands_become_recipes) {
  build({"8@%rdi -4@%eax 1@%ch 2@$-1 -8@$-1 8@-16(%rbp,%rax,8) -2@(%rsp) 4@8(,%rbx,2)"});
  auto e = one("usdt:" + file + ":x");
  EXPECT_EQ(e.kind, Kind::usdt);
  EXPECT_EQ(e.name, "usdt:" + file + ":app:x");
  EXPECT_EQ(e.category, "app");
  EXPECT_EQ(e.event, "x");
  EXPECT_EQ(e.binary, file);
  EXPECT_EQ(e.counter_offset, 0u);
  EXPECT_FALSE(e.at_entry);
  ASSERT_TRUE(e.module);
  EXPECT_EQ(e.file_offset, *e.module->offset_of_address(e.address));
  EXPECT_EQ(context(e, {"arg0"}), probe::Context::registers);

  auto steps = [&](std::string_view field) {
    Access a = access(e, field);
    EXPECT_EQ(a.kind, Access::computed);
    EXPECT_EQ(a.reason, "");
    EXPECT_EQ(a.recipe.kind, Recipe::value);
    return a.recipe.steps;
  };
  using Steps = std::vector<Step>;
  EXPECT_EQ(steps("arg0"), (Steps{reg("di")}));
  EXPECT_EQ(steps("arg1"), (Steps{reg("ax"), {.op = Step::sext, .size = 4}}));
  EXPECT_EQ(steps("arg2"), (Steps{reg("cx"), constant(8), op(Step::lshr), {.op = Step::zext, .size = 1}}));
  EXPECT_EQ(steps("arg3"), (Steps{constant(-1), {.op = Step::zext, .size = 2}}));
  EXPECT_EQ(steps("arg4"), (Steps{constant(-1)}));
  EXPECT_EQ(steps("arg5"), (Steps{reg("bp"),
                                  reg("ax"),
                                  constant(8),
                                  op(Step::mul),
                                  op(Step::add),
                                  constant(-16),
                                  op(Step::add),
                                  {.op = Step::load, .size = 8}}));
  EXPECT_EQ(steps("arg6"), (Steps{reg("sp"), {.op = Step::load, .size = 2, .is_signed = true}}));
  EXPECT_EQ(
      steps("arg7"),
      (Steps{
          reg("bx"), constant(2), op(Step::mul), constant(8), op(Step::add), {.op = Step::load, .size = 4}}));
  EXPECT_FALSE(access(e, "arg8").reason.empty());

  const type::Type* args = probe::arguments(machine, e);
  ASSERT_TRUE(args);
  EXPECT_EQ(args->fields().size(), 8u);
  EXPECT_EQ(args->find("arg1")->type, types.integer(4, true));
  EXPECT_EQ(args->find("arg3")->type, types.integer(2, false));
}

TEST_F(Usdt, symbols_move_with_the_file) {
  build({"8@global(%rip) 8@8+global(%rip) 8@%fs:own@tpoff 8@$global"}, "-pie");
  auto e = one("usdt:" + file + ":x");
  int64_t global = static_cast<int64_t>(*e.module->symbol_address("global"));
  int64_t apart = global - static_cast<int64_t>(e.address);
  using Steps = std::vector<Step>;
  Step load = {.op = Step::load, .size = 8};
  EXPECT_EQ(access(e, "arg0").recipe.steps, (Steps{reg("ip"), constant(apart), op(Step::add), load}));
  EXPECT_EQ(access(e, "arg1").recipe.steps,
            (Steps{reg("ip"), constant(apart), op(Step::add), constant(8), op(Step::add), load}));
  EXPECT_EQ(access(e, "arg2").recipe.steps,
            (Steps{op(Step::thread_base), constant(-8), op(Step::add), load}));
  EXPECT_EQ(access(e, "arg3").recipe.steps, (Steps{reg("ip"), constant(apart), op(Step::add)}));

  ASSERT_EQ(std::system(("gcc -no-pie -O0 -o " + folder + "/fixed " + file + ".c").c_str()), 0);
  auto fixed = one("usdt:" + folder + "/fixed:x");
  auto address = static_cast<int64_t>(*fixed.module->symbol_address("global"));
  EXPECT_EQ(access(fixed, "arg0").recipe.steps, (Steps{constant(address), load}));

  ASSERT_EQ(std::system(("strip -o " + folder + "/stripped " + file).c_str()), 0);
  auto stripped = one("usdt:" + folder + "/stripped:x");
  Access unknown = access(stripped, "arg0");
  EXPECT_EQ(unknown.recipe.kind, Recipe::none);
  EXPECT_EQ(unknown.reason,
            "is at `8@global(%rip)`, and the file does not tell where `global` is: it is stripped");
}

TEST_F(Usdt, each_place_is_an_event) {
  build({"8@%rdi", "8@%rsi", ""});
  auto events = match("usdt:" + file + ":app:x");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_LT(events[0].address, events[1].address);
  EXPECT_EQ(events[0].name, events[2].name);
  EXPECT_EQ(events[1].operands, "8@%rsi");
  EXPECT_EQ(probe::arguments(machine, events[2]), nullptr);
  EXPECT_EQ(probe::describe_arguments(machine, events[1]),
            (std::vector<std::string>{"uint64 arg0 at 8@%rsi"}));
  EXPECT_EQ(match("usdt:" + file + ":*:*").size(), 3u);
  EXPECT_EQ(match("usdt:" + file + ":a?p:x*").size(), 3u);
  EXPECT_EQ(match("U:" + folder + "/m*d:x").size(), 3u);
}

TEST_F(Usdt, what_is_not_there) {
  build({""});
  auto expect = [&](const std::string& text, Mismatch::Kind kind, const std::string& message,
                    const std::string& hint) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, kind) << text;
    EXPECT_EQ(mismatch.message, message);
    EXPECT_EQ(mismatch.hint, hint);
  };
  std::string all = "`acu list 'usdt:" + file + ":*'` shows what there is";
  expect("usdt:" + file + ":elsewhere", Mismatch::missing, file + " has no USDT probe `elsewhere`", all);
  expect("usdt:" + file + ":app:elsewhere", Mismatch::missing,
         file + " has no USDT probe `elsewhere` in the namespace `app`", all);
  expect("usdt:" + file + ":apq:x", Mismatch::missing, file + " has no USDT probes of the namespace `apq`",
         "did you mean `app`?");
  expect("usdt:/bin/true:x", Mismatch::missing, "/bin/true has no USDT probes",
         "its functions can be probed: see `acu list 'uprobe:/bin/true:*'`");
  for (const char* text : {"usdt", "usdt:", "usdt:a", "usdt:a:", "usdt:a:b:", "usdt:a:b:c:d"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
}

// Operands that no compiler writes, or that are damaged: each has a recipe or a reason, and nothing is made up.
TEST_F(Usdt, operands_of_all_kinds) {
  build({"8@%rdi"});
  auto e = one("usdt:" + file + ":x");
  auto reason = [&](std::string operand) {
    probe::Event changed = e;
    changed.operands = std::move(operand), changed.args = nullptr;
    return access(changed, "arg0").reason;
  };
  for (const char* good : {"8@%rdi", "-8@%rax", "1@%al", "2@$7", "8@(%rsp)", "-4@-20(%rbp)", "8@0x10(%rbx)", "4@(%rax,%rcx)", "8@(,%rbx,4)", "8@$0x7fffffffffffffff", "8@$-9223372036854775808"})
    EXPECT_EQ(reason(good), "") << good;
  for (const char* bad : {"@", "8@", "@%rdi", "3@%rdi", "16@%rdi", "0@%rdi", "-0@%rdi", "x@%rdi", "8@%nothing", "8@%", "8@$", "8@$x", "8@(", "8@()", "8@(%rax", "8@%rax)",
                          "8@(%rax,%rbx,3)", "8@(%rax,%rbx,", "8@(%rax,,8)", "8@99999999999999999999(%rax)", "8@nosuchsymbol(%rip)", "8@(%rip,%rax)", "--8@%rdi", "8@%rdi,%rsi", "8@[rdi]"})
    EXPECT_NE(reason(bad), "") << bad;
}

TEST_F(Usdt, damaged_operands_never_crash) {
  build({"8@%rdi"});
  auto e = one("usdt:" + file + ":x");
  const std::string whole = "8@%rdi -4@-16(%rbp,%rax,8) 8@8+global(%rip) 8@%fs:own@tpoff 2@$-1";
  for (size_t at = 0; at < whole.size(); at++)
    for (char c : std::string_view("@%$(),:+-0x \0\xff", 16)) {
      probe::Event changed = e;
      changed.args = nullptr, changed.operands = whole;
      changed.operands[at] = c;
      probe::arguments(machine, changed);
      for (const char* field : {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg99", "arg4294967296"}) access(changed, field);
      changed.operands = whole.substr(0, at), changed.args = nullptr;
      probe::arguments(machine, changed);
      probe::describe_arguments(machine, changed);
    }
}
