// Verdicts from conclusions: what confirms, what rules out, and how consequences are folded.
#include "why/verdict.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace why;

namespace {

About about(const std::string& cause) { return {cause, "host"}; }

Evidence evidence(const std::string& cause, const std::string& measurement, bool is_decisive = false, bool supports = true) {
  return {about(cause), supports, is_decisive, measurement, "text"};
}

// A cause with two measurements, one of them decisive, and its part of the symptom.
void add_cause(Conclusions& c, const std::string& cause, double share) {
  c.evidence.push_back(evidence(cause, "processes"));
  c.evidence.push_back(evidence(cause, "waits", true));
  c.explanations.push_back({about(cause), share, share, share, "part"});
}

void add_effect(Conclusions& c, const std::string& of, const std::string& effect) { c.effects.push_back({about(of), about(effect)}); }

Verdict verdict_of(const Conclusions& c) {
  const auto findings = judge(c);
  EXPECT_EQ(findings.size(), 1u);
  return findings.at(0).verdict;
}

std::vector<std::string> causes(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) out.push_back(f.about.cause);
  return out;
}

using Names = std::vector<std::string>;

} // namespace

TEST(Verdict, TwoIndependentMeasurementsConfirm) {
  Conclusions c;
  add_cause(c, "a", 0.5);
  EXPECT_EQ(verdict_of(c), Verdict::confirmed);
}

TEST(Verdict, TwoSentencesOfOneMeasurementDoNot) {
  Conclusions c;
  c.evidence = {evidence("a", "waits", true), evidence("a", "waits", true)};
  c.explanations = {{about("a"), 0.9, 0.9, 0.9, ""}};
  EXPECT_EQ(verdict_of(c), Verdict::likely);
}

TEST(Verdict, SignsAloneAreOpenOrLikely) {
  Conclusions c;
  c.evidence = {evidence("a", "processes")};
  c.explanations = {{about("a"), 0.9, 0.9, 0.9, ""}};
  EXPECT_EQ(verdict_of(c), Verdict::open);
  c.evidence.push_back(evidence("a", "waits"));
  EXPECT_EQ(verdict_of(c), Verdict::likely) << "two signs, none of them decisive";
}

TEST(Verdict, SizeMatters) {
  for (const auto& [share, verdict] : std::vector<std::pair<double, Verdict>>{
           {1, Verdict::confirmed}, {0.5, Verdict::confirmed}, {0.49, Verdict::likely}, {0.05, Verdict::likely}, {0.049, Verdict::open}, {0, Verdict::open}}) {
    Conclusions c;
    add_cause(c, "a", share);
    EXPECT_EQ(verdict_of(c), verdict) << share;
  }
  Conclusions c;
  c.evidence = {evidence("a", "processes"), evidence("a", "waits", true)};
  EXPECT_EQ(verdict_of(c), Verdict::open) << "its part of the symptom is not known";
}

TEST(Verdict, ContradictionRulesOut) {
  Conclusions c;
  add_cause(c, "a", 0.9);
  c.evidence.push_back(evidence("a", "locks", false, false));
  EXPECT_EQ(verdict_of(c), Verdict::ruled_out);
}

TEST(Verdict, NoEvidenceIsNoFinding) {
  Conclusions c;
  c.explanations = {{about("a"), 0.9, 0.9, 0.9, ""}};
  c.remarks = {{about("a"), Remark::title, "A"}};
  EXPECT_TRUE(judge(c).empty());
  EXPECT_TRUE(judge({}).empty());
}

TEST(Verdict, SubjectsAreDistinct) {
  Conclusions c;
  add_cause(c, "a", 0.9);
  c.evidence.push_back({{"a", "process 7"}, true, false, "processes", "other"});
  ASSERT_EQ(judge(c).size(), 2u);
}

TEST(Verdict, NarrowestEstimateCounts) {
  Conclusions c;
  add_cause(c, "a", 0);
  c.explanations = {{about("a"), 0.8, 0.4, 0.9, "wide"}, {about("a"), 0.6, 0.58, 0.62, "narrow"}, {about("a"), 0.7, 0.2, 0.9, "wider"}};
  EXPECT_EQ(judge(c).at(0).explains.text, "narrow");
}

TEST(Verdict, RankedByVerdictAndSize) {
  Conclusions c;
  add_cause(c, "small", 0.6);
  add_cause(c, "large", 0.9);
  c.evidence.push_back(evidence("sign", "processes"));
  add_cause(c, "refuted", 1);
  c.evidence.push_back(evidence("refuted", "locks", false, false));
  add_cause(c, "part", 0.2);
  EXPECT_EQ(causes(judge(c)), (Names{"large", "small", "part", "sign", "refuted"}));
}

TEST(Verdict, ConsequencesAreFolded) {
  Conclusions c;
  add_cause(c, "cause", 0.6);
  add_cause(c, "effect", 0.8);
  add_effect(c, "cause", "effect");
  const auto findings = judge(c);
  ASSERT_EQ(causes(findings), Names{"cause"});
  ASSERT_EQ(findings[0].effects.size(), 1u);
  EXPECT_EQ(findings[0].effects[0], about("effect"));
  EXPECT_EQ(findings[0].explains.share, 0.8) << "what its consequence explains";
  EXPECT_EQ(findings[0].explains.about, about("cause"));
}

TEST(Verdict, ConsequencesConfirmTheSizeOfTheirCause) {
  Conclusions c;
  add_cause(c, "cause", 0);
  c.explanations.clear();
  add_cause(c, "effect", 0.8);
  add_effect(c, "cause", "effect");
  const auto findings = judge(c);
  ASSERT_EQ(causes(findings), Names{"cause"});
  EXPECT_EQ(findings[0].verdict, Verdict::confirmed);
}

TEST(Verdict, ChainsAreFoldedUnderTheirBeginning) {
  Conclusions c;
  for (const char* cause : {"a", "b", "c", "d"}) add_cause(c, cause, 0.6);
  add_effect(c, "c", "d");
  add_effect(c, "a", "b");
  add_effect(c, "b", "c");
  const auto findings = judge(c);
  ASSERT_EQ(causes(findings), Names{"a"});
  EXPECT_EQ(findings[0].effects.size(), 3u);
}

TEST(Verdict, SharedConsequenceBelongsToTheFirst) {
  Conclusions c;
  add_cause(c, "a", 0.9);
  add_cause(c, "b", 0.7);
  add_cause(c, "effect", 0.95);
  add_effect(c, "b", "effect");
  add_effect(c, "a", "effect");
  const auto findings = judge(c);
  ASSERT_EQ(causes(findings), (Names{"a", "b"}));
  EXPECT_EQ(findings[0].effects.size(), 1u);
  EXPECT_TRUE(findings[1].effects.empty());
}

TEST(Verdict, UnsupportedCausesHaveNoConsequences) {
  for (bool is_refuted : {false, true}) {
    Conclusions c;
    if (is_refuted) {
      add_cause(c, "cause", 0.9);
      c.evidence.push_back(evidence("cause", "locks", false, false));
    } else {
      c.evidence.push_back(evidence("cause", "processes"));
    }
    add_cause(c, "effect", 0.8);
    add_effect(c, "cause", "effect");
    EXPECT_EQ(judge(c).at(0).about, about("effect"));
    EXPECT_EQ(judge(c).size(), 2u);
  }
}

TEST(Verdict, RefutedConsequencesAreStillShown) {
  Conclusions c;
  add_cause(c, "cause", 0.9);
  add_cause(c, "effect", 0.8);
  c.evidence.push_back(evidence("effect", "locks", false, false));
  add_effect(c, "cause", "effect");
  EXPECT_EQ(causes(judge(c)), (Names{"cause", "effect"}));
  EXPECT_EQ(judge(c).at(1).verdict, Verdict::ruled_out);
}

TEST(Verdict, EffectsOfNothingAreIgnored) {
  Conclusions c;
  add_cause(c, "a", 0.9);
  add_effect(c, "unknown", "a");
  add_effect(c, "a", "unknown");
  add_effect(c, "a", "a");
  ASSERT_EQ(causes(judge(c)), Names{"a"});
  EXPECT_TRUE(judge(c).at(0).effects.empty());
}

TEST(Verdict, CirclesKeepTheirFirst) {
  Conclusions c;
  add_cause(c, "a", 0.6);
  add_cause(c, "b", 0.9);
  add_cause(c, "c", 0.7);
  add_effect(c, "a", "b");
  add_effect(c, "b", "c");
  add_effect(c, "c", "a");
  const auto findings = judge(c);
  ASSERT_EQ(causes(findings), Names{"b"});
  EXPECT_EQ(findings[0].effects.size(), 2u);

  // A cause before the circle takes all of it.
  add_cause(c, "before", 0.1);
  add_effect(c, "before", "c");
  const auto with_cause = judge(c);
  ASSERT_EQ(causes(with_cause), Names{"before"});
  EXPECT_EQ(with_cause[0].effects.size(), 3u);
  EXPECT_EQ(with_cause[0].explains.share, 0.9);
}

// Whatever the effects are, each cause is a finding or part of one.
TEST(Verdict, NothingVanishes) {
  uint32_t state = 1;
  const auto random = [&](uint32_t end) { return (state = state * 1664525 + 1013904223) / 65536 % end; };
  for (int round = 0; round < 300; round++) {
    Conclusions c;
    const uint32_t n = 2 + random(9);
    for (uint32_t i = 0; i < n; i++) add_cause(c, std::string(1, static_cast<char>('a' + i)), random(100) / 100.0);
    for (uint32_t i = random(3 * n); i > 0; i--)
      add_effect(c, std::string(1, static_cast<char>('a' + random(n))), std::string(1, static_cast<char>('a' + random(n))));
    const auto findings = judge(c);
    size_t seen = findings.size();
    for (const Finding& f : findings) seen += f.effects.size();
    EXPECT_EQ(seen, n);
    EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.verdict < b.verdict; }));
  }
}

TEST(Verdict, ManyFindings) {
  Conclusions c;
  for (int i = 0; i < 5000; i++) {
    add_cause(c, "cause" + std::to_string(i), 0.6);
    if (i) add_effect(c, "cause" + std::to_string(i / 2), "cause" + std::to_string(i));
  }
  EXPECT_EQ(judge(c).size(), 1u);
}
