// What is recorded all the time, into a store: stacks of a kind, and the numbers of the host and its services. Each sampler is a process
// of its own that `acu serve` starts, so that one that fails or grows can be replaced.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "spec/profile_kinds.h"
#include "store/store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace monitor {

struct SamplerOptions {
  // While the descriptor is open nobody else records that source into the store.
  std::function<base::Result<base::Fd>(std::string_view source)> own;
  std::function<base::Result<std::unique_ptr<store::Store>>()> open; // the store
  uint64_t duration_ns = 0; // 0: until a signal
  uint64_t flush_ns = 10'000'000'000;
};

// A kind of stacks that is sampled all the time.
struct StoredKind {
  std::string_view name; // of spec::profile_kinds
  uint64_t rate; // samples a second on each CPU; of waits, stacks a second
};
inline constexpr StoredKind stored_kinds[] = {{"cpu", 19}, {"offcpu", 100}};
inline constexpr std::string_view host_sampler = "host";

// Weights of kinds that count samples are stored as time.
std::string_view stored_unit(const spec::ProfileKind& kind);
// What reports say of a profile of a kind that was read from a store. `what`: whose it is.
void describe_stored(profile::Profile& profile, std::string_view kind, std::string what, std::string_view version);

// Runs until the duration is over, or SIGINT or SIGTERM. Failure: the store is damaged, or probes cannot be attached. While its disk is full
// or it is locked, samples are counted as lost.
base::Status sample_stacks(const StoredKind& kind, const SamplerOptions& options);
base::Status sample_host(const SamplerOptions& options);

} // namespace monitor
