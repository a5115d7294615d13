#include "runtime/splice.h"

#include "runtime/runtimes.h"
#include "spec/stack_entries.h"

#include <algorithm>

namespace runtime {

namespace {

bool holds(const language_code& code, uint64_t address) { return address >= code.begin && address < code.end; }

// Language frames by activation, the innermost first: where each begins and ends in the list, in words.
struct Activation {
  size_t begin, end;
};
std::vector<Activation> activations_of(std::span<const uint64_t> language) {
  std::vector<Activation> out;
  for (size_t at = 0; at + 1 < language.size(); at += 2) {
    if (language[at] & LANGUAGE_FIRST || out.empty()) out.push_back({at, at});
    out.back().end = at + 2;
  }
  return out;
}

} // namespace

Show show_of(std::string_view name) { return name == "both" ? Show::both : name == "native" ? Show::native : Show::folded; }

std::vector<SplicedFrame> order_of(const Lists& lists, const ProcessRuntime& process, Show show) {
  const spec::UserStack parts = spec::split_user_stack(lists.native);
  const bool is_complete = !parts.end && !lists.is_cut;
  const std::span<const uint64_t> frames = parts.frames;
  // The byte before a return address is in the call.
  const auto code_of = [&](size_t i) { return frames[i] - (i ? 1 : 0); };
  const auto is_evaluation = [&](size_t i) { return runtime::is_evaluation(process.table, code_of(i)); };
  std::vector<Activation> activations;
  if (show != Show::native) activations = activations_of(lists.language);
  // An evaluation frame that goes on with the activation of a nested one has none of its own.
  std::vector<bool> begins(frames.size());
  size_t evaluations = 0;
  bool is_nested = false;
  for (size_t i = 0; i < frames.size(); i++) {
    if (i && is_evaluation(i - 1) && holds(process.table.nested, code_of(i))) is_nested = true;
    if (!is_evaluation(i)) continue;
    begins[i] = !is_nested;
    evaluations += begins[i];
    is_nested = false;
  }
  if (!evaluations) activations.clear();

  // The innermost of both belong together. Where there are too few activations, the thread has just entered or is about to leave the function it
  // is in, which has no activation then, or it switched to another stack of the language (greenlets), and outer frames are another's. No language
  // frame is left out: activations whose evaluation frame was not recognised go with the innermost one.
  const bool is_entered = !frames.empty() && frames[0] == process.table.evaluation[0].begin && !(is_complete && evaluations <= activations.size());
  // Walks of Lua say of each evaluation frame which activation it runs, if any.
  const bool is_told = process.table.kind == LANGUAGE_LUAJIT || process.table.kind == LANGUAGE_LUA;
  const bool has_none = !is_told && (is_entered || (is_complete && evaluations > activations.size() && is_evaluation(0)));
  size_t extra = !is_complete ? 0 : activations.size() - std::min(evaluations, activations.size());
  size_t next = 0;
  std::vector<SplicedFrame> out;
  bool is_inside = false; // of an activation that was met
  // False: the activation runs no function of the language.
  const auto add_activation = [&] {
    const Activation a = activations[next++];
    if (!lists.language[a.begin + 1]) return false;
    for (size_t at = a.begin; at < a.end; at += 2) out.push_back({true, at});
    return true;
  };
  for (size_t i = 0; i < frames.size(); i++) {
    bool folds = false;
    if (begins[i] && next < activations.size() && !(i == 0 && has_none)) {
      for (extra++; extra; extra--) folds |= add_activation();
      is_inside |= folds;
    }
    folds |= is_inside && holds(process.code, code_of(i));
    if (show != Show::folded || !folds) out.push_back({false, i, folds});
  }
  if (!is_complete)
    while (next < activations.size()) add_activation(); // of evaluation frames that were not reached
  return out;
}

std::vector<uint64_t> splice(const Lists& lists, const ProcessRuntime& process, Show show) {
  std::vector<uint64_t> out;
  for (const SplicedFrame& f : order_of(lists, process, show)) {
    if (f.is_language)
      out.insert(out.end(), {lists.language[f.index], lists.language[f.index + 1]});
    else if (f.folds && show == Show::foldable)
      out.insert(out.end(), {spec::tagged_word(spec::FrameKind::interpreter, 0), lists.native[f.index] - (f.index ? 1 : 0)});
    else
      out.push_back(lists.native[f.index]);
  }
  if (const spec::UserStack parts = spec::split_user_stack(lists.native); parts.end) out.push_back(parts.end);
  return out;
}

} // namespace runtime
