// The page: one file with data, style and scripts. Names are JSON; tracks are packed in chunks, so that the browser unpacks what is in sight first:
// numbers of variable length (LEB128), column after column, then deflate (RFC 1950) and base64. page/store.js unpacks them.
#include "base/base64.h"
#include "base/leb128.h"
#include "profile/page_parts.h"
#include "report/json.h"
#include "timeline/output.h"
#include "timeline/page_parts.h"

#include <libdeflate.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace timeline {

namespace {

constexpr int quick = 5; // of 1 to 12: half the time of the usual 6, and two percent more bytes

void append_signed(std::string& out, int64_t n) { base::put(out, static_cast<uint64_t>(n) << 1 ^ static_cast<uint64_t>(n >> 63)); }

// Tracks that follow each other share a chunk, up to this size, since each chunk costs the browser a millisecond.
constexpr size_t chunk_size = 1 << 18;

class Packer {
public:
  Packer() : deflate_(libdeflate_alloc_compressor(quick)) {}
  Packer(const Packer&) = delete;
  ~Packer() { libdeflate_free_compressor(deflate_); }

  // "chunk,offset" of these columns.
  std::string add(const std::string& columns) {
    if (!open_.empty() && open_.size() + columns.size() > chunk_size) close();
    const std::string place = std::to_string(count_) + "," + std::to_string(open_.size());
    open_ += columns;
    return place;
  }
  void close() {
    std::string packed(libdeflate_zlib_compress_bound(deflate_, open_.size()), '\0');
    packed.resize(libdeflate_zlib_compress(deflate_, open_.data(), open_.size(), packed.data(), packed.size()));
    chunks_ += (count_++ ? "," : "") + std::to_string(text_.size()) + "," + std::to_string(packed.size());
    text_ += base::base64(packed);
    open_.clear();
  }
  const std::string& chunks() const { return chunks_; } // of each: first digit of base64, bytes when packed
  const std::string& text() const { return text_; }

private:
  libdeflate_compressor* deflate_;
  std::string open_, chunks_, text_;
  size_t count_ = 0;
};

std::string columns_of(const Segments& s) {
  std::string out;
  uint64_t last = 0;
  for (uint64_t begin : s.begins) base::put(out, begin - std::exchange(last, begin));
  if (!s.values.empty()) {
    int64_t before = 0;
    for (int64_t value : s.values) append_signed(out, value - std::exchange(before, value));
    return out;
  }
  for (uint8_t of_class : s.classes) out += static_cast<char>(of_class);
  for (uint32_t ref : s.refs) base::put(out, ref);
  return out;
}

std::string columns_of(std::span<const Sample> samples) {
  std::string out;
  uint64_t last = 0;
  for (const Sample& s : samples) base::put(out, s.time - std::exchange(last, s.time));
  for (const Sample& s : samples) base::put(out, s.thread);
  for (const Sample& s : samples) base::put(out, s.stack);
  for (const Sample& s : samples) base::put(out, s.weight);
  return out;
}

template<class List, class Each> void append_list(std::string& out, std::string_view name, const List& list, Each each) {
  out.append(",\"").append(name).append("\":[");
  bool is_first = true;
  for (const auto& item : list) {
    if (!std::exchange(is_first, false)) out += ',';
    out += each(item);
  }
  out += ']';
}

std::string json(std::string_view text) {
  std::string out;
  report::append_json(out, text);
  return out;
}
std::string numbers(std::initializer_list<uint64_t> list) {
  std::string out;
  for (uint64_t n : list) out += (out.empty() ? "" : ",") + std::to_string(n);
  return out;
}

std::set<uint32_t> call_names(const Timeline& t) {
  std::set<uint32_t> out;
  for (const Track& track : t.tracks)
    if (track.kind == Track::calls) out.insert(track.segments.refs.begin(), track.segments.refs.end());
  out.erase(0);
  return out;
}

std::string data_of(const Timeline& t, Packer& packer) {
  std::string out = "{\"about\":{\"title\":" + json(t.about.what) + ",\"host\":" + json(t.about.host) + ",\"unit\":\"ns\",\"length\":" + std::to_string(t.length) + ",\"from\":" + std::to_string(t.from) +
                    ",\"begin_wall_ms\":" + std::to_string(t.about.begin_wall_ns / 1'000'000) + "}";
  append_list(out, "lines", std::array{summary(t)}, json);
  append_list(out, "notes", t.about.notes, json);
  append_list(out, "states", state_rows, [](const StateRow& s) { return "[" + json(s.label) + "," + json(s.color) + "," + json(s.dark_color) + "]"; });
  spec::FrameKind last = spec::FrameKind::note;
  for (const recording::Frame& f : t.names.frames) last = std::max(last, f.kind);
  out.append(",\"kinds\":").append(profile::frame_kinds_json(last));
  append_list(out, "texts", t.names.texts, json);
  append_list(out, "frames", t.names.frames, [](const recording::Frame& f) { return numbers({f.name, f.module, static_cast<uint64_t>(f.kind)}); });
  append_list(out, "parents", t.names.stacks, [](const recording::Stack& s) { return std::to_string(s.caller); });
  append_list(out, "nodes", t.names.stacks, [](const recording::Stack& s) { return std::to_string(s.frame); });
  append_list(out, "threads", t.names.threads, [](const recording::Thread& r) { return numbers({r.pid, r.tid, r.process, r.name}); });
  append_list(out, "marks", t.marks, [](const Mark& m) { return std::to_string(m.time) + "," + json(m.text) + (m.is_line ? ",1" : ",0"); });
  append_list(out, "calls", call_names(t), [](uint32_t text) { return std::to_string(text); });
  append_list(out, "tracks", t.tracks, [&](const Track& track) { return numbers({track.kind, track.owner, track.depth}) + "," + packer.add(columns_of(track.segments)) + "," + std::to_string(track.segments.size()); });
  out += ",\"packed_samples\":[" + packer.add(columns_of(t.samples)) + "," + std::to_string(t.samples.size()) + "]";
  packer.close();
  return out + ",\"chunks\":[" + packer.chunks() + "]}";
}

} // namespace

std::string write_page(const Timeline& timeline) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>acu timeline</title>\n<style>\n";
  out.append(profile::page_style).append(page_style).append("</style>\n</head>\n<body>\n").append(page_body);
  Packer packer;
  out += "<script id=\"data\" type=\"application/json\">";
  for (char c : data_of(timeline, packer)) { // no name ends the script
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  out.append("</script>\n<script id=\"packed\" type=\"text/plain\">").append(packer.text());
  out.append("</script>\n<script>\n").append(profile::page_libraries).append("</script>\n<script>\n\"use strict\";\n{\n").append(page_script);
  return out + "}\n</script>\n</body>\n</html>\n";
}

} // namespace timeline
