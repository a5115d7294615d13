// Words in capitals are replaced; those that contain others come first.
#include "session/slow_script.h"

#include "base/text.h"
#include "spec/registers.h"

#include <algorithm>

namespace session {

namespace {

// Room for the threads of a large machine, and for the stacks of some minutes of what waits long.
constexpr std::string_view declarations =
    "config = { unstable_map_decl = enable; max_map_keys = 131072; max_stacks = 32768 }\nlet @left = hash(131072);\n";

// Few numbers are compared with, many stand in a map.
std::string is_wanted(const std::vector<int>& calls, std::string& before) {
  constexpr size_t most_compared = 4;
  if (calls.empty()) return "1";
  std::string out;
  for (int call : calls) {
    const std::string number = std::to_string(call);
    if (calls.size() > most_compared)
      before += "@wanted[(int64)" + number + "] = 1; ";
    else
      out += (out.empty() ? "(args.id == " : " || args.id == ") + number;
  }
  return out.empty() ? "@wanted[(int64)args.id]" : out + ")";
}

void add_landing(std::string& script, const std::vector<std::string>& probes, std::string_view target, int how) {
  if (probes.empty()) return;
  std::string text(spec::slow_landing), all;
  for (const std::string& p : probes) all += (all.empty() ? "" : ",") + p;
  base::replace_all(text, "HOW", std::to_string(how));
  base::replace_all(text, "TARGET", target);
  base::replace_all(text, "PROBES", all);
  script += text;
}

} // namespace

std::string slow_script(const SlowWanted& w) {
  const bool has_waits = !w.kind || w.kind->has_waits;
  std::string text(has_waits ? spec::slow_waits : ""), begin = w.has_ends ? "@expected = 0; @looks = (uint64)0; @by_entries = (uint64)0; "
                                                                                                : "@expected = 0; @looks = (uint64)0; @by_entries = (uint64)1; ";
  if (w.kind) text += w.has_ends ? w.kind->script : w.kind->script.substr(0, w.kind->script.find("\nEND {"));
  if (w.kind && has_waits) text += spec::slow_ends;
  if (w.kind && w.has_ends) {
    add_landing(text, w.landings.exceptions, exception_target, spec::slow_left_by_exception);
    add_landing(text, w.landings.jumps, jump_target, spec::slow_left_by_jump);
  }
  if (w.kind && w.kind->has_samples) text += spec::slow_samples;
  base::replace_all(text, "ENDED", std::to_string(spec::slow_ended));
  base::replace_all(text, "TELL_ASKED", spec::slow_tell_asked);
  base::replace_all(text, "COUNT_AWAY", w.kind ? spec::slow_count_away : spec::slow_no_calls);
  base::replace_all(text, "TELL_DUE", spec::slow_tell_due);
  const std::string least = std::to_string(w.least_ns), part = std::to_string(std::max<uint64_t>(least_part(w.least_ns), 1));
  base::replace_all(text, "LEAST_OF", w.kind ? "(@call[$thread].0 ? (uint64)" + part + " : (uint64)" + least + ")" : least);
  base::replace_all(text, "LEAST", least);
  base::replace_all(text, "PART", part);
  base::replace_all(text, "BEGIN", w.begin);
  base::replace_all(text, "END", w.end);
  base::replace_all(text, "IS_WANTED", is_wanted(w.calls, begin));
  base::replace_all(text, "FILTER", w.condition.text);
  name_fields(text);
  base::replace_all(text, "IN_SYSTEM_CALL", spec::in_system_call);
  base::replace_all(text, "WAITS", spec::futex_waits);
  text = std::string(declarations) + w.condition.before + "begin { " + begin + "}\n" + text;
  constexpr uint64_t us = 1000;
  if (w.duration_ns) text += "interval:us:" + std::to_string(std::max(w.duration_ns / us, uint64_t{1})) + " { exit() }\n";
  return text;
}

} // namespace session
