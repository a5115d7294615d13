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
  template<size_t n> consteval InlineText(const char (&text)[n]) : size_(n - 1) {
    static_assert(n - 1 <= most);
    for (size_t i = 0; i < n - 1; i++) text_[i] = text[i];
  }

  constexpr operator std::string_view() const { return {text_, size_}; }
  friend constexpr bool operator==(const InlineText& a, std::string_view b) { return std::string_view(a) == b; }
  friend constexpr std::strong_ordering operator<=>(const InlineText& a, std::string_view b) { return std::string_view(a) <=> b; }

private:
  char text_[most] = {};
  uint8_t size_ = 0;
};

} // namespace base
