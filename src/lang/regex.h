// Regular expressions of match(): a constant pattern becomes a table, so that a match takes one step for each byte of the
// text, whatever the pattern, and no memory but one number.
//
// The syntax is that of POSIX extended expressions, with \d \w \s \D \W \S, \xHH, (?:…) and a leading (?i). Patterns match
// bytes: `.` is any byte, and classes name ASCII characters. Nothing is captured, so nothing is greedy or lazy; references
// to groups and looking around are refused, for no table has them.
//
//   parse_regex    pattern -> nodes            (regex_parse.cc)
//   compile_regex  nodes -> Automaton          (regex.cc)
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lang {

using ByteSet = std::bitset<256>;

struct RegexNode {
  enum Kind : uint8_t { nothing, set, sequence, choice, repeat, begin, end } kind = nothing;
  ByteSet bytes;                  // set
  std::vector<uint32_t> children; // indices; of repeat: one
  uint32_t min = 0, max = 0;      // repeat; max is `endless` or at most most_repeats
};

inline constexpr uint32_t endless = ~0u, most_repeats = 1000;

struct RegexTree {
  std::vector<RegexNode> nodes;
  uint32_t root = 0;
};

struct RegexMistake {
  size_t begin = 0, end = 0; // bytes of the pattern
  std::string message, hint;
};

// Reads a text byte by byte, and its end as byte 0: state = next[state + class_of[byte]], until the state is `fails` or `matches`.
struct Automaton {
  static constexpr uint32_t fails = 0, matches = 1;
  std::array<uint8_t, 256> class_of = {};
  std::vector<uint32_t> next;
  uint32_t start = fails;
};

inline constexpr size_t most_regex_steps = 2000; // nodes after repetitions are written out
inline constexpr size_t most_regex_entries = 1 << 15; // of Automaton::next

// Nothing: `mistake` says why.
std::optional<RegexTree> parse_regex(std::string_view pattern, RegexMistake& mistake);
std::optional<Automaton> compile_regex(std::string_view pattern, RegexMistake& mistake);

// As the engines do it.
bool run(const Automaton& automaton, std::string_view text);

} // namespace lang
