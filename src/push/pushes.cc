#include "push/pushes.h"

#include "monitor/sampler.h"
#include "profile/formats.h"

#include <algorithm>
#include <optional>

namespace push {

namespace {

constexpr int64_t minute = 60;
constexpr int64_t settled = 30; // after its end a minute is in the store: slots of 10 s, and the time to write them
constexpr int64_t most_late = 10 * minute;
constexpr uint32_t most_failures = 3;

} // namespace

Pushes::Pushes(PushOptions options, int64_t now) : options_(std::move(options)), next_(now - now % minute) {
  for (const Target& target : options_.targets) outboxes_.push_back(std::make_unique<Outbox>(target, options_.print));
}

void Pushes::advance(int64_t now) {
  if (next_ > now + most_late) next_ = now - now % minute; // the clock was set back by more: these minutes are sent again, with what they have gained
  if (now - next_ > most_late) {
    const int64_t skipped = (now - next_ - most_late) / minute;
    skipped_minutes_ += static_cast<uint64_t>(skipped), next_ += skipped * minute;
  }
  for (; next_ + minute + settled <= now; next_ += minute) {
    const base::Status put = put_minute(next_);
    if (put.ok()) {
      failures_ = 0, noted_.clear();
      continue;
    }
    if (put.error().message != noted_) options_.print("one minute was not sent: " + (noted_ = put.error().message));
    if (++failures_ < most_failures) return; // again with the next call
    failures_ = 0, skipped_minutes_++;
  }
}

base::Status Pushes::put_minute(int64_t begin) {
  const bool has_profiles = std::ranges::any_of(outboxes_, [](const auto& outbox) { return outbox->target().row->kind != TargetKind::webhook; });
  if (!has_profiles) return {};
  ACU_TRY(const auto store, options_.open());
  std::vector<std::pair<const monitor::StoredKind*, profile::Profile>> read; // all before anything is put: a minute is sent whole, or again
  for (const monitor::StoredKind& kind : monitor::stored_kinds) {
    ACU_TRY(profile::Profile all, store->profile({.kind = std::string(kind.name), .range = {begin, begin + minute}}));
    if (!all.samples().empty()) read.emplace_back(&kind, std::move(all));
  }
  for (auto& [kind, all] : read) {
    monitor::describe_stored(all, kind->name, "all processes", options_.version);
    all.about.host = options_.host;
    put(kind->name, all);
  }
  return {};
}

void Pushes::put(std::string_view kind, const profile::Profile& all) {
  std::optional<std::vector<Part>> of_threads, of_services;
  for (const auto& outbox : outboxes_) switch (outbox->target().row->kind) {
    case TargetKind::webhook: break;
    case TargetKind::otlp: outbox->put(profile::write_otlp(all)); break;
    case TargetKind::parca:
      if (!of_threads) of_threads = parts_of(all, true);
      outbox->put(parca_body(kind, options_.host, *of_threads));
      break;
    case TargetKind::pyroscope: // which makes a series of each text in a label of samples
      if (!of_services) of_services = parts_of(all, false);
      for (std::string& body : pyroscope_bodies(kind, options_.host, *of_services)) outbox->put(std::move(body));
      break;
    }
}

void Pushes::send(const store::Finding& finding) {
  for (const auto& outbox : outboxes_)
    if (outbox->target().row->kind == TargetKind::webhook) outbox->put(webhook_body(finding, options_.host, options_.version));
}

std::vector<std::pair<const Target*, Counts>> Pushes::counts() const {
  std::vector<std::pair<const Target*, Counts>> out;
  for (const auto& outbox : outboxes_) out.emplace_back(&outbox->target(), outbox->counts());
  return out;
}

} // namespace push
