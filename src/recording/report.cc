#include "recording/report.h"

#include "base/clock.h"
#include "base/text.h"
#include "profile/completeness.h"
#include "profile/formats.h"
#include "recording/event_kinds.h"
#include "report/json_object.h"

#include <algorithm>
#include <cstdarg>
#include <ctime>
#include <numeric>

namespace recording {

namespace {

// That a script printed.
struct Line {
  uint64_t time;
  uint32_t cpu, thread, text;
};

// What each event adds to.
struct Sums {
  std::vector<Count> kinds;                   // `kept` is what is within the part
  std::vector<uint64_t> threads;              // events, by thread
  std::vector<std::pair<uint64_t, std::string>> marks; // times
  std::vector<Line> lines;                    // by time
  uint64_t first_ns = ~uint64_t{0}, last_ns = 0;
};

base::Result<Sums> sum_up(const Reader& reader, const Part& part) {
  Sums out;
  out.kinds.assign(reader.counts().begin(), reader.counts().end());
  for (Count& c : out.kinds) c.kept = 0;
  out.threads.resize(reader.names().threads.size());
  ACU_CHECK(reader.each(part, [&](const Batch& b) {
    out.kinds[b.kind].kept += b.size();
    for (uint32_t t : b.threads) out.threads[t]++;
    out.first_ns = std::min(out.first_ns, b.times.front());
    out.last_ns = std::max(out.last_ns, b.times.back());
    if (reader.kinds()[b.kind].meaning == Meaning::mark)
      for (size_t i = 0; i < b.size(); i++) out.marks.emplace_back(b.times[i], reader.names().texts[b.columns[0][i]]);
    if (is_log(reader.kinds()[b.kind]))
      for (size_t i = 0; i < b.size(); i++) out.lines.push_back({b.times[i], b.cpus[i], b.threads[i], static_cast<uint32_t>(b.columns[0][i])});
    return true;
  }));
  std::ranges::stable_sort(out.lines, {}, &Line::time);
  return out;
}

[[gnu::format(printf, 1, 2)]] std::string format(const char* how, ...) {
  char text[512];
  va_list list;
  va_start(list, how);
  std::vsnprintf(text, sizeof text, how, list);
  va_end(list);
  return text;
}

std::string local_time(uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  tm parts = {};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

// Threads with events, most events first.
std::vector<uint32_t> order_threads(const Sums& sums, size_t top) {
  std::vector<uint32_t> out;
  for (uint32_t t = 0; t < sums.threads.size(); t++)
    if (sums.threads[t]) out.push_back(t);
  std::ranges::stable_sort(out, std::ranges::greater(), [&](uint32_t t) { return sums.threads[t]; });
  if (out.size() > top) out.resize(top);
  return out;
}

std::string name_of(const Names& names, const Thread& thread) {
  if (!thread.tid) return "idle";
  const std::string& name = names.texts[thread.name];
  return base::printable(name.empty() ? "[exited]" : name);
}

// The newest lines of the user's script.
std::string log_text(const Reader& reader, const Sums& sums) {
  constexpr size_t most = 20;
  if (sums.lines.empty()) return {};
  std::string out = sums.lines.size() > most ? "\nlog: the last 20 of " + std::to_string(sums.lines.size()) + " lines\n" : "\nlog\n";
  for (size_t i = sums.lines.size() - std::min(most, sums.lines.size()); i < sums.lines.size(); i++) {
    const Line& line = sums.lines[i];
    const Thread& thread = reader.names().threads[line.thread];
    const double seconds = static_cast<double>(line.time - std::min(line.time, reader.about().begin_ns)) / 1e9;
    out += format("%12.6f CPU %-3u %8u  ", seconds, line.cpu, thread.tid) + name_of(reader.names(), thread) + ": " + base::printable(reader.names().texts[line.text]) + "\n";
  }
  return out;
}

std::string log_json(const Reader& reader, const Sums& sums) {
  return report::json_list(sums.lines, [&](const Line& line) {
    const Thread& thread = reader.names().threads[line.thread];
    return report::JsonObject().add("ns", line.time).add("cpu", uint64_t{line.cpu}).add("pid", uint64_t{thread.pid}).add("tid", uint64_t{thread.tid})
        .add("thread", name_of(reader.names(), thread)).add("text", reader.names().texts[line.text]).end();
  });
}

} // namespace

base::Result<std::string> report_text(const Reader& reader, const Part& part, const ReportOptions& options) {
  ACU_TRY(const Sums sums, sum_up(reader, part));
  const About& about = reader.about();
  const bool is_empty = sums.last_ns < sums.first_ns;
  std::string out = format("%s on %s, %s, %u CPUs", base::printable(about.what).c_str(), base::printable(about.host).c_str(), local_time(about.begin_wall_ns).c_str(), about.cpus);
  out += is_empty ? "\nno events\n" : ", events of " + base::short_time(sums.last_ns - sums.first_ns) + "\n";
  for (const auto& [time, text] : sums.marks) out += "trigger at " + base::short_time(time - std::min(time, about.begin_ns)) + ": " + base::printable(text) + "\n";
  for (const std::string& note : about.notes) out += "note: " + base::printable(note) + "\n";

  size_t width = 14;
  for (const EventKind& kind : reader.kinds()) width = std::max(width, kind.name.size());
  out += format("\n%-*s %12s %12s %12s %8s\n", static_cast<int>(width), "kind", "sent", "kept", "overwritten", "lost");
  const auto number = [&](uint64_t n) { return reader.is_complete() ? std::to_string(n) : std::string("?"); };
  for (size_t k = 0; k < sums.kinds.size(); k++) {
    const Count& c = sums.kinds[k];
    out += format("%-*s %12s %12llu %12s %8s\n", static_cast<int>(width), base::printable(reader.kinds()[k].name).c_str(), number(c.sent).c_str(),
                  static_cast<unsigned long long>(c.kept), number(c.overwritten).c_str(), number(c.lost).c_str());
  }
  out += log_text(reader, sums);
  out += format("\n%12s %8s %8s  %s\n", "events", "process", "thread", "name");
  for (uint32_t t : order_threads(sums, options.top)) {
    const Thread& thread = reader.names().threads[t];
    out += format("%12llu %8u %8u  ", static_cast<unsigned long long>(sums.threads[t]), thread.pid, thread.tid) + name_of(reader.names(), thread) + "\n";
  }
  return out;
}

base::Result<std::string> report_json(const Reader& reader, const Part& part, const ReportOptions& options) {
  ACU_TRY(const Sums sums, sum_up(reader, part));
  const About& about = reader.about();
  report::JsonObject out;
  out.add("what", about.what).add("host", about.host).add("begin_ns", about.begin_ns).add("end_ns", about.end_ns).add("begin_wall_ns", std::to_string(about.begin_wall_ns));
  out.add("cpus", uint64_t{about.cpus}).raw("complete", reader.is_complete() ? "true" : "false").add("notes", about.notes);
  out.raw("triggers", report::json_list(sums.marks, [](const auto& mark) { return report::JsonObject().add("ns", mark.first).add("text", mark.second).end(); }));
  std::vector<uint32_t> kinds(sums.kinds.size());
  std::iota(kinds.begin(), kinds.end(), 0);
  out.raw("kinds", report::json_list(kinds, [&](uint32_t k) {
    const Count& c = sums.kinds[k];
    report::JsonObject kind;
    kind.add("name", reader.kinds()[k].name).add("kept", c.kept);
    if (reader.is_complete()) kind.add("sent", c.sent).add("overwritten", c.overwritten).add("lost", c.lost);
    return kind.end();
  }));
  out.raw("threads", report::json_list(order_threads(sums, options.top), [&](uint32_t t) {
    const Thread& thread = reader.names().threads[t];
    return report::JsonObject().add("pid", uint64_t{thread.pid}).add("tid", uint64_t{thread.tid}).add("name", name_of(reader.names(), thread)).add("events", sums.threads[t]).end();
  }));
  out.raw("log", log_json(reader, sums));
  return out.end() + "\n";
}

base::Result<profile::Profile> profile_of(const Reader& reader, const Part& part) {
  const auto kinds = reader.kinds();
  const auto at = std::ranges::find(kinds, Meaning::sample, &EventKind::meaning);
  if (at == kinds.end()) return base::Error{base::Failure::runtime, "there are no CPU samples in the recording"};
  const Names& names = reader.names();
  profile::Profile out;
  std::vector<uint32_t> texts, frames, nodes = {0}, threads;
  for (const std::string& t : names.texts) texts.push_back(out.text(t));
  for (const Frame& f : names.frames) frames.push_back(out.frame({.name = texts[f.name], .module = texts[f.module], .kind = f.kind}));
  for (size_t i = 1; i < names.stacks.size(); i++) nodes.push_back(out.node(nodes[names.stacks[i].caller], frames[names.stacks[i].frame]));
  for (const Thread& t : names.threads) threads.push_back(out.thread({.pid = t.pid, .tid = t.tid, .process = texts[t.process], .name = texts[t.name]}));
  // A stack that does not reach the outermost frame has a note there.
  std::vector<bool> is_complete(names.stacks.size());
  for (size_t i = 1; i < names.stacks.size(); i++) {
    const Stack& s = names.stacks[i];
    is_complete[i] = s.caller ? is_complete[s.caller] : !spec::is_note(names.frames[s.frame].kind);
  }
  Part samples = part;
  samples.kinds = {static_cast<uint32_t>(at - kinds.begin())};
  uint64_t weight_ns = 0, count = 0;
  ACU_CHECK(reader.each(samples, [&](const Batch& b) {
    for (size_t i = 0; i < b.size(); i++) {
      out.add(threads[b.threads[i]], nodes[b.columns[0][i]], 1, 1);
      out.about.complete += is_complete[b.columns[0][i]];
      weight_ns += b.columns.size() > 1 ? b.columns[1][i] : 0;
      count++;
    }
    return true;
  }));
  const About& about = reader.about();
  out.about.what = about.what;
  out.about.host = about.host;
  out.about.version = about.version;
  const uint64_t until = std::min(about.end_ns, part.until_ns), from = std::min(std::max(about.begin_ns, part.from_ns), until);
  out.about.start_ns = about.begin_wall_ns + (from - std::min(about.begin_ns, from));
  out.about.duration_ns = until - from;
  out.about.period_ns = count ? weight_ns / count : 0;
  out.about.samples = count;
  out.about.lost = reader.counts()[samples.kinds[0]].lost;
  const bool is_whole = from == about.begin_ns && until == about.end_ns;
  out.about.own_cpu_ns = is_whole ? about.own_cpu_ns : 0; // what acu took is known of the whole recording only
  out.about.notes = about.notes;
  out.about.incomplete = profile::why_incomplete(out);
  return out;
}

base::Result<profile::Profile> read_profile(const std::string& path) {
  if (!is_event_recording_file(path)) return profile::read_profile(path);
  ACU_TRY(const Reader reader, Reader::open(path));
  auto out = profile_of(reader, {});
  if (!out.ok()) return std::move(out.error()).with(path);
  return out;
}

} // namespace recording
