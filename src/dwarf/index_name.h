// Names as an index keeps them, and as a person writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dwarf {

// The length of "operator<" and the like at the begin of a name; 0: it does not begin with one.
size_t operator_length(std::string_view name);
// The part of a name before the arguments of a template: "vector" of "vector<int>", "operator<" of "operator<
// <int>".
std::string_view without_template_arguments(std::string_view name);
// A name in its parts: "ns", "Class<int>", "method". Never empty.
std::vector<std::string_view> split_name(std::string_view name);
// "f(int) const" without its parameters; "operator()" and "(anonymous namespace)" stay.
std::string_view without_parameters(std::string_view part);
// Whether a stored name (one part) is what a person wrote: blanks do not matter in arguments of templates,
// and these may be left out altogether.
bool same_name(std::string_view stored, std::string_view wanted);

// Hash of a name, the same on every machine: it stands in the index. Names that differ only in arguments of
// templates have the same one.
uint32_t hash_of_name(std::string_view name);
// Of all the text.
uint64_t hash_of_text(std::string_view text);

inline uint64_t mix(uint64_t a, uint64_t b) {
  unsigned __int128 x = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);
  return static_cast<uint64_t>(x) ^ static_cast<uint64_t>(x >> 64);
}

} // namespace dwarf
