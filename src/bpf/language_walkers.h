// Walkers of language runtimes are loaded only where they are needed. The verifier goes through every walker that is put into a program, and the kernel
// moves all instructions behind each that it replaces, which took two thirds of a start with user stacks. A program begins without walkers, or with those
// of runtimes that are likely to be met; a function that does nothing stands in the place of a walker that is left out. When a process that runs such a
// runtime is met (Walker::need_language), the program is made and loaded anew, and takes the place of the first at its probes (Engine::add_languages).
#pragma once

#include "runtime/language.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace bpf {

// A set of language runtimes: bit LANGUAGE_….
using Languages = uint32_t;
constexpr Languages only(uint32_t language) { return Languages{1} << language; }
inline constexpr Languages no_languages = 0, all_languages = ~Languages{0};

struct LanguageWalker {
  uint32_t language;                         // LANGUAGE_…
  std::array<std::string_view, 2> functions; // by which lib/unwind.bpf.c calls it
};
inline constexpr LanguageWalker language_walkers[] = {
    {LANGUAGE_PYTHON, {"acu_python"}},
    {LANGUAGE_PHP, {"acu_php"}},
    {LANGUAGE_PERL, {"acu_perl"}},
    {LANGUAGE_LUAJIT, {"acu_luajit", "acu_luajit_frame"}},
    {LANGUAGE_LUA, {"acu_lua"}},
    {LANGUAGE_JAVA, {"acu_hotspot_frame"}},
    {LANGUAGE_RUBY, {"acu_ruby", "acu_ruby_frame"}},
    {LANGUAGE_NODE, {"acu_node_frame"}},
};

} // namespace bpf
