// The text of `perf script`: for each sample a line about the thread, then its frames, innermost first, then
// a blank line.
//
//   sort 4711/4712 [001] 123.456789:     250000 cpu-clock:
//           7f2a1c0e12ab hot+0x1b (/usr/bin/sort)
//                        helper (inlined)
//       ffffffff81a1b2c3 vfs_read+0x83 ([kernel.kallsyms])
//
// acu writes one such sample for each distinct stack, its weight in the place of the period and `samples` (or
// the unit) as the event; addresses are not kept, and 0. What was recorded is in a comment (headings.h), which older files lack. Of
// perf's own text each sample counts 1.
#include "base/text.h"
#include "profile/formats.h"
#include "profile/headings.h"
#include "profile/kinds_in_files.h"

#include <algorithm>
#include <cctype>

namespace profile {

namespace {

constexpr std::string_view own_header = "# acu: one sample for each stack, with its weight";
constexpr std::string_view until_end = "; the last line ends it\n", own_end = "# end\n"; // older ones have neither
constexpr std::string_view own_heading = "# acu recorded: "; // the second line
constexpr size_t most_looked_at = 64 << 10;

struct Header {
  std::string_view thread;
  uint32_t pid = 0, tid = 0;
  uint64_t period = 1;
  std::string_view event;
  std::string_view rest; // of the line, behind the event
};

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word : base::split(line, ' '))
    if (!word.empty()) out.push_back(word);
  return out;
}

// "123.456789:"
bool is_time(std::string_view word) {
  const size_t point = word.find('.');
  return point != word.npos && word.ends_with(':') && all_digits(word.substr(0, point)) && all_digits(word.substr(point + 1, word.size() - point - 2));
}

// "NAME PID/TID …" or "NAME TID …"; a thread's name may have blanks. After it comes the time.
bool parse_header(std::string_view line, Header& out) {
  std::vector<std::string_view> words = words_of(line);
  size_t time = 1;
  while (time < words.size() && !is_time(words[time])) time++;
  if (time >= words.size()) return false;
  size_t at = time - 1;
  if (at > 0 && words[at].starts_with('[')) at--;
  if (at == 0) return false;
  std::string_view ids = words[at];
  size_t slash = ids.find('/');
  std::string_view pid = ids.substr(0, slash), tid = slash == ids.npos ? ids : ids.substr(slash + 1);
  if (pid == "-1") pid = "0";
  if (tid == "-1") tid = "0";
  if (!all_digits(pid) || !all_digits(tid)) return false;
  out.pid = static_cast<uint32_t>(base::parse_integer(pid).value_or(0));
  out.tid = static_cast<uint32_t>(base::parse_integer(tid).value_or(0));
  const char* end = words[at - 1].data() + words[at - 1].size();
  out.thread = std::string_view(words[0].data(), static_cast<size_t>(end - words[0].data()));
  const bool has_period = time + 1 < words.size() && all_digits(words[time + 1]);
  out.period = has_period ? base::parse_integer(words[time + 1]).value_or(1) : 1;
  const size_t first = time + 1 + has_period;
  size_t event = first;
  while (event < words.size() && !words[event].ends_with(':')) event++;
  out.event = out.rest = {};
  if (event == words.size()) return true;
  const auto begin = static_cast<size_t>(words[first].data() - line.data()), behind = static_cast<size_t>(words[event].data() + words[event].size() - line.data());
  out.event = line.substr(begin, behind - begin - 1);
  out.rest = base::trim(line.substr(behind));
  return true;
}

// Without call stacks, perf puts the only frame behind the header: "ADDRESS NAME (FILE)". Values of tracepoints are there, too.
bool is_frame(std::string_view text) {
  const size_t blank = text.find(' ');
  return blank != text.npos && text.find_first_not_of("0123456789abcdef") == blank && text.ends_with(')');
}

// A thread may be called `#1`.
bool is_comment(std::string_view line) {
  Header header;
  return line.starts_with('#') && !parse_header(line, header);
}

bool is_kernel_file(std::string_view file) {
  return kind_by_names({}, file) == FrameKind::kernel || file.ends_with(".ko") || file.find(".ko.") != file.npos; // x.ko.xz
}

// Where the brackets of the file behind a name open; the file's name may have its own: "f (/bin/x (deleted))".
size_t file_at(std::string_view line) {
  if (!line.ends_with(')')) return line.npos;
  size_t open = 1, at = line.size() - 1;
  while (open && at-- > 0) open = open + (line[at] == ')') - (line[at] == '(');
  if (!open && (at == 0 || line[at - 1] == ' ')) return at;
  const size_t last = line.rfind(" ("); // the file's name has one half of a pair
  return last == line.npos ? last : last + 1;
}

// "ADDRESS NAME+0xOFF (FILE)", "ADDRESS NAME (inlined)", "[a note]"
Frame parse_frame(Profile& p, std::string_view line) {
  line = base::trim(line);
  if (const FrameKind kind = kind_by_names(line, {}); spec::is_note(kind)) return {p.text(line), 0, kind};
  size_t blank = line.find(' ');
  std::string_view address = line.substr(0, blank);
  // Of inlined functions some versions of perf print no address; their names may look like one.
  bool has_address = blank != line.npos && address.find_first_not_of("0123456789abcdef") == address.npos && line.substr(blank) != " (inlined)";
  if (has_address) line = base::trim(line.substr(blank));
  std::string_view file;
  if (size_t open = file_at(line); open != line.npos) {
    file = line.substr(open + 1, line.size() - open - 2);
    line = base::trim(line.substr(0, open));
  }
  if (file == "inlined") return {p.text(line), 0, kind_by_names(line, file, true)};
  const auto unusual = take_mark_of_unusual(line);
  if (size_t plus = line.rfind("+0x"); plus != line.npos && plus > 0) line = line.substr(0, plus);
  Frame out;
  out.kind = unusual ? *unusual : is_kernel_file(file) ? FrameKind::kernel : FrameKind::user;
  out.named = line != "[unknown]";
  std::string name(line);
  if (!out.named && file != "[unknown]" && !file.empty())
    name = std::string(file.substr(file.rfind('/') + 1)) + "+?";
  out.name = p.text(name);
  const spec::FrameKindRow& kernel = spec::row_of(FrameKind::kernel);
  out.module = p.text(file.starts_with(kernel.perf_module.substr(0, 7)) ? kernel.module
                      : file == "[unknown]"                             ? ""
                                                                        : file);
  return out;
}

struct Parser {
  Profile p;
  bool is_own = false;
  bool has_sample = false;
  Header header;
  std::vector<Frame> frames; // innermost first

  void finish() {
    if (!std::exchange(has_sample, false)) return;
    uint32_t node = 0;
    const uint64_t weight = is_own ? header.period : 1, count = is_own && header.event != "samples" ? 1 : weight;
    if (is_own && !header.event.empty()) p.about.unit = header.event;
    // An inlined function's code is in the file of the function it is in, which stands behind it.
    for (size_t i = frames.size(); i-- > 0;) {
      if (spec::is_inlined(frames[i].kind) && i + 1 < frames.size())
        frames[i].module = frames[i + 1].module;
      node = p.node(node, p.frame(frames[i]));
      p.about.frames += count;
      p.about.frames_named += frames[i].named ? count : 0;
    }
    uint32_t name = p.text(header.thread);
    p.add(p.thread({header.pid, header.tid, name, name}), node, weight, count);
    p.about.samples += count;
    frames.clear();
  }
};

} // namespace

std::string write_perf_script(const Profile& p) {
  std::string out(own_header);
  out += until_end;
  out.append(own_heading).append(base::printable(heading_of(p.about))).append("\n");
  for (const Sample& s : p.samples()) {
    const Thread& t = p.threads()[s.thread];
    std::string_view name = p.texts()[t.name];
    out.append(name.empty() ? "unknown" : name)
        .append(" ")
        .append(std::to_string(t.pid))
        .append("/")
        .append(std::to_string(t.tid));
    out.append(" [000] 0.000000: ")
        .append(std::to_string(s.weight))
        .append(" ")
        .append(p.about.unit)
        .append(":\n");
    for (uint32_t node = s.node; node; node = p.nodes()[node].parent) {
      const Frame& f = p.frame_of(node);
      const spec::FrameKindRow& kind = spec::row_of(f.kind);
      const std::string_view file = !kind.perf_module.empty() && p.module(f) == kind.module ? kind.perf_module : p.module(f);
      out += spec::is_note(f.kind) ? "\t" : "\t               0 ";
      if (spec::is_note(f.kind))
        out += p.name(f);
      else if (spec::is_inlined(f.kind))
        out.append(p.name(f)).append(kind.remark);
      else
        out.append(f.named ? p.name(f) : "[unknown]")
            .append(mark_of_unusual(f.kind))
            .append(" (")
            .append(file.empty() ? "[unknown]" : file)
            .append(")");
      out += '\n';
    }
    out += '\n';
  }
  return out.append(own_end);
}

bool is_perf_script(std::string_view bytes) {
  if (bytes.starts_with(own_header)) return true;
  bool has_header = false;
  for (std::string_view line : base::split(bytes.substr(0, most_looked_at), '\n')) {
    if (line.empty() || is_comment(line)) continue;
    Header header;
    if (has_header) return line[0] == '\t' || line[0] == ' ' || parse_header(line, header);
    if (!parse_header(line, header)) return false;
    has_header = true;
  }
  return has_header;
}

base::Result<Profile> read_perf_script(std::string_view bytes) {
  Parser parser;
  parser.is_own = bytes.starts_with(own_header);
  const bool has_end = parser.is_own && bytes.substr(own_header.size()).starts_with(until_end.substr(0, 1));
  if (!bytes.ends_with(has_end ? own_end : "\n"))
    return base::Error{base::Failure::runtime, "it is text of perf script, and cut: its end is missing"};
  size_t number = 0;
  bool has_heading = false;
  for (std::string_view line : base::split(bytes, '\n')) {
    number++;
    Header whole;
    if (parser.is_own && number == 2 && line.starts_with(own_heading)) {
      has_heading = take_heading(line.substr(own_heading.size()), true, parser.p.about);
    } else if (base::trim(line).empty()) {
      parser.finish();
    } else if (line[0] == '\t' || (parser.has_sample && line[0] == ' ' && (!parse_header(line, whole) || whole.rest.empty()))) {
      if (parser.has_sample) parser.frames.push_back(parse_frame(parser.p, line));
    } else if (!is_comment(line)) {
      parser.finish();
      if (!parse_header(line, parser.header))
        return base::Error{base::Failure::runtime, "line " + std::to_string(number) +
                                                       " is not perf script output: `" +
                                                       std::string(line.substr(0, 80)) + "`"};
      parser.has_sample = true;
      if (is_frame(parser.header.rest)) parser.frames.push_back(parse_frame(parser.p, parser.header.rest));
    }
  }
  parser.finish();
  About& about = parser.p.about;
  if (!has_heading && about.unit != "samples") about.title = about.unit;
  return std::move(parser.p);
}

} // namespace profile
