#include "why/report.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace why {

using base::print;

namespace {

using report::JsonObject, report::json_list;

std::string percent(double share) { return print("%.0f%%", share * 100); }

bool is_found(const Finding& f) { return f.verdict == Verdict::confirmed || f.verdict == Verdict::likely; }

} // namespace

const std::string* remark_of(const Finding& f, Remark::Kind kind) {
  const auto at = std::ranges::find(f.remarks, kind, &Remark::kind);
  return at == f.remarks.end() ? nullptr : &at->text;
}

std::string asked_about(const Question& q) {
  const std::string file = q.file.empty() ? "" : base::printable(q.file) + ", ";
  const std::string calls = q.function.empty() ? "" : "calls of " + base::printable(q.function) + " in ";
  return file + calls + (q.pid < 0 ? "this host" : "process " + std::to_string(q.pid) + (q.name.empty() ? "" : " (" + base::printable(q.name) + ")"));
}

std::string command_again(const Question& question, const Evidence& e) {
  if (e.measurement == "comparison") return "acu diff " + base::in_shell(question.before) + " " + base::in_shell(question.file);
  if (!question.file.empty()) return (e.measurement == "recording" ? "acu report " : "acu core ") + base::in_shell(question.file);
  const InstrumentKind* kind = find_instrument(e.measurement);
  if (!kind || !kind->needs_pid) return command_of(e.measurement, -1);
  return command_of(e.measurement, e.about.pid() < 0 ? question.pid : e.about.pid(), find_measurement_name(e.measurement)->knows_calls ? question.function : "");
}

namespace {

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

void append_evidence(std::string& out, const Question& question, const Finding& f) {
  out += "\n" + f.about.cause + ", " + f.about.subject + "\n";
  for (const Evidence& e : f.evidence)
    out += (e.supports ? "  + " : "  - ") + e.text + "\n      " + command_again(question, e) + "\n";
  for (const About& effect : f.effects) out += "  leads to " + effect.cause + " of " + effect.subject + "\n";
}

std::string joined(const auto& texts) {
  std::string out;
  for (std::string_view text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out;
}

// Causes that were looked for.
void append_others(std::string& out, const std::vector<Finding>& findings, Verdict verdict, std::string_view title) {
  std::set<std::string_view> names;
  for (const Finding& f : findings)
    if (f.verdict == verdict) names.insert(f.about.cause);
  const std::string text = joined(names);
  if (!text.empty()) out += std::string(title) + ": " + text + "\n";
}

} // namespace

std::vector<const Finding*> found_causes(const Answer& answer) {
  std::vector<const Finding*> out;
  for (const Finding& f : answer.findings)
    if (is_found(f) && std::ranges::none_of(out, [&](const Finding* other) { return other->about.cause == f.about.cause; })) out.push_back(&f);
  return out;
}

static std::string seconds(uint64_t ns) { return print("%.1f s", static_cast<double>(ns) / 1e9); }

std::string summary(const Answer& answer) {
  const size_t found = found_causes(answer).size();
  const auto missing = static_cast<size_t>(std::ranges::count_if(answer.taken, [](const Taken& t) { return !t.problem.empty(); }));
  const std::string without = found || !missing ? "" : ", without " + base::counted(missing, "measurement") + " that could not be taken";
  return (found ? base::counted(found, "cause") + " found" : std::string("nothing found")) + " in " + seconds(answer.duration_ns) + without;
}

std::string rest_text(const Answer& answer) {
  std::string out;
  append_others(out, answer.findings, Verdict::ruled_out, "ruled out");
  append_others(out, answer.findings, Verdict::open, "not decided");
  for (const Taken& t : answer.taken)
    if (!t.problem.empty()) out += "not measured: " + t.measurement + (t.pid < 0 ? "" : " of process " + std::to_string(t.pid)) + " (" + t.problem + ")\n";
  for (const std::string& note : answer.notes) out += "note: " + note + "\n";
  return out + "cost: " + print("%.2f s", static_cast<double>(answer.cpu_ns) / 1e9) + " of CPU time in " + seconds(answer.duration_ns) + "\n";
}

// Where to look for what is no cause that is known.
static std::string where_it_is(int pid) {
  const std::string process = " -p " + std::to_string(pid);
  return "hint: `acu snap" + process + "` shows where its threads are, `acu waits" + process + "` what they wait for\n";
}

std::string answer_text(const Question& question, const Answer& answer) {
  const std::vector<const Finding*> found = found_causes(answer);
  std::string out = asked_about(question) + ": " + summary(answer) + "\n";
  for (size_t i = 0; i < found.size(); i++) {
    out += "\n";
    append_finding(out, *found[i], i + 1);
    std::vector<std::string_view> others;
    for (const Finding& f : answer.findings)
      if (is_found(f) && &f != found[i] && f.about.cause == found[i]->about.cause) others.push_back(f.about.subject);
    const std::string also = joined(others);
    if (!also.empty()) append_line(out, "also", &also);
  }
  for (const Finding* f : found) append_evidence(out, question, *f);
  out += "\n" + rest_text(answer);
  if (found.empty() && question.pid >= 0 && question.file.empty()) out += where_it_is(question.pid);
  return out;
}

namespace {

std::string about_json(const About& about) { return JsonObject().add("cause", about.cause).add("subject", about.subject).end(); }

std::string evidence_json(const Question& question, const Evidence& e) {
  return JsonObject()
      .raw("supports", e.supports ? "true" : "false")
      .raw("decisive", e.is_decisive ? "true" : "false")
      .add("measurement", e.measurement)
      .add("text", e.text)
      .add("command", command_again(question, e))
      .end();
}

std::string finding_json(const Question& question, const Finding& f) {
  constexpr std::pair<Remark::Kind, std::string_view> remarks[] = {
      {Remark::title, "title"}, {Remark::place, "place"}, {Remark::advice, "advice"}, {Remark::check, "check"}, {Remark::refutation, "refutation"}};
  JsonObject out;
  out.add("cause", f.about.cause).add("subject", f.about.subject).add("verdict", to_string(f.verdict));
  if (f.explains.share > 0)
    out.add_fraction("share", f.explains.share).add_fraction("low", f.explains.low).add_fraction("high", f.explains.high).add("size", f.explains.text);
  for (const auto& [kind, name] : remarks)
    if (const std::string* text = remark_of(f, kind)) out.add(name, *text);
  return out.raw("evidence", json_list(f.evidence, [&](const Evidence& e) { return evidence_json(question, e); })).raw("effects", json_list(f.effects, about_json)).end();
}

std::string taken_json(const Taken& t) {
  JsonObject out;
  out.add("measurement", t.measurement);
  if (t.pid >= 0) out.add("pid", static_cast<uint64_t>(t.pid));
  if (!t.why.empty()) out.add("reason", t.why);
  if (!t.problem.empty()) return out.add("problem", t.problem).end();
  return out.add("begin_ns", t.begin_ns).add("interval_ns", t.interval_ns).add("facts", t.facts).end();
}

} // namespace

std::string answer_json(const Question& question, const Answer& answer) {
  const bool is_any = std::ranges::any_of(answer.findings, is_found);
  JsonObject out;
  out.add("type", "why").add("question", question.kind);
  if (question.pid >= 0) out.add("pid", static_cast<uint64_t>(question.pid)).add("name", question.name);
  if (!question.function.empty()) out.add("function", question.function);
  return out.add("result", is_any ? "found" : "nothing found")
             .raw("findings", json_list(answer.findings, [&](const Finding& f) { return finding_json(question, f); }))
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
