// Recordings for tests: stacks as lists of steps, and all that a recording holds as sorted lines, to compare two of them.
#pragma once

#include "profile/profile.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace profile {

struct Step {
  std::string_view name, file = "/bin/app";
  FrameKind kind = FrameKind::user;
  bool named = true;
};

inline uint32_t node_of(Profile& p, const std::vector<Step>& steps) {
  uint32_t node = 0;
  for (const Step& s : steps) node = p.node(node, p.frame({p.text(s.name), p.text(s.file), s.kind, s.named}));
  return node;
}

struct Ran {
  std::string_view process = "app", thread = "app";
  uint32_t pid = 17, tid = 17;
  Link request = {};
};

// A sample; its number.
inline uint32_t add(Profile& p, const std::vector<Step>& steps, uint64_t weight, uint64_t count = 0, const Ran& by = {}) {
  const uint32_t thread = p.thread({by.pid, by.tid, p.text(by.process), p.text(by.thread)});
  p.about.samples += count ? count : weight;
  return p.add(thread, node_of(p, steps), weight, count ? count : weight, p.link(by.request));
}

// What a format keeps of a recording.
struct Kept {
  bool ids = true, threads = true, modules = true, counts = true, named = true;
};

inline std::string lines_of(const Profile& p, const Kept& kept = {}) {
  std::vector<std::string> lines;
  for (const Sample& s : p.samples()) {
    const Thread& t = p.threads()[s.thread];
    std::string line(p.texts()[t.process]);
    if (kept.threads) line.append("|").append(p.texts()[t.name]);
    if (kept.ids) line += "|" + std::to_string(t.pid) + "/" + std::to_string(t.tid);
    for (uint32_t f : p.stack(s.node)) {
      const Frame& frame = p.frames()[f];
      line.append(" > ").append(p.name(frame)).append(" ").append(spec::row_of(frame.kind).name);
      if (kept.modules) line.append(" in ").append(p.module(frame));
      if (kept.named && !frame.named) line += " (no name)";
    }
    line += " = " + std::to_string(s.weight);
    if (kept.counts) line += " of " + std::to_string(s.count);
    if (s.link) line += " in " + p.links()[s.link].trace_id + " " + p.links()[s.link].span_id;
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

} // namespace profile
