#include "profile/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace profile {

char JsonReader::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) at_++;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::is_at_end() {
  next();
  return at_ == text_.size();
}

void JsonReader::expect(char c) {
  if (next() == c && at_ < text_.size())
    at_++;
  else
    fail();
}

// A character above 0xffff is two of them, which become one in UTF-8.
static void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code >= 0x10000) out += static_cast<char>(0xf0 | code >> 18);
  if (code >= 0x800) out += static_cast<char>(code >= 0x10000 ? 0x80 | (code >> 12 & 0x3f) : 0xe0 | code >> 12);
  out += static_cast<char>(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) : 0xc0 | code >> 6);
  out += static_cast<char>(0x80 | (code & 0x3f));
}

// What stands for the letter behind a backslash, which was read.
std::string JsonReader::escaped() {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  if (const size_t at = letters.find(c); c && at != letters.npos) return std::string(1, meant[at]);
  auto unit = [&]() -> uint32_t {
    uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) return fail(), 0;
    at_ += 4;
    return code;
  };
  if (c != 'u') return fail(), std::string();
  uint32_t code = unit();
  if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    code = 0x10000 + ((code - 0xd800) << 10) + ((unit() - 0xdc00) & 0x3ff);
  }
  std::string out;
  append_utf8(out, code);
  return out;
}

std::string JsonReader::text() {
  expect('"');
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_++];
    out += c == '\\' ? escaped() : std::string(1, c);
  }
  if (at_ < text_.size())
    at_++;
  else
    fail();
  return ok_ ? out : std::string();
}

double JsonReader::number() {
  next();
  double out = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
  if (error != std::errc()) return fail(), 0;
  at_ = static_cast<size_t>(end - text_.data());
  return out;
}

void JsonReader::skip_text() {
  for (at_++; at_ < text_.size() && text_[at_] != '"'; at_++)
    if (text_[at_] == '\\') at_++;
  if (at_ < text_.size())
    at_++;
  else
    fail();
}

// However deep it is.
void JsonReader::skip() {
  size_t depth = 0;
  do {
    const char c = next();
    if (c == '"') {
      skip_text();
      continue;
    }
    if (!c) return fail();
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') {
      if (!depth) return fail();
      depth--;
    }
    const bool is_word = std::string_view("{}[],:").find(c) == std::string_view::npos;
    at_ = is_word ? std::min(text_.find_first_of(" \n\t\r{}[],:\"", at_), text_.size()) : at_ + 1;
  } while (depth);
}

} // namespace profile
