// Walks of language frames in memory that does not change, by the steps that the walkers in the kernel take (NAME_walk.h): these are plain C and
// know one macro for reading. For the sources of runtimes alone.
#pragma once

#include "runtime/runtimes.h"
#include "spec/stack_entries.h"

#include <set>

namespace runtime {

// The memory of the walk that is under way on this thread.
inline thread_local const ReadMemory* walked_memory = nullptr;

inline int read_walked(void* to, uint64_t size, uint64_t from) {
  return !size || (*walked_memory)(from, std::span(static_cast<std::byte*>(to), size)) ? 0 : 1;
}

// Goes on with `turn` (1: the walk has ended) until there are no more frames. `describe` fills in what names the code object that was read
// last.
template<class Turn, class Describe> LanguageStack walk_frames(spec::FrameKind kind, language_walk& walk, Turn turn, Describe describe) {
  constexpr uint32_t max_turns = 1 << 17; // frames may lead in circles, as the memory may be damaged
  LanguageStack out;
  std::set<std::pair<uint64_t, uint32_t>> described;
  for (uint32_t turns = 0; !turn(); turns++) {
    if (turns == max_turns) {
      walk.end = LANGUAGE_TOO_DEEP;
      break;
    }
    if (!walk.code) continue;
    out.words.insert(out.words.end(), {spec::tagged_word(kind, language_entry(&walk)), walk.code});
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
