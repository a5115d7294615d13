// A flame graph as one picture, root at the bottom, as wide as a page of text needs. Each frame has a title,
// which browsers show when it is pointed at. What is narrower than a third of a pixel is left out.
#include "profile/formats.h"
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

void append_escaped(std::string& out, std::string_view text) {
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (static_cast<unsigned char>(c) < ' ')
      out += ' ';
    else
      out += c;
  }
}

void append_number(std::string& out, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  out += text;
}

// Near the color of its kind, the same for each function in every picture.
std::string color(const Box& box) {
  if (box.is_group) return "#9fb6cf";
  if (box.kind == FrameKind::note) return "#c9ced4";
  uint32_t hash = 2166136261; // FNV-1a
  for (char c : box.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  constexpr std::array<int, 3> hues = {46, 78, 22}; // user, inlined, kernel
  int hue = hues[static_cast<size_t>(box.kind)] + static_cast<int>(hash >> 3) % 19 % 10;
  return "hsl(" + std::to_string(hue) + ",78%," + std::to_string(70 + hash % 8) + "%)";
}

struct Picture {
  const Profile& p;
  const std::vector<Box>& boxes;
  uint64_t whole;
  double bottom;
  std::string out = {};

  void draw(uint32_t index, double left, uint32_t depth) {
    const Box& box = boxes[index];
    double wide = (width - 2 * margin) * static_cast<double>(box.total) / static_cast<double>(whole);
    if (wide < least) return;
    double top = bottom - row * (depth + 1);
    out += "<g><title>";
    append_escaped(out, box.name);
    if (!box.module.empty()) out += " (", append_escaped(out, box.module), out += ")";
    out += ": " + percent(box.total, whole) + ", " + amount(p.about, box.total) + "</title><rect x=\"";
    append_number(out, left);
    out += "\" y=\"", append_number(out, top);
    out += "\" width=\"", append_number(out, std::max(wide - 0.4, least));
    out += "\" height=\"16\" fill=\"" + color(box) + "\"/>";
    size_t room = wide > 22 ? static_cast<size_t>((wide - 6) / letter) : 0;
    if (room > 2) {
      out += "<text x=\"", append_number(out, left + 3);
      out += "\" y=\"", append_number(out, top + 12);
      out += "\">", append_escaped(out, box.name.size() <= room ? box.name : box.name.substr(0, room - 2));
      out += box.name.size() <= room ? "</text>" : "..</text>";
    }
    out += "</g>\n";
    for (const auto& [name, child] : box.children) {
      draw(child, left, depth + 1);
      left += (width - 2 * margin) * static_cast<double>(boxes[child].total) / static_cast<double>(whole);
    }
  }
};

uint32_t depth_of(const std::vector<Box>& boxes, uint32_t index, uint64_t smallest) {
  uint32_t deepest = 0;
  for (const auto& [name, child] : boxes[index].children)
    if (boxes[child].total >= smallest) deepest = std::max(deepest, depth_of(boxes, child, smallest));
  return deepest + 1;
}

} // namespace

std::string write_svg(const Profile& p) {
  std::vector<Box> boxes = merge(p);
  uint64_t whole = std::max<uint64_t>(boxes[0].total, 1);
  auto smallest = static_cast<uint64_t>(static_cast<double>(whole) * least / (width - 2 * margin));
  uint32_t rows = depth_of(boxes, 0, smallest);
  constexpr double head = 64;
  double height = head + rows * row + margin;
  Picture picture = {p, boxes, whole, height - margin};
  std::string& out = picture.out;
  out +=
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
  out += std::to_string(static_cast<int>(width)) + " " + std::to_string(static_cast<int>(height)) +
         "\" font-family=\"monospace\" font-size=\"" + std::to_string(font_size) +
         "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  std::string header = header_text(p.about, p.total());
  double y = 20;
  for (size_t at = 0, line = 0; at < header.size() && line < 3; line++) {
    size_t end = header.find('\n', at);
    out += "<text x=\"10\" y=\"", append_number(out, y);
    out += line ? "\">" : "\" font-size=\"15\">",
        append_escaped(out, std::string_view(header).substr(at, end - at));
    out += "</text>\n";
    y += 16;
    at = end + 1;
  }
  picture.draw(0, margin, 0);
  return out + "</svg>\n";
}

} // namespace profile
