// Each rule file: its head, its names, and its cases (case_file.h). A file without cases fails.
#include "why/case_file.h"

#include "base/text.h"
#include "spec/subcommands.h"
#include "why/inference.h"
#include "why/measurement_names.h"
#include "why/rules.h"
#include "why/verdict.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>

using namespace why;
using why_test::Case;

namespace {

std::string cause_of(const RuleFile& file) { return std::string(file.name.substr(0, file.name.find('.'))); }
bool is_shared(const RuleFile& file) { return file.name == "language.clp" || file.name == "common.clp"; }

std::vector<RuleFile> cause_files() {
  std::vector<RuleFile> out;
  for (const RuleFile& file : rule_files())
    if (!is_shared(file)) out.push_back(file);
  return out;
}

struct Answer {
  Conclusions conclusions;
  std::vector<Finding> findings;

  const Finding* find(const About& about) const {
    for (const Finding& f : findings)
      if (f.about == about) return &f;
    return nullptr;
  }
  bool is_effect(const About& about) const {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return std::find(f.effects.begin(), f.effects.end(), about) != f.effects.end(); });
  }
};

bool stands(const Finding& f) { return f.verdict == Verdict::confirmed || f.verdict == Verdict::likely; }

Answer ask(const std::vector<Fact>& facts) {
  Inference inference;
  inference.load_own();
  for (const Fact& fact : facts) inference.add(fact);
  Answer out;
  out.conclusions = inference.run();
  out.findings = judge(out.conclusions);
  return out;
}

std::string show(const Answer& answer) {
  std::string out = "findings:\n";
  for (const Finding& f : answer.findings) {
    out.append("  ").append(to_string(f.verdict)).append(" ").append(f.about.cause).append(" ").append(f.about.subject);
    out += ", explains " + std::to_string(f.explains.share) + "\n";
    for (const Evidence& e : f.evidence) out.append(e.supports ? "    for: " : "    against: ").append(e.measurement).append(": ").append(e.text).append("\n");
    for (const About& e : f.effects) out.append("    effect: ").append(e.cause).append(" ").append(e.subject).append("\n");
  }
  for (const Need& n : answer.conclusions.needs) out.append("  needs ").append(n.about.cause).append(" ").append(n.measurement).append(" ").append(n.target).append("\n");
  return out;
}

// The words of an expectation behind its first.
About about_of(std::string_view text) {
  const size_t at = text.find(' ');
  return {std::string(text.substr(0, at)), at == text.npos ? "" : std::string(text.substr(at + 1))};
}

bool is_met(const Answer& answer, std::string_view expected) {
  for (Verdict verdict : {Verdict::confirmed, Verdict::likely, Verdict::open, Verdict::ruled_out}) {
    const std::string word = std::string(to_string(verdict)) + " ";
    if (!expected.starts_with(word)) continue;
    const Finding* found = answer.find(about_of(expected.substr(word.size())));
    return found && found->verdict == verdict;
  }
  if (expected.starts_with("effect ")) return answer.is_effect(about_of(expected.substr(7)));
  if (expected.starts_with("no ")) {
    const std::string_view cause = expected.substr(3);
    return std::none_of(answer.findings.begin(), answer.findings.end(), [&](const Finding& f) { return f.about.cause == cause && stands(f); });
  }
  if (expected.starts_with("needs ")) {
    const auto words = base::split(expected.substr(6), ' ');
    return std::any_of(answer.conclusions.needs.begin(), answer.conclusions.needs.end(), [&](const Need& n) {
      return n.about.cause == words[0] && n.measurement == words[1] && n.target == (words.size() > 2 ? words[2] : "");
    });
  }
  if (expected.starts_with("says ")) {
    const size_t at = expected.find(" \"");
    const std::string_view cause = expected.substr(5, at - 5), words = expected.substr(at + 2, expected.size() - at - 3);
    const auto says = [&](const About& about, const std::string& text) { return about.cause == cause && text.find(words) != text.npos; };
    const Conclusions& c = answer.conclusions;
    return std::any_of(c.evidence.begin(), c.evidence.end(), [&](const Evidence& e) { return says(e.about, e.text); }) ||
           std::any_of(c.remarks.begin(), c.remarks.end(), [&](const Remark& r) { return says(r.about, r.text); }) ||
           std::any_of(c.explanations.begin(), c.explanations.end(), [&](const Explanation& e) { return says(e.about, e.text); });
  }
  ADD_FAILURE() << "an unknown expectation: " << expected;
  return false;
}

// What holds for whatever is concluded.
void check_answer(const Answer& answer) {
  EXPECT_EQ(answer.conclusions.stopped, "");
  EXPECT_TRUE(answer.conclusions.mistakes.empty()) << answer.conclusions.mistakes.front();
  const auto check_text = [](const std::string& text) {
    EXPECT_FALSE(text.empty());
    for (const char* bad : {"nan", "inf%", "  ", " ,", "()", "0 ns"}) EXPECT_EQ(text.find(bad), text.npos) << text;
  };
  for (const Evidence& e : answer.conclusions.evidence) check_text(e.text);
  for (const Need& n : answer.conclusions.needs) check_text(n.text);
  for (const Remark& r : answer.conclusions.remarks) check_text(r.text);
  for (const Explanation& e : answer.conclusions.explanations) {
    check_text(e.text);
    EXPECT_LE(0, e.low);
    EXPECT_LE(e.low, e.share) << e.about.cause;
    EXPECT_LE(e.share, e.high) << e.about.cause;
    EXPECT_LE(e.high, 1);
  }
  // A reader learns of each finding what it is, what to do, how to see that it helped, and what would refute it.
  for (const Finding& f : answer.findings) {
    if (!stands(f)) continue;
    for (Remark::Kind kind : {Remark::title, Remark::advice, Remark::check, Remark::refutation}) {
      const auto n = std::count_if(f.remarks.begin(), f.remarks.end(), [&](const Remark& r) { return r.kind == kind; });
      EXPECT_EQ(n, 1) << f.about.cause << " has " << n << " remarks of kind " << int(kind);
    }
  }
}

void check_case(const std::string& cause, const Case& c) {
  const Answer answer = ask(c.facts);
  check_answer(answer);
  std::set<std::string> named; // causes that may stand
  for (const std::string& expected : c.expected) {
    EXPECT_TRUE(is_met(answer, expected)) << "expected: " << expected << "\n" << show(answer);
    if (!expected.starts_with("no ")) named.insert(about_of(expected.substr(expected.find(' ') + 1)).cause);
  }
  for (const Finding& f : answer.findings) EXPECT_TRUE(!stands(f) || named.contains(f.about.cause)) << f.about.cause << " was not expected\n" << show(answer);

  if (c.kind != "has") {
    EXPECT_TRUE(std::none_of(answer.findings.begin(), answer.findings.end(), [&](const Finding& f) { return f.about.cause == cause && stands(f); })) << show(answer);
    return;
  }
  EXPECT_TRUE(std::any_of(answer.findings.begin(), answer.findings.end(), [&](const Finding& f) { return f.about.cause == cause && f.verdict == Verdict::confirmed; }))
      << "a case that has the cause confirms it\n" << show(answer);
  // No single measurement confirms a cause, whichever is left out.
  std::set<std::string_view> measurements;
  for (const Fact& fact : c.facts) measurements.insert(fact.measurement);
  for (std::string_view only : measurements) {
    std::vector<Fact> facts;
    for (const Fact& fact : c.facts)
      if (fact.measurement == only || fact.measurement.empty()) facts.push_back(fact);
    const Answer less = ask(facts);
    for (const Finding& f : less.findings) EXPECT_NE(f.verdict, Verdict::confirmed) << f.about.cause << " by " << only << " alone";
  }
}

} // namespace

class RuleFileTest : public testing::TestWithParam<RuleFile> {};
INSTANTIATE_TEST_SUITE_P(Why, RuleFileTest, testing::ValuesIn(cause_files()), [](const auto& info) {
  std::string name = cause_of(info.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(RuleFileTest, OpensWithItsSentences) {
  const auto lines = base::split(GetParam().text, '\n');
  ASSERT_GT(lines.size(), 5u);
  EXPECT_TRUE(lines[0].starts_with("; \"") && lines[0].ends_with(".\"")) << lines[0];
  size_t at = 0;
  for (std::string_view head : {"; Symptom: ", "; Cause: ", "; Refutation: ", "; Thresholds: "}) {
    const size_t found = GetParam().text.find(head);
    EXPECT_NE(found, GetParam().text.npos) << head;
    EXPECT_LE(at, found);
    at = found;
  }
}

// The names of rules are those of users' error messages; conclusions of a file are about its cause.
TEST_P(RuleFileTest, NamesItsCause) {
  const std::string cause = cause_of(GetParam()), text(GetParam().text);
  const std::regex rule("\\(defrule ([^ \n]+)"), conclusion("\\((suppose|see|contradict|ask|explain|follows|describe) ([^ \n]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), rule), end; at != end; ++at) EXPECT_TRUE((*at)[1].str().starts_with(cause + "-")) << (*at)[1];
  std::set<std::string> functions;
  for (std::sregex_iterator at(text.begin(), text.end(), conclusion), end; at != end; ++at) {
    EXPECT_EQ((*at)[2], cause);
    functions.insert((*at)[1]);
  }
  for (const char* function : {"suppose", "see", "contradict", "ask", "explain", "describe"}) EXPECT_TRUE(functions.contains(function)) << function;
  EXPECT_EQ(text.find("confirmed"), text.npos) << "verdicts are not for rules";
}

TEST_P(RuleFileTest, AsksForKnownMeasurements) {
  const std::string text(GetParam().text);
  const std::regex ask("\\(ask [^ ]+ [^ ]+ ([^ ]+) "), contradict("\\(contradict [^ ]+ \\([^)]*\\) ([a-z-]+) "), by("\\(by ([a-z-]+)\\)"), covered("\\(measurement ([a-z-]+)\\)");
  for (const std::regex* form : {&ask, &contradict, &by, &covered})
    for (std::sregex_iterator at(text.begin(), text.end(), *form), end; at != end; ++at)
      EXPECT_TRUE(find_measurement_name((*at)[1].str())) << (*at)[0];
  // Effects are causes of other files.
  const std::regex follows("\\(follows [^ ]+ (?:\\?[^ ]+|\"[^\"]*\"|\\([^)]*\\)) ([a-z-]+) ");
  for (std::sregex_iterator at(text.begin(), text.end(), follows), end; at != end; ++at) {
    const std::string file = (*at)[1].str() + ".clp";
    EXPECT_TRUE(std::any_of(rule_files().begin(), rule_files().end(), [&](const RuleFile& f) { return f.name == file; })) << (*at)[0];
  }
}

TEST_P(RuleFileTest, AnswersItsCases) {
  const std::string cause = cause_of(GetParam()), path = ACU_TEST_DIR "/why/cases/" + cause + ".case";
  std::set<std::string> kinds;
  for (const Case& c : why_test::read_cases(path)) {
    SCOPED_TRACE(path + ":" + std::to_string(c.line) + ": " + c.title);
    EXPECT_FALSE(c.expected.empty());
    kinds.insert(c.kind);
    check_case(cause, c);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"decoy", "has", "looks alike"}));
}

TEST(Rules, Load) {
  Inference inference;
  for (bool shared : {true, false}) {
    std::vector<RuleFile> files(rule_files().begin(), rule_files().end());
    if (shared) std::reverse(files.begin(), files.end()); // the language before what uses it
    for (const RuleFile& file : files) {
      if (is_shared(file) != shared) continue;
      const base::Status loaded = inference.load(file.text, file.name);
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    }
  }
}

// Commands that advice names are there: tools, or subcommands.
TEST(Rules, NameCommandsOfAcu) {
  const std::regex command("\\bacu ([a-z]+)");
  for (const RuleFile& file : rule_files()) {
    const std::string text(file.text);
    for (std::sregex_iterator at(text.begin(), text.end(), command), end; at != end; ++at) {
      const std::string name = (*at)[1];
      if (name == "why") continue; // the command that runs the rules
      const bool is_subcommand = std::any_of(std::begin(spec::subcommands), std::end(spec::subcommands), [&](const auto& s) { return s.name == name; });
      EXPECT_TRUE(is_subcommand || std::filesystem::exists(ACU_TEST_DIR "/../tools/" + name + ".bt")) << file.name << ": acu " << name;
    }
  }
}

TEST(Rules, EachCaseFileHasRules) {
  for (const auto& entry : std::filesystem::directory_iterator(ACU_TEST_DIR "/why/cases")) {
    const std::string name = entry.path().stem().string() + ".clp";
    EXPECT_TRUE(std::any_of(rule_files().begin(), rule_files().end(), [&](const RuleFile& f) { return f.name == name; })) << name;
  }
}

TEST(Rules, HostWithoutTroubleHasNoFindings) {
  std::vector<Fact> facts;
  for (const FactKind& kind : fact_kinds()) facts.push_back({&kind, {}, "processes"});
  const Answer answer = ask(facts);
  check_answer(answer);
  for (const Finding& f : answer.findings) EXPECT_FALSE(stands(f)) << show(answer);
}
