#include "base/clock.h"
#include "base/counted.h"
#include "base/markup.h"
#include "base/print.h"
#include "waits/colors.h"
#include "waits/picture.h"

#include <algorithm>
#include <array>

namespace waits {

using base::print;

namespace {

constexpr double left = 190, width = 1000, row = 18, head = 20;
constexpr size_t columns = 500, most_threads = 32, kinds = std::size(doings);

// What a thread does most in each column of the picture; Doing::nothing: it was not there.
std::array<Doing, columns> line_of(const Graph& graph, const Timeline& thread) {
  std::array<std::array<uint64_t, kinds>, columns> times = {};
  const uint64_t whole = std::max<uint64_t>(graph.end - graph.begin, 1);
  for (uint32_t index : thread.segments) {
    const Segment& s = graph.segments[index];
    Doing doing = s.kind == Activity::runs ? Doing::runs : s.kind == Activity::runnable ? Doing::runnable : Doing::waits;
    if (s.activity != nobody) doing = doing_of(graph.activities[s.activity]);
    const auto column = [&](uint64_t at) { return std::min<size_t>(static_cast<size_t>(static_cast<double>(at - graph.begin) * columns / static_cast<double>(whole)), columns - 1); };
    for (size_t i = column(s.begin); i <= column(s.end); i++) {
      const uint64_t from = graph.begin + whole * i / columns, until = graph.begin + whole * (i + 1) / columns;
      const uint64_t first = std::max(from, s.begin), last = std::min(until, s.end);
      if (last > first) times[i][static_cast<size_t>(doing)] += last - first;
    }
  }
  std::array<Doing, columns> out = {};
  for (size_t i = 0; i < columns; i++) {
    const auto most = std::ranges::max_element(times[i]);
    out[i] = *most ? static_cast<Doing>(most - times[i].begin()) : Doing::nothing;
  }
  return out;
}

void append_line(std::string& out, const std::array<Doing, columns>& line, double top) {
  for (size_t i = 0; i < columns;) {
    size_t end = i + 1;
    while (end < columns && line[end] == line[i]) end++;
    if (line[i] != Doing::nothing)
      out += print("<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"", left + width * static_cast<double>(i) / columns, top, width * static_cast<double>(end - i) / columns, row - 4) +
             std::string(color_of(line[i])) + "\"/>";
    i = end;
  }
}

} // namespace

std::string timeline_svg(const Graph& graph) {
  std::vector<const Timeline*> threads;
  for (const Timeline& t : graph.threads)
    if (!t.segments.empty()) threads.push_back(&t);
  std::ranges::stable_sort(threads, {}, [](const Timeline* t) { return std::pair(t->group, t->tid); });
  const size_t left_out = threads.size() > most_threads ? threads.size() - most_threads : 0;
  threads.resize(threads.size() - left_out);
  std::string out;
  double top = head;
  for (const Timeline* t : threads) {
    out += print("<g><title>thread %u</title><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">", t->tid, left - 8, top + 11) + base::markup(t->name) + "</text>";
    append_line(out, line_of(graph, *t), top);
    out += "</g>\n";
    top += row;
  }
  constexpr int marks = 5;
  for (int i = 0; i <= marks; i++)
    out += print("<text x=\"%.0f\" y=\"12\" opacity=\"0.65\" text-anchor=\"%s\">", left + width * i / marks, i == 0 ? "start" : i == marks ? "end" : "middle") +
           base::short_time((graph.end - graph.begin) * static_cast<uint64_t>(i) / marks) + "</text>";
  double x = left;
  for (const DoingRow& d : doings) {
    if (d.doing == Doing::nothing) continue;
    out += print("<rect x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\" fill=\"", x, top + 8) + std::string(d.color) + "\"/>" + print("<text x=\"%.0f\" y=\"%.0f\">", x + 15, top + 17) + std::string(d.label) + "</text>";
    x += 30 + 7.0 * static_cast<double>(d.label.size());
  }
  if (left_out) out += print("<text x=\"%.0f\" y=\"%.0f\" opacity=\"0.65\">", x + 20, top + 17) + base::counted(left_out, "more thread") + "</text>";
  return print("<div class=\"picture\"><svg width=\"1200\" height=\"%.0f\" viewBox=\"0 0 1200 %.0f\" role=\"img\" aria-label=\"what threads did\">\n", top + 26, top + 26) + out + "</svg></div>\n";
}

} // namespace waits
