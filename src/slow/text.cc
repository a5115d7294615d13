#include "slow/text.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"
#include "report/time.h"

#include <cstdio>

namespace slow {

using base::print;
using base::short_time;
using report::JsonObject, report::json_list;

namespace {

double percent(uint64_t part, uint64_t whole) { return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0; }

std::string id_text(const Thread& t) { return base::printable(t.name) + " (" + std::to_string(t.tid) + ")"; }

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& w : words) out.append(out.empty() ? "" : between).append(w);
  return out;
}

// Innermost first; `inside`: the function that they are within, empty: none.
void append_stack(std::string& out, const NamedStack& stack, std::string_view inside) {
  if (!stack.kernel.empty()) out += "        [kernel] " + joined(stack.kernel, " < ") + "\n";
  for (const std::string& f : stack.user) out += "        " + f + "\n";
  if (!inside.empty())
    out += "      > " + std::string(inside) + "\n";
  else if (!stack.end.empty())
    out += "        " + stack.end + "\n";
}

void append_ender(std::string& out, const NamedWait& w) {
  if (w.holder) {
    const bool is_waker = w.waker && w.waker->tid == w.holder->tid;
    out += "    held by " + id_text(*w.holder) + (is_waker ? ", which released it here:\n" : "\n");
    if (w.waker && !is_waker) out += "    finally released by " + id_text(*w.waker) + ":\n";
  } else if (w.waker) {
    out += "    woken by " + id_text(*w.waker) + ":\n";
  }
  if (w.waker) append_stack(out, w.waker_stack, {});
  if (!w.interrupt.empty()) out += "    woken by an interrupt (" + w.interrupt + ")\n";
  if (w.busy) {
    out += "    " + id_text(*w.busy) + " was itself waiting for " + short_time(w.busy_ns) + " of that, for " + w.busy_with + ":\n";
    append_stack(out, w.busy_stack, {});
  }
}

void append_ran(std::string& out, const RanFor& ran) {
  constexpr size_t max_shown = 4;
  for (size_t i = 0; i < ran.size() && i < max_shown; i++)
    out += (i ? ", " : "") + id_text(ran[i].first) + " ran for " + short_time(ran[i].second);
  out += ran.size() > max_shown ? ", …\n" : "\n";
}

// What ran on the CPU that the thread waited for, after it was woken or preempted.
void append_queued(std::string& out, const NamedWaits& all) {
  constexpr uint64_t min_shown = 50'000; // ns; waking a CPU takes up to that
  const NamedWait& w = all.longest;
  if (all.queued_ns < min_shown) return;
  out += w.is_preempted ? std::string("    meanwhile ") : "    then runnable for " + short_time(all.queued_ns) + ": ";
  if (all.ran.empty()) {
    out += "CPU " + std::to_string(w.cpu) + " was idle before\n";
    return;
  }
  append_ran(out, all.ran);
}

void append_turns(std::string& out, const NamedTurns& turns) {
  if (!turns.number) return;
  out += "  " + short_time(turns.queued_ns) + " runnable, " + base::counted(turns.number, "time") +
         (turns.number > 1 ? ", at most " + short_time(turns.longest_ns) : "") + ": ";
  if (turns.ran.empty())
    out += "the CPU was idle before\n";
  else
    append_ran(out, turns.ran);
}

void append_hot(std::string& out, const Story& story, const NamedHot& hot) {
  out += "  about " + short_time(hot.on_cpu_ns) + " on the CPU in " + (hot.name.empty() ? story.what + " itself" : hot.name) + "\n";
  append_stack(out, hot.stack, story.marks ? std::string_view(story.what) : std::string_view());
}

void append_waits(std::string& out, const Story& story, const NamedWaits& all) {
  const NamedWait& w = all.longest;
  const std::string_view inside = story.marks ? std::string_view(story.what) : std::string_view();
  out += "  " + short_time(w.is_preempted ? all.queued_ns : all.ns) + (w.is_preempted ? " preempted, waiting for " : " waiting for ") + w.what;
  if (all.number > 1) out += ", " + base::counted(all.number, "time") + "; the longest, " + short_time(w.is_preempted ? w.queued_ns : w.ns) + ":";
  out += "\n";
  append_stack(out, w.stack, inside);
  append_ender(out, w);
  append_queued(out, all);
}

std::string shares(const Story& s) {
  if (s.is_io)
    return print("  in the queue %s (%.1f%%), in the device %s (%.1f%%)\n", short_time(s.waiting_ns).c_str(), percent(s.waiting_ns, s.ns),
                 short_time(s.device_ns).c_str(), percent(s.device_ns, s.ns));
  std::string out = print("  waiting %s (%.1f%%), runnable %s (%.1f%%)", short_time(s.waiting_ns).c_str(), percent(s.waiting_ns, s.ns),
                          short_time(s.queued_ns).c_str(), percent(s.queued_ns, s.ns));
  if (s.is_counted) out += print(", on the CPU %s (%.1f%%)", short_time(s.on_cpu_ns()).c_str(), percent(s.on_cpu_ns(), s.ns));
  return out + "\n";
}

std::string callee_line(const Story& s) {
  std::string out;
  for (const NamedCallee& c : s.callees) {
    out += out.empty() ? "  where its time went: " : "; ";
    out += c.name.empty() ? s.what + " itself" : c.name;
    if (c.waiting_ns) out += " " + short_time(c.waiting_ns) + " off the CPU";
    if (c.on_cpu_ns) out += std::string(c.waiting_ns ? "," : "") + " about " + short_time(c.on_cpu_ns) + " on it";
  }
  return out.empty() ? out : out + "\n";
}

// ---- JSON

std::string json(const Thread& t) { return JsonObject().add("pid", t.pid).add("tid", t.tid).add("thread", t.name).end(); }

std::string json(const NamedStack& s) {
  JsonObject out;
  out.add("kernel", s.kernel).add("user", s.user);
  if (!s.end.empty()) out.add("end", s.end);
  return out.end();
}

std::string ran_json(const std::pair<Thread, uint64_t>& ran) {
  return JsonObject().add("pid", ran.first.pid).add("tid", ran.first.tid).add("thread", ran.first.name).add("ns", ran.second).end();
}

std::string wait_json(const NamedWaits& all) {
  const NamedWait& w = all.longest;
  JsonObject out;
  out.add("for", w.what).add("number", all.number).add("waiting_ns", all.ns).add("runnable_ns", all.queued_ns);
  if (all.number > 1) out.add("longest_waiting_ns", w.ns).add("longest_runnable_ns", w.queued_ns);
  out.raw("stack", json(w.stack));
  if (w.waker) out.raw("woken_by", json(*w.waker)).raw("waker_stack", json(w.waker_stack));
  if (!w.interrupt.empty()) out.add("woken_by_interrupt", w.interrupt);
  if (w.holder) out.raw("held_by", json(*w.holder));
  if (w.busy) out.add("holder_waiting_ns", w.busy_ns).add("holder_waits_for", w.busy_with).raw("holder_stack", json(w.busy_stack));
  out.add("cpu", w.cpu).raw("ran_before", json_list(all.ran, ran_json));
  return out.end();
}

std::string hot_json(const NamedHot& h) {
  return JsonObject().add("function", h.name).add("on_cpu_ns", h.on_cpu_ns).raw("stack", json(h.stack)).end();
}

std::string json(const NamedTurns& t) {
  return JsonObject().add("number", t.number).add("runnable_ns", t.queued_ns).add("longest_runnable_ns", t.longest_ns).raw("ran_before", json_list(t.ran, ran_json)).end();
}

std::string callee_json(const NamedCallee& c) {
  return JsonObject().add("function", c.name).add("off_cpu_ns", c.waiting_ns).add("on_cpu_ns", c.on_cpu_ns).end();
}

} // namespace

static std::string left_text(LeftBy by) {
  return by == LeftBy::exception ? ", left by an exception" : by == LeftBy::jump ? ", left by longjmp" : "";
}

std::string slow_text(const Story& s, int64_t wall_ns) {
  std::string out = report::format_time("%H:%M:%S.%f ", static_cast<int64_t>(s.start) + wall_ns) + s.what + ": " +
                    (s.is_whole ? "" : "at least ") + short_time(s.ns) + (s.has_ended ? "" : ", not ended") + left_text(s.left_by) + (s.is_io ? ", issued by thread " : ", in thread ") + id_text(s.thread);
  if (s.thread.pid != s.thread.tid) out += " of process " + std::to_string(s.thread.pid);
  out += "\n" + shares(s) + callee_line(s);
  if (!s.stack.kernel.empty()) out += "        [kernel] " + joined(s.stack.kernel, " < ") + "\n";
  for (size_t i = 0; i < s.stack.user.size(); i++) out += (i == 0 && s.marks ? "      > " : "        ") + s.stack.user[i] + "\n";
  if (!s.stack.end.empty()) out += "        " + s.stack.end + "\n";
  for (const NamedHot& h : s.hot) append_hot(out, s, h);
  for (const NamedWaits& w : s.waits) append_waits(out, s, w);
  append_turns(out, s.turns);
  if (s.is_cut) out += "  earlier waits are omitted\n";
  return out + "\n";
}

std::string slow_json(const Story& s, int64_t wall_ns) {
  JsonObject out;
  out.add("type", "slow").add("what", s.what).add("time", report::format_time("%FT%T.%f", static_cast<int64_t>(s.start) + wall_ns));
  out.add("pid", s.thread.pid).add("tid", s.thread.tid).add("thread", s.thread.name).add("duration_ns", s.ns);
  out.raw("is_whole", s.is_whole ? "true" : "false").raw("has_ended", s.has_ended ? "true" : "false");
  if (s.left_by != LeftBy::none) out.add("left_by", s.left_by == LeftBy::exception ? "exception" : "longjmp");
  if (s.is_io)
    out.add("queue_ns", s.waiting_ns).add("device_ns", s.device_ns);
  else
    out.add("waiting_ns", s.waiting_ns).add("runnable_ns", s.queued_ns);
  if (s.is_counted && !s.is_io) out.add("on_cpu_ns", s.on_cpu_ns());
  out.raw("stack", json(s.stack));
  if (s.is_io) return out.end() + "\n";
  if (s.is_cut) out.raw("waits_are_cut", "true");
  out.raw("waits", json_list(s.waits, wait_json)).raw("turns", json(s.turns)).raw("hot", json_list(s.hot, hot_json)).raw("callees", json_list(s.callees, callee_json));
  return out.end() + "\n";
}

} // namespace slow
