#include "dwarf/index_name.h"

#include <algorithm>
#include <cstring>

namespace dwarf {
namespace {

template<class T> T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

} // namespace

size_t operator_length(std::string_view name) {
  constexpr std::string_view word = "operator";
  if (!name.starts_with(word) || name.size() == word.size()) return 0;
  std::string_view rest = name.substr(word.size());
  if (is_word(rest[0]) || rest[0] == ' ') return 0; // a conversion, or another name
  for (std::string_view symbol : {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]"})
    if (rest.starts_with(symbol)) return word.size() + symbol.size();
  return word.size() + 1;
}

uint64_t hash_of_text(std::string_view text) {
  constexpr uint64_t factor = 0xa0761d6478bd642fu;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = left;
  for (; left > 8; at += 8, left -= 8) hash = mix(hash ^ load<uint64_t>(at), factor);
  uint64_t rest = 0;
  if (left >= 4)
    rest = uint64_t{load<uint32_t>(at)} << 32 | load<uint32_t>(at + left - 4);
  else if (left > 0)
    rest = uint64_t{static_cast<uint8_t>(at[0])} << 16 | uint64_t{static_cast<uint8_t>(at[left / 2])} << 8 |
           static_cast<uint8_t>(at[left - 1]);
  return mix(hash ^ rest, factor ^ text.size());
}

std::string_view without_template_arguments(std::string_view name) {
  size_t from = operator_length(name);
  if (from == 0) from = 1; // "<lambda()>" is a name
  size_t at = name.find('<', from);
  if (at == name.npos || !name.ends_with('>')) return name;
  while (at > from && name[at - 1] == ' ') at--;
  return name.substr(0, at);
}

uint32_t hash_of_name(std::string_view name) {
  return static_cast<uint32_t>(hash_of_text(without_template_arguments(name)) >> 32);
}

std::vector<std::string_view> split_name(std::string_view name) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); i++) {
    if (i == begin && depth == 0)
      if (size_t skip = operator_length(name.substr(i))) {
        i += skip - 1;
        continue;
      }
    char c = name[i];
    if (c == '<' || c == '(' || c == '{' || c == '[') depth++;
    if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0) depth--;
    if (c == ':' && depth == 0 && i + 1 < name.size() && name[i + 1] == ':') {
      out.push_back(name.substr(begin, i - begin));
      begin = i + 2;
      i++;
    }
  }
  out.push_back(name.substr(begin));
  return out;
}

std::string_view without_parameters(std::string_view part) {
  if (part.ends_with(" const")) part.remove_suffix(6);
  size_t from = std::max<size_t>(operator_length(part), 1);
  if (!part.ends_with(')')) return part;
  int depth = 0;
  for (size_t i = part.size(); i-- > from;) {
    if (part[i] == ')') depth++;
    if (part[i] == '(' && --depth == 0) return part.substr(0, i);
  }
  return part;
}

bool same_name(std::string_view stored, std::string_view wanted) {
  if (stored == wanted) return true;
  if (stored.find('<') == stored.npos) return false;
  if (without_template_arguments(stored) == wanted) return true;
  size_t i = 0, j = 0;
  for (;; i++, j++) {
    while (i < stored.size() && stored[i] == ' ') i++;
    while (j < wanted.size() && wanted[j] == ' ') j++;
    if (i == stored.size() || j == wanted.size()) return i == stored.size() && j == wanted.size();
    if (stored[i] != wanted[j]) return false;
  }
}

} // namespace dwarf
