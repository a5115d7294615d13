// The text of a script and places in it. Places are byte ranges; line and column are worked out only when
// one is shown to a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Half-open byte range [begin, end) in a Source.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  Range to(Range last) const { return {begin, last.end}; }
};

// Line and column, both counted from 1.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Source {
public:
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  const std::string& name() const { return name_; } // "stdin" for -e and standard input, else the path
  std::string_view text() const { return text_; }
  std::string_view text(Range r) const { return text().substr(r.begin, r.end - r.begin); }
  Position position(uint32_t offset) const;
  std::string_view line(uint32_t number) const; // without its newline
  // "stdin:1:12-16", or "stdin:2-4" for a range of several lines.
  std::string place(Range r) const;

private:
  std::string name_;
  std::string text_;
};

} // namespace base
