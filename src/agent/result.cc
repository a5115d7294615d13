// From the output of a command to the result of a call.
#include "agent/result.h"

#include "agent/json.h"
#include "agent/tree.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"

#include <cctype>

namespace agent {

namespace {

using report::JsonObject;

constexpr std::string_view lost_line = "{\"type\": \"lost_events\", \"data\": {\"events\": ";

// Complete lines that are JSON; false: some are not.
bool read_rows(const Finished& finished, std::string& rows, uint64_t& lost) {
  std::string_view text = finished.output;
  if (finished.truncated) text = text.substr(0, text.rfind('\n') + 1); // the last line may be incomplete
  for (std::string_view line : base::split(text, '\n')) {
    line = base::trim(line);
    if (line.empty()) continue;
    if (!is_json(line)) return false;
    if (line.starts_with(lost_line)) {
      const std::string_view number = line.substr(lost_line.size());
      lost += base::parse_integer(number.substr(0, number.find_first_not_of("0123456789"))).value_or(0);
    }
    rows.append(rows.empty() ? "" : ", ").append(line);
  }
  return true;
}

std::vector<std::string> notes_of(std::string_view messages) {
  constexpr size_t most = 200;
  std::vector<std::string> out;
  for (std::string_view line : base::split(messages, '\n'))
    if (!base::trim(line).empty() && out.size() < most) out.push_back(base::printable(line));
  return out;
}

std::string fixed(double number) { return base::print("%.2f", number); }

std::string cost_of(const Plan& plan, const Finished& f) {
  const double wall = static_cast<double>(f.wall_ns), busy = static_cast<double>(f.cpu_ns + f.probes_ns);
  JsonObject out;
  out.raw("wall_ms", fixed(wall / 1e6)).raw("cpu_ms", fixed(static_cast<double>(f.cpu_ns) / 1e6)).raw("probes_ms", fixed(static_cast<double>(f.probes_ns) / 1e6));
  return out.raw("percent", fixed(wall > 0 ? 100 * busy / wall : 0)).raw("limit_percent", base::print("%g", plan.max_cost)).end();
}

// Text that a client can show: no control characters, no bytes that are not UTF-8.
std::string shown(std::string_view text) {
  std::string out;
  for (std::string_view line : base::split(text, '\n')) out += base::printable(line) + "\n";
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

} // namespace

uint64_t lost_in(std::string_view messages) {
  uint64_t total = 0;
  for (std::string_view line : base::split(messages, '\n')) {
    std::optional<uint64_t> before; // the last number, for "2 stacks were lost"
    bool is_behind = false;         // the word before was `lost`
    for (std::string_view word : base::split(line, ' ')) {
      const size_t end = word.find_first_not_of("0123456789");
      const std::optional<uint64_t> number = end == 0 ? std::nullopt : base::parse_integer(word.substr(0, end));
      const std::string_view bare = word.substr(0, word.find_last_not_of(",;.:") + 1);
      if (is_behind && number) total += *number, before.reset(), is_behind = false;
      else if (number) before = number;
      else if (is_behind) is_behind = false;
      if (base::lower(bare) == "lost") {
        if (before && bare == "lost") total += *before, before.reset();
        else is_behind = true;
      }
      if (word.ends_with(',') || word.ends_with(';') || word == "·") before.reset();
    }
  }
  return total;
}

Answer answer(const Verb& verb, const Plan& plan, const Finished& finished) {
  Answer out;
  JsonObject object;
  object.add("command", command_line(plan)).add("outcome", name_of(finished.outcome)).raw("exit_status", std::to_string(finished.exit_status));
  std::string text, rows;
  uint64_t lost = lost_in(finished.messages);
  const std::string_view whole = base::trim(finished.output);
  if (plan.status_is_answer) {
    const bool is_valid = finished.exit_status == 0;
    object.raw("data", is_valid ? "{\"valid\": true}" : "{\"valid\": false}");
    text = is_valid ? "valid\n" : "not valid\n";
  } else if (plan.form == Form::tree) {
    text = shown(tree_text(finished.output, plan.unit, plan.rows, plan.min_percent));
  } else if (plan.form == Form::value && !finished.truncated && is_json(whole)) {
    object.raw("data", whole);
  } else if (plan.form != Form::text && read_rows(finished, rows, lost)) {
    object.raw("rows", "[" + rows + "]");
  } else {
    text = shown(finished.output);
  }
  if (!text.empty() && !plan.status_is_answer) object.add("text", text);
  object.raw("truncated", finished.truncated ? "true" : "false").add("notes", notes_of(finished.messages)).add("lost", lost);
  object.raw("cost", cost_of(plan, finished)).add("units", verb.units);
  out.json = object.end();
  out.is_error = finished.outcome == Outcome::failed || finished.outcome == Outcome::cancelled;
  if (text.empty()) return out.text = out.json, out;
  out.text = "$ " + command_line(plan) + "\n" + text;
  if (finished.outcome != Outcome::complete) out.text += "(" + std::string(name_of(finished.outcome)) + ")\n";
  out.text += shown(finished.messages);
  return out;
}

} // namespace agent
