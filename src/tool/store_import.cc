#include "tool/store_import.h"

#include "base/counted.h"
#include "base/output_file.h"
#include "monitor/sampler.h"
#include "recording/report.h"
#include "store/import.h"
#include "store/writer_lock.h"
#include "tool/tool.h"

#include <algorithm>

namespace tool {

using spec::OptionId;

namespace {

constexpr uint64_t second = 1'000'000'000, slot_ns = store::slot_seconds * second;

std::string kind_names() {
  std::string out;
  for (const monitor::StoredKind& kind : monitor::stored_kinds) out.append(out.empty() ? "" : " or ").append(kind.name);
  return out;
}

// By --kind, or by the title of the recording.
base::Result<std::string> kind_of(const profile::Profile& p, const session::Arguments& arguments) {
  if (const std::string* kind = arguments.value(OptionId::kind)) return *kind;
  for (const monitor::StoredKind& kind : monitor::stored_kinds)
    if (spec::find_profile_kind(kind.name)->title == p.about.title) return std::string(kind.name);
  return base::usage_error("a recording of `" + p.about.title + "` cannot be stored\nhint: --kind " + kind_names() + ", if it is one of these");
}

// From weights to ns.
base::Result<double> scale_of(const profile::About& about) {
  if (about.unit == "ns") return 1.0;
  if (about.unit != "samples") return base::usage_error("the recording counts " + about.unit + "; a store holds time");
  if (!about.period_ns) return base::usage_error("the recording has no sampling period\nhint: convert it with a tool that writes the period, or record again with acu");
  return static_cast<double>(about.period_ns);
}

// Samples and what they weigh of one stretch of time.
struct Piece {
  uint64_t begin = 0, end = 0; // ns since 1970
  std::vector<profile::Gain> gains;
};

std::vector<Piece> pieces_of(const profile::Profile& p) {
  const uint64_t begin = p.about.start_ns, end = begin + p.about.duration_ns;
  std::vector<Piece> out;
  if (p.slices.empty()) {
    Piece& all = out.emplace_back(begin, end);
    for (uint32_t i = 0; i < p.samples().size(); i++) all.gains.push_back({i, p.samples()[i].weight, p.samples()[i].count});
  }
  for (const profile::Slice& slice : p.slices) {
    uint64_t at = 0, length = 0; // of a damaged file: anything
    if (__builtin_mul_overflow(slice.number, p.slice_ns, &at)) at = UINT64_MAX;
    if (__builtin_mul_overflow(slice.span, p.slice_ns, &length)) length = UINT64_MAX;
    const uint64_t from = begin + std::min(at, p.about.duration_ns - 1);
    out.push_back({from, from + std::clamp<uint64_t>(length, 1, end - from), slice.gains});
  }
  return out;
}

// The part of `n` that lies before `at`, of a piece over which it is spread evenly: parts add up to `n`. What is rounded goes up from `phase` on, less than the length of the piece.
uint64_t before(uint64_t n, const Piece& piece, uint64_t at, uint64_t phase) {
  if (at <= piece.begin) return 0;
  if (at >= piece.end) return n;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(n) * (at - piece.begin) + phase) / (piece.end - piece.begin));
}

// What falls into the slot that begins at `from`.
std::vector<profile::Gain> gains_of(const std::vector<Piece>& pieces, uint64_t from) {
  std::vector<profile::Gain> out;
  for (const Piece& piece : pieces) {
    if (piece.end <= from || piece.begin >= from + slot_ns) continue;
    for (const profile::Gain& gain : piece.gains) {
      // Each sample has a phase of its own: stacks that were seen once are in all slots, not in the last (multiples of the golden ratio are spread evenly).
      const auto phase = static_cast<uint64_t>(static_cast<unsigned __int128>(piece.end - piece.begin) * (gain.sample * 0x9e3779b97f4a7c15) >> 64);
      auto part = [&](uint64_t n) { return before(n, piece, from + slot_ns, phase) - before(n, piece, from, phase); };
      if (const profile::Gain here = {gain.sample, part(gain.weight), part(gain.count)}; here.weight || here.count) out.push_back(here);
    }
  }
  // One for each sample: a store keeps the stacks of the heaviest.
  std::ranges::sort(out, {}, &profile::Gain::sample);
  size_t kept = 0;
  for (const profile::Gain& gain : out)
    if (kept && out[kept - 1].sample == gain.sample)
      out[kept - 1].weight += gain.weight, out[kept - 1].count += gain.count;
    else
      out[kept++] = gain;
  out.resize(kept);
  return out;
}

std::vector<store::Service> services_of(const profile::Profile& p, const session::Arguments& arguments) {
  std::vector<store::Service> out;
  const std::string* name = arguments.value(OptionId::names);
  for (const profile::Thread& thread : p.threads()) out.push_back({name ? *name : std::string(p.texts()[thread.process]), store::ServiceType::process});
  return out;
}

} // namespace

base::Status import_recording(const std::string& path, const std::string& recording, const session::Arguments& arguments) {
  constexpr uint64_t longest = uint64_t{400} * 86400 * second, last = uint64_t{4'000'000'000} * second;
  ACU_TRY(const profile::Profile p, recording::read_profile(recording));
  if (p.samples().empty()) return base::Error{base::Failure::nothing_matched, "`" + recording + "` has no samples"};
  if (!p.about.start_ns || !p.about.duration_ns) return base::usage_error("`" + recording + "` has no start time or duration, which a store needs\nhint: .acu and .pb.gz files have them");
  if (p.about.start_ns > last || p.about.duration_ns > longest) return base::usage_error("`" + recording + "`: from " + std::to_string(p.about.start_ns / second) + " s after 1970 for " + std::to_string(p.about.duration_ns / second) + " s is not a plausible time");
  ACU_TRY(const std::string kind, kind_of(p, arguments));
  ACU_TRY(const double scale, scale_of(p.about));

  ACU_TRY(const base::Fd owned, store::lock_source(path, kind));
  ACU_TRY(const auto store, store::open_sqlite(path, store::Mode::write));
  const uint64_t begin = p.about.start_ns, end = begin + p.about.duration_ns;
  const auto first = store::slot_of(static_cast<int64_t>(begin / second)), behind = store::slot_of(static_cast<int64_t>((end - 1) / second)) + store::slot_seconds;
  ACU_TRY(const profile::Profile there, store->profile({.kind = kind, .range = {first, behind}}));
  if (!there.samples().empty()) return base::usage_error("`" + path + "` has samples of `" + kind + "` from that time already; they would be counted twice\nhint: import into a store of its own: acu store NEW.db import " + recording);

  const auto nothing = [&](base::Error& error) { return std::move(error).with("nothing of `" + recording + "` was imported"); };
  auto import = store::Import::begin(path, kind);
  if (!import.ok()) return nothing(import.error());
  const std::vector<Piece> pieces = pieces_of(p);
  store::Batch batch = {.profile = &p, .gains = {}, .services = services_of(p, arguments), .scale = scale};
  uint64_t slots = 0;
  for (int64_t slot = first; slot < behind; slot += store::slot_seconds) {
    const uint64_t from = static_cast<uint64_t>(slot) * second, covered = std::min(end, from + slot_ns) - std::max(begin, from);
    const std::vector<profile::Gain> gains = gains_of(pieces, from);
    std::vector<store::Point> points;
    if (slot == first && p.about.lost) points.push_back({{}, std::string(store::lost_metric), static_cast<double>(p.about.lost) / (static_cast<double>(covered) / 1e9)});
    batch.gains = gains;
    if (auto written = import->write(slot, covered, points, batch); !written.ok()) return nothing(written.error());
    slots++;
  }
  if (auto committed = import->commit(); !committed.ok()) return nothing(committed.error());
  say(path + ": " + base::counted(p.about.samples, "sample") + " of `" + kind + "` in " + base::counted(slots, "slot") + " of 10 s\n");
  return {};
}

} // namespace tool
