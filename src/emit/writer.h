// Text by lines, with indentation and comments.
#pragma once

#include "base/source.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emit {

class Writer {
public:
  // `step`: blanks of a level. `comment`: "//" or "#".
  Writer(const base::Source& source, std::string_view comment, int step = 2) : source_(source), comment_(comment), step_(step) {}

  void line(std::string_view text);  // with the current indentation; text with newlines becomes several lines
  void blank();                      // one empty line, never two, never the first
  void comment(std::string_view text); // wrapped to 120 columns
  void open(std::string_view text);  // a line, and one level deeper
  void close(std::string_view text); // one level back, and a line
  void middle(std::string_view text) { close_level(), open(text); } // "} else {"
  void indent() { depth_++; }
  void close_level() { depth_--; }

  // Comments of a place of the script: those that stand directly above it there, if it begins a line, and its own name and line
  // ("// opensnoop.bt:14"). Comments that were written once are not written again.
  void place(base::Range where, std::string_view more = {});
  // Only those above.
  void comments_above(base::Range where);
  // "opensnoop.bt:14"
  std::string place_of(base::Range where) const;

  std::string take() { return std::exchange(out_, {}); }

private:
  const base::Source& source_;
  std::string_view comment_;
  int step_, depth_ = 0;
  std::string out_;
  std::vector<uint32_t> told_; // offsets of comments that were written
};

} // namespace emit
