// The functions that a process runs, sampled by the clock of the CPUs.
#include "base/text.h"
#include "profile/tables.h"
#include "session/script_maps.h"
#include "session/stack_map.h"
#include "waits/stacks.h"
#include "why/function_classes.h"
#include "why/instruments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace why {

namespace {

constexpr unsigned rate = 499; // samples a second; 3 s of one busy thread: a share of 25% is known to 2%
constexpr std::string_view measurement = "cpu-profile";

// The parts of the key of scripts/flame_cpu.bt.
enum KeyField : uint8_t { key_pid, key_kernel = 4, key_user = 5 };

bool has_part(std::string_view words, const auto& fits) {
  return std::ranges::any_of(base::split(words, ' '), [&](std::string_view word) { return !word.empty() && fits(word); });
}

std::string_view class_of(const symbol::Frame& f) {
  const std::string_view module = f.module.substr(f.module.rfind('/') + 1);
  for (const FunctionClass& c : function_classes) {
    const bool is_it = has_part(c.begins, [&](std::string_view word) { return f.name.starts_with(word); }) ||
                       has_part(c.parts, [&](std::string_view word) { return f.name.find(word) != f.name.npos; }) ||
                       has_part(c.modules, [&](std::string_view word) { return module.starts_with(word); });
    if (is_it) return c.name;
  }
  return {};
}

// The function of the program that called what is of a class: one in the language of the program, if it is interpreted. nullptr: there is none.
const symbol::Frame* caller_in(std::span<const symbol::Frame> frames) {
  const auto language = std::ranges::find_if(frames, [](const symbol::Frame& f) { return spec::row_of(f.kind).layer == spec::Layer::language; });
  if (language != frames.end()) return &*language;
  const auto own = std::ranges::find_if(frames, [](const symbol::Frame& f) {
    return spec::row_of(f.kind).side == spec::Side::user && class_of(f).empty() && !profile::is_shared_code(f.module, f.name);
  });
  return own == frames.end() ? nullptr : &*own;
}

struct Function {
  std::string name, module, caller, kind, group; // group: its class
  uint64_t samples = 0;
  waits::StackId stack; // an example
};

class ProfileInstrument : public Instrument {
public:
  explicit ProfileInstrument(const Subject& subject) : subject_(subject) {}

  base::Status prepare(const session::Options& run) override;
  session::Runner* runner() override { return &*runner_; }
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void take(const ir::Map& map, const ir::Entry& entry);
  void add(const std::vector<symbol::Frame>& frames, const waits::StackId& stack, uint64_t count);
  Fact fact_of(const Function& f);

  Subject subject_;
  std::optional<session::Runner> runner_;
  std::optional<waits::Stacks> stacks_;
  std::map<std::pair<std::string, std::string>, Function> functions_; // by name and file: what is on top of stacks
  std::map<std::string_view, std::map<std::string, Function>> classes_; // what is of a class, by the innermost such function
  uint64_t all_ = 0;
};

base::Status ProfileInstrument::prepare(const session::Options& run) {
  session::TargetFilter filter;
  filter.pid = subject_.pid;
  filter.pids = {subject_.pid};
  ACU_TRY(const session::Condition condition, session::condition_of(filter));
  session::BuiltinScript script("flame_cpu");
  script.set_whose(condition, filter, subject_.interval_ns);
  script.set_places("ticks", "profile:hz:" + std::to_string(rate));
  runner_.emplace(session::Measurement{.aim = "profile", .script = std::move(script), .filter = filter, .follows_processes = true, .keeps_files = true, .keeps_contents = true},
                  session::Runner::Take(), subject_.shared);
  ACU_CHECK(runner_->compile());
  ACU_CHECK(runner_->load(run));
  stacks_.emplace(runner_->backend().engine(), runner_->backend().walker() != nullptr, runner_->names().sources());
  return {};
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

void ProfileInstrument::take(const ir::Map& map, const ir::Entry& entry) {
  const std::span<const type::Field> fields = map.key->fields();
  profile::RawSample sample;
  session::add_values(map, entry, sample);
  const waits::StackId kernel = {.id = session::number_in(entry, fields[key_kernel]), .pid = 0, .type = fields[key_kernel].type};
  const waits::StackId user = {.id = session::number_in(entry, fields[key_user]), .pid = static_cast<uint32_t>(session::number_in(entry, fields[key_pid])), .type = fields[key_user].type};
  all_ += sample.weight;
  std::vector<symbol::Frame> frames = stacks_->frames(kernel);
  const bool is_kernel = !frames.empty();
  const std::vector<symbol::Frame>& above = stacks_->frames(user);
  frames.insert(frames.end(), above.begin(), above.end());
  add(frames, is_kernel ? kernel : user, sample.weight);
}

Fact ProfileInstrument::fact_of(const Function& f) {
  const auto n = static_cast<double>(all_);
  const double share = static_cast<double>(f.samples) / n;
  const double half = 1.96 * std::sqrt(share * (1 - share) / n) + 0.5 / n; // of a binomial, 95%
  Fact out = {.kind = find_fact_kind("hot-function"), .slots = {}, .measurement = measurement};
  out.slots = {{"pid", int64_t{subject_.pid}}, {"name", f.name}, {"module", f.module}, {"kind", f.kind}, {"class", f.group}, {"caller", f.caller},
               {"share", share}, {"low", std::max(0.0, share - half)}, {"high", std::min(1.0, share + half)}};
  const std::string place = stacks_->place_of(f.stack, [&](std::string_view name) { return name == (f.caller.empty() ? f.name : f.caller); });
  const size_t colon = place.rfind(':');
  if (colon == place.npos) return out;
  out.slots.emplace_back("file", place.substr(0, colon));
  if (auto line = base::parse_integer(std::string_view(place).substr(colon + 1))) out.slots.emplace_back("line", static_cast<int64_t>(*line));
  return out;
}

base::Result<std::vector<Fact>> ProfileInstrument::end(uint64_t) {
  const std::optional<uint32_t> map = session::find_map(runner_->program(), "");
  ACU_TRY(const std::vector<ir::Entry> entries, runner_->backend().engine().read_map(*map));
  for (const ir::Entry& e : entries) take(runner_->program().maps[*map], e);
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
