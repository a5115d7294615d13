#include "runtime/splice.h"

#include "spec/stack_entries.h"

#include <algorithm>

namespace runtime {

namespace {

bool holds(const language_code& code, uint64_t address) { return address >= code.begin && address < code.end; }

// Language frames by activation, the innermost first.
std::vector<std::span<const uint64_t>> activations_of(std::span<const uint64_t> language) {
  std::vector<std::span<const uint64_t>> out;
  for (size_t at = 0; at + 1 < language.size(); at += 2) {
    if (language[at] & LANGUAGE_FIRST || out.empty()) out.push_back(language.subspan(at, 0));
    out.back() = {out.back().data(), out.back().size() + 2};
  }
  return out;
}

} // namespace

std::vector<uint64_t> splice(std::span<const uint64_t> native, std::span<const uint64_t> language, const ProcessRuntime& process, Show show) {
  const spec::UserStack parts = spec::split_user_stack(native);
  const std::span<const uint64_t> frames = parts.frames;
  // The byte before a return address is in the call.
  const auto code_of = [&](size_t i) { return frames[i] - (i ? 1 : 0); };
  const auto is_evaluation = [&](size_t i) {
    return std::ranges::any_of(process.table.evaluation, [&](const language_code& code) { return holds(code, code_of(i)); });
  };
  std::vector<std::span<const uint64_t>> activations = activations_of(language);
  size_t evaluations = 0;
  for (size_t i = 0; i < frames.size(); i++) evaluations += is_evaluation(i);
  if (show == Show::native || activations.empty() || !evaluations) return {native.begin(), native.end()};

  // The outermost of both belong together: a function that has just been entered may not have its activation yet. Where the outer frames are
  // missing the innermost do. No language frame is left out: activations whose evaluation frame was not recognised go with the innermost one.
  size_t without = parts.end ? 0 : evaluations - std::min(evaluations, activations.size());
  size_t extra = parts.end ? 0 : activations.size() - std::min(evaluations, activations.size());
  size_t next = 0;
  std::vector<uint64_t> out;
  bool is_inside = false; // of an activation that was met
  // False: the activation runs no function of the language.
  const auto add = [&](std::span<const uint64_t> words) {
    if (!words[1]) return false;
    out.insert(out.end(), words.begin(), words.end());
    return true;
  };
  for (size_t i = 0; i < frames.size(); i++) {
    if (is_evaluation(i)) {
      if (without) {
        without--;
      } else if (next < activations.size()) {
        bool is_empty = true;
        for (extra++; extra; extra--) is_empty &= !add(activations[next++]);
        is_inside |= !is_empty;
        if (show == Show::language && !is_empty) continue;
      }
    }
    if (show == Show::both || !is_inside || !holds(process.code, code_of(i))) out.push_back(frames[i]);
  }
  if (parts.end) {
    while (next < activations.size()) add(activations[next++]); // of evaluation frames that were not reached
    out.push_back(parts.end);
  }
  return out;
}

} // namespace runtime
