// The functions that a process runs, sampled by the clock of the CPUs.
#include "base/text.h"
#include "profile/tables.h"
#include "why/function_classes.h"
#include "why/instruments.h"
#include "why/script_instrument.h"
#include "why/slots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace why {

namespace {

constexpr unsigned ticks_a_second = 499; // samples a second; 3 s of one busy thread: a share of 25% is known to 2%
constexpr std::string_view measurement = "cpu-profile";

// The parts of the key of scripts/flame_cpu.bt.
constexpr std::string_view key_pid = "0", key_kernel = "4", key_user = "5";

bool has_part(std::string_view words, const auto& fits) {
  return std::ranges::any_of(base::split(words, '|'), [&](std::string_view word) { return !word.empty() && fits(word); });
}

std::string_view class_of_function(std::string_view name, std::string_view module) {
  module = module.substr(module.rfind('/') + 1);
  for (const FunctionClass& c : function_classes) {
    const bool is_it = has_part(c.begins, [&](std::string_view word) { return name.starts_with(word); }) ||
                       has_part(c.parts, [&](std::string_view word) { return name.find(word) != name.npos; }) ||
                       has_part(c.modules, [&](std::string_view word) { return module.starts_with(word); });
    if (is_it) return c.name;
  }
  return {};
}

struct Function {
  std::string name, module, caller, kind, group; // group: its class
  uint64_t samples = 0;
  waits::StackId stack; // an example
};

class ProfileInstrument final : public ScriptInstrument {
public:
  explicit ProfileInstrument(const Subject& subject) : ScriptInstrument("flame_cpu", subject, Scope::subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void configure(session::BuiltinScript& script) const override { script.set_places("ticks", "profile:hz:" + std::to_string(ticks_a_second)); }
  void arrange(session::Measurement& measurement) override;
  std::string_view class_of(const symbol::Frame& f);
  const symbol::Frame* caller_in(std::span<const symbol::Frame> frames);
  void take(const ScriptRow& row);
  void add(const std::vector<symbol::Frame>& frames, const waits::StackId& stack, uint64_t count);
  Fact fact_of(const Function& f);

  std::map<std::pair<std::string, std::string>, Function> functions_; // by name and file: what is on top of stacks
  std::map<std::string_view, std::map<std::string, Function>> classes_; // what is of a class, by the innermost such function
  std::map<std::pair<std::string, std::string>, std::string_view> known_classes_; // by name and file
  uint64_t all_ = 0;
};

void ProfileInstrument::arrange(session::Measurement& measurement) {
  measurement.aim = "profile";
  measurement.follows_processes = measurement.keeps_files = measurement.keeps_contents = true;
}

// A function has its class once: stacks have it again and again.
std::string_view ProfileInstrument::class_of(const symbol::Frame& f) {
  const auto [at, is_new] = known_classes_.try_emplace({std::string(f.name), std::string(f.module)});
  if (is_new) at->second = class_of_function(f.name, f.module);
  return at->second;
}

// The function of the program that called what is of a class: one in the language of the program, if it is interpreted. nullptr: there is none.
const symbol::Frame* ProfileInstrument::caller_in(std::span<const symbol::Frame> frames) {
  const std::vector<const symbol::Frame*> own = profile::program_frames(frames);
  const auto calls = [&](const symbol::Frame* f) { return spec::row_of(f->kind).layer == spec::Layer::language || class_of(*f).empty(); };
  auto at = std::ranges::find_if(own, [&](const symbol::Frame* f) { return calls(f) && !profile::is_of_library(*f); });
  if (at == own.end()) at = std::ranges::find_if(own, calls);
  return at == own.end() ? nullptr : *at;
}

void ProfileInstrument::add(const std::vector<symbol::Frame>& frames, const waits::StackId& stack, uint64_t count) {
  const auto is_function = [](const symbol::Frame& f) { return !spec::is_note(f.kind); };
  const auto top = std::ranges::find_if(frames, is_function);
  if (top == frames.end()) return;
  const auto as_function = [&](const symbol::Frame& f) {
    return Function{.name = std::string(f.name), .module = std::string(f.module), .caller = {}, .kind = std::string(spec::row_of(f.kind).name), .group = {}, .samples = 0, .stack = stack};
  };
  Function& hot = functions_.try_emplace({std::string(top->name), std::string(top->module)}, as_function(*top)).first->second;
  hot.samples += count;
  hot.group = class_of(*top);
  std::set<std::string_view> seen;
  for (auto f = top; f != frames.end(); ++f) {
    if (!is_function(*f)) continue;
    const std::string_view group = class_of(*f);
    if (group.empty() || !seen.insert(group).second) continue;
    Function& of = classes_[group].try_emplace(std::string(f->name), as_function(*f)).first->second;
    of.samples += count;
    of.group = group;
    if (const symbol::Frame* caller = caller_in(std::span(frames).subspan(static_cast<size_t>(f - frames.begin())))) of.caller = caller->name;
  }
}

void ProfileInstrument::take(const ScriptRow& row) {
  const waits::StackId kernel = row.stack(key_kernel, 0), user = row.stack(key_user, static_cast<uint32_t>(row.number(key_pid)));
  const uint64_t samples = row.sum();
  all_ += samples;
  std::vector<symbol::Frame> frames = stacks().frames(kernel);
  const bool is_kernel = !frames.empty();
  const std::vector<symbol::Frame>& above = stacks().frames(user);
  frames.insert(frames.end(), above.begin(), above.end());
  add(frames, is_kernel ? kernel : user, samples);
}

Fact ProfileInstrument::fact_of(const Function& f) {
  const auto n = static_cast<double>(all_);
  const double share = static_cast<double>(f.samples) / n;
  const double half = 1.96 * std::sqrt(share * (1 - share) / n) + 0.5 / n; // of a binomial, 95%
  const std::string& located = f.caller.empty() ? f.name : f.caller;
  const ProgramLocation location = location_at(located, stacks().place_of(f.stack, [&](std::string_view name) { return name == located; }));
  Slots slots = {{"name", f.name}, {"module", f.module}, {"kind", f.kind}, {"class", f.group}, {"caller", f.caller}, {"file", location.file}, {"line", location.line}};
  put_share(slots, {share, std::max(0.0, share - half), std::min(1.0, share + half)});
  return fact_about(subject_.pid, "hot-function", measurement, std::move(slots));
}

base::Result<std::vector<Fact>> ProfileInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> samples, rows(""));
  for (const ScriptRow& row : samples) take(row);
  std::vector<Fact> out;
  if (!all_) return out;
  constexpr double least = 0.05;
  for (const auto& [name, f] : functions_)
    if (f.group.empty() && static_cast<double>(f.samples) >= least * static_cast<double>(all_)) out.push_back(fact_of(f));
  for (const auto& [name, functions] : classes_) {
    Function whole = std::ranges::max_element(functions, {}, [](const auto& f) { return f.second.samples; })->second;
    whole.samples = 0;
    for (const auto& [function, its] : functions) whole.samples += its.samples;
    if (static_cast<double>(whole.samples) >= least * static_cast<double>(all_)) out.push_back(fact_of(whole));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_profile_instrument(const Subject& subject) { return std::make_unique<ProfileInstrument>(subject); }

} // namespace why
