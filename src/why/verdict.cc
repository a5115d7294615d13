#include "why/verdict.h"

#include "why/measurement_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace why {

namespace {

constexpr double most_of_it = 0.5, some_of_it = 0.05;

struct Support {
  size_t measurements = 0; // independent ones
  bool is_decisive = false, is_contradicted = false;
  // Enough to say that the cause is there, however much it explains.
  bool is_enough() const { return !is_contradicted && (is_decisive || measurements >= 2); }
};

Support support_of(const Finding& finding) {
  Support out;
  std::set<std::string_view> measurements;
  for (const Evidence& e : finding.evidence) {
    if (e.supports) measurements.insert(observation_of(e.measurement));
    out.is_decisive |= e.supports && e.is_decisive;
    out.is_contradicted |= !e.supports;
  }
  out.measurements = measurements.size();
  return out;
}

Verdict weigh(const Finding& finding) {
  const Support support = support_of(finding);
  if (support.is_contradicted) return Verdict::ruled_out;
  if (!support.is_enough() || finding.explains.share < some_of_it) return Verdict::open;
  const bool is_sure = support.is_decisive && support.measurements >= 2 && finding.explains.share >= most_of_it;
  return is_sure ? Verdict::confirmed : Verdict::likely;
}

// The later of several estimates has usually seen more: the narrower interval counts, of equal ones the larger share.
bool is_better(const Explanation& a, const Explanation& b) {
  const double width_a = a.high - a.low, width_b = b.high - b.low;
  return width_a != width_b ? width_a < width_b : a.share > b.share;
}

bool ranks_before(const Finding& a, const Finding& b) {
  if (a.verdict != b.verdict) return a.verdict < b.verdict;
  if (a.explains.share != b.explains.share) return a.explains.share > b.explains.share;
  return a.about < b.about;
}

// Causes as numbers: places in the ranked findings.
class Consequences {
public:
  Consequences(const std::vector<Finding>& findings, const std::vector<Effect>& effects) : next_(findings.size()) {
    std::map<About, size_t> places;
    for (size_t i = 0; i < findings.size(); i++) places[findings[i].about] = i;
    for (const Effect& e : effects) {
      const auto of = places.find(e.of), effect = places.find(e.effect);
      if (of == places.end() || effect == places.end() || of == effect) continue;
      // What may not be there has no consequences; what is contradicted is none.
      if (support_of(findings[of->second]).is_enough() && findings[effect->second].verdict != Verdict::ruled_out) next_[of->second].push_back(effect->second);
    }
  }

  bool has_any(size_t from) const { return !next_[from].empty(); }

  std::vector<bool> reached_from(size_t from) const {
    std::vector<bool> reached(next_.size());
    std::vector<size_t> todo = next_[from];
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      if (reached[at]) continue;
      reached[at] = true;
      todo.insert(todo.end(), next_[at].begin(), next_[at].end());
    }
    return reached;
  }

private:
  std::vector<std::vector<size_t>> next_;
};

// Findings by rank. One goes to the highest ranked cause that leads to it and to which it does not lead back, or that ranks before it; that order has no
// circles, so each circle keeps one.
std::vector<Finding> fold(std::vector<Finding> findings, const std::vector<Effect>& effects) {
  const Consequences consequences(findings, effects);
  std::map<size_t, std::vector<bool>> reached;
  for (size_t i = 0; i < findings.size(); i++)
    if (consequences.has_any(i)) reached[i] = consequences.reached_from(i);
  const auto leads_to = [&](size_t from, size_t to) {
    const auto found = reached.find(from);
    return found != reached.end() && found->second[to];
  };
  const auto takes = [&](size_t of, size_t effect) { return of != effect && leads_to(of, effect) && (!leads_to(effect, of) || of < effect); };
  const auto is_taken = [&](size_t effect) { return std::any_of(reached.begin(), reached.end(), [&](const auto& r) { return takes(r.first, effect); }); };

  std::vector<bool> taken(findings.size());
  for (size_t i = 0; i < findings.size(); i++) taken[i] = is_taken(i);
  for (size_t i = 0; i < findings.size(); i++) {
    if (!taken[i]) continue;
    const auto of = std::find_if(reached.begin(), reached.end(), [&](const auto& r) { return !taken[r.first] && takes(r.first, i); });
    Finding& cause = findings[of->first];
    cause.effects.push_back(findings[i].about);
    if (findings[i].explains.share > cause.explains.share) {
      Explanation explains = findings[i].explains;
      explains.about = cause.about;
      cause.explains = std::move(explains);
    }
  }
  std::vector<Finding> out;
  for (size_t i = 0; i < findings.size(); i++)
    if (!taken[i]) out.push_back(std::move(findings[i]));
  return out;
}

} // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
  case Verdict::confirmed: return "confirmed";
  case Verdict::likely: return "likely";
  case Verdict::open: return "open";
  case Verdict::ruled_out: return "ruled out";
  }
  return {};
}

std::vector<Finding> judge(const Conclusions& conclusions) {
  // What has no evidence is no finding, whatever is said of it.
  std::map<About, Finding> by_about;
  for (const Evidence& e : conclusions.evidence) {
    Finding& finding = by_about[e.about];
    finding.about = e.about;
    finding.evidence.push_back(e);
  }
  std::set<About> explained;
  for (const Explanation& e : conclusions.explanations)
    if (const auto found = by_about.find(e.about); found != by_about.end())
      if (explained.insert(e.about).second || is_better(e, found->second.explains)) found->second.explains = e;
  for (const Remark& r : conclusions.remarks)
    if (const auto found = by_about.find(r.about); found != by_about.end()) found->second.remarks.push_back(r);

  std::vector<Finding> findings;
  const auto rank = [&] {
    for (Finding& f : findings) f.verdict = weigh(f);
    std::sort(findings.begin(), findings.end(), ranks_before);
  };
  for (auto& [about, finding] : by_about) findings.push_back(std::move(finding));
  rank();
  findings = fold(std::move(findings), conclusions.effects);
  rank(); // causes may explain more now
  return findings;
}

} // namespace why
