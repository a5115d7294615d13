#include "base/diagnostics.h"

#include "base/utf8.h"

#include <algorithm>

namespace base {

void Diagnostics::error(std::string_view tag, Range where, std::string message, std::string hint,
                        Range other, std::string note) {
  // One place may be looked at more than once (types are inferred in rounds): say each thing once.
  for (const Diagnostic& d : all_)
    if (d.tag == tag && d.where.begin == where.begin && d.where.end == where.end && d.message == message) return;
  all_.push_back({Severity::error, tag, where, std::move(message), std::move(hint), other, std::move(note)});
  errors_++;
}

void Diagnostics::warning(std::string_view tag, Range where, std::string message, std::string hint,
                          Range other, std::string note) {
  for (const Diagnostic& d : all_)
    if (d.tag == tag && d.where.begin == where.begin && d.where.end == where.end) return;
  all_.push_back({Severity::warning, tag, where, std::move(message), std::move(hint), other, std::move(note)});
}

// "PLACE: ERROR: message", the line of the script and the mark under it.
static std::string render(const Source& source, Range where, std::string_view what, const std::string& message) {
  std::string out = source.place(where) + ": " + std::string(what) + ": " + message + "\n";
  Position begin = source.position(where.begin);
  Position end = source.position(where.end);
  std::string_view line = source.line_at(where.begin);
  if (line.empty() || begin.line != end.line) return out;
  // Of a very long line (a script that a program made) only the part around the place is of use.
  constexpr size_t widest = 500;
  size_t from = begin.column - 1, to = std::max(from + 1, size_t{end.column} - 1), left = 0;
  if (line.size() > widest) {
    left = from - std::min(from, widest / 2);
    line = line.substr(left, widest);
    to = std::min(to, left + widest);
  }
  // A character is one column; a tab is copied so that the underline stays aligned.
  const auto takes_column = [&](size_t at) { return at - left >= line.size() || begins_character(line[at - left]); };
  out += std::string(line) + "\n";
  for (size_t i = left; i < from && i - left < line.size(); i++)
    if (takes_column(i)) out += line[i - left] == '\t' ? '\t' : ' ';
  out += '~';
  for (size_t i = from + 1; i < to; i++)
    if (takes_column(i)) out += '~';
  return out + "\n";
}

std::string render(const Source& source, const Diagnostic& d) {
  std::string out = render(source, d.where, d.severity == Severity::error ? "ERROR" : "WARNING", d.message);
  if (!d.hint.empty()) out += "HINT: " + d.hint + "\n";
  if (d.other.end) out += render(source, d.other, "NOTE", d.note);
  return out;
}

std::string Diagnostics::render(const Source& source, bool with_warnings) const {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : all_)
    if (with_warnings || d.severity == Severity::error) sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto* a, auto* b) { return a->where.begin < b->where.begin; });
  std::string out;
  for (const Diagnostic* d : sorted) out += base::render(source, *d);
  return out;
}

} // namespace base
