#include "graph/call_text.h"

#include "base/counted.h"
#include "base/text.h"
#include "report/text.h"

#include <algorithm>
#include <cstdio>

namespace graph {

namespace {

constexpr uint64_t oldest_ns = 1'000'000'000;
constexpr size_t max_bytes = 1 << 20;
constexpr size_t indent = 2;

template<class... Values> std::string formatted(const char* format, Values... values) {
  char out[160];
  const int n = std::snprintf(out, sizeof out, format, values...);
  return std::string(out, static_cast<size_t>(std::clamp(n, 0, static_cast<int>(sizeof out) - 1)));
}

// How long, as ftrace marks it: + is over 10 us, ! 100 us, # 1 ms, * 10 ms, @ 100 ms, $ 1 s.
char mark_of(uint64_t ns) {
  constexpr std::pair<uint64_t, char> marks[] = {{1'000'000'000, '$'}, {100'000'000, '@'}, {10'000'000, '*'},
                                                 {1'000'000, '#'},     {100'000, '!'},     {10'000, '+'}};
  for (auto [least, mark] : marks)
    if (ns > least) return mark;
  return ' ';
}

std::string in_us(uint64_t ns) { return formatted("%.3f us", static_cast<double>(ns) / 1000); }

// "| # 2114.120 us |  2052.006 us |"
std::string times_of(const Call* call) {
  if (!call || !call->has_duration()) return "|               |               |";
  const std::string off = call->off.sum() ? in_us(call->off.sum()) : std::string();
  return formatted("| %c %11s | %13s |", mark_of(call->duration()), in_us(call->duration()).c_str(),
                   off.c_str());
}

std::string who_of(const CallThread& thread) {
  return formatted("%3u)  %-22s ", thread.cpu, (base::printable(thread.name) + "-" + std::to_string(thread.tid)).c_str());
}

// What stands behind a call that has ended: its result, and what else there is to say.
std::string note_of(const Call& call, bool with_name) {
  std::string out = with_name ? call.function->name : std::string();
  if (!call.result.empty()) out += (out.empty() ? "= " : " = ") + call.result;
  auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (!call.is_begun) add("began before, or its entry was lost");
  if (call.ended == Ended::left) add("did not return, or its return was lost");
  if (call.ended == Ended::by_exception) add("left by an exception");
  if (call.ended == Ended::by_jump) add("left by longjmp");
  if (call.forked_from) add("since the fork by " + std::to_string(call.forked_from));
  if (call.ended == Ended::by_exec) add("did not return: exec");
  if (call.ended == Ended::by_exit) add("did not return: its thread ended");
  if (call.ended == Ended::by_end) add("has not returned yet");
  if (call.ended == Ended::unknown && with_name) add("its return is not probed");
  if (call.has_duration() && call.off.preempted) add("preempted " + in_us(call.off.preempted));
  return out.empty() ? out : " /* " + out + " */";
}

} // namespace

std::string call_text(const Call& call) { return call.function->name + "(" + call.arguments + ")"; }

void CallText::header() {
  sink_.out("# CPU  TASK/TID                 DURATION        OFF CPU           FUNCTION CALLS\n"
            "#  |     |   |                   |   |            |                |   |   |\n");
}

void CallText::add(Lines& lines, const std::string& who, const std::string& times, size_t level,
                   const std::string& what) {
  lines.text += who + times + std::string(2 + indent * level, ' ') + what + "\n";
}

// It is known now that the last call has calls in it.
void CallText::settle(Lines& lines) {
  if (!std::exchange(lines.has_begun, false)) return;
  add(lines, lines.begun_who, times_of(nullptr), lines.begun_level, lines.begun + " {");
}

void CallText::begin(const CallThread& thread, const Call& call, size_t level) {
  Lines& lines = threads_[thread.tid];
  settle(lines);
  if (level == 0) lines.since_ns = call.start_ns, lines.is_streaming = false;
  lines.begun = call_text(call), lines.begun_who = who_of(thread), lines.begun_level = level;
  lines.has_begun = true;
}

void CallText::end(const CallThread& thread, const Call& call, size_t level) {
  Lines& lines = threads_[thread.tid];
  if (!call.is_begun) settle(lines); // the last call has it in it
  if (std::exchange(lines.has_begun, false))
    add(lines, who_of(thread), times_of(&call), level, lines.begun + ";" + note_of(call, false));
  else
    add(lines, who_of(thread), times_of(&call), level, "}" + note_of(call, true));
  lines.is_streaming |= level > 0 && (call.end_ns - std::min(lines.since_ns, call.end_ns) > oldest_ns ||
                                      lines.text.size() > max_bytes);
  if (level > 0 && !lines.is_streaming) return;
  sink_.out(lines.text);
  lines.text.clear();
}

void CallText::report_old(uint64_t now_ns) {
  for (auto& [tid, lines] : threads_) {
    if (lines.text.empty() && !lines.has_begun) continue;
    if (!lines.is_streaming && now_ns - std::min(now_ns, lines.since_ns) < oldest_ns) continue;
    settle(lines);
    lines.is_streaming = true;
    sink_.out(lines.text);
    lines.text.clear();
  }
}

void CallText::finish() {
  for (auto& [tid, lines] : threads_) {
    settle(lines);
    sink_.out(lines.text);
    lines.text.clear();
  }
}

void CallTable::end(const CallThread&, const Call& call, size_t) {
  Row& row = rows_[call.function];
  if (!call.is_begun || call.forked_from) return; // counted where it was made
  row.calls++;
  row.unfinished += call.ended != Ended::returned && !call.is_left();
  left_ += call.is_left();
  if (!call.has_duration()) return void(row.untimed++);
  row.timed++;
  row.self_ns += call.self_ns();
  row.longest_ns = std::max(row.longest_ns, call.duration());
  if (!call.is_outermost) return;
  row.ns += call.duration();
  row.off.waited += call.off.waited, row.off.preempted += call.off.preempted;
}

std::string CallTable::text(size_t top) const {
  std::vector<std::pair<const CalledFunction*, const Row*>> rows;
  for (const auto& [function, row] : rows_)
    if (row.calls) rows.emplace_back(function, &row);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    if (a.second->ns != b.second->ns) return a.second->ns > b.second->ns;
    return a.second->calls != b.second->calls ? a.second->calls > b.second->calls
                                              : a.first->name < b.first->name;
  });
  if (top && rows.size() > top) rows.resize(top);
  // Of a function none of whose calls was seen to end nothing is known.
  auto ms = [](const Row& row, uint64_t ns) {
    return row.timed ? formatted("%12.3f", static_cast<double>(ns) / 1e6) : formatted("%12s", "-");
  };
  std::string out =
      "    total ms      self ms    waited ms preempted ms   longest ms      calls  unfinished  function\n";
  for (const auto& [function, row] : rows)
    out += ms(*row, row->ns) + " " + ms(*row, row->self_ns) + " " + ms(*row, row->off.waited) + " " +
           ms(*row, row->off.preempted) + " " + ms(*row, row->longest_ns) +
           formatted(" %10llu %11llu  ", static_cast<unsigned long long>(row->calls),
                     static_cast<unsigned long long>(row->unfinished)) +
           function->name + "\n";
  uint64_t untimed = 0;
  for (const auto& [function, row] : rows_) untimed += row.untimed;
  if (untimed) out += base::counted(untimed, "call") + (untimed == 1 ? " has" : " have") + " no duration: the end was not seen\n";
  if (left_) out += base::counted(left_, "call") + " " + std::string(base::was_or_were(left_)) + " left by an exception or longjmp\n";
  return out;
}

} // namespace graph
