#include "why/hot_functions.h"

#include "base/text.h"
#include "profile/tables.h"
#include "why/function_classes.h"
#include "why/slots.h"

#include <algorithm>
#include <set>

namespace why {

namespace {

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

} // namespace

// A function has its class once: stacks have it again and again.
std::string_view HotFunctions::class_of(const symbol::Frame& f) {
  const auto [at, is_new] = known_classes_.try_emplace({std::string(f.name), std::string(f.module)});
  if (is_new) at->second = class_of_function(f.name, f.module);
  return at->second;
}

// The function of the program that called what is of a class: one in the language of the program, if it is interpreted. nullptr: there is none.
const symbol::Frame* HotFunctions::caller_in(std::span<const symbol::Frame> frames) {
  const std::vector<const symbol::Frame*> own = profile::program_frames(frames);
  const auto calls = [&](const symbol::Frame* f) { return spec::row_of(f->kind).layer == spec::Layer::language || class_of(*f).empty(); };
  auto at = std::ranges::find_if(own, [&](const symbol::Frame* f) { return calls(f) && !profile::is_of_library(*f); });
  if (at == own.end()) at = std::ranges::find_if(own, calls);
  return at == own.end() ? nullptr : *at;
}

void HotFunctions::add(const std::vector<symbol::Frame>& frames, uint64_t example, uint64_t samples) {
  const auto is_function = [](const symbol::Frame& f) { return !spec::is_note(f.kind); };
  all_ += samples;
  const auto top = std::ranges::find_if(frames, is_function);
  if (top == frames.end()) return;
  const auto as_function = [&](const symbol::Frame& f) {
    return Function{.name = std::string(f.name), .module = std::string(f.module), .caller = {}, .kind = std::string(spec::row_of(f.kind).name), .group = {}, .samples = 0, .example = example};
  };
  Function& hot = functions_.try_emplace({std::string(top->name), std::string(top->module)}, as_function(*top)).first->second;
  hot.samples += samples;
  hot.group = class_of(*top);
  std::set<std::string_view> seen;
  for (auto f = top; f != frames.end(); ++f) {
    if (!is_function(*f)) continue;
    const std::string_view group = class_of(*f);
    if (group.empty() || !seen.insert(group).second) continue;
    Function& of = classes_[group].try_emplace(std::string(f->name), as_function(*f)).first->second;
    of.samples += samples;
    of.group = group;
    if (const symbol::Frame* caller = caller_in(std::span(frames).subspan(static_cast<size_t>(f - frames.begin())))) of.caller = caller->name;
  }
}

Fact HotFunctions::fact_of(const Function& f, int pid, std::string_view measurement, const PlaceOf& place_of) const {
  const std::string& located = f.caller.empty() ? f.name : f.caller;
  const ProgramLocation location = location_at(located, place_of(f.example, located));
  Slots slots = {{"name", f.name}, {"module", f.module}, {"kind", f.kind}, {"class", f.group}, {"caller", f.caller}, {"file", location.file}, {"line", location.line}};
  put_share(slots, sampled_share(static_cast<double>(f.samples) / static_cast<double>(all_), all_));
  return fact_about(pid, "hot-function", measurement, std::move(slots));
}

std::vector<Fact> HotFunctions::facts(int pid, std::string_view measurement, const PlaceOf& place_of) const {
  std::vector<Fact> out;
  if (!all_) return out;
  const double least = 0.05 * static_cast<double>(all_);
  for (const auto& [name, f] : functions_)
    if (f.group.empty() && static_cast<double>(f.samples) >= least) out.push_back(fact_of(f, pid, measurement, place_of));
  for (const auto& [name, functions] : classes_) {
    Function whole = std::ranges::max_element(functions, {}, [](const auto& f) { return f.second.samples; })->second;
    whole.samples = 0;
    for (const auto& [function, its] : functions) whole.samples += its.samples;
    if (static_cast<double>(whole.samples) >= least) out.push_back(fact_of(whole, pid, measurement, place_of));
  }
  return out;
}

} // namespace why
