// Verbs without their processes: arguments, command lines, trees, losses, messages.
#include "agent/json.h"
#include "agent/protocol.h"
#include "agent/result.h"
#include "agent/schema.h"
#include "agent/tree.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

Settings settings() {
  Settings out;
  out.find_tool = [](const std::string& name) { return name == "execsnoop" ? std::optional(false) : name == "locks" ? std::optional(true) : std::nullopt; };
  return out;
}

std::string planned(std::string_view verb, std::string_view json) {
  rapidjson::Document given;
  EXPECT_TRUE(parse_json(json, given).ok()) << json;
  const Settings allowed = settings();
  const Verb* found = find_verb(verb, allowed);
  if (!found) return "no such verb";
  auto arguments = check_arguments(*found, &given, allowed);
  if (!arguments.ok()) return "ERROR: " + arguments.error().message;
  auto made = plan(*found, *arguments, allowed);
  return made.ok() ? command_line(*made) : "ERROR: " + made.error().message;
}

TEST(Verbs, BecomeCommandLines) {
  EXPECT_EQ(planned("host", "{}"), "acu info --json");
  EXPECT_EQ(planned("list_probes", R"({"pattern": "kprobe:vfs_*", "arguments": true, "pid": 7})"), "acu list -v --pid=7 'kprobe:vfs_*'");
  EXPECT_EQ(planned("run_script", R"({"script": "begin { exit(); }", "arguments": ["a b"], "options": ["x=1"], "duration": 2.5})"),
            "timeout -s INT 2.5 acu run --format=json --read-only '--execute=begin { exit(); }' 'a b' -- --x=1");
  EXPECT_EQ(planned("flame", R"({"kind": "offcpu", "pid": 7, "max_cost": 12.5})"), "acu flame --kind=offcpu --duration=5s --pid=7 --max-cost=12.5");
  EXPECT_EQ(planned("slow", R"({"what": "io", "min_duration_ms": 0.2})"), "acu slow --json --duration=10s --max-cost=2 --min-duration=200us io");
  EXPECT_EQ(planned("why", R"({"question": "stuck", "comm": "nginx"})"), "acu why --json --duration=15s --max-cost=10 --comm=nginx stuck");
  EXPECT_EQ(planned("snap", R"({"pid": 7, "view": "leaks"})"), "acu snap --json --pid=7 leaks");
  EXPECT_EQ(planned("core", R"({"file": "core.1", "script": "thread { print(pid); }"})"), "acu core --json core.1 --read-only '--execute=thread { print(pid); }'");
  EXPECT_EQ(planned("tool", R"({"name": "execsnoop", "pid": 7})"), "timeout -s INT 5 acu execsnoop --read-only --format=json --pid=7");
  EXPECT_EQ(planned("tool", R"({"name": "locks", "core": "core.1"})"), "acu locks --read-only --json core.1");
  EXPECT_EQ(planned("tool", "{}"), "acu tools");
}

TEST(Verbs, RefuseWhatIsNoneOfTheirArguments) {
  EXPECT_EQ(planned("sql", "{}"), "ERROR: `sql` needs the argument `query`");
  EXPECT_EQ(planned("sql", R"({"query": "--output=x.db"})"), "ERROR: argument `query` begins with `-`");
  EXPECT_EQ(planned("sql", R"({"query": "select 1", "qurey": 1})"), "ERROR: `sql` has no argument `qurey`; did you mean `query`?");
  EXPECT_EQ(planned("sql", R"({"query": "select 1", "query": "select 2"})"), "ERROR: argument `query` is given twice");
  EXPECT_EQ(planned("sql", "[]"), "ERROR: arguments are an object, not a list");
  EXPECT_EQ(planned("snap", R"({"pid": "7"})"), "ERROR: argument `pid`: an integer from 1 to 4194304 expected, not text");
  EXPECT_EQ(planned("snap", R"({"pid": 7.5})"), "ERROR: argument `pid`: an integer from 1 to 4194304 expected, not 7.5");
  EXPECT_EQ(planned("tool", R"({"name": "execsnoop", "core": "x"})"), "ERROR: the tool `execsnoop` traces live programs: it does not take `core`");
  EXPECT_EQ(planned("tool", R"({"name": "record"})"), "ERROR: there is no tool `record` (call this verb without a name to list them)");
  EXPECT_EQ(planned("run_script", R"({"script": "x", "options": ["-c"]})"), "ERROR: argument `options`: an entry begins with `-`");
  EXPECT_EQ(planned("run", "{}"), "no such verb");
}

TEST(Verbs, NoTextBecomesAnOption) {
  // Of each verb each text is tried with what would be an option.
  for (const Verb& verb : verbs())
    for (const Parameter& p : parameters_of(verb, settings())) {
      if (p.kind != Kind::text || p.name == "script" || p.name == "input") continue;
      const std::string line = planned(verb.name, "{\"" + std::string(p.name) + "\": \"-o/tmp/x\"}");
      EXPECT_TRUE(line.starts_with("ERROR: ")) << verb.name << " " << p.name << ": " << line;
    }
}

TEST(Verbs, SchemasAreJson) {
  EXPECT_TRUE(is_json(tool_list(settings())));
  Settings two = settings();
  two.verbs = {"host", "sql"};
  rapidjson::Document list;
  ASSERT_TRUE(parse_json(tool_list(two), list).ok());
  EXPECT_EQ(list.Size(), 2u);
}

TEST(Tree, IndentsWhereItBranches) {
  EXPECT_EQ(tree_text("app;main;a;b 60\napp;main;a;c 30\napp;main;d 10\n", "samples", 100, 0),
            "  total    self        samples  function\n"
            " 100.0%    0.0%            100  app\n"
            " 100.0%    0.0%            100  main\n"
            "  90.0%    0.0%             90    a\n"
            "  60.0%   60.0%             60      b\n"
            "  30.0%   30.0%             30      c\n"
            "  10.0%   10.0%             10    d\n");
}

TEST(Tree, KeepsTheLargest) {
  std::string folded;
  for (int i = 1; i <= 100; i++) folded += "app;f" + std::to_string(i) + " " + std::to_string(i) + "\n";
  const std::string text = tree_text(folded, "ns", 5, 0);
  EXPECT_NE(text.find("f100\n"), text.npos);
  EXPECT_NE(text.find("f97\n"), text.npos);
  EXPECT_EQ(text.find("f90\n"), text.npos);
  EXPECT_NE(text.find(" smaller branches are not shown\n"), text.npos);
  EXPECT_EQ(tree_text("", "ns", 5, 0), "no samples\n");
  EXPECT_EQ(tree_text("no weight\n;;; 0\n", "ns", 5, 0), "no samples\n");
}

TEST(Results, CountLosses) {
  EXPECT_EQ(lost_in(""), 0u);
  EXPECT_EQ(lost_in("samples 771 (7.79 s), lost 0 · stacks complete 100.0%"), 0u);
  EXPECT_EQ(lost_in("samples 771 (7.79 s), lost 12 · stacks complete 100.0%"), 12u);
  EXPECT_EQ(lost_in("WARNING: lost 5 process events"), 5u);
  EXPECT_EQ(lost_in("1 slow (at least 10.00 ms) of 100 calls; 3 lost; acu took 2 ms"), 3u);
  EXPECT_EQ(lost_in("WARNING: 2 stacks were lost: the kernel\nLost 4 events"), 6u);
}

Request asked(std::string_view json, Protocol protocol = Protocol::mcp) {
  rapidjson::Document message;
  EXPECT_TRUE(parse_json(json, message).ok());
  Dialogue dialogue = {.protocol = protocol};
  const Settings allowed = settings();
  return read_request(message, dialogue, allowed, "1.0");
}

TEST(Protocol, ReadsRequests) {
  EXPECT_EQ(asked(R"({"jsonrpc": "2.0", "id": "a\"b", "method": "ping"})").reply, R"({"jsonrpc": "2.0", "id": "a\"b", "result": {}})");
  EXPECT_EQ(asked(R"({"jsonrpc": "2.0", "id": 18446744073709551615, "method": "ping"})").reply, R"({"jsonrpc": "2.0", "id": 18446744073709551615, "result": {}})");
  const Request call = asked(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "host", "_meta": {"progressToken": 5}}})");
  EXPECT_EQ(call.kind, Request::Kind::call);
  EXPECT_EQ(call.progress, "5");
  EXPECT_EQ(asked(R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})").target, "\"x\"");
  EXPECT_EQ(asked(R"({"jsonrpc": "2.0", "method": "ping"})").kind, Request::Kind::none);
  EXPECT_EQ(asked(R"({"jsonrpc": "2.0", "id": 1, "method": "host"})", Protocol::api).kind, Request::Kind::call);
  EXPECT_NE(asked(R"({"jsonrpc": "2.0", "id": 1, "method": "hosts"})", Protocol::api).reply.find("did you mean `host`?"), std::string::npos);
}

TEST(Protocol, AnswersWithTheRevisionThatIsAskedFor) {
  const auto hello = [](std::string_view revision) { return asked(R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": ")" + std::string(revision) + "\"}}").reply; };
  EXPECT_NE(hello("2025-06-18").find(R"("protocolVersion": "2025-06-18")"), std::string::npos);
  EXPECT_NE(hello("2024-11-05").find(R"("protocolVersion": "2024-11-05")"), std::string::npos);
  EXPECT_NE(hello("2030-01-01").find(R"("protocolVersion": "2025-11-25")"), std::string::npos);
}

} // namespace
} // namespace agent
