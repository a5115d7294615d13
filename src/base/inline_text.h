// A text that lies in the row of its table. A std::string_view there is a pointer, which the loader fills in at each start, page by page; a table of
// such texts is read from the file when it is first used.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace base {

template<size_t most> class InlineText {
public:
  constexpr InlineText() = default;
  template<size_t n> consteval InlineText(const char (&text)[n]) : InlineText(std::string_view(text, n - 1)) {}
  constexpr explicit InlineText(std::string_view text) : size_(static_cast<uint8_t>(text.size())) {
    for (size_t i = 0; i < text.size(); i++) text_[i] = text[i]; // as a constant, a text that is too long does not compile
  }

  constexpr operator std::string_view() const { return {text_, size_}; }
  friend constexpr bool operator==(const InlineText& a, std::string_view b) { return std::string_view(a) == b; }
  friend constexpr std::strong_ordering operator<=>(const InlineText& a, std::string_view b) { return std::string_view(a) <=> b; }

private:
  char text_[most] = {};
  uint8_t size_ = 0;
};

} // namespace base
