// The page: one file with data, style, script and libraries in it, so that it opens anywhere and asks nobody.
// What it is made of lies in page/ and becomes page_parts.cc when acu is built (cmake/embed.cmake).
#include "base/text.h"
#include "profile/formats.h"
#include "profile/page_parts.h"
#include "profile/tables.h"
#include "report/json.h"

#include <algorithm>

namespace profile {

namespace {

template<class List, class Each>
void append_list(std::string& out, std::string_view name, const List& list, Each each) {
  out.append(",\"").append(name).append("\":[");
  bool is_first = true;
  for (const auto& item : list) {
    if (!std::exchange(is_first, false)) out += ',';
    each(item);
  }
  out += ']';
}

std::string data_of(const Profile& p, std::span<const int64_t> changes) {
  std::string out = "{\"about\":{\"title\":";
  report::append_json(out, p.about.title);
  out += ",\"what\":";
  report::append_json(out, p.about.what);
  out += ",\"unit\":";
  report::append_json(out, p.about.unit);
  out += ",\"period_ns\":" + std::to_string(p.about.period_ns) +
         ",\"duration_ns\":" + std::to_string(p.about.duration_ns) +
         ",\"samples\":" + std::to_string(p.about.samples) + ",\"lost\":" + std::to_string(p.about.lost) +
         ",\"incomplete\":";
  report::append_json(out, p.about.incomplete);
  out += "}";
  auto number = [&](uint64_t n) { out += std::to_string(n); };
  auto comma = [&] { out += ','; };
  std::string header = header_text(p.about, p.total());
  std::vector<std::string_view> lines = base::split(base::trim(header), '\n');
  lines.erase(lines.begin(), lines.begin() + 1 + !p.about.incomplete.empty()); // the page shows the title itself, and why stacks are incomplete
  append_list(out, "lines", lines, [&](std::string_view line) { report::append_json(out, line); });
  out += ",\"plain_lines\":" + std::to_string(lines.size() - p.about.notes.size());
  append_list(out, "texts", p.texts(), [&](std::string_view text) { report::append_json(out, text); });
  // Kinds up to the last one that is there.
  FrameKind last = FrameKind::note;
  for (const Frame& f : p.frames()) last = std::max(last, f.kind);
  out.append(",\"kinds\":").append(frame_kinds_json(last));
  append_list(out, "frames", p.frames(), [&](const Frame& f) {
    number(f.name), comma(), number(f.module), comma(), number(static_cast<uint64_t>(f.kind));
  });
  if (!is_cpu_time(p.about)) append_list(out, "ranks", charging_ranks(p), number);
  append_list(out, "parents", p.nodes(), [&](const Node& n) { number(n.parent); });
  append_list(out, "nodes", p.nodes(), [&](const Node& n) { number(n.frame); });
  append_list(out, "threads", p.threads(), [&](const Thread& t) {
    number(t.pid), comma(), number(t.tid), comma(), number(t.process), comma(), number(t.name);
  });
  append_list(out, "samples", p.samples(),
              [&](const Sample& s) { number(s.thread), comma(), number(s.node), comma(), number(s.weight); });
  if (p.slice_ns) {
    out += ",\"slice_ns\":" + std::to_string(p.slice_ns);
    append_list(out, "slices", p.slices, [&](const Slice& s) {
      out += '[', number(s.number);
      uint32_t last = 0;
      for (const Gain& g : s.gains) comma(), number(g.sample - std::exchange(last, g.sample)), comma(), number(g.weight);
      out += ']';
    });
    if (std::ranges::any_of(p.slices, [](const Slice& s) { return s.span > 1; }))
      append_list(out, "spans", p.slices, [&](const Slice& s) { number(s.span); });
  }
  if (!changes.empty())
    append_list(out, "changes", changes, [&](int64_t change) { out += std::to_string(change); });
  return out + "}";
}

} // namespace

std::string frame_kinds_json(spec::FrameKind last) {
  std::string out = "[";
  for (const spec::FrameKindRow& row : std::span(spec::frame_kinds).first(static_cast<size_t>(last) + 1)) {
    out += out.size() > 1 ? ",{\"label\":" : "{\"label\":", report::append_json(out, row.label);
    out += ",\"side\":", report::append_json(out, spec::side_names[static_cast<size_t>(row.side)]);
    out += ",\"layer\":", report::append_json(out, spec::layer_names[static_cast<size_t>(row.layer)]);
    out += ",\"language\":", report::append_json(out, row.language);
    out += ",\"hue\":" + std::to_string(row.hue) + ",\"richness\":" + std::to_string(row.richness) + "}";
  }
  return out + "]";
}

std::string write_page(const Profile& p) { return write_page(p, {}); }

std::string write_page(const Profile& p, std::span<const int64_t> changes) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>acu</title>\n<style>\n";
  out.append(page_style).append("</style>\n</head>\n<body>\n").append(page_body);
  out += "<script id=\"data\" type=\"application/json\">";
  for (char c : data_of(p, changes)) { // no name of a function ends the script
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  out.append("</script>\n<script>\n")
      .append(page_libraries)
      .append("</script>\n<script>\n\"use strict\";\n{\n") // a block: its names are not the window's
      .append(page_script);
  return out + "}\n</script>\n</body>\n</html>\n";
}

} // namespace profile
