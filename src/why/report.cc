#include "why/report.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace why {

using base::print;

namespace {

using report::JsonObject, report::json_list;

std::string percent(double share) { return print("%.0f%%", share * 100); }

const std::string* remark_of(const Finding& f, Remark::Kind kind) {
  const auto at = std::ranges::find(f.remarks, kind, &Remark::kind);
  return at == f.remarks.end() ? nullptr : &at->text;
}

std::string asked_about(const Question& q) {
  return q.pid < 0 ? "this host" : "process " + std::to_string(q.pid) + (q.name.empty() ? "" : " (" + base::printable(q.name) + ")");
}

bool is_found(const Finding& f) { return f.verdict == Verdict::confirmed || f.verdict == Verdict::likely; }

int pid_of(const About& about) {
  constexpr std::string_view process = "process ";
  if (!about.subject.starts_with(process)) return -1;
  const auto pid = base::parse_integer(std::string_view(about.subject).substr(process.size()));
  return pid ? static_cast<int>(*pid) : -1;
}

// The command that takes a measurement again: of the process, if it measures one.
std::string command_again(const std::string& measurement, const About& about) {
  const InstrumentKind* kind = find_instrument(measurement);
  return command_of(measurement, kind && kind->needs_pid ? pid_of(about) : -1);
}

void append_line(std::string& out, std::string_view word, const std::string* text) {
  if (text) out += print("   %-9s ", std::string(word).c_str()) + *text + "\n";
}

void append_finding(std::string& out, const Finding& f, size_t number) {
  const std::string* title = remark_of(f, Remark::title);
  out += std::to_string(number) + ". " + std::string(to_string(f.verdict)) + ": " + (title ? *title : f.about.cause) + "\n";
  append_line(out, "where", remark_of(f, Remark::place));
  if (f.explains.share > 0) {
    const std::string size = f.explains.text + " (" + percent(f.explains.low) + " to " + percent(f.explains.high) + ")";
    append_line(out, "size", &size);
  }
  append_line(out, "do", remark_of(f, Remark::advice));
  append_line(out, "check", remark_of(f, Remark::check));
  append_line(out, "unless", remark_of(f, Remark::refutation));
}

void append_evidence(std::string& out, const Finding& f) {
  out += "\n" + f.about.cause + ", " + f.about.subject + "\n";
  for (const Evidence& e : f.evidence)
    out += (e.supports ? "  + " : "  - ") + e.text + "\n      " + command_again(e.measurement, f.about) + "\n";
  for (const About& effect : f.effects) out += "  leads to " + effect.cause + " of " + effect.subject + "\n";
}

std::string joined(const auto& texts) {
  std::string out;
  for (std::string_view text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out;
}

// Causes that were looked for, of what is asked about.
void append_others(std::string& out, const Question& question, const std::vector<Finding>& findings, Verdict verdict, std::string_view title) {
  std::set<std::string_view> names;
  for (const Finding& f : findings)
    if (f.verdict == verdict && (question.pid < 0 || pid_of(f.about) == question.pid || pid_of(f.about) < 0)) names.insert(f.about.cause);
  const std::string text = joined(names);
  if (!text.empty()) out += std::string(title) + ": " + text + "\n";
}

} // namespace

std::string answer_text(const Question& question, const Answer& answer) {
  std::vector<const Finding*> found; // of each cause the first
  std::map<std::string_view, std::vector<std::string_view>> others;
  for (const Finding& f : answer.findings) {
    if (!is_found(f)) continue;
    const bool is_first = std::ranges::none_of(found, [&](const Finding* other) { return other->about.cause == f.about.cause; });
    if (is_first)
      found.push_back(&f);
    else
      others[f.about.cause].push_back(f.about.subject);
  }
  const std::string seconds = print("%.1f s", static_cast<double>(answer.duration_ns) / 1e9);
  std::string out = asked_about(question) + ": " + (found.empty() ? "nothing found" : base::counted(found.size(), "cause") + " found") + " in " + seconds + "\n";
  for (size_t i = 0; i < found.size(); i++) {
    out += "\n";
    append_finding(out, *found[i], i + 1);
    const std::string also = joined(others[found[i]->about.cause]);
    if (!also.empty()) append_line(out, "also", &also);
  }
  for (const Finding* f : found) append_evidence(out, *f);
  out += "\n";
  append_others(out, question, answer.findings, Verdict::ruled_out, "ruled out");
  append_others(out, question, answer.findings, Verdict::open, "not decided");
  for (const Taken& t : answer.taken)
    if (!t.problem.empty()) out += "not measured: " + t.measurement + (t.pid < 0 ? "" : " of process " + std::to_string(t.pid)) + " (" + t.problem + ")\n";
  for (const std::string& note : answer.notes) out += "note: " + note + "\n";
  out += "cost: " + print("%.2f s", static_cast<double>(answer.cpu_ns) / 1e9) + " of CPU time in " + seconds + "\n";
  return out;
}

namespace {

std::string about_json(const About& about) { return JsonObject().add("cause", about.cause).add("subject", about.subject).end(); }

std::string evidence_json(const Evidence& e) {
  return JsonObject()
      .raw("supports", e.supports ? "true" : "false")
      .raw("decisive", e.is_decisive ? "true" : "false")
      .add("measurement", e.measurement)
      .add("text", e.text)
      .add("command", command_again(e.measurement, e.about))
      .end();
}

std::string finding_json(const Finding& f) {
  constexpr std::pair<Remark::Kind, std::string_view> remarks[] = {
      {Remark::title, "title"}, {Remark::place, "place"}, {Remark::advice, "advice"}, {Remark::check, "check"}, {Remark::refutation, "refutation"}};
  JsonObject out;
  out.add("cause", f.about.cause).add("subject", f.about.subject).add("verdict", to_string(f.verdict));
  if (f.explains.share > 0)
    out.add_fraction("share", f.explains.share).add_fraction("low", f.explains.low).add_fraction("high", f.explains.high).add("size", f.explains.text);
  for (const auto& [kind, name] : remarks)
    if (const std::string* text = remark_of(f, kind)) out.add(name, *text);
  return out.raw("evidence", json_list(f.evidence, evidence_json)).raw("effects", json_list(f.effects, about_json)).end();
}

std::string taken_json(const Taken& t) {
  JsonObject out;
  out.add("measurement", t.measurement);
  if (t.pid >= 0) out.add("pid", static_cast<uint64_t>(t.pid));
  if (!t.why.empty()) out.add("reason", t.why);
  if (!t.problem.empty()) return out.add("problem", t.problem).end();
  return out.add("interval_ns", t.interval_ns).add("facts", t.facts).end();
}

} // namespace

std::string answer_json(const Question& question, const Answer& answer) {
  const bool is_any = std::ranges::any_of(answer.findings, is_found);
  JsonObject out;
  out.add("type", "why").add("question", question.kind);
  if (question.pid >= 0) out.add("pid", static_cast<uint64_t>(question.pid)).add("name", question.name);
  return out.add("result", is_any ? "found" : "nothing found")
             .raw("findings", json_list(answer.findings, finding_json))
             .raw("measurements", json_list(answer.taken, taken_json))
             .add("notes", answer.notes)
             .add("duration_ns", answer.duration_ns)
             .add("cpu_ns", answer.cpu_ns)
             .end() +
         "\n";
}

// ---- facts

namespace {

std::string text_of(const Value& value) {
  if (const auto* n = std::get_if<double>(&value)) return print("%.6g", *n);
  if (const auto* n = std::get_if<int64_t>(&value)) return std::to_string(*n);
  return base::printable(std::get<std::string>(value));
}

} // namespace

std::string facts_text(const std::vector<Fact>& facts) {
  std::string out;
  for (const Fact& f : facts) {
    out += std::string(f.kind->name) + "\n";
    for (const SlotKind& slot : f.kind->slots) {
      const auto at = std::ranges::find(f.slots, slot.name, [](const auto& s) { return s.first; });
      if (at == f.slots.end()) continue;
      out += print("  %-18s ", std::string(slot.name).c_str()) + text_of(at->second) + (slot.unit.empty() || slot.unit == "1" ? "" : " " + std::string(slot.unit)) + "\n";
    }
  }
  return out;
}

std::string facts_json(const std::vector<Fact>& facts) {
  std::string out;
  for (const Fact& f : facts) {
    JsonObject object;
    object.add("fact", f.kind->name);
    for (const auto& [name, value] : f.slots) {
      if (const auto* text = std::get_if<std::string>(&value))
        object.add(name, *text);
      else
        object.raw(name, text_of(value));
    }
    out += object.end() + "\n";
  }
  return out;
}

} // namespace why
