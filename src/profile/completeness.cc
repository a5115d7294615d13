#include "profile/completeness.h"

#include "base/text.h"
#include "profile/tables.h"
#include "spec/stack_ends.h"
#include "symbol/jit_code.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace profile {

namespace {

constexpr uint64_t tolerated = 100; // of so many stacks one may end early

struct Remedy {
  std::string_view note; // as naming.cc and spec::stack_ends have it
  std::string_view remedy;
};

// Notes that are not listed have no remedy.
constexpr Remedy remedies[] = {
    {"[code without unwind tables]", "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"},
    {"[return address is not code]",
     "the stack is corrupt, or the code changes its own return addresses"},
    {"[stack deeper than copied]", "only the first stacks of a process are copied; record longer"},
    {"[process not known yet]",
     "processes are examined one by one; record longer, or a single process with -p PID"},
    {"[code not known yet]",
     "processes are examined one by one; record longer, or a single process with -p PID"},
    {"[more than 512 frames]", "the innermost 512 frames are correct"},
    {"[stack ends early: no frame pointer]",
     "`acu info` shows why this kernel cannot use unwind tables"},
    {"[stack deeper than the stack limit]", "the innermost frames are correct"},
    {"[no user stack]", ""},
};
constexpr std::string_view of_made_code =
    "make its runtime keep frame pointers, for example with java -XX:+PreserveFramePointer";

const Remedy* remedy_of(std::string_view note) {
  const auto* found = std::ranges::find(remedies, note, &Remedy::note);
  return found == std::end(remedies) ? nullptr : found;
}

bool is_early_end(std::string_view note) {
  const auto is_this = [&](const spec::StackEnd& e) { return e.name == note && !e.is_none; };
  return remedy_of(note) || std::ranges::any_of(spec::stack_ends, is_this);
}

bool is_made(const Profile& p, const Frame& frame) {
  const std::string_view module = p.module(frame);
  return p.name(frame) == "[code made at run time]" || base::glob_match("*/perf-*.map", module) ||
         symbol::is_jitdump(module);
}

// Where a stack ends: the note and the file of the last frame that was found, the outermost one; texts. 0: it
// is complete.
struct End {
  uint32_t note = 0, module = 0;
  bool is_made = false; // in code that the process made itself
  auto operator<=>(const End&) const = default;
};

// By node; parents come before their children.
std::vector<End> ends_of(const Profile& p) {
  std::vector<End> ends(p.nodes().size());
  for (uint32_t n = 1; n < ends.size(); n++) {
    const uint32_t parent = p.nodes()[n].parent;
    const Frame& frame = p.frame_of(n);
    ends[n] = ends[parent];
    if (spec::is_note(frame.kind) && is_early_end(p.name(frame)))
      ends[n] = {.note = frame.name};
    else if (ends[n].note && spec::is_note(p.frame_of(parent).kind))
      ends[n] = {ends[n].note, frame.module, is_made(p, frame)};
  }
  return ends;
}

std::string sentence(const Profile& p, const End& end, uint64_t count, uint64_t samples) {
  const std::string_view note = p.texts()[end.note];
  const std::string_view module = p.texts()[end.module];
  std::string out(note.substr(1, note.size() - 2));
  if (end.is_made)
    out += " generated at run time";
  else if (!module.empty())
    out.append(" in ").append(module);
  out += " (" + percent(count, samples) + ")";
  const Remedy* remedy = remedy_of(note);
  const std::string_view text = end.is_made ? of_made_code : remedy ? remedy->remedy : std::string_view();
  return text.empty() ? out : out.append(": ").append(text);
}

} // namespace

uint64_t complete_samples(const Profile& p) {
  const std::vector<End> ends = ends_of(p);
  uint64_t out = 0;
  for (const Sample& s : p.samples()) out += ends[s.node].note ? 0 : s.count;
  return out;
}

std::string why_incomplete(const Profile& p) {
  const std::vector<End> ends = ends_of(p);
  std::map<End, uint64_t> counts;
  uint64_t samples = 0, early = 0;
  for (const Sample& s : p.samples()) {
    samples += s.count;
    if (!ends[s.node].note) continue;
    early += s.count;
    counts[ends[s.node]] += s.count;
  }
  if (early * tolerated <= samples) return {};
  const auto most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
  return "only " + percent(samples - early, samples) +
         " of stacks are complete: " + sentence(p, most->first, most->second, samples);
}

} // namespace profile
