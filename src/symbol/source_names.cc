#include "symbol/source_names.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace symbol {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// Blanks stay only between two words: "unsigned int", "operator new".
std::string without_blanks(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != ' ') {
      out += text[i];
      continue;
    }
    size_t next = text.find_first_not_of(' ', i);
    if (next != text.npos && !out.empty() && is_word(out.back()) && is_word(text[next])) out += ' ';
    i = next == text.npos ? text.size() : next - 1;
  }
  return out;
}

// Where an operator's sign begins at `at` ("operator<"): its length with the word, else 0.
size_t operator_length(std::string_view text, size_t at) {
  constexpr std::string_view word = "operator";
  if (text.substr(at, word.size()) != word || (at > 0 && is_word(text[at - 1]))) return 0;
  size_t end = at + word.size();
  if (end < text.size() && is_word(text[end])) return 0;
  if (text.substr(end).starts_with("()")) return word.size() + 2;
  while (end < text.size() && std::string_view("<>=-+*/%^&|~!,[]").find(text[end]) != text.npos) end++;
  return end - at;
}

// Goes over a name, and calls `take(position, depth)` for each character outside of operators' signs; depth
// counts the brackets around it.
template<class Take> void walk(std::string_view text, Take take) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == 'o')
      if (size_t length = operator_length(text, i)) {
        i += length - 1;
        continue;
      }
    char c = text[i];
    if (c == ')' || c == '>' || c == ']' || c == '}') depth--;
    if (!take(i, depth)) return;
    if (c == '(' || c == '<' || c == '[' || c == '{') depth++;
  }
}

// How many brackets are open at the end.
int depth_behind(std::string_view text) {
  int open = 0;
  walk(text, [&](size_t at, int depth) {
    open = depth + (std::string_view("(<[{").find(text[at]) != std::string_view::npos);
    return true;
  });
  return open;
}

// The arguments of a template at the end are left off: "ns::f<int>" is "ns::f".
std::string_view without_arguments(std::string_view name) {
  size_t open = name.npos;
  walk(name, [&](size_t at, int depth) {
    if (depth == 0 && name[at] == '<') open = at;
    if (depth == 0 && name[at] == ':') open = name.npos;
    return true;
  });
  return open == name.npos || open == 0 ? name : name.substr(0, open);
}

} // namespace

SourceParts split_source_name(std::string_view text) {
  // The parameters are the last brackets at the outermost level, but for those that hold "anonymous
  // namespace" or "lambda…" and are followed by "::".
  size_t open = text.npos, candidate = text.npos;
  walk(text, [&](size_t at, int depth) {
    if (depth != 0) return true;
    if (text[at] == '(') candidate = at;
    if (text[at] == ')' && candidate != text.npos && !text.substr(at + 1).starts_with("::")) {
      if (open == text.npos) open = candidate;
      if (!text.substr(candidate).starts_with("(anonymous namespace)")) open = candidate;
    }
    return true;
  });
  // "f(int) [clone .cold]" has no brackets of that kind behind it; "[abi:cxx11]" belongs to the name.
  std::string_view name = text.substr(0, open);
  // What follows "operator" belongs to it: "operator new", "operator<< <char>".
  size_t end = name.rfind("operator");
  if (end == name.npos || !operator_length(name, end) || depth_behind(name.substr(0, end)) != 0)
    end = name.size();
  size_t begin = 0;
  walk(name.substr(0, end), [&](size_t at, int depth) {
    if (depth == 0 && name[at] == ' ') begin = at + 1;
    return true;
  });
  return {name.substr(begin), open == text.npos ? std::string_view() : text.substr(open)};
}

SourceName::SourceName(std::string_view written) : wanted_(without_blanks(written)) {
  if (wanted_.starts_with("::")) wanted_.erase(0, 2);
  SourceParts parts = split_source_name(wanted_);
  has_parameters_ = !parts.parameters.empty();
  has_arguments_ = without_arguments(parts.name).size() != parts.name.size();
  has_glob_ = base::has_glob(parts.name) && parts.name.find("operator") == parts.name.npos;
  if (has_glob_ && !has_parameters_) return;
  std::string_view last = without_arguments(parts.name);
  size_t colon = last.rfind("::");
  std::string_view scope = colon == last.npos ? std::string_view() : last.substr(0, colon);
  last = last.substr(colon == last.npos ? 0 : colon + 2);
  bool plain = !last.empty() && last.find("operator") == last.npos;
  for (char c : last) plain &= is_word(c);
  // Constructors of names that have an abbreviation of their own ("std::string") are not written out.
  if (plain && !scope.ends_with(last)) word_ = last;
}

bool SourceName::may_match(std::string_view mangled) const {
  return word_.empty() || mangled.find(word_) != mangled.npos;
}

bool SourceName::matches(std::string_view demangled) const {
  std::string text = without_blanks(demangled);
  if (wanted_ == text) return true;
  SourceParts parts = split_source_name(text);
  if (has_parameters_) {
    std::string whole = std::string(parts.name) + std::string(parts.parameters);
    return has_glob_ ? base::glob_match(wanted_, whole) : wanted_ == whole;
  }
  if (has_glob_) return base::glob_match(wanted_, parts.name);
  return wanted_ == parts.name || (!has_arguments_ && wanted_ == without_arguments(parts.name));
}

bool has_call_of(const std::vector<Frame>& frames, const SourceName& name) {
  return std::ranges::any_of(frames, [&](const Frame& f) { return !spec::is_note(f.kind) && name.matches(f.name); });
}

} // namespace symbol
