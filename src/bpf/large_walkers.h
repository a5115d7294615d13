// Walkers of language runtimes that are loaded only where they are needed. The verifier goes through every walker that is put into a program, which
// takes most of a start with user stacks: 1 ms for the small ones together, 6 ms for those of Java and Ruby. A program begins without large walkers, or with
// those of runtimes that are likely to be met; a function that does nothing stands in the place of a walker that is left out. When a process that runs
// such a runtime is met (Walker::need_language), the program is made and loaded anew, and takes the place of the first at its probes
// (Engine::add_languages).
#pragma once

#include "runtime/language.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace bpf {

// A set of language runtimes: bit LANGUAGE_….
using Languages = uint32_t;
constexpr Languages only(uint32_t language) { return Languages{1} << language; }
inline constexpr Languages all_languages = ~Languages{0};

struct LargeWalker {
  uint32_t language;                         // LANGUAGE_…
  std::array<std::string_view, 2> functions; // by which lib/unwind.bpf.c calls it
};
inline constexpr LargeWalker large_walkers[] = {
    {LANGUAGE_JAVA, {"acu_hotspot_frame"}},
    {LANGUAGE_RUBY, {"acu_ruby", "acu_ruby_frame"}},
    {LANGUAGE_NODE, {"acu_node_frame"}},
};

// Those that are always there.
constexpr Languages small_languages() {
  Languages all = all_languages;
  for (const LargeWalker& w : large_walkers) all &= ~only(w.language);
  return all;
}

} // namespace bpf
