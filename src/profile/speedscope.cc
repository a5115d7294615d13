// speedscope's file: frames once, and for each thread its stacks with their weights. Specification: the
// schema at speedscope.app/file-format-schema.json. What it has no place for stands under "acu", which other readers
// pass over: what was recorded, the kinds of frames, threads, and how often each stack was seen.
#include "profile/formats.h"
#include "profile/json_reader.h"
#include "report/json.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace profile {

namespace {

constexpr std::string_view schema = "https://www.speedscope.app/file-format-schema.json";

std::string_view unit_of(const About& about) {
  if (about.period_ns || about.unit == "ns") return "nanoseconds";
  return about.unit == "bytes" ? "bytes" : "none";
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out.append(out.ends_with('{') ? "\"" : ",\"").append(name).append("\":");
  report::append_json(out, text);
}

void append_member(std::string& out, std::string_view name, uint64_t number) {
  out.append(out.ends_with('{') ? "\"" : ",\"").append(name).append("\":").append(std::to_string(number));
}

void append_frames(std::string& out, const Profile& p) {
  for (const Frame& f : p.frames()) {
    out += out.ends_with('[') ? "{" : ",{";
    append_member(out, "name", p.name(f));
    if (f.module) append_member(out, "file", p.module(f));
    append_member(out, "acu", static_cast<uint64_t>(f.kind) | uint64_t{f.named} << 2);
    out += '}';
  }
}

void append_thread(std::string& out, const Profile& p, const Thread& t, const std::vector<const Sample*>& samples) {
  std::string stacks, weights, counts;
  uint64_t total = 0;
  for (const Sample* s : samples) {
    const uint64_t weight = p.about.period_ns ? s->weight * p.about.period_ns : s->weight;
    total += weight;
    weights += (weights.empty() ? "" : ",") + std::to_string(weight);
    counts += (counts.empty() ? "" : ",") + std::to_string(s->count);
    stacks += stacks.empty() ? "[" : ",[";
    for (uint32_t frame : p.stack(s->node)) stacks += (stacks.back() == '[' ? "" : ",") + std::to_string(frame);
    stacks += ']';
  }
  const std::string_view process = p.texts()[t.process], name = p.texts()[t.name];
  append_member(out, "type", "sampled");
  append_member(out, "name", std::string(process) + " " + std::to_string(t.pid) + ": " + std::string(name) + " " + std::to_string(t.tid));
  append_member(out, "unit", unit_of(p.about));
  append_member(out, "startValue", 0);
  append_member(out, "endValue", total);
  out.append(",\"samples\":[").append(stacks).append("],\"weights\":[").append(weights).append("],\"acu\":{");
  append_member(out, "pid", t.pid);
  append_member(out, "tid", t.tid);
  append_member(out, "process", process);
  append_member(out, "thread", name);
  out.append(",\"counts\":[").append(counts).append("]}");
}

// Numbers of the file are the reader's to check.
struct Parser {
  struct Stacks { // of a thread
    std::string type, name, unit = "none";
    std::vector<std::vector<uint32_t>> samples;
    std::vector<double> weights, counts;
    Thread thread;
    bool is_own = false;
  };
  JsonReader in;
  Profile p = {};
  std::vector<uint32_t> frames = {};
  std::vector<Stacks> threads = {};
  bool is_own = false;

  uint32_t number32() {
    const double n = in.number();
    return n >= 0 && n < 4294967296.0 ? static_cast<uint32_t>(n) : ~uint32_t{0};
  }
  static uint64_t whole(double n) { return n >= 1 && n < 9e18 ? static_cast<uint64_t>(std::llround(n)) : 0; }

  void read_frame() {
    Frame f;
    std::string name, file;
    uint32_t own = ~uint32_t{0};
    in.object([&](std::string_view key) {
      if (key == "name") name = in.text();
      if (key == "file") file = in.text();
      if (key == "acu") own = number32();
    });
    f.name = p.text(name), f.module = p.text(file);
    const bool is_bracketed = name.starts_with("[") && name.ends_with("]");
    if (own <= 7)
      f.kind = static_cast<FrameKind>(own & 3), f.named = own & 4;
    else if (file.empty() && is_bracketed)
      f.kind = FrameKind::note;
    else if (file.starts_with("[") && file != "[vdso]")
      f.kind = FrameKind::kernel;
    frames.push_back(frames.empty() && is_own ? 0 : p.frame(f)); // the first of acu's own is the root's
  }
  void read_about() {
    is_own = true;
    About& a = p.about;
    in.object([&](std::string_view key) {
      if (key == "title") a.title = in.text();
      if (key == "what") a.what = in.text();
      if (key == "host") a.host = in.text();
      if (key == "unit") a.unit = in.text();
      if (key == "period_ns") a.period_ns = whole(in.number());
      if (key == "duration_ns") a.duration_ns = whole(in.number());
    });
  }
  void read_thread(Stacks& to) {
    to.is_own = true;
    in.object([&](std::string_view key) {
      if (key == "pid") to.thread.pid = number32();
      if (key == "tid") to.thread.tid = number32();
      if (key == "process") to.thread.process = p.text(in.text());
      if (key == "thread") to.thread.name = p.text(in.text());
      if (key == "counts") in.array([&] { to.counts.push_back(in.number()); });
    });
  }
  void read_stacks() {
    Stacks& to = threads.emplace_back();
    in.object([&](std::string_view key) {
      if (key == "type") to.type = in.text();
      if (key == "name") to.name = in.text();
      if (key == "unit") to.unit = in.text();
      if (key == "samples") in.array([&] {
        auto& stack = to.samples.emplace_back();
        in.array([&] { stack.push_back(number32()); });
      });
      if (key == "weights") in.array([&] { to.weights.push_back(in.number()); });
      if (key == "acu") read_thread(to);
    });
  }
  void read() {
    in.object([&](std::string_view key) {
      if (key == "acu") read_about();
      if (key == "shared")
        in.object([&](std::string_view name) {
          if (name == "frames") in.array([&] { read_frame(); });
        });
      if (key == "profiles") in.array([&] { read_stacks(); });
    });
  }

  // What a weight of the file is in the profile's unit.
  double factor(const std::string& unit) {
    if (is_own) return p.about.period_ns ? 1.0 / static_cast<double>(p.about.period_ns) : 1;
    constexpr std::pair<std::string_view, double> times[] = {{"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
    const auto* time = std::ranges::find(times, unit, &std::pair<std::string_view, double>::first);
    p.about.unit = time != std::end(times) ? "ns" : unit == "bytes" ? "bytes" : "samples";
    return time != std::end(times) ? time->second : 1;
  }
  // Why the stacks are none; empty: they are in the profile.
  std::string add(const Stacks& t) {
    if (t.type != "sampled") return "it has a profile of type `" + t.type + "`; acu reads `sampled` ones";
    if (t.samples.size() != t.weights.size()) return "it is damaged: not each stack has a weight";
    Thread thread = t.thread;
    if (!t.is_own) thread.process = thread.name = p.text(t.name);
    const uint32_t number = p.thread(thread);
    const double each = factor(t.unit);
    for (size_t i = 0; i < t.samples.size(); i++) {
      const uint64_t weight = whole(t.weights[i] * each);
      const uint64_t count = i < t.counts.size() ? whole(t.counts[i]) : p.about.unit == "samples" ? weight : 1;
      uint32_t node = 0;
      for (uint32_t at : t.samples[i]) {
        if (at >= frames.size()) return "it is damaged: a stack refers to a frame that is not there";
        node = p.node(node, frames[at]);
        p.about.frames += count;
        p.about.frames_named += p.frames()[frames[at]].named ? count : 0;
      }
      p.add(number, node, weight, count);
      p.about.samples += count;
    }
    return {};
  }
};

} // namespace

std::string write_speedscope(const Profile& p) {
  std::string out = "{";
  append_member(out, "$schema", schema);
  append_member(out, "exporter", "acu");
  append_member(out, "name", p.about.title + " of " + p.about.what);
  out += ",\"acu\":{";
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"title", p.about.title}, {"what", p.about.what}, {"host", p.about.host}, {"unit", p.about.unit}};
  for (auto [name, text] : texts) append_member(out, name, text);
  append_member(out, "period_ns", p.about.period_ns);
  append_member(out, "duration_ns", p.about.duration_ns);
  out += "},\"shared\":{\"frames\":[";
  append_frames(out, p);
  out += "]},\"profiles\":[";
  std::map<uint32_t, std::vector<const Sample*>> threads;
  for (const Sample& s : p.samples()) threads[s.thread].push_back(&s);
  for (const auto& [number, samples] : threads) {
    out += out.ends_with('[') ? "{" : ",{";
    append_thread(out, p, p.threads()[number], samples);
    out += '}';
  }
  return out + "]}\n";
}

bool is_speedscope(std::string_view bytes) {
  const size_t begin = bytes.find_first_not_of(" \n\t\r");
  return begin != bytes.npos && bytes[begin] == '{' && bytes.find(schema) != bytes.npos;
}

base::Result<Profile> read_speedscope(std::string_view bytes) {
  Parser parser = {.in = JsonReader(bytes)};
  parser.read();
  if (!parser.in.ok() || !parser.in.is_at_end())
    return base::Error{base::Failure::runtime, "it is speedscope's, and damaged or cut: its JSON is not whole"};
  for (const Parser::Stacks& t : parser.threads)
    if (std::string why = parser.add(t); !why.empty()) return base::Error{base::Failure::runtime, std::move(why)};
  return std::move(parser.p);
}

} // namespace profile
