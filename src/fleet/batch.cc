// LEB128 numbers throughout; texts with their length before them.
#include "fleet/batch.h"

#include "base/leb128.h"
#include "base/rounded.h"
#include "format/decompress.h"
#include "monitor/sampler.h"
#include "profile/profile.h"
#include "spec/frame_kinds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>
#include <zstd.h>

namespace fleet {

namespace {

constexpr std::string_view magic = "acb1";
constexpr std::string_view other_stacks = "[other stacks]";
constexpr size_t most_stacks = 2000; // of a kind in a slot, as in the embedded store
constexpr int compression = 3;       // zstd's default: higher ones save a few percent and take twice as long

// Gives everything its number, once.
class ContentMaker {
public:
  Content take() { return std::move(out_); }
  void set_source(std::string_view source, uint64_t covered_ns) { out_.source = text(source), out_.covered_ns = covered_ns; }
  void add(const store::Batch& batch, std::string_view source);
  void add(const store::Point& point) { out_.points.push_back({service(point.service), text(point.metric), point.value}); }

private:
  uint32_t text(std::string_view text) {
    if (text.empty()) return 0;
    const auto [at, is_new] = texts_.try_emplace(std::string(text), static_cast<uint32_t>(out_.texts.size()));
    if (is_new) out_.texts.emplace_back(text);
    return at->second;
  }
  uint32_t service(const store::Service& service) {
    const auto [at, is_new] = services_.try_emplace(service, static_cast<uint32_t>(out_.services.size()));
    if (is_new) out_.services.push_back({text(service.name), service.type});
    return at->second;
  }
  uint32_t frame(const profile::Profile& p, uint32_t number) {
    const profile::Frame& f = p.frames()[number];
    const Content::Frame frame = {text(p.name(f)), text(p.module(f)), static_cast<uint8_t>(f.kind), f.named};
    const auto [at, is_new] = frames_.try_emplace({frame.name, frame.module, frame.kind, frame.is_named}, static_cast<uint32_t>(out_.frames.size()));
    if (is_new) out_.frames.push_back(frame);
    return at->second;
  }
  uint32_t stack(const profile::Profile& p, uint32_t node) {
    std::vector<uint32_t> frames;
    for (; node; node = p.nodes()[node].parent) frames.push_back(frame(p, p.nodes()[node].frame));
    std::ranges::reverse(frames);
    const auto [at, is_new] = stacks_.try_emplace(std::move(frames), static_cast<uint32_t>(out_.stacks.size()));
    if (is_new) out_.stacks.push_back(at->first);
    return at->second;
  }
  uint32_t thread(const profile::Profile& p, uint32_t number) {
    const profile::Thread& t = p.threads()[number];
    const Content::Thread thread = {t.pid, text(p.texts()[t.process]), text(p.texts()[t.name])};
    const auto [at, is_new] = threads_.try_emplace({thread.pid, thread.process, thread.name}, static_cast<uint32_t>(out_.threads.size()));
    if (is_new) out_.threads.push_back(thread);
    return at->second;
  }

  Content out_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::map<store::Service, uint32_t> services_;
  std::map<std::tuple<uint32_t, uint32_t, uint8_t, bool>, uint32_t> frames_;
  std::map<std::vector<uint32_t>, uint32_t> stacks_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> threads_;
};

void ContentMaker::add(const store::Batch& batch, std::string_view source) {
  const profile::Profile& p = *batch.profile;
  std::vector<profile::Gain> gains;
  for (const profile::Gain& g : batch.gains)
    if (g.sample < p.samples().size()) gains.push_back(g);
  std::ranges::sort(gains, std::greater(), &profile::Gain::weight);
  profile::Profile others;
  const uint32_t other_node = others.node(0, others.frame({.name = others.text(other_stacks), .kind = profile::FrameKind::note}));
  const uint32_t kind = text(source);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<uint64_t, uint64_t>> rows; // threads of one name are one
  for (size_t i = 0; i < gains.size(); i++) {
    const profile::Sample& sample = p.samples()[gains[i].sample];
    auto& [weight, count] = rows[{service(batch.services[sample.thread]), thread(p, sample.thread), i < most_stacks ? stack(p, sample.node) : stack(others, other_node)}];
    weight += static_cast<uint64_t>(base::rounded(static_cast<double>(gains[i].weight) * batch.scale)), count += gains[i].count;
  }
  for (const auto& [key, sums] : rows) out_.samples.push_back({kind, std::get<0>(key), std::get<1>(key), std::get<2>(key), sums.first, sums.second});
}

std::string encode(const Content& content) {
  std::string out;
  auto list = [&](const auto& rows, auto row) {
    base::put(out, rows.size());
    for (const auto& r : rows) row(r);
  };
  list(content.texts, [&](const std::string& t) { base::put(out, std::string_view(t)); });
  base::put(out, content.source), base::put(out, content.covered_ns);
  list(content.services, [&](const Content::Service& s) { base::put(out, s.name), base::put(out, static_cast<uint64_t>(s.type)); });
  list(content.frames, [&](const Content::Frame& f) { base::put(out, f.name), base::put(out, f.module), base::put(out, f.kind), base::put(out, uint64_t{f.is_named}); });
  list(content.stacks, [&](const std::vector<uint32_t>& stack) {
    base::put(out, stack.size());
    for (uint32_t frame : stack) base::put(out, frame);
  });
  list(content.threads, [&](const Content::Thread& t) { base::put(out, t.pid), base::put(out, t.process), base::put(out, t.name); });
  list(content.samples, [&](const Content::Sample& s) {
    for (uint64_t n : {uint64_t{s.kind}, uint64_t{s.service}, uint64_t{s.thread}, uint64_t{s.stack}, s.weight, s.count}) base::put(out, n);
  });
  list(content.points, [&](const Content::Point& p) {
    base::put(out, p.service), base::put(out, p.metric);
    const auto bits = std::bit_cast<uint64_t>(p.value);
    for (int i = 0; i < 8; i++) out += static_cast<char>(bits >> 8 * i);
  });
  return out;
}

constexpr uint64_t most_entries = 1 << 21; // in memory each takes more than in the batch

// Numbers below a limit; anything else is damage.
class ContentReader {
public:
  explicit ContentReader(base::ByteSpan bytes) : bytes_(bytes), in_(bytes) {}
  base::Result<Content> read();

private:
  uint32_t below(uint64_t limit) {
    const uint64_t n = in_.uleb128();
    if (n >= limit) is_damaged_ = true;
    return is_damaged_ ? 0 : static_cast<uint32_t>(n);
  }
  template<class Make> auto list(Make make) {
    std::vector<decltype(make())> out;
    const uint64_t n = in_.uleb128();
    if (n > bytes_.size() - std::min<uint64_t>(in_.at(), bytes_.size())) is_damaged_ = true; // an entry has a byte at least
    if (n > most_entries - entries_) is_damaged_ = true;
    entries_ += is_damaged_ ? 0 : n;
    for (uint64_t i = 0; i < n && !is_damaged_ && in_.ok(); i++) out.push_back(make());
    return out;
  }
  std::string text() {
    const base::ByteSpan bytes = in_.bytes(in_.uleb128());
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  base::ByteSpan bytes_;
  base::Reader in_;
  uint64_t entries_ = 0; // of all lists
  bool is_damaged_ = false;
};

base::Result<Content> ContentReader::read() {
  constexpr uint64_t any = uint64_t{1} << 32, longest_ns = 3'600'000'000'000; // a slot, and what a host that stalls adds to it
  Content out;
  out.texts = list([&] { return text(); });
  out.source = below(out.texts.size()), out.covered_ns = in_.uleb128();
  out.services = list([&] { return Content::Service{below(out.texts.size()), static_cast<store::ServiceType>(below(4))}; });
  out.frames = list([&] {
    const uint32_t name = below(out.texts.size()), module = below(out.texts.size());
    const auto kind = static_cast<uint8_t>(below(spec::frame_kinds.size()));
    return Content::Frame{name, module, kind, below(2) != 0};
  });
  out.stacks = list([&] { return list([&] { return below(out.frames.size()); }); });
  out.threads = list([&] {
    const uint32_t pid = below(any), process = below(out.texts.size());
    return Content::Thread{pid, process, below(out.texts.size())};
  });
  out.samples = list([&] {
    Content::Sample s;
    s.kind = below(out.texts.size()), s.service = below(out.services.size()), s.thread = below(out.threads.size()), s.stack = below(out.stacks.size());
    s.weight = in_.uleb128(), s.count = in_.uleb128();
    return s;
  });
  out.points = list([&] {
    const uint32_t service = below(out.services.size()), metric = below(out.texts.size());
    return Content::Point{service, metric, std::bit_cast<double>(in_.number<uint64_t>())};
  });
  if (is_damaged_ || !in_.ok() || in_.at() != bytes_.size()) return base::Error{base::Failure::usage, "the batch is damaged"};
  if (out.texts.empty() || !out.texts[0].empty()) return base::Error{base::Failure::usage, "the batch is damaged: its first text is not empty"};
  for (const Content::Point& p : out.points)
    if (!std::isfinite(p.value)) return base::Error{base::Failure::usage, "the batch has a number that is not finite"};
  for (const Content::Sample& s : out.samples)
    if (out.texts[s.kind].empty() || out.texts[s.kind][0] == '#') return base::Error{base::Failure::usage, "the batch has samples without a kind"};
  for (const Content::Point& p : out.points)
    if (out.texts[p.metric].empty() || out.texts[p.metric][0] == '#') return base::Error{base::Failure::usage, "the batch has numbers without a metric"};
  if (out.texts[out.source].empty() || out.covered_ns > longest_ns) return base::Error{base::Failure::usage, "the batch has no source, or covers more than a slot"};
  if (out.samples.size() + out.points.size() > most_rows) return base::Error{base::Failure::usage, "the batch has more than " + std::to_string(most_rows) + " rows"};
  return out;
}

} // namespace

std::string stored_metric(std::string_view metric, std::string_view source) {
  return source == monitor::host_sampler ? std::string(metric) : std::string(metric) + "." + std::string(source);
}

Content content_of(const store::Slot& slot, const std::vector<store::Point>& points, const store::Batch* batch) {
  ContentMaker maker;
  if (batch) maker.add(*batch, slot.source);
  for (const store::Point& point : points)
    if (std::isfinite(point.value)) maker.add(point);
  maker.set_source(slot.source, slot.covered_ns);
  return maker.take();
}

std::string pack(const Content& content, int64_t slot) {
  uint64_t samples = 0;
  for (const Content::Sample& s : content.samples) samples += s.count;
  const std::string plain = encode(content);
  std::string out(magic);
  for (uint64_t n : {static_cast<uint64_t>(slot), samples, plain.size()}) base::put(out, n);
  const size_t head = out.size();
  out.resize(head + ZSTD_compressBound(plain.size()));
  const size_t made = ZSTD_compress(out.data() + head, out.size() - head, plain.data(), plain.size(), compression);
  out.resize(head + (ZSTD_isError(made) ? 0 : made)); // it has room for all
  return out;
}

base::Result<Packed> read_head(base::ByteSpan bytes) {
  base::Reader in(bytes);
  const base::ByteSpan begin = in.bytes(magic.size());
  if (std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()) != magic) return base::Error{base::Failure::usage, "not a batch of this version of acu"};
  constexpr uint64_t latest = 4'000'000'000; // year 2096
  Packed out;
  const uint64_t slot = in.uleb128();
  out.samples = in.uleb128(), out.plain_size = in.uleb128();
  if (!in.ok() || slot > latest || slot % store::slot_seconds) return base::Error{base::Failure::usage, "the batch is damaged"};
  out.slot = static_cast<int64_t>(slot);
  out.compressed = bytes.subspan(in.at());
  return out;
}

base::Result<Content> unpack(const Packed& packed) {
  if (packed.plain_size > most_plain_bytes) return base::Error{base::Failure::usage, "the batch is larger than 32 MiB"};
  std::vector<std::byte> plain(packed.plain_size);
  if (const std::string problem = format::decompress_zstd(packed.compressed, plain); !problem.empty()) return base::Error{base::Failure::usage, "the batch is damaged: " + problem};
  return read_content(plain);
}

base::Result<Content> read_content(base::ByteSpan plain) { return ContentReader(plain).read(); }

} // namespace fleet
