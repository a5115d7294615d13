// The script that `acu graph` generates for the functions that were found: valid in the language whatever they are called.
#include "graph/script.h"

#include "session/runner.h"

#include <gtest/gtest.h>

#include <deque>

namespace graph {
namespace {

// A function of the program that runs these tests; the kernel's where `kernel`.
Function function(std::string name, bool has_return = true) {
  Function f;
  f.about = {.name = name, .has_return = has_return};
  f.symbol = name, f.entry = session::user_place("uprobe", "/proc/self/exe", "main");
  if (has_return) f.leave = session::user_place("uretprobe", "/proc/self/exe", "main");
  return f;
}
Function kernel_function(std::string name) {
  Function f;
  f.about = {.name = name, .is_kernel = true};
  f.symbol = name, f.entry = "kprobe:" + name, f.leave = "kretprobe:" + name;
  return f;
}
Function typed(Function f, std::vector<Value> arguments) {
  f.is_typed = true, f.arguments = std::move(arguments), f.result = {{.name = "", .expression = "retval"}};
  return f;
}

Wanted all() { return {.whose = {.text = "true", .before = {}, .what = {}}, .filter = {}}; }

std::string mistakes(const Functions& functions, const Wanted& wanted) {
  session::Runner runner({.aim = "test", .script = make_graph_script(functions, wanted).script, .filters_itself = true});
  const base::Status status = runner.compile();
  return status.ok() ? "" : status.error().message;
}

TEST(GraphScript, CompilesForFunctionsOfAllKinds) {
  const std::pair<std::string_view, std::deque<Function>> cases[] = {
      {"untyped", {function("a"), function("b")}},
      {"one untyped", {function("a")}},
      {"without return", {function("a", false), function("b", false)}},
      {"kernel", {kernel_function("vfs_read"), kernel_function("vfs_write")}},
      {"mixed", {function("a"), function("b", false), kernel_function("vfs_read")}},
      {"typed", {typed(function("a"), {{.name = "n", .expression = "arg0"}, {.name = "s", .expression = "arg1", .is_text = true}, {.name = "d", .is_known = false}})}},
  };
  for (const auto& [about, functions] : cases)
    for (uint64_t depth : {0, 2})
      for (uint64_t min_duration : {0, 1'000'000})
        for (bool has_values : {false, true}) {
          Wanted wanted = all();
          wanted.depth = depth, wanted.min_duration_ns = min_duration, wanted.has_values = has_values, wanted.duration_ns = 1'000'000'000;
          EXPECT_EQ(mistakes({.functions = functions}, wanted), "") << about << " depth " << depth << " min " << min_duration << " values " << has_values;
        }
}

// Functions that are probed alike share a program; those whose values are shown have one each.
TEST(GraphScript, GroupsOfFunctions) {
  const Functions functions = {.functions = {function("a"), function("b"), function("c", false), kernel_function("vfs_read"), typed(function("d"), {}), typed(function("e"), {})}};
  EXPECT_EQ(make_graph_script(functions, all()).groups, 5u) << "a and b, c, vfs_read, d, e";
  Wanted plain = all();
  plain.has_values = false;
  EXPECT_EQ(make_graph_script(functions, plain).groups, 3u) << "a, b, d and e; c; vfs_read";
  plain.min_duration_ns = 1;
  EXPECT_EQ(make_graph_script(functions, plain).groups, 2u) << "how long c takes is not known";
  EXPECT_EQ(make_graph_script({}, all()).groups, 0u);
}

TEST(GraphScript, NamesThatAreNoneOfTheLanguage) {
  EXPECT_EQ(foreign_name({.functions = {typed(function("a"), {{.name = "n"}, {.name = "_x1"}})}}), "");
  EXPECT_EQ(foreign_name({.functions = {typed(function("a"), {{.name = "n"}, {.name = "$n"}})}}), "$n");
  EXPECT_EQ(foreign_name({.functions = {typed(function("a"), {{.name = "1st"}})}}), "1st");
  EXPECT_EQ(foreign_name({.functions = {typed(function("a"), {{.name = "größe"}})}}), "größe");
  EXPECT_EQ(foreign_name({.functions = {typed(function("a"), {{.name = "$n", .is_known = false}})}}), "") << "it is only shown";
}

TEST(GraphFunctions, KernelFunctionsAndProgramsByTheirNames) {
  EXPECT_TRUE(is_kernel_function_name("k:vfs_read"));
  for (const char* name : {"vfs_read", "main", "libc:malloc", "ns::f", "cpp:shop::*"}) EXPECT_FALSE(is_kernel_function_name(name)) << name;
  EXPECT_TRUE(names_program("libc:malloc"));
  EXPECT_TRUE(names_program("/bin/ls:main"));
  for (const char* name : {"main", "shop::order", "cpp:shop::*"}) EXPECT_FALSE(names_program(name)) << name;
}

} // namespace
} // namespace graph
