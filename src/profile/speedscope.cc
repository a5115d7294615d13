// speedscope's file: frames once, and for each thread its stacks with their weights. Specification: the
// schema at speedscope.app/file-format-schema.json. What it has no place for stands under "acu", which other readers
// pass over: what was recorded, the kinds of frames, threads, and how often each stack was seen.
#include "base/rounded.h"
#include "profile/formats.h"
#include "profile/kinds_in_files.h"
#include "report/json.h"

#include <algorithm>
#include <map>
#include <rapidjson/document.h>
#include <span>
#include <utility>

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
    append_member(out, "acu", number_of_kind(f));
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
  append_member(out, "name", std::string(process) + " " + std::to_string(t.pid) + ": " + std::string(name) + (t.tid ? " " + std::to_string(t.tid) : ""));
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

using Json = rapidjson::Value;

// What the file has in a place may be of any kind: what is not there, or of another, is empty.
const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.IsObject()) return none;
  auto found = object.FindMember(name);
  return found == object.MemberEnd() ? none : found->value;
}
std::string text_of(const Json& v) { return v.IsString() ? std::string(v.GetString(), v.GetStringLength()) : std::string(); }
double number_of(const Json& v) { return v.IsNumber() ? v.GetDouble() : 0; }
std::span<const Json> list_of(const Json& v) { return v.IsArray() ? std::span(v.Begin(), v.Size()) : std::span<const Json>(); }
constexpr uint32_t no_number = ~uint32_t{0};
uint32_t number32_of(const Json& v) { return v.IsUint() ? v.GetUint() : no_number; }
uint64_t whole(double n) { return n >= 1 && n < 9e18 ? static_cast<uint64_t>(base::rounded(n)) : 0; }

// Of acu's own numbers, which a double may not hold.
uint64_t exact(const Json& v) { return v.IsUint64() ? v.GetUint64() : 0; }

struct Parser {
  Profile p;
  std::vector<uint32_t> frames;
  bool is_own = false; // acu wrote the file
  bool has_unit = false; // of a thread before

  void read_about(const Json& file) {
    const Json& own = member(file, "acu");
    is_own = own.IsObject();
    About& a = p.about;
    if (!is_own) {
      if (std::string name = text_of(member(file, "name")); !name.empty()) a.title = std::move(name);
      return;
    }
    a.title = text_of(member(own, "title")), a.what = text_of(member(own, "what"));
    a.host = text_of(member(own, "host")), a.unit = text_of(member(own, "unit"));
    a.period_ns = whole(number_of(member(own, "period_ns")));
    a.duration_ns = whole(number_of(member(own, "duration_ns")));
  }
  void read_frame(const Json& v) {
    Frame f;
    const std::string name = text_of(member(v, "name")), file = text_of(member(v, "file"));
    const uint32_t own = number32_of(member(v, "acu"));
    f.name = p.text(name), f.module = p.text(file);
    if (own == no_number || !take_kind(own, f)) f.kind = kind_by_names(name, file);
    frames.push_back(frames.empty() && is_own ? 0 : p.frame(f)); // the first of acu's own is the root's
  }
  // What a weight of the file is in the profile's unit.
  double factor(const std::string& unit) {
    constexpr std::pair<std::string_view, double> times[] = {{"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
    const auto* time = std::ranges::find(times, unit, &std::pair<std::string_view, double>::first);
    p.about.unit = time != std::end(times) ? "ns" : unit == "bytes" ? "bytes" : "samples";
    return time != std::end(times) ? time->second : 1;
  }
  // Why the stacks of a thread are none; empty: they are in the profile.
  std::string read_stacks(const Json& v) {
    if (std::string type = text_of(member(v, "type")); type != "sampled")
      return "it has a profile of type `" + type + "`; acu reads only `sampled` profiles";
    const auto stacks = list_of(member(v, "samples")), weights = list_of(member(v, "weights"));
    if (stacks.size() != weights.size()) return "it is damaged: the numbers of stacks and weights differ";
    const Json& own = member(v, "acu");
    const auto counts = list_of(member(own, "counts"));
    Thread thread;
    if (own.IsObject()) {
      thread = {number32_of(member(own, "pid")), number32_of(member(own, "tid")), p.text(text_of(member(own, "process"))),
                p.text(text_of(member(own, "thread")))};
    } else {
      thread.process = thread.name = p.text(text_of(member(v, "name")));
    }
    const uint32_t number = p.thread(thread);
    const std::string unit_before = p.about.unit;
    const double each = is_own ? 1 : factor(text_of(member(v, "unit")));
    if (std::exchange(has_unit, true) && p.about.unit != unit_before)
      return "its profiles have different units: `" + unit_before + "` and `" + p.about.unit + "`; acu reads files with one unit";
    for (size_t i = 0; i < stacks.size(); i++) {
      const uint64_t weight = is_own ? exact(weights[i]) / std::max<uint64_t>(p.about.period_ns, 1) : whole(number_of(weights[i]) * each);
      const uint64_t count = i < counts.size() ? exact(counts[i]) : p.about.unit == "samples" ? weight : 1;
      uint32_t node = 0;
      for (const Json& frame : list_of(stacks[i])) {
        const uint32_t at = number32_of(frame);
        if (at >= frames.size()) return "it is damaged: a stack has an invalid reference to a frame";
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
  rapidjson::Document file;
  file.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(bytes.data(), bytes.size());
  if (file.HasParseError())
    return base::Error{base::Failure::runtime, "it is a speedscope file, but its JSON is damaged or truncated"};
  Parser parser;
  parser.read_about(file);
  for (const Json& frame : list_of(member(member(file, "shared"), "frames"))) parser.read_frame(frame);
  for (const Json& thread : list_of(member(file, "profiles")))
    if (std::string why = parser.read_stacks(thread); !why.empty()) return base::Error{base::Failure::runtime, std::move(why)};
  return std::move(parser.p);
}

} // namespace profile
