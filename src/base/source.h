// The text of a script, of the files that it includes and imports, and places in them. All files lie one
// behind the other in one space of offsets, so a place is a byte range and says by itself which file it is
// in; file, line and column are worked out only when a place is shown to a person.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Half-open byte range [begin, end) in a Source, within one of its files.
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
  Source(std::string name, std::string text);
  // The script itself, which begins at offset 0.
  const std::string& name() const {
    return files_.front().name;
  } // "stdin" for -e and standard input, else the path
  std::string_view text() const { return files_.front().text; }
  // One more file; returns the offset at which its text begins. All together stay below 4 GB: the caller
  // looks.
  uint32_t add(std::string name, std::string text);
  uint32_t size() const; // every place ends here or before

  // Of the file that holds the offset. Its end belongs to it as well.
  const std::string& name(uint32_t offset) const { return file(offset).name; }
  std::string_view file_text(uint32_t offset) const { return file(offset).text; }
  std::string_view text(Range r) const;
  Position position(uint32_t offset) const;
  std::string_view line_at(uint32_t offset) const; // the line it is in, without the newline
  // "stdin:1:12-16", "sizes.h:3:1-5", or "stdin:2-4" for a range of several lines.
  std::string place(Range r) const;

private:
  struct File {
    std::string name, text;
    uint32_t begin = 0;
    mutable std::vector<uint32_t> lines = {}; // where each begins in the text; found when first asked for
    uint32_t end() const { return begin + static_cast<uint32_t>(text.size()); }
  };
  const File& file(uint32_t offset) const;

  std::deque<File> files_; // texts stay where they are when files are added
};

} // namespace base
