#include "why/recording_question.h"

#include "base/clock.h"
#include "base/text.h"
#include "profile/diff.h"
#include "profile/tables.h"
#include "recording/report.h"
#include "why/flame_picture.h"
#include "why/hot_functions.h"
#include "why/inference.h"
#include "why/slots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace why {

namespace {

constexpr std::string_view measurement = "recording", comparison = "comparison";

base::Result<profile::Profile> read_cpu_time(const std::string& file) {
  ACU_TRY(profile::Profile p, recording::read_profile(file));
  if (p.samples().empty()) return base::Error{base::Failure::runtime, base::quoted(file) + " has no samples"};
  if (!p.about.title.starts_with("CPU"))
    return base::Error{base::Failure::unsupported, base::quoted(file) + " is a recording of other things than CPU time (" + p.about.title + ")\nhint: acu report " + base::in_shell(file)};
  return p;
}

// ns of CPU time that a weight of 1 stands for; 0: not known.
uint64_t ns_of_weight(const profile::About& about) { return about.unit == "ns" ? 1 : about.period_ns; }

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
  const uint64_t each = ns_of_weight(p.about);
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

struct FunctionTimes {
  double before = 0, now = 0; // weights
};

// Of the functions of the program: what they take in B and took in A, with all that they call.
std::map<std::pair<std::string, std::string>, FunctionTimes> times_of_functions(const profile::Difference& d, std::string_view process, FunctionTimes& all) {
  std::map<std::pair<std::string, std::string>, FunctionTimes> out; // by name and file
  const profile::Profile& p = d.profile;
  for (size_t i = 0; i < p.samples().size(); i++) {
    const profile::Sample& s = p.samples()[i];
    if (p.texts()[p.threads()[s.thread].process] != process) continue;
    const auto now = static_cast<double>(s.weight), before = now - static_cast<double>(d.changes[i]);
    all.now += now, all.before += before;
    const std::vector<symbol::Frame> frames = frames_of(p, s.node);
    std::set<std::pair<std::string, std::string>> seen; // once in a stack, however often it is there
    for (const symbol::Frame* f : profile::program_frames(frames)) {
      const std::pair<std::string, std::string> function(f->name, f->module);
      if (profile::is_of_library(*f) || !seen.insert(function).second) continue;
      FunctionTimes& of = out[function];
      of.now += now, of.before += before;
    }
  }
  return out;
}

// Facts function-change of functions whose part of the CPU time is another one by 5 points or more. `samples`: of the process, in B.
base::Result<std::vector<Fact>> changes_of(const profile::Difference& d, const std::string& process, int pid, uint64_t samples) {
  FunctionTimes all;
  const auto functions = times_of_functions(d, process, all);
  if (all.before <= 0 || all.now <= 0) return base::Error{base::Failure::runtime, "there is no process " + base::quoted(process) + " in " + base::quoted(all.now <= 0 ? d.b.file : d.a.file)};
  std::vector<Fact> out;
  const profile::About& about = d.profile.about;
  const auto each = static_cast<double>(ns_of_weight(about));
  for (const auto& [function, times] : functions) {
    const double before = times.before / all.before, share = times.now / all.now;
    constexpr double least = 0.05;
    if (std::abs(share - before) < least) continue;
    Slots slots = {{"name", function.first}, {"module", function.second}, {"before", before}};
    put_share(slots, sampled_share(share, samples));
    slots.emplace_back("growth", each > 0 && about.duration_ns ? (times.now - times.before) * each / static_cast<double>(about.duration_ns) : share - before);
    out.push_back(fact_about(pid, "function-change", comparison, std::move(slots)));
  }
  return out;
}

} // namespace

base::Result<Answer> find_answer_in_recording(Question& question) {
  const uint64_t began = base::clock_ns();
  ACU_TRY(const profile::Profile p, read_cpu_time(question.file));
  const uint32_t pid = busiest_process(p);
  HotFunctions hot;
  FlamePicture flame;
  std::string name;
  uint64_t samples = 0;
  for (const profile::Sample& s : p.samples()) {
    const profile::Thread& thread = p.threads()[s.thread];
    if (thread.pid != pid) continue;
    if (name.empty()) name = p.texts()[thread.process];
    samples += s.count;
    const std::vector<symbol::Frame> frames = frames_of(p, s.node);
    if (question.before.empty()) hot.add(frames, 0, s.weight);
    if (question.wants_pictures) flame.add(frames, s.weight);
  }
  question.pid = static_cast<int>(pid);
  question.name = name;
  Answer out;
  Inference inference;
  ACU_CHECK(begin_inference(inference, question));
  Slots times = times_of(p, pid);
  times.emplace_back("name", name);
  const double seconds = static_cast<double>(p.about.duration_ns) / 1e9;
  std::vector<Fact> facts, changes;
  // Who asks what has changed knows the functions that always take most.
  if (question.before.empty()) {
    facts = hot.facts(question.pid, measurement, [](uint64_t, const std::string&) { return std::string(); });
  } else {
    ACU_TRY(const profile::Profile earlier, read_cpu_time(question.before));
    ACU_TRY(const profile::Difference difference, profile::compare(earlier, p, question.before, question.file));
    ACU_TRY(changes, changes_of(difference, name, question.pid, samples));
    changes.push_back(fact_about(question.pid, "measured", comparison, {{"seconds", seconds}}));
  }
  facts.push_back(fact_about(question.pid, "process", measurement, std::move(times)));
  facts.push_back(fact_about(question.pid, "measured", measurement, {{"seconds", seconds}}));
  const auto take = [&](std::string_view taken, const std::vector<Fact>& its) {
    for (const Fact& f : its) inference.add(f);
    out.taken.push_back({.measurement = std::string(taken), .pid = question.pid, .interval_ns = base::clock_ns() - began, .facts = its.size() - 1});
  };
  take(measurement, facts);
  if (!changes.empty()) take(comparison, changes);
  if (question.wants_pictures) out.pictures.push_back({"CPU time", flame.element("CPU", question.pid)});
  conclude(inference.run(), question, out);
  out.duration_ns = base::clock_ns() - began;
  out.cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  return out;
}

} // namespace why
