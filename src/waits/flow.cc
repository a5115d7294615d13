#include "base/clock.h"
#include "base/markup.h"
#include "base/print.h"
#include "base/utf8.h"
#include "waits/colors.h"
#include "waits/picture.h"

#include <algorithm>
#include <array>
#include <map>

namespace waits {

using base::print;

namespace {

constexpr double width = 1200, node_width = 12, most_height = 420, gap = 8, least_slot = 30, head = 26;
constexpr double left_of[] = {190, 545, 900};
constexpr size_t most_waits = 12, letters_of[] = {26, 44, 40};
constexpr double least_part = 0.05;
constexpr uint32_t outside = ~uint32_t{0}, others = outside - 1; // instead of an activity

struct Node {
  std::string label;
  Doing doing = Doing::waits;
  uint64_t ns = 0;
  double order = 0;      // the mean place of those that lead to it
  double top = 0, tall = 0;
  double in = 0, out = 0; // of its height, taken by bands
};
struct Band {
  size_t from = 0, to = 0; // nodes of this column and the next
  uint64_t ns = 0;
};

class Flow {
public:
  explicit Flow(const Report& report) : report_(report) { collect(); }
  std::string draw();

private:
  using Column = std::vector<Node>;
  size_t node(size_t column, std::map<uint32_t, size_t>& known, uint32_t number, const auto& make);
  void collect();
  void add_cause(size_t wait, uint32_t activity, uint64_t ns);
  void arrange(size_t column);
  void append_band(const Band& band, size_t column);
  void append_node(const Node& node, size_t column);

  const Report& report_;
  std::array<Column, 3> columns_;
  std::array<std::vector<Band>, 2> bands_;
  std::map<uint32_t, size_t> groups_, causes_;
  uint64_t all_ns_ = 0;
  double scale_ = 0, bottom_ = 0;
  std::string out_;
};

size_t Flow::node(size_t column, std::map<uint32_t, size_t>& known, uint32_t number, const auto& make) {
  const auto [at, is_new] = known.try_emplace(number, columns_[column].size());
  if (is_new) columns_[column].push_back(make());
  return at->second;
}

void Flow::add_cause(size_t wait, uint32_t activity, uint64_t ns) {
  const Graph& graph = report_.graph;
  const size_t cause = node(2, causes_, activity, [&] {
    if (activity == outside) return Node{.label = "no thread of the target: a timer, a device, a peer", .doing = Doing::nothing};
    if (activity == others) return Node{.label = "other causes", .doing = Doing::idle};
    return Node{.label = activity_text(graph, graph.activities[activity]), .doing = doing_of(graph.activities[activity])};
  });
  columns_[2][cause].ns += ns;
  bands_[1].push_back({wait, cause, ns});
}

void Flow::collect() {
  const Graph& graph = report_.graph;
  for (const Blamed& b : report_.findings.waits) {
    const Activity& a = graph.activities[b.activity];
    if (a.is_idle || columns_[1].size() == most_waits) continue; // who waits for work waits for nobody
    const size_t group = node(0, groups_, a.group, [&] { return Node{.label = group_text(graph, a.group), .doing = Doing::runs}; });
    columns_[0][group].ns += b.ns;
    const size_t wait = columns_[1].size();
    columns_[1].push_back({.label = wait_text(a), .doing = doing_of(a), .ns = b.ns});
    bands_[0].push_back({group, wait, b.ns});
    all_ns_ += b.ns;
    double rest = 1;
    for (const Share& s : b.causes) {
      if (s.part < least_part) continue;
      add_cause(wait, s.activity == b.activity ? outside : s.activity, static_cast<uint64_t>(s.part * static_cast<double>(b.ns)));
      rest -= s.part;
    }
    if (rest > 0.01) add_cause(wait, b.causes.empty() ? outside : others, static_cast<uint64_t>(rest * static_cast<double>(b.ns)));
  }
}

// From the top: groups by their time, others so that bands cross little.
void Flow::arrange(size_t column) {
  Column& nodes = columns_[column];
  if (column) {
    for (Node& n : nodes) n.order = 0;
    for (const Band& b : bands_[column - 1]) {
      const Node& from = columns_[column - 1][b.from];
      nodes[b.to].order += (from.top + from.tall / 2) * static_cast<double>(b.ns) / static_cast<double>(std::max<uint64_t>(nodes[b.to].ns, 1));
    }
  } else {
    for (Node& n : nodes) n.order = -static_cast<double>(n.ns);
  }
  std::vector<size_t> order(nodes.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return nodes[i].order; });
  double top = head;
  for (size_t i : order) {
    Node& n = nodes[i];
    n.tall = std::max(2.0, scale_ * static_cast<double>(n.ns));
    n.top = top;
    top += std::max(n.tall, least_slot) + gap;
  }
  bottom_ = std::max(bottom_, top);
}

std::string number(double n) { return print("%.1f", n); }

void Flow::append_band(const Band& band, size_t column) {
  Node &from = columns_[column][band.from], &to = columns_[column + 1][band.to];
  const double tall = scale_ * static_cast<double>(band.ns);
  const double x1 = left_of[column] + node_width, x2 = left_of[column + 1], middle = (x1 + x2) / 2;
  const double y1 = from.top + from.out + tall / 2, y2 = to.top + to.in + tall / 2;
  from.out += tall, to.in += tall;
  out_ += "<path d=\"M" + number(x1) + " " + number(y1) + " C" + number(middle) + " " + number(y1) + " " + number(middle) + " " + number(y2) + " " + number(x2) + " " + number(y2) +
          "\" fill=\"none\" stroke=\"" + std::string(color_of(to.doing)) + "\" stroke-opacity=\"0.35\" stroke-width=\"" + number(std::max(tall, 0.5)) + "\"><title>";
  base::append_markup(out_, from.label + " → " + to.label + ": " + base::short_time(band.ns));
  out_ += "</title></path>\n";
}

void Flow::append_node(const Node& n, size_t column) {
  const bool is_left = column == 0;
  const double x = left_of[column], text_x = is_left ? x - 8 : x + node_width + 8;
  const std::string time = base::short_time(n.ns) + print(", %.0f%%", 100 * static_cast<double>(n.ns) / static_cast<double>(std::max<uint64_t>(all_ns_, 1)));
  out_ += "<g><title>" + base::markup(n.label + "\n" + time) + "</title><rect x=\"" + number(x) + "\" y=\"" + number(n.top) + "\" width=\"" + number(node_width) + "\" height=\"" + number(n.tall) +
          "\" fill=\"" + std::string(color_of(n.doing)) + "\"/>";
  const std::string anchor = is_left ? " text-anchor=\"end\"" : "";
  out_ += "<text x=\"" + number(text_x) + "\" y=\"" + number(n.top + 11) + "\"" + anchor + ">" + base::markup(base::shortened(n.label, letters_of[column])) + "</text>";
  out_ += "<text x=\"" + number(text_x) + "\" y=\"" + number(n.top + 25) + "\"" + anchor + " opacity=\"0.65\">" + time + "</text></g>\n";
}

std::string Flow::draw() {
  if (!all_ns_) return "<p class=\"soft\">No thread waited, but for work.</p>\n";
  scale_ = most_height / static_cast<double>(all_ns_);
  for (size_t column = 0; column < columns_.size(); column++) arrange(column);
  constexpr std::string_view titles[] = {"who waits", "for what", "what was done meanwhile"};
  for (size_t column = 0; column < columns_.size(); column++)
    out_ += "<text x=\"" + number(column ? left_of[column] : left_of[column] + node_width) + "\" y=\"14\" opacity=\"0.65\"" + (column ? "" : " text-anchor=\"end\"") + ">" + std::string(titles[column]) + "</text>\n";
  for (size_t column = 0; column < bands_.size(); column++) {
    // In the order of the nodes that they go to, so that they do not cross at their beginning.
    std::ranges::stable_sort(bands_[column], {}, [&](const Band& b) { return columns_[column + 1][b.to].top; });
    for (const Band& b : bands_[column]) append_band(b, column);
  }
  for (size_t column = 0; column < columns_.size(); column++)
    for (const Node& n : columns_[column]) append_node(n, column);
  const std::string size = "0 0 " + number(width) + " " + number(bottom_ + 4);
  return "<div class=\"picture\"><svg width=\"" + number(width) + "\" height=\"" + number(bottom_ + 4) + "\" viewBox=\"" + size + "\" role=\"img\" aria-label=\"who waits for what\">\n" + out_ + "</svg></div>\n";
}

} // namespace

std::string flow_svg(const Report& report) { return Flow(report).draw(); }

} // namespace waits
