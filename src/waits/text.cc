#include "waits/text.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"
#include "report/number.h"

#include <algorithm>
#include <cstdio>

namespace waits {

using base::print;
using base::short_time;

namespace {

constexpr size_t most_waits_shown = 12, most_causes_shown = 3;
constexpr double least_part_shown = 0.05;

double part(uint64_t of, uint64_t whole) { return whole ? static_cast<double>(of) / static_cast<double>(whole) : 0; }
std::string percent(double part) { return print("%.0f%%", part * 100); }

std::string name_of(const Graph& graph, uint32_t group) { return base::printable(graph.groups[group].name); }

// "sleep_for < flush_log < serve"
std::string place_of(const Activity& a) {
  std::string out;
  for (const std::string& function : a.where) {
    out.append(out.empty() ? "" : " < ").append(function);
    if (&function == &a.where.front() && !a.place.empty()) out += " (" + a.place + ")";
  }
  return out;
}

// What each thread did, in sum over a group.
struct GroupTimes {
  uint64_t runs = 0, waits = 0, runnable = 0;
  uint64_t all() const { return runs + waits + runnable; }
};

std::vector<GroupTimes> times_of(const Graph& graph) {
  std::vector<GroupTimes> out(graph.groups.size());
  for (const Segment& s : graph.segments) {
    GroupTimes& of = out[graph.threads[s.thread].group];
    (s.kind == Activity::runs ? of.runs : s.kind == Activity::waits ? of.waits : of.runnable) += s.ns();
  }
  return out;
}

std::string bottleneck_text(const Graph& graph, const Bottleneck& bottleneck) {
  if (bottleneck.function.empty()) return activity_text(graph, graph.activities[bottleneck.activities.front().activity]);
  return name_of(graph, bottleneck.group) + " is in " + bottleneck.function;
}

void append_stack(std::string& out, const std::vector<std::string>& stack) {
  constexpr size_t most_frames = 8;
  if (stack.empty()) return;
  out += "        ";
  for (size_t i = 0; i < stack.size() && i < most_frames; i++) out += (i ? " < " : "") + stack[i];
  out += stack.size() > most_frames ? " < …\n" : "\n";
}

void append_bottleneck(std::string& out, const Report& r, const Bottleneck& bottleneck) {
  out += print("  %.2fx", bottleneck.speedups.front().factor) + "  " + bottleneck_text(r.graph, bottleneck) + "  (" + short_time(bottleneck.ns) + ")\n";
  std::string speedups;
  for (const Speedup& g : bottleneck.speedups)
    speedups += (speedups.empty() ? "        without it " : ", ") + base::counted(g.threads, "thread") + " " + name_of(r.graph, g.group) + print(" would be %.2f times as fast", g.factor);
  out += speedups + "\n";
  for (size_t i = 0; !bottleneck.function.empty() && i < bottleneck.activities.size() && i < most_causes_shown; i++)
    out += "        " + percent(bottleneck.activities[i].part) + " of it: " + activity_text(r.graph, r.graph.activities[bottleneck.activities[i].activity]) + "\n";
  for (size_t i = 0; i < bottleneck.waiting.size() && i < most_causes_shown; i++)
    out += "        " + activity_text(r.graph, r.graph.activities[bottleneck.waiting[i].activity]) + ": " + short_time(bottleneck.waiting[i].ns) + " caused by it\n";
  append_stack(out, r.graph.activities[bottleneck.activities.front().activity].stack);
}

void append_threads(std::string& out, const Report& r) {
  out += "threads               number   runs  no CPU   waits   of all time\n";
  const std::vector<GroupTimes> times = times_of(r.graph);
  for (uint32_t g = 0; g < times.size(); g++) {
    if (!times[g].all()) continue;
    out += print("  %-20s %5u  %5s   %5s   %5s   ", name_of(r.graph, g).c_str(), r.graph.groups[g].threads, percent(part(times[g].runs, times[g].all())).c_str(),
                 percent(part(times[g].runnable, times[g].all())).c_str(), percent(part(times[g].waits, times[g].all())).c_str()) +
           short_time(times[g].all()) + "\n";
  }
}

void append_wait(std::string& out, const Report& r, const Blamed& b) {
  out += print("  %10s  %7s  %10s  ", short_time(b.ns).c_str(), report::grouped(b.number).c_str(), short_time(b.longest_ns).c_str()) +
         activity_text(r.graph, r.graph.activities[b.activity]) + "\n";
  size_t shown = 0;
  for (const Share& cause : b.causes) {
    if (cause.activity == b.activity || cause.part < least_part_shown || shown++ == most_causes_shown) continue;
    out += "                                     " + percent(cause.part) + " caused by: " + activity_text(r.graph, r.graph.activities[cause.activity]) + "\n";
  }
}

} // namespace

std::string wait_text(const Activity& a) {
  if (a.kind == Activity::runnable) return "a CPU";
  return base::printable(a.what) + (a.where.empty() ? "" : " in " + place_of(a));
}

std::string activity_text(const Graph& graph, const Activity& a) {
  const std::string name = name_of(graph, a.group);
  if (a.kind == Activity::runs) return name + " runs " + (a.where.empty() ? "code that is not known" : place_of(a));
  return name + " waits for " + wait_text(a);
}

std::string group_text(const Graph& graph, uint32_t group) {
  const uint32_t threads = graph.groups[group].threads;
  return name_of(graph, group) + (threads == 1 ? "" : " (" + base::counted(threads, "thread") + ")");
}

std::string waits_text(const Report& r) {
  uint64_t waits = 0;
  for (const Blamed& b : r.findings.waits) waits += b.number;
  std::string out = short_time(r.graph.end - r.graph.begin) + ", " + r.what + ": " + base::counted(waits, "wait") + " of " + short_time(r.min_ns) + " or longer";
  out += r.lost ? "; " + report::grouped(r.lost) + " records lost: the report is not complete\n\n" : "\n\n";
  if (r.findings.bottlenecks.empty())
    out += "no bottleneck: no thread would be 3% faster without any one activity\n";
  else
    out += "bottlenecks, with the speedup without each\n";
  for (size_t i = 0; i < r.findings.bottlenecks.size() && i < r.top; i++) append_bottleneck(out, r, r.findings.bottlenecks[i]);
  for (const std::vector<uint32_t>& knot : r.findings.knots) {
    out += "waiting for each other in a circle:";
    for (uint32_t g : knot) out += " " + name_of(r.graph, g);
    out += "\n";
  }
  out += "\n";
  append_threads(out, r);
  if (r.findings.waits.empty()) return out;
  out += "\n       waits   number     longest\n";
  for (size_t i = 0; i < r.findings.waits.size() && i < most_waits_shown; i++) append_wait(out, r, r.findings.waits[i]);
  if (r.findings.waits.size() > most_waits_shown) out += "  … " + base::counted(r.findings.waits.size() - most_waits_shown, "more kind") + "\n";
  return out;
}

// ---- JSON

namespace {

using report::JsonObject, report::json_list;

std::string activity_json(const Graph& graph, uint32_t activity) {
  constexpr std::string_view kinds[] = {"runs", "waits", "runnable"};
  const Activity& a = graph.activities[activity];
  JsonObject out;
  out.add("threads", graph.groups[a.group].name).add("kind", kinds[a.kind]);
  if (!a.what.empty()) out.add("what", a.what);
  if (!a.where.empty()) out.add("where", a.where);
  if (!a.place.empty()) out.add("place", a.place);
  if (!a.stack.empty()) out.add("stack", a.stack);
  return out.end();
}

std::string share_json(const Graph& graph, const Share& s) {
  return JsonObject().raw("activity", activity_json(graph, s.activity)).add_fraction("part", s.part).end();
}

std::string bottleneck_json(const Graph& graph, const Bottleneck& bottleneck) {
  const auto gain = [&](const Speedup& g) { return JsonObject().add("threads", graph.groups[g.group].name).add("number", g.threads).add_fraction("factor", g.factor).end(); };
  const auto waiting = [&](const Bottleneck::Waiting& w) { return JsonObject().raw("wait", activity_json(graph, w.activity)).add("ns", w.ns).end(); };
  return JsonObject()
      .add("threads", graph.groups[bottleneck.group].name)
      .add("function", bottleneck.function)
      .raw("activities", json_list(bottleneck.activities, [&](const Share& s) { return share_json(graph, s); }))
      .add("ns", bottleneck.ns)
      .add("saved_ns", bottleneck.saved_ns)
      .raw("speedups", json_list(bottleneck.speedups, gain))
      .raw("waiting", json_list(bottleneck.waiting, waiting))
      .end();
}

std::string wait_json(const Graph& graph, const Blamed& b) {
  const auto ender = [&](const auto& e) { return JsonObject().add("threads", graph.groups[e.first].name).add_fraction("part", e.second).end(); };
  return JsonObject()
      .raw("wait", activity_json(graph, b.activity))
      .add("number", b.number)
      .add("ns", b.ns)
      .add("longest_ns", b.longest_ns)
      .raw("causes", json_list(b.causes, [&](const Share& s) { return share_json(graph, s); }))
      .raw("ended_by", json_list(b.enders, ender))
      .end();
}

} // namespace

std::string waits_json(const Report& r) {
  std::vector<uint32_t> groups;
  const std::vector<GroupTimes> times = times_of(r.graph);
  for (uint32_t g = 0; g < times.size(); g++)
    if (times[g].all()) groups.push_back(g);
  const auto group = [&](uint32_t g) {
    return JsonObject().add("name", r.graph.groups[g].name).add("number", r.graph.groups[g].threads).add("runs_ns", times[g].runs).add("waits_ns", times[g].waits).add("runnable_ns", times[g].runnable).end();
  };
  const auto knot = [&](const std::vector<uint32_t>& members) {
    std::vector<std::string> names;
    for (uint32_t g : members) names.push_back(r.graph.groups[g].name);
    return JsonObject().add("threads", names).end();
  };
  return JsonObject()
             .add("type", "waits")
             .add("of", r.what)
             .add("duration_ns", r.graph.end - r.graph.begin)
             .add("min_duration_ns", r.min_ns)
             .add("lost", r.lost)
             .raw("bottlenecks", json_list(r.findings.bottlenecks, [&](const Bottleneck& l) { return bottleneck_json(r.graph, l); }))
             .raw("knots", json_list(r.findings.knots, knot))
             .raw("threads", json_list(groups, group))
             .raw("waits", json_list(r.findings.waits, [&](const Blamed& b) { return wait_json(r.graph, b); }))
             .end() +
         "\n";
}

} // namespace waits
