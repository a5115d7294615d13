// Small helpers on text that more than one folder needs.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

class Fd;

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
// Puts `by` in place of every `word`.
void replace_all(std::string& text, std::string_view word, std::string_view by);
// `*` matches any run of characters, `?` one character; the whole text must match.
bool glob_match(std::string_view pattern, std::string_view text);
inline bool has_glob(std::string_view pattern) { return pattern.find_first_of("*?") != pattern.npos; }
inline bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
// Control characters as \n, \t, \r or \x1b, and bytes that are no UTF-8 likewise: nothing moves a cursor or ends a line.
std::string printable(std::string_view text);
// A name as messages show it: `name`.
std::string quoted(std::string_view name);
// Takes a hexadecimal number without 0x, and the character `end` behind it, from the front of the text.
bool take_hex(std::string_view& text, char end, uint64_t& value);
// Decimal, 0x hex or 0 octal; nothing else may follow.
std::optional<uint64_t> parse_integer(std::string_view text);
// true, on, yes or 1; false, off, no or 0; in any case.
std::optional<bool> parse_boolean(std::string_view text);
// The candidate nearest to `word` by edit distance, or empty when none is near enough to be a typo.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);
// A whole file; also files of /proc and /sys, which tell no size.
Result<std::string> read_file(const std::string& path);
// Of an open file `most` bytes, or as many as there are; `path` is for the message.
Result<std::string> read_up_to(const Fd& file, uint64_t most, const std::string& path);

// As one word of a shell's command line.
std::string in_shell(std::string_view text);

} // namespace base
