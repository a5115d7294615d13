// Walks of language frames in memory that does not change, by the steps that the walkers in the kernel take (NAME_walk.h): these are plain C and
// know one macro for reading. For the sources of runtimes alone.
#pragma once

#include "runtime/runtimes.h"
#include "spec/stack_entries.h"

#include <set>
#include <utility>

namespace runtime {

// The memory of the walk that is under way on this thread.
inline thread_local const ReadMemory* walked_memory = nullptr;

inline int read_walked(void* to, uint64_t size, uint64_t from) {
  return !size || (*walked_memory)(from, std::span(static_cast<std::byte*>(to), size)) ? 0 : 1;
}

// Takes the frames of the evaluation function from the native walk, as the walker in the kernel does (unwind.bpf.c, add_evaluation). Gives the
// innermost one; nullptr: there is none. `by_cfa`: evaluation_rsp is the CFA. A frame that a signal interrupted counts as running, since
// its registers are known.
inline const unwind::Frame* take_evaluations(const language_table& table, const ThreadWalk& thread, language_walk& walk, bool by_cfa = false) {
  const unwind::Frame* innermost = nullptr;
  for (const unwind::Frame& f : thread.frames) {
    if (!is_evaluation(table, f.look_up())) continue;
    if (!innermost) {
      innermost = &f;
      walk.evaluation_is = f.is_exact ? LANGUAGE_RUNS : LANGUAGE_CALLS;
    }
    if (walk.evaluations == LANGUAGE_MAX_EVALUATIONS) break;
    walk.evaluation_rbp[walk.evaluations] = f.registers.get(ARCH_RBP).value_or(0);
    walk.evaluation_rsp[walk.evaluations++] = by_cfa ? f.cfa : f.registers.get(ARCH_RSP).value_or(0);
  }
  return innermost;
}

inline bool never_closed() { return false; }

// Goes on with `turn` (1: the walk has ended) until there are no more frames. `describe` fills in what names the code object that was read
// last; `is_closed`: the turn ended an activation without functions of the language.
template<class Turn, class Describe, class IsClosed = bool (*)()>
LanguageStack walk_frames(spec::FrameKind kind, language_walk& walk, Turn turn, Describe describe, IsClosed is_closed = never_closed) {
  constexpr uint32_t max_turns = 1 << 17; // frames may lead in circles, as the memory may be damaged
  LanguageStack out;
  std::set<std::pair<uint64_t, uint32_t>> described;
  uint64_t frame = walk.frame;
  for (uint32_t turns = 0; !turn(); turns++) {
    const uint64_t found = std::exchange(frame, walk.frame);
    if (turns == max_turns) {
      walk.end = LANGUAGE_TOO_DEEP;
      break;
    }
    const auto add = [&](uint64_t entry, uint64_t code) {
      out.words.insert(out.words.end(), {spec::tagged_word(kind, entry), code});
      out.frames.push_back(found);
    };
    if (is_closed()) add(LANGUAGE_FIRST, 0);
    if (!walk.code) continue;
    add(language_entry(&walk), walk.code);
    if (!described.emplace(walk.code, walk.check).second) continue;
    language_object& object = out.objects.emplace_back();
    object.address = walk.code;
    object.check = walk.check;
    describe(object);
  }
  out.end = walk.end;
  return out;
}

} // namespace runtime

#define language_read(to, size, from) runtime::read_walked(to, size, from)
