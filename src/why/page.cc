#include "why/page.h"

#include "base/markup.h"
#include "base/print.h"
#include "report/page.h"
#include "why/report.h"

#include <algorithm>

namespace why {

namespace {

using base::markup, base::print;

std::string percent(double share) { return print("%.1f%%", share * 100); }

std::string line(std::string_view word, const std::string* text) { return text ? "<dt>" + std::string(word) + "</dt><dd>" + markup(*text) + "</dd>\n" : std::string(); }

// The share as a bar, its interval in a lighter color.
std::string size_of(const Explanation& e) {
  return "<dt>size</dt><dd>" + markup(e.text) + "<div class=\"bar\" title=\"" + percent(e.low) + " to " + percent(e.high) + "\"><i style=\"width:" + percent(e.low) + "\"></i><b style=\"left:" + percent(e.low) +
         ";width:" + percent(std::max(e.high - e.low, 0.005)) + "\"></b></div></dd>\n";
}

std::string evidence_of(const Question& question, const Finding& f) {
  std::string out = "<details open><summary>Evidence</summary><ul>\n";
  for (const Evidence& e : f.evidence)
    out += "<li>" + std::string(e.supports ? "for: " : "against: ") + markup(e.text) + "<br><code>" + markup(command_again(question, e)) + "</code></li>\n";
  for (const About& effect : f.effects) out += "<li>leads to " + markup(effect.cause) + " of " + markup(effect.subject) + "</li>\n";
  return out + "</ul></details>\n";
}

std::string finding(const Question& question, const Finding& f) {
  const std::string* title = remark_of(f, Remark::title);
  const std::string verdict(to_string(f.verdict));
  return "<article><h2><span class=\"" + verdict + "\">" + verdict + "</span>: " + markup(title ? *title : f.about.cause) + "</h2>\n<dl>\n" + line("where", remark_of(f, Remark::place)) +
         (f.explains.share > 0 ? "<div class=\"" + verdict + "\" style=\"display:contents\">" + size_of(f.explains) + "</div>" : "") + line("do", remark_of(f, Remark::advice)) + line("check", remark_of(f, Remark::check)) +
         line("unless", remark_of(f, Remark::refutation)) + "<dt>cause</dt><dd class=\"soft\">" + markup(f.about.cause) + ", " + markup(f.about.subject) + "</dd>\n</dl>\n" + evidence_of(question, f) + "</article>\n";
}

// When each measurement was taken, why, and what it gave.
std::string measurements(const Answer& answer) {
  constexpr double width = 300;
  const auto whole = static_cast<double>(std::max<uint64_t>(answer.duration_ns, 1));
  std::string out = "<table><tr><th>measurement</th><th>when</th><th>facts</th><th>why</th></tr>\n";
  for (const Taken& t : answer.taken) {
    const double left = width * static_cast<double>(t.begin_ns) / whole, wide = std::max(2.0, width * static_cast<double>(t.interval_ns) / whole);
    const std::string when = print("<svg width=\"%.0f\" height=\"12\"><rect y=\"4\" width=\"%.0f\" height=\"4\" fill=\"#8883\"/><rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"10\" rx=\"2\" fill=\"#4f81bd\"/></svg>", width, width, left, wide);
    const std::string of = t.pid < 0 ? "" : " of " + std::to_string(t.pid);
    out += "<tr><td>" + markup(t.measurement + of) + "</td><td>" + (t.problem.empty() ? when : "<span class=\"soft\">not measured: " + markup(t.problem) + "</span>") + "</td><td>" +
           (t.problem.empty() ? std::to_string(t.facts) : "") + "</td><td class=\"soft\">" + (t.why.empty() ? "first round" : markup(t.why)) + "</td></tr>\n";
  }
  return out + "</table>\n";
}

} // namespace

std::string answer_page(const Question& question, const Answer& answer) {
  const std::string about = asked_about(question);
  std::string body = "<h1>" + markup(about) + "</h1>\n<p class=\"soft\">" + markup(summary(answer)) + "</p>\n";
  for (const Finding* f : found_causes(answer)) body += finding(question, *f);
  for (const Picture& p : answer.pictures) body += "<h2>" + markup(p.title) + "</h2>\n" + p.element;
  body += "<h2>What was measured</h2>\n" + measurements(answer) + "<h2>What else was looked for</h2>\n<pre>" + markup(rest_text(answer)) + "</pre>\n";
  return report::page("acu why: " + about, body);
}

} // namespace why
