#include "base/text.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <utility>

namespace base {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

void replace_all(std::string& text, std::string_view word, std::string_view by) {
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += by.size()) text.replace(at, word.size(), by);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // Only the last `*` ever needs to be tried again: linear in practice, quadratic at worst.
  size_t p = 0, t = 0, star = pattern.npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      p++, t++;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') p++;
  return p == pattern.size();
}

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

bool take_hex(std::string_view& text, char end, uint64_t& value) {
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || at == text.data() + text.size() || *at != end) return false;
  text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
  return true;
}

std::optional<uint64_t> parse_integer(std::string_view text) {
  unsigned base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (char c : text) {
    unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 99;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
      return std::nullopt;
  }
  return value;
}

namespace {

// Letters put in, left out, replaced, or two neighbours exchanged: each counts as one. The rows of the table of
// distances are kept from one pair of words to the next.
class EditDistance {
public:
  // Or `limit`, where it is no less.
  size_t between(std::string_view a, std::string_view b, size_t limit) {
    for (auto* row : {&before_, &last_, &row_}) row->resize(std::max(row->size(), b.size() + 1));
    for (size_t j = 0; j <= b.size(); j++) row_[j] = j;
    size_t least = 0;
    for (size_t i = 1; i <= a.size(); i++) {
      before_.swap(last_);
      last_.swap(row_);
      row_[0] = i;
      const size_t least_before = std::exchange(least, i);
      for (size_t j = 1; j <= b.size(); j++) {
        row_[j] = std::min({last_[j - 1] + (a[i - 1] != b[j - 1]), last_[j] + 1, row_[j - 1] + 1});
        const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        if (exchanged) row_[j] = std::min(row_[j], before_[j - 2] + 1);
        least = std::min(least, row_[j]);
      }
      // What follows is made from these two rows.
      if (least >= limit && least_before >= limit) return limit;
    }
    return std::min(row_[b.size()], limit);
  }

private:
  std::vector<size_t> before_, last_, row_;
};

} // namespace

std::optional<bool> parse_boolean(std::string_view text) {
  constexpr std::string_view positive[] = {"true", "on", "yes", "1"}, negative[] = {"false", "off", "no", "0"};
  const std::string word = lower(text);
  if (is_one_of(positive, word)) return true;
  if (is_one_of(negative, word)) return false;
  return std::nullopt;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  EditDistance distance;
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3 + 1);
  for (std::string_view c : candidates) {
    size_t gap = c.size() > word.size() ? c.size() - word.size() : word.size() - c.size();
    if (gap >= best_distance) continue;
    size_t d = distance.between(word, c, best_distance);
    if (d < best_distance) best = c, best_distance = d;
  }
  return best;
}

Result<std::string> read_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno_error("cannot open " + path, errno);
  return read_up_to(fd, UINT64_MAX, path);
}

Result<std::string> read_up_to(const Fd& file, uint64_t most, const std::string& path) {
  std::string out;
  char buffer[16384];
  while (out.size() < most) {
    ssize_t n = ::read(file.get(), buffer, std::min<uint64_t>(sizeof buffer, most - out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("cannot read " + path, errno);
    if (n == 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

static bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef", controls = "\n\t\r", letters = "ntr";
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text), shown = std::max<size_t>(length, 1);
    const std::string_view bytes = text.substr(0, shown);
    text.remove_prefix(shown);
    if (length && !is_control(bytes)) {
      out += bytes;
    } else if (const size_t at = controls.find(bytes[0]); at != controls.npos) {
      out.append(1, '\\').append(1, letters[at]);
    } else {
      for (char c : bytes) out.append("\\x").append(1, digits[c >> 4 & 15]).append(1, digits[c & 15]);
    }
  }
  return out;
}

std::string in_shell(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

} // namespace base
