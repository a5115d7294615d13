// Folded stacks: a line for each, the process, then its frames from the outermost on, between semicolons, and
// behind a blank the weight. As stackcollapse-perf.pl writes it with --all, kernel functions end with _[k],
// inlined ones with _[i], those of other kinds with their marks (spec/frame_kinds.h); notes stand in brackets.
#include "base/text.h"
#include "profile/formats.h"
#include "profile/kinds_in_files.h"

#include <charconv>
#include <map>

namespace profile {

namespace {

constexpr size_t longest_line = 1 << 20;

// Names hold neither the separator nor line ends.
void append_name(std::string& out, std::string_view name) {
  for (char c : name) out += c == ';' ? ':' : c == '\n' ? ' ' : c;
}

// The weight behind the last blank; false: there is none.
bool split_line(std::string_view line, std::string_view& stack, uint64_t& weight) {
  size_t blank = line.rfind(' ');
  if (blank == line.npos || blank == 0) return false;
  const char* end = line.data() + line.size();
  if (std::from_chars(line.data() + blank + 1, end, weight) != std::from_chars_result{end, std::errc()}) return false;
  stack = line.substr(0, blank);
  return true;
}

// A process may be called `#1`: of stacks there are frames.
bool is_comment(std::string_view line) { return line.starts_with('#') && line.find(';') == line.npos; }

Frame parse_frame(Profile& p, std::string_view name) {
  Frame f;
  if (const auto marked = take_mark(name))
    f.kind = *marked;
  else
    f.kind = kind_by_names(name, {});
  f.module = p.text(spec::row_of(f.kind).module);
  f.name = p.text(name);
  return f;
}

} // namespace

std::string write_folded(const Profile& p) {
  std::map<std::string, uint64_t> lines; // sorted; threads of one process together
  for (const Sample& s : p.samples()) {
    std::string line;
    append_name(line, p.texts()[p.threads()[s.thread].process]);
    for (uint32_t f : p.stack(s.node)) {
      const Frame& frame = p.frames()[f];
      line += ';';
      append_name(line, p.name(frame));
      line += spec::row_of(frame.kind).mark;
    }
    lines[line] += s.weight;
  }
  std::string out;
  for (const auto& [line, weight] : lines)
    out.append(line).append(" ").append(std::to_string(weight)).append("\n");
  return out;
}

bool is_folded(std::string_view bytes) {
  std::string_view stack, line = bytes.substr(0, bytes.find('\n'));
  uint64_t weight = 0;
  return line.size() < longest_line && line.find('\0') == line.npos &&
         split_line(base::trim(line), stack, weight);
}

base::Result<Profile> read_folded(std::string_view bytes) {
  Profile p;
  size_t number = 0;
  for (std::string_view line : base::split(bytes, '\n')) {
    number++;
    // A number that is cut is another number.
    if (line.data() + line.size() == bytes.data() + bytes.size() && !base::trim(line).empty())
      return base::Error{base::Failure::runtime, "line " + std::to_string(number) + " has no line end: the file is truncated"};
    line = base::trim(line);
    if (line.empty() || is_comment(line)) continue;
    std::string_view stack;
    uint64_t weight = 0;
    if (!split_line(line, stack, weight))
      return base::Error{base::Failure::runtime,
                         "line " + std::to_string(number) + " has no weight after its stack"};
    uint32_t node = 0, process = 0;
    bool is_first = true;
    for (std::string_view name : base::split(stack, ';')) {
      if (std::exchange(is_first, false))
        process = p.text(name);
      else
        node = p.node(node, p.frame(parse_frame(p, name)));
    }
    p.add(p.thread({0, 0, process, process}), node, weight, weight);
    p.about.samples += weight;
  }
  return p;
}

} // namespace profile
