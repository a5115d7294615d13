// A picture for documents: CPUs, and the threads that ran longest, over the whole timeline. Where many segments share a column, the class that takes
// most of it is drawn.
#include "base/clock.h"
#include "base/counted.h"
#include "base/markup.h"
#include "base/print.h"
#include "timeline/output.h"

#include <algorithm>

namespace timeline {

namespace {

constexpr double left = 210, width = 980, row = 18, bar = 14, head = 44;
constexpr size_t columns = 980, most_threads = 40, classes = 16;
constexpr uint8_t nothing = classes - 1;

// CPUs: a hue for each of the processes that ran longest; what else ran is grey.
constexpr std::array process_colors = {"#5b8fd6", "#e0a040", "#5bb07a", "#b878c8", "#d87070", "#4fb0b8", "#a8a848", "#8a7fd0", "#c08858", "#70a0a0"};

class Colors {
public:
  explicit Colors(const Timeline& t) {
    for (const Track& track : t.tracks) {
      if (track.kind != Track::thread || pids_.size() == process_colors.size()) continue;
      const uint32_t pid = t.names.threads[track.owner].pid;
      if (!std::ranges::count(pids_, pid)) pids_.push_back(pid);
    }
  }
  uint8_t of_cpu(const Timeline& t, const Segments& s, size_t i) const {
    if (s.classes[i] == CPU_IDLE) return nothing;
    if (s.classes[i] == CPU_UNKNOWN) return classes - 2;
    const auto at = std::ranges::find(pids_, t.names.threads[s.refs[i]].pid);
    return static_cast<uint8_t>(at - pids_.begin()); // none: grey
  }
  static std::string_view color(Track::Kind kind, uint8_t of_class) {
    if (kind == Track::cpu) return of_class == classes - 2 ? row_of(State::unknown).color : of_class < process_colors.size() ? process_colors[of_class] : "#a0a8b0";
    return row_of(static_cast<State>(of_class)).color;
  }

private:
  std::vector<uint32_t> pids_; // in the order of the page
};

using Line = std::array<uint8_t, columns>;

Line line_of(const Timeline& t, const Track& track, const Colors& colors) {
  std::array<std::array<uint64_t, classes>, columns> times = {};
  const Segments& s = track.segments;
  const double scale = static_cast<double>(columns) / static_cast<double>(std::max<uint64_t>(t.length, 1));
  for (size_t i = 0; i < s.size(); i++) {
    const uint8_t of_class = track.kind == Track::cpu ? colors.of_cpu(t, s, i) : s.classes[i] ? s.classes[i] : nothing;
    uint64_t at = s.begins[i];
    const uint64_t end = s.end_of(i, t.length);
    for (auto column = static_cast<size_t>(static_cast<double>(at) * scale); column < columns && at < end; column++) {
      const uint64_t next = std::min(end, std::max(at, static_cast<uint64_t>(static_cast<double>(column + 1) / scale)));
      times[column][of_class] += next - at;
      at = next;
    }
  }
  Line out;
  for (size_t c = 0; c < columns; c++) {
    const auto most = std::ranges::max_element(times[c]);
    out[c] = *most ? static_cast<uint8_t>(most - times[c].begin()) : nothing;
  }
  return out;
}

void append_line(std::string& out, const Line& line, Track::Kind kind, double top) {
  for (size_t i = 0; i < columns;) {
    size_t end = i + 1;
    while (end < columns && line[end] == line[i]) end++;
    if (line[i] != nothing)
      out += base::print("<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"", left + width * static_cast<double>(i) / columns, top, width * static_cast<double>(end - i) / columns, bar) +
             std::string(Colors::color(kind, line[i])) + "\"/>";
    i = end;
  }
}

std::string text(double x, double y, std::string_view attributes, std::string_view content) {
  return base::print("<text x=\"%.0f\" y=\"%.0f\" ", x, y) + std::string(attributes) + ">" + base::markup(content) + "</text>\n";
}

std::string name_of(const Timeline& t, const Track& track) {
  if (track.kind == Track::cpu) return "CPU " + std::to_string(track.owner);
  const recording::Thread& thread = t.names.threads[track.owner];
  std::string name = t.names.texts[thread.name];
  if (name.size() > 20) name.resize(20);
  if (name.empty()) name = "thread";
  return name + " " + std::to_string(thread.tid);
}

std::string legend(double top) {
  std::string out;
  double x = left;
  for (const StateRow& s : state_rows) {
    if (s.state == State::none) continue;
    out += base::print("<rect x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\" fill=\"", x, top) + std::string(s.color) + "\"/>" + text(x + 15, top + 9, "", s.label);
    x += 34 + 6.5 * static_cast<double>(s.label.size());
  }
  return out;
}

} // namespace

std::string write_picture(const Timeline& t) {
  const Colors colors(t);
  std::string rows;
  double top = head;
  size_t threads = 0;
  for (const Track& track : t.tracks) {
    const bool is_thread_that_ran = track.kind == Track::thread && std::ranges::count(track.segments.classes, static_cast<uint8_t>(State::running));
    if (track.kind != Track::cpu && !is_thread_that_ran) continue;
    if (track.kind == Track::thread && ++threads > most_threads) continue;
    rows += text(left - 8, top + 11, "text-anchor=\"end\"", name_of(t, track));
    append_line(rows, line_of(t, track, colors), track.kind, top);
    top += row;
  }
  for (const Mark& m : t.marks) {
    if (m.is_line) continue;
    const double x = left + width * static_cast<double>(m.time) / static_cast<double>(std::max<uint64_t>(t.length, 1));
    rows += base::print("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#b3261e\" stroke-width=\"1.5\"/>", x, x, head - 6, top) + (x > left + width * 0.8 ? text(x - 4, head - 8, "fill=\"#b3261e\" text-anchor=\"end\"", m.text) : text(x + 4, head - 8, "fill=\"#b3261e\"", m.text));
  }
  constexpr int ticks = 5;
  for (int i = 0; i <= ticks; i++)
    rows += text(left + width * i / ticks, 22, i == 0 ? "text-anchor=\"start\" opacity=\"0.65\"" : i == ticks ? "text-anchor=\"end\" opacity=\"0.65\"" : "text-anchor=\"middle\" opacity=\"0.65\"",
                 base::short_time(t.from + t.length * static_cast<uint64_t>(i) / ticks));
  rows += legend(top + 8);
  if (threads > most_threads) rows += text(left - 8, top + 17, "text-anchor=\"end\" opacity=\"0.65\"", base::counted(threads - most_threads, "more thread"));
  const double height = top + 28;
  return base::print("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"%.0f\" viewBox=\"0 0 1200 %.0f\" font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n", height, height) +
         "<title>" + base::markup(t.about.what + ": " + summary(t)) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + rows + "</svg>\n";
}

} // namespace timeline
