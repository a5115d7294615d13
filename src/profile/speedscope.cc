// speedscope's file: frames once, and for each thread its stacks with their weights. Specification: the
// schema at speedscope.app/file-format-schema.json.
#include "profile/formats.h"
#include "report/json.h"

#include <map>

namespace profile {

static std::string_view unit_of(const About& about) {
  if (about.period_ns || about.unit == "ns") return "nanoseconds";
  return about.unit == "bytes" ? "bytes" : "none";
}

std::string write_speedscope(const Profile& p) {
  std::string out =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"acu\",\"name\":";
  report::append_json(out, p.about.title + " of " + p.about.what);
  out += ",\"shared\":{\"frames\":[";
  for (size_t i = 0; i < p.frames().size(); i++) {
    const Frame& f = p.frames()[i];
    out += i ? ",{\"name\":" : "{\"name\":";
    report::append_json(out, p.name(f));
    if (f.module) {
      out += ",\"file\":";
      report::append_json(out, p.module(f));
    }
    out += '}';
  }
  out += "]},\"profiles\":[";
  std::map<uint32_t, std::vector<const Sample*>> threads;
  for (const Sample& s : p.samples()) threads[s.thread].push_back(&s);
  bool is_first = true;
  for (const auto& [number, samples] : threads) {
    const Thread& t = p.threads()[number];
    std::string stacks, weights;
    uint64_t total = 0;
    for (const Sample* s : samples) {
      uint64_t weight = p.about.period_ns ? s->weight * p.about.period_ns : s->weight;
      total += weight;
      weights += (weights.empty() ? "" : ",") + std::to_string(weight);
      stacks += stacks.empty() ? "[" : ",[";
      for (uint32_t frame : p.stack(s->node))
        stacks += (stacks.back() == '[' ? "" : ",") + std::to_string(frame);
      stacks += ']';
    }
    out += std::exchange(is_first, false) ? "{" : ",{";
    out += "\"type\":\"sampled\",\"name\":";
    report::append_json(out, std::string(p.texts()[t.process]) + " " + std::to_string(t.pid) + ": " +
                                 std::string(p.texts()[t.name]) + " " + std::to_string(t.tid));
    out.append(",\"unit\":\"")
        .append(unit_of(p.about))
        .append("\",\"startValue\":0,\"endValue\":")
        .append(std::to_string(total));
    out.append(",\"samples\":[").append(stacks).append("],\"weights\":[").append(weights).append("]}");
  }
  return out + "]}\n";
}

} // namespace profile
