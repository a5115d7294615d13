// The reader of policies, and decisions: what the first rule for a caller permits.
#include "policy/policy.h"

#include <gtest/gtest.h>

namespace {

using policy::Target;
using policy::TargetKind;

policy::Policy read(std::string_view text) {
  auto out = policy::read_policy(text, "p");
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
  return out.ok() ? *out : policy::Policy();
}

std::string mistakes(std::string_view text) {
  auto out = policy::read_policy(text, "p");
  EXPECT_FALSE(out.ok()) << text;
  return out.ok() ? "" : out.error().message;
}

const policy::Caller alice{1000, "alice", {1000, 50}, {"alice", "web"}}, unnamed{77, "", {77}, {""}};

policy::Request request(std::string command, std::vector<Target> is = {}) {
  policy::Request out{std::move(command), true, !is.empty(), {}, {}, {}};
  if (!is.empty()) out.subjects.push_back({"it", std::move(is)});
  return out;
}

bool permits(std::string_view text, const policy::Caller& caller, const policy::Request& asked) { return policy::decide(read(text), caller, asked).ok(); }

TEST(Policy, ReadsRules) {
  const policy::Policy p = read("# c\nuser alice 1001 # d\n\tcommands  flame st*\r\n  targets unit:a.service user:root own\n  may scripts unsafe\n\ngroup web\n  commands none\neveryone\ncommands *\n");
  ASSERT_EQ(p.rules.size(), 3u);
  EXPECT_EQ(p.rules[0].line, 2u);
  EXPECT_EQ(p.rules[0].users, (std::vector<std::string>{"alice", "1001"}));
  EXPECT_EQ(p.rules[0].commands, (std::vector<std::string>{"flame", "st*"}));
  ASSERT_EQ(p.rules[0].targets.size(), 3u);
  EXPECT_EQ(to_string(p.rules[0].targets[0]), "unit:a.service");
  EXPECT_TRUE(p.rules[0].may_scripts && p.rules[0].may_unsafe);
  EXPECT_TRUE(p.rules[2].is_for_everyone && !p.rules[2].may_scripts);
  EXPECT_TRUE(read("").rules.empty());
}

TEST(Policy, NamesTheLineOfEachMistake) {
  EXPECT_EQ(mistakes("user a\n commands flam\n"), "p:2: there is no command `flam`; did you mean `flame`?");
  EXPECT_EQ(mistakes("user a\n"), "p:1: this rule has no line `commands`");
  EXPECT_EQ(mistakes("targets own\n"), "p:1: `targets` belongs to a rule, which begins with `user NAME`, `group NAME` or `everyone`");
  EXPECT_EQ(mistakes("everyone\n commands *\n targets pid:1\n"), "p:3: `pid:1` is not a target; targets are *, own, unit:NAME, container:NAME and user:NAME");
  EXPECT_EQ(mistakes("everyone\n commands *\n may all\n"), "p:3: `may` takes scripts and unsafe, not `all`");
  EXPECT_EQ(mistakes("everyone x\n commands *\n"), "p:1: `everyone` takes no names");
  EXPECT_NE(mistakes("user *\n commands *\n").find("no patterns"), std::string::npos);
  EXPECT_EQ(mistakes("everyone\n commands zz*\n"), "p:2: there is no command `zz*` (`acu help` lists them)");
  const std::string many = mistakes(std::string(1000, '\n') + [] { std::string s; for (int i = 0; i < 100; i++) s += "x\n"; return s; }());
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 20);
  EXPECT_NE(many.find("further mistakes"), std::string::npos);
  // What a terminal would obey is not printed as it is.
  EXPECT_EQ(mistakes("\x1b[2J\n").find('\x1b'), std::string::npos);
}

TEST(Policy, TheFirstRuleForACallerHolds) {
  constexpr std::string_view text = "user alice\n commands none\ngroup web\n commands stat\n targets *\neveryone\n commands top\n targets *\n";
  EXPECT_FALSE(permits(text, alice, request("stat")));
  EXPECT_TRUE(permits(text, unnamed, request("top")));
  EXPECT_FALSE(permits(text, unnamed, request("stat")));
  EXPECT_TRUE(permits("group 50\n commands stat\n targets *\n", alice, request("stat")));
  EXPECT_TRUE(permits("user 77\n commands stat\n targets *\n", unnamed, request("stat")));
  EXPECT_FALSE(permits("", unnamed, request("stat")));
}

TEST(Policy, AllSubjectsMustBePermitted) {
  constexpr std::string_view text = "everyone\n commands *\n targets unit:web-*.service container:shop user:root own\n";
  EXPECT_TRUE(permits(text, alice, request("stat", {{TargetKind::unit, "web-1.service"}})));
  EXPECT_FALSE(permits(text, alice, request("stat", {{TargetKind::unit, "db.service"}})));
  EXPECT_FALSE(permits(text, alice, request("stat", {{TargetKind::container, "web-1.service"}})));
  EXPECT_TRUE(permits(text, alice, request("stat", {{TargetKind::user, "0"}, {TargetKind::user, "root"}})));
  EXPECT_TRUE(permits(text, alice, request("stat", {{TargetKind::user, "1000"}})));
  EXPECT_FALSE(permits(text, unnamed, request("stat", {{TargetKind::user, "1000"}})));
  EXPECT_FALSE(permits(text, alice, request("stat")));
  policy::Request two = request("stat", {{TargetKind::container, "shop"}});
  two.subjects.push_back({"other", {}});
  EXPECT_FALSE(permits(text, alice, two));
  EXPECT_TRUE(permits("everyone\n commands *\n targets *\n", alice, two));
  EXPECT_FALSE(permits("everyone\n commands *\n", alice, two));
}

TEST(Policy, CodeAndActionsNeedGrants) {
  policy::Request code = request("run"), action = request("run");
  code.code = "`-e`";
  action.action = "`--unsafe`";
  EXPECT_FALSE(permits("everyone\n commands *\n targets *\n", alice, code));
  EXPECT_TRUE(permits("everyone\n commands *\n targets *\n may scripts\n", alice, code));
  EXPECT_FALSE(permits("everyone\n commands *\n targets *\n may scripts\n", alice, action));
  EXPECT_TRUE(permits("everyone\n commands *\n targets *\n may unsafe\n", alice, action));
}

} // namespace
