#include "base/source.h"

#include <algorithm>

namespace base {

Source::Source(std::string name, std::string text) {
  files_.push_back({.name = std::move(name), .text = std::move(text)});
}

// One offset lies between two files, so that the end of a file is no place of the next.
uint32_t Source::add(std::string name, std::string text) {
  uint32_t begin = size() + 1;
  files_.push_back({.name = std::move(name), .text = std::move(text), .begin = begin});
  return begin;
}

uint32_t Source::size() const { return files_.back().end(); }

const Source::File& Source::file(uint32_t offset) const {
  auto after = std::upper_bound(files_.begin() + 1, files_.end(), offset,
                                [](uint32_t at, const File& f) { return at < f.begin; });
  return *(after - 1);
}

std::string_view Source::text(Range r) const {
  const File& f = file(r.begin);
  uint32_t end = std::min(r.end, f.end());
  if (r.begin >= end) return {};
  return std::string_view(f.text).substr(r.begin - f.begin, end - r.begin);
}

Position Source::position(uint32_t offset) const {
  const File& f = file(offset);
  if (f.lines.empty()) {
    f.lines.push_back(0);
    for (size_t at = f.text.find('\n'); at != f.text.npos; at = f.text.find('\n', at + 1))
      f.lines.push_back(static_cast<uint32_t>(at) + 1);
  }
  uint32_t at = std::min(offset, f.end()) - f.begin;
  auto line = std::upper_bound(f.lines.begin(), f.lines.end(), at) - f.lines.begin();
  return {static_cast<uint32_t>(line), at - f.lines[static_cast<size_t>(line) - 1] + 1};
}

std::string_view Source::line_at(uint32_t offset) const {
  const File& f = file(offset);
  std::string_view text = f.text;
  size_t at = std::min<size_t>(offset - f.begin, text.size());
  size_t start = at ? text.rfind('\n', at - 1) : text.npos;
  start = start == text.npos ? 0 : start + 1;
  return text.substr(start, text.find('\n', at) - start);
}

std::string Source::place(Range r) const {
  const File& f = file(r.begin);
  Position begin = position(r.begin);
  Position end = position(std::min(r.end, f.end()));
  if (begin.line != end.line)
    return f.name + ":" + std::to_string(begin.line) + "-" + std::to_string(end.line);
  return f.name + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column) + "-" +
         std::to_string(end.column);
}

} // namespace base
