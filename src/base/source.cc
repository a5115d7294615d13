#include "base/source.h"

#include <algorithm>

namespace base {

Position Source::position(uint32_t offset) const {
  std::string_view before = text().substr(0, std::min<size_t>(offset, text_.size()));
  auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  size_t start = before.rfind('\n');
  size_t column = start == before.npos ? before.size() : before.size() - start - 1;
  return {line, static_cast<uint32_t>(column) + 1};
}

std::string_view Source::line(uint32_t number) const {
  std::string_view rest = text();
  for (uint32_t i = 1; i < number; i++) {
    size_t newline = rest.find('\n');
    if (newline == rest.npos) return {};
    rest.remove_prefix(newline + 1);
  }
  return rest.substr(0, rest.find('\n'));
}

std::string Source::place(Range r) const {
  Position begin = position(r.begin);
  Position end = position(r.end);
  if (begin.line != end.line) return name_ + ":" + std::to_string(begin.line) + "-" + std::to_string(end.line);
  return name_ + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column) + "-" +
         std::to_string(end.column);
}

} // namespace base
