// acu's own file: a recording as it is, names and all.
//
//   "ACUPROF1", or "ACUPROF3" if it was split into slices of time; in "ACUPROF2", which is read too, all slices span one
//   u64 size of what follows when unpacked, then zlib's stream of
//     about: texts and numbers in the order of visit_about(), notes: count, texts
//     texts: count, each; frames: count, each name, module, kind and whether it is named (kinds_in_files.h); nodes: count, each but the
//     root: its number less its parent's, frame; threads: count, each pid, tid, process, name; samples:
//     count, each thread, node, weight, count
//     with slices: their length in ns; slices: count, each its number less the last one's, span; gains: count, each its sample
//     less the last one's, weight, count
//     what older ones neither have nor look for:
//     build ids: count, each module's text, digits
//     links to requests: count, each trace, span; each sample's link, 0: none
//
// A text is its length and its bytes. All numbers are LEB128, unsigned; but the size, which is little-endian.
#include "base/leb128.h"
#include "base/reader.h"
#include "profile/formats.h"
#include "profile/kinds_in_files.h"

#include <algorithm>
#include <cstring>
#include <libdeflate.h>
#include <utility>

namespace profile {

namespace {

constexpr std::string_view magic = "ACUPROF"; // and the form, a digit
constexpr char plain_form = '1', unspanned_form = '2', sliced_form = '3';
constexpr uint64_t most_bytes = uint64_t{1} << 30;

using base::put;

// Calls `text` and `number` for each member.
template<class About, class Text, class Number> void visit_about(About& a, Text text, Number number) {
  for (auto* t : {&a.title, &a.unit, &a.what, &a.host, &a.version}) text(*t);
  for (auto* n : {&a.start_ns, &a.duration_ns, &a.period_ns, &a.samples, &a.lost, &a.complete, &a.frames,
                  &a.frames_named, &a.own_cpu_ns, &a.own_memory, &a.kernel_ns})
    number(*n);
}

base::Error damaged(std::string_view what) {
  return {base::Failure::runtime, "the recording is damaged: " + std::string(what)};
}

struct Parser {
  base::Reader in;
  Profile out;
  std::string_view problem = "a part of it refers to what is not there";
  std::vector<uint32_t> texts, frames, nodes, threads;
  std::vector<Sample> samples; // as they are in the file: their links follow

  std::string_view text() {
    uint64_t size = in.uleb128();
    base::ByteSpan bytes = in.bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Calls `one` as often as is told.
  template<class F> bool each(F one) {
    uint64_t count = in.uleb128();
    for (uint64_t i = 0; i < count && in.ok(); i++)
      if (!one()) return false;
    return in.ok();
  }
  // The number that something has here, by the one it has in the file.
  bool take(const std::vector<uint32_t>& list, uint32_t& to) {
    uint64_t n = in.uleb128();
    if (n >= list.size()) return false;
    to = list[n];
    return true;
  }
  bool read_frame() {
    Frame f;
    if (!take(texts, f.name) || !take(texts, f.module)) return false;
    if (!take_kind(in.uleb128(), f)) return problem = "it has a kind of frame that this acu does not know", false;
    frames.push_back(frames.empty() ? 0 : out.frame(f));
    return true;
  }
  bool read_node() {
    uint64_t back = in.uleb128();
    uint32_t frame = 0;
    if (back == 0 || back > nodes.size() || !take(frames, frame)) return false;
    nodes.push_back(out.node(nodes[nodes.size() - back], frame));
    return true;
  }
  bool read_thread() {
    Thread t;
    t.pid = static_cast<uint32_t>(in.uleb128());
    t.tid = static_cast<uint32_t>(in.uleb128());
    if (!take(texts, t.process) || !take(texts, t.name)) return false;
    threads.push_back(out.thread(t));
    return true;
  }
  bool read_sample() {
    uint32_t thread = 0, node = 0;
    if (!take(threads, thread) || !take(nodes, node)) return false;
    uint64_t weight = in.uleb128(), count = in.uleb128();
    samples.push_back({thread, node, weight, count});
    return true;
  }
  bool read_slice(bool has_span) {
    uint64_t after = in.uleb128(), sample = 0;
    if (!out.slices.empty() && !after) return false;
    Slice slice = {.number = (out.slices.empty() ? 0 : out.slices.back().number) + after, .gains = {}};
    if (has_span && !(slice.span = in.uleb128())) return false;
    bool ok = each([&] {
      sample += in.uleb128();
      if (sample >= samples.size()) return false;
      uint64_t weight = in.uleb128(), count = in.uleb128();
      slice.gains.push_back({static_cast<uint32_t>(sample), weight, count});
      return true;
    });
    out.slices.push_back(std::move(slice));
    return ok;
  }
  bool read_slices(bool has_span) {
    out.slice_ns = in.uleb128();
    return out.slice_ns && each([&] { return read_slice(has_span); });
  }
  bool read_build_id() {
    uint32_t module = 0;
    if (!take(texts, module)) return false;
    return out.build_ids[module] = text(), true;
  }
  bool read_links() {
    std::vector<uint32_t> links = {0};
    const auto read_link = [&] {
      Link link;
      link.trace_id = text();
      link.span_id = text();
      return links.push_back(out.link(link)), true;
    };
    return each(read_link) && std::ranges::all_of(samples, [&](Sample& s) { return take(links, s.link); });
  }
  void add_samples() {
    std::vector<uint32_t> numbers;
    for (const Sample& s : samples) numbers.push_back(out.add(s.thread, s.node, s.weight, s.count, s.link));
    for (Slice& slice : out.slices)
      for (Gain& g : slice.gains) g.sample = numbers[g.sample];
  }
  bool read(char form, size_t size) {
    visit_about(
        out.about, [&](std::string& t) { t = text(); }, [&](uint64_t& n) { n = in.uleb128(); });
    nodes.push_back(0);
    return each([&] { return out.about.notes.emplace_back(text()), true; }) &&
           each([&] { return texts.push_back(out.text(text())), true; }) &&
           each([&] { return read_frame(); }) && each([&] { return read_node(); }) &&
           each([&] { return read_thread(); }) && each([&] { return read_sample(); }) && (form == plain_form || read_slices(form == sliced_form)) &&
           (in.at() == size || each([&] { return read_build_id(); })) && (in.at() == size || read_links());
  }
};

void put_slices(std::string& body, const Profile& p) {
  put(body, p.slice_ns);
  put(body, p.slices.size());
  uint64_t last = 0;
  for (const Slice& slice : p.slices) {
    put(body, slice.number - std::exchange(last, slice.number));
    put(body, slice.span);
    put(body, slice.gains.size());
    uint64_t sample = 0;
    for (const Gain& g : slice.gains) {
      put(body, g.sample - std::exchange(sample, g.sample));
      put(body, g.weight);
      put(body, g.count);
    }
  }
}

void put_links(std::string& body, const Profile& p) {
  put(body, p.links().size() - 1);
  for (const Link& link : std::span(p.links()).subspan(1)) put(body, link.trace_id), put(body, link.span_id);
  for (const Sample& s : p.samples()) put(body, s.link);
}

} // namespace

std::string write_recording(const Profile& p) {
  std::string body;
  visit_about(
      p.about, [&](const std::string& t) { put(body, t); }, [&](uint64_t n) { put(body, n); });
  put(body, p.about.notes.size());
  for (const std::string& note : p.about.notes) put(body, note);
  put(body, p.texts().size());
  for (std::string_view t : p.texts()) put(body, t);
  put(body, p.frames().size());
  for (const Frame& f : p.frames()) {
    put(body, f.name);
    put(body, f.module);
    put(body, number_of_kind(f));
  }
  put(body, p.nodes().size() - 1);
  for (size_t i = 1; i < p.nodes().size(); i++) {
    put(body, i - p.nodes()[i].parent);
    put(body, p.nodes()[i].frame);
  }
  put(body, p.threads().size());
  for (const Thread& t : p.threads())
    for (uint64_t n : {t.pid, t.tid, t.process, t.name}) put(body, n);
  put(body, p.samples().size());
  for (const Sample& s : p.samples())
    for (uint64_t n : {uint64_t{s.thread}, uint64_t{s.node}, s.weight, s.count}) put(body, n);

  if (p.slice_ns) put_slices(body, p);
  const bool has_links = p.links().size() > 1;
  if (!p.build_ids.empty() || has_links) put(body, p.build_ids.size());
  for (const auto& [module, digits] : p.build_ids) put(body, module), put(body, digits);
  if (has_links) put_links(body, p);

  std::string out(magic);
  out += p.slice_ns ? sliced_form : plain_form;
  uint64_t size = body.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  constexpr int quick = 1;
  auto* z = libdeflate_alloc_compressor(quick);
  const size_t begin = out.size();
  out.resize(begin + libdeflate_zlib_compress_bound(z, body.size()));
  out.resize(begin + libdeflate_zlib_compress(z, body.data(), body.size(), out.data() + begin, out.size() - begin));
  libdeflate_free_compressor(z);
  return out;
}

bool is_recording(std::string_view bytes) { return bytes.starts_with(magic); }

base::Result<Profile> read_recording(std::string_view bytes) {
  bytes.remove_prefix(magic.size());
  const char form = bytes.empty() ? plain_form : bytes[0];
  if (form != plain_form && form != unspanned_form && form != sliced_form)
    return base::Error{base::Failure::runtime, std::string("the recording has format version ") + form +
                                                   ", of a newer acu; this acu reads versions 1 to 3"};
  if (!bytes.empty()) bytes.remove_prefix(1);
  uint64_t size = 0;
  if (bytes.size() < sizeof size) return damaged("it is truncated");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  // zlib's format packs a thousand to one at best.
  if (size > most_bytes || size > (bytes.size() + 64) * 1100) return damaged("its size is impossible");
  std::string body(size, '\0');
  auto* z = libdeflate_alloc_decompressor();
  auto result = libdeflate_zlib_decompress(z, bytes.data(), bytes.size(), body.data(), size, nullptr);
  libdeflate_free_decompressor(z);
  if (result != LIBDEFLATE_SUCCESS) return damaged("it cannot be decompressed");
  Parser parser{.in = base::Reader(std::as_bytes(std::span(body))),
                .out = {},
                .texts = {},
                .frames = {},
                .nodes = {},
                .threads = {},
                .samples = {}};
  if (!parser.read(form, size) || !parser.in.ok()) return damaged(parser.problem);
  parser.add_samples();
  return std::move(parser.out);
}

} // namespace profile
