#include "emit/writer.h"

#include "base/text.h"

#include <algorithm>

namespace emit {

static constexpr size_t widest_comment = 120;

void Writer::line(std::string_view text) {
  for (std::string_view part : base::split(text, '\n')) {
    if (!part.empty()) out_.append(static_cast<size_t>(std::max(depth_, 0) * step_), ' ');
    out_ += part;
    out_ += '\n';
  }
}

void Writer::blank() {
  if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
}

void Writer::comment(std::string_view text) {
  const size_t width = widest_comment - static_cast<size_t>(std::max(depth_, 0) * step_) - comment_.size();
  for (std::string_view paragraph : base::split(text, '\n')) {
    while (paragraph.size() > width) {
      size_t cut = paragraph.rfind(' ', width);
      if (cut == paragraph.npos || cut == 0) cut = paragraph.find(' ', width);
      if (cut == paragraph.npos) break;
      line(std::string(comment_) + " " + std::string(paragraph.substr(0, cut)));
      paragraph.remove_prefix(cut + 1);
    }
    line(paragraph.empty() ? std::string(comment_) : std::string(comment_) + " " + std::string(paragraph));
  }
}

void Writer::open(std::string_view text) {
  line(text);
  depth_++;
}

void Writer::close(std::string_view text) {
  depth_--;
  line(text);
}

std::string Writer::place_of(base::Range where) const {
  const std::string& path = source_.name(where.begin);
  const size_t slash = path.rfind('/');
  return (slash == path.npos ? path : path.substr(slash + 1)) + ":" + std::to_string(source_.position(where.begin).line);
}

// The lines above are found by going back from the place; an empty line or code ends them.
void Writer::comments_above(base::Range where) {
  const std::string_view text = source_.file_text(where.begin);
  const std::string_view own_line = source_.line_at(where.begin);
  size_t at = static_cast<size_t>(own_line.data() - text.data());
  // A statement behind another one on its line has no comment of its own.
  if (base::trim(own_line.substr(0, source_.position(where.begin).column - 1)) != "") return;
  std::vector<std::string_view> comments;
  while (at > 0) {
    const size_t end = at - 1; // of the line above: its newline
    const size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
    const std::string_view above = base::trim(text.substr(begin, end - begin));
    if (!above.starts_with("//")) break;
    comments.push_back(base::trim(above.substr(2)));
    at = begin;
  }
  // Those of the file's head are about the script, not about its first probe.
  if (comments.empty() || at == 0 || text.substr(0, at).find_first_not_of('\n') == text.npos) return;
  if (std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n') == 1 && text.starts_with("#!")) return;
  const auto mark = static_cast<uint32_t>(where.begin - (static_cast<size_t>(own_line.data() - text.data()) - at));
  if (std::ranges::find(told_, mark) != told_.end()) return;
  told_.push_back(mark);
  for (size_t i = comments.size(); i-- > 0;) line(std::string(comment_) + " " + std::string(comments[i]));
}

void Writer::place(base::Range where, std::string_view more) {
  comments_above(where);
  line(std::string(comment_) + " " + place_of(where) + (more.empty() ? "" : ": ") + std::string(more));
}

} // namespace emit
