// A flame graph as one picture, root at the bottom, as wide as a page of text needs. Each frame has a title, which
// browsers show when it is pointed at: name, file and share, a line each. In a browser that opens the file itself a
// script (page/picture.js) adds zoom and search; elsewhere the picture is the same without. What is narrower than a third
// of a pixel is left out.
#include "base/markup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/formats.h"
#include "profile/page_parts.h"
#include "profile/tables.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace profile {

namespace {

constexpr double width = 1200, margin = 10, row = 17, least = 0.34, letter = 6.6;
constexpr uint32_t font_size = 11;

struct Box { // of the merged tree
  std::string_view name, module;
  FrameKind kind = FrameKind::user;
  bool is_group = false;
  uint64_t total = 0;
  std::map<std::pair<std::string_view, uint32_t>, uint32_t> children; // by name and frame
};

// Processes first, then the frames of all their threads.
std::vector<Box> merge(const Profile& p) {
  std::vector<Box> boxes(1);
  boxes[0].name = "all";
  boxes[0].is_group = true;
  constexpr uint32_t no_frame = ~uint32_t{0};
  for (const Sample& s : p.samples()) {
    uint32_t at = 0;
    auto go = [&](std::string_view name, uint32_t frame) {
      boxes[at].total += s.weight;
      auto [child, is_new] =
          boxes[at].children.try_emplace({name, frame}, static_cast<uint32_t>(boxes.size()));
      at = child->second;
      if (!is_new) return;
      Box box;
      box.name = name;
      box.is_group = frame == no_frame;
      if (!box.is_group) box.kind = p.frames()[frame].kind, box.module = p.module(p.frames()[frame]);
      boxes.push_back(std::move(box));
    };
    std::string_view process = p.texts()[p.threads()[s.thread].process];
    if (!process.empty()) go(process, no_frame);
    for (uint32_t frame : p.stack(s.node)) go(p.name(p.frames()[frame]), frame);
    boxes[at].total += s.weight;
  }
  return boxes;
}

void append_number(std::string& out, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  out += text;
}

// Near the color of its kind, the same for each function in every picture.
std::string color(const Box& box) {
  if (box.is_group) return "#9fb6cf";
  if (spec::is_note(box.kind)) return "#c9ced4";
  uint32_t hash = 2166136261; // FNV-1a
  for (char c : box.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  int hue = spec::row_of(box.kind).picture_hue + static_cast<int>(hash >> 3) % 19 % 10;
  return "hsl(" + std::to_string(hue) + ",78%," + std::to_string(70 + hash % 8) + "%)";
}

struct Picture {
  const Profile& p;
  const std::vector<Box>& boxes;
  uint64_t whole;
  double bottom;
  std::string out = {};

  void append_rect(double left, double top, double wide, const std::string& fill) {
    out += "<rect x=\"", append_number(out, left), out += "\" y=\"", append_number(out, top);
    out += "\" width=\"", append_number(out, wide > 2 ? wide - 0.4 : wide), out += "\" data-width=\"", append_number(out, wide);
    out += "\" height=\"16\" fill=\"" + fill + "\"/>";
  }
  void append_name(std::string_view name, double left, double top, double wide) {
    const size_t room = wide > 22 ? static_cast<size_t>((wide - 6) / letter) : 0;
    if (room <= 2) return;
    const bool is_whole = base::first_characters(name, room).size() == name.size();
    out += "<text x=\"", append_number(out, left + 3), out += "\" y=\"", append_number(out, top + 12), out += "\">";
    base::append_markup(out, is_whole ? name : base::first_characters(name, room - 2));
    out += is_whole ? "</text>" : "..</text>";
  }
  double width_of(uint32_t index) const { return (width - 2 * margin) * static_cast<double>(boxes[index].total) / static_cast<double>(whole); }
  // A box, then those above it from the left to the right. Stacks of other tools may be deeper than calls of a function can be.
  void draw_all() {
    struct Place {
      uint32_t box;
      double left;
      uint32_t depth;
    };
    std::vector<Place> todo = {{0, margin, 0}}, above;
    while (!todo.empty()) {
      const Place here = todo.back();
      todo.pop_back();
      draw(here.box, here.left, here.depth);
      above.clear();
      double left = here.left;
      for (const auto& [name, child] : boxes[here.box].children) {
        if (width_of(child) >= least) above.push_back({child, left, here.depth + 1});
        left += width_of(child);
      }
      todo.insert(todo.end(), above.rbegin(), above.rend());
    }
  }
  void draw(uint32_t index, double left, uint32_t depth) {
    const Box& box = boxes[index];
    const double wide = width_of(index), top = bottom - row * (depth + 1);
    out += "<g><title>", base::append_markup(out, box.name);
    if (!box.module.empty()) out += "\n", base::append_markup(out, box.module);
    out += "\n" + percent(box.total, whole) + ", " + amount(p.about, box.total) + "</title>";
    append_rect(left, top, wide, color(box));
    append_name(box.name, left, top, wide);
    out += "</g>\n";
  }
};

// In rows, of the boxes that are wide enough. Those above have higher numbers.
uint32_t depth_of(const std::vector<Box>& boxes, uint64_t smallest) {
  std::vector<uint32_t> depths(boxes.size(), 1);
  uint32_t deepest = 1;
  for (size_t i = 0; i < boxes.size(); i++)
    for (const auto& [name, child] : boxes[i].children) {
      depths[child] = depths[i] + 1;
      if (boxes[child].total >= smallest) deepest = std::max(deepest, depths[child]);
    }
  return deepest;
}

} // namespace

std::string write_svg(const Profile& p) {
  std::vector<Box> boxes = merge(p);
  uint64_t whole = std::max<uint64_t>(boxes[0].total, 1);
  auto smallest = static_cast<uint64_t>(static_cast<double>(whole) * least / (width - 2 * margin));
  uint32_t rows = depth_of(boxes, smallest);
  std::string header = header_text(p.about, p.total());
  std::vector<std::string_view> lines = base::split(base::trim(header), '\n');
  const size_t incomplete = p.about.incomplete.empty() ? 0 : 1; // the line that says so, here below the title
  if (incomplete) std::swap(lines[0], lines[1]);
  constexpr double line = 16, head = 28;
  double height = head + line * static_cast<double>(lines.size()) + rows * row + margin;
  Picture picture = {p, boxes, whole, height - margin};
  std::string& out = picture.out;
  const std::string size[] = {std::to_string(static_cast<int>(width)), std::to_string(static_cast<int>(height))};
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size[0] + "\" height=\"" + size[1] +
         "\" viewBox=\"0 0 " + size[0] + " " + size[1] + "\" font-family=\"monospace\" font-size=\"" + std::to_string(font_size) +
         "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (size_t i = 0; i < lines.size(); i++) {
    out += "<text x=\"10\" y=\"", append_number(out, 20 + line * static_cast<double>(i));
    out += i ? i <= incomplete || i >= lines.size() - p.about.notes.size() ? "\" fill=\"#8a3b00\">" : "\">" : "\" font-size=\"15\">";
    base::append_markup(out, lines[i]), out += "</text>\n";
  }
  out += "<g id=\"frames\">\n";
  picture.draw_all();
  return out.append("</g>\n<script><![CDATA[\n").append(picture_script).append("]]></script>\n</svg>\n");
}

} // namespace profile
