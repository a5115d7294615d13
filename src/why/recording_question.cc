#include "why/recording_question.h"

#include "base/clock.h"
#include "base/text.h"
#include "recording/report.h"
#include "why/flame_picture.h"
#include "why/hot_functions.h"
#include "why/inference.h"
#include "why/slots.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "recording";

uint32_t busiest_process(const profile::Profile& p) {
  std::map<uint32_t, uint64_t> weights; // by pid
  for (const profile::Sample& s : p.samples()) weights[p.threads()[s.thread].pid] += s.weight;
  return std::ranges::max_element(weights, {}, [](const auto& w) { return w.second; })->first;
}

// How busy its threads were, if the time between two samples is known.
Slots times_of(const profile::Profile& p, uint32_t pid) {
  std::map<uint32_t, uint64_t> weights; // by thread
  uint64_t all = 0;
  for (const profile::Sample& s : p.samples())
    if (p.threads()[s.thread].pid == pid) weights[p.threads()[s.thread].tid] += s.weight, all += s.weight;
  const uint64_t busiest = std::ranges::max_element(weights, {}, [](const auto& w) { return w.second; })->second;
  const uint64_t each = p.about.unit == "ns" ? 1 : p.about.period_ns;
  const auto share = [&](uint64_t weight) { return each && p.about.duration_ns ? static_cast<double>(weight * each) / static_cast<double>(p.about.duration_ns) : 1.0; };
  return {{"threads", static_cast<int64_t>(weights.size())}, {"cpu", share(all)}, {"busiest", std::min(1.0, share(busiest))}};
}

std::vector<symbol::Frame> frames_of(const profile::Profile& p, uint32_t node) {
  std::vector<symbol::Frame> out;
  for (uint32_t number : p.stack(node)) {
    const profile::Frame& f = p.frames()[number];
    symbol::Frame frame;
    frame.name = p.name(f), frame.module = p.module(f), frame.kind = f.kind;
    out.push_back(frame);
  }
  std::ranges::reverse(out);
  return out;
}

} // namespace

base::Result<Answer> find_answer_in_recording(Question& question) {
  const uint64_t began = base::clock_ns();
  ACU_TRY(const profile::Profile p, recording::read_profile(question.file));
  if (p.samples().empty()) return base::Error{base::Failure::runtime, base::quoted(question.file) + " has no samples"};
  if (!p.about.title.starts_with("CPU"))
    return base::Error{base::Failure::unsupported, base::quoted(question.file) + " is a recording of other things than CPU time (" + p.about.title + ")\nhint: acu report " + base::in_shell(question.file)};
  const uint32_t pid = busiest_process(p);
  HotFunctions hot;
  FlamePicture flame;
  std::string name;
  for (const profile::Sample& s : p.samples()) {
    const profile::Thread& thread = p.threads()[s.thread];
    if (thread.pid != pid) continue;
    if (name.empty()) name = p.texts()[thread.process];
    const std::vector<symbol::Frame> frames = frames_of(p, s.node);
    hot.add(frames, 0, s.weight);
    if (question.wants_pictures) flame.add(frames, s.weight);
  }
  question.pid = static_cast<int>(pid);
  question.name = name;
  Answer out;
  Inference inference;
  ACU_CHECK(begin_inference(inference, question));
  Slots times = times_of(p, pid);
  times.emplace_back("name", name);
  std::vector<Fact> facts = hot.facts(question.pid, measurement, [](uint64_t, const std::string&) { return std::string(); });
  facts.push_back(fact_about(question.pid, "process", measurement, std::move(times)));
  facts.push_back(fact_about(question.pid, "measured", measurement, {{"seconds", static_cast<double>(p.about.duration_ns) / 1e9}}));
  for (const Fact& f : facts) inference.add(f);
  out.taken.push_back({.measurement = std::string(measurement), .pid = question.pid, .interval_ns = base::clock_ns() - began, .facts = facts.size() - 1});
  if (question.wants_pictures) out.pictures.push_back({"CPU time", flame.element("CPU", question.pid)});
  conclude(inference.run(), question, out);
  out.duration_ns = base::clock_ns() - began;
  out.cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  return out;
}

} // namespace why
