// A recording: the script of a kind (script.h) lives for a while like any other (session/life.h), then the
// stacks in its map become a profile::Profile.
#pragma once

#include "flame/script.h"
#include "profile/profile.h"
#include "runtime/splice.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace flame {

struct SamplingOptions {
  const spec::ProfileKind* kind = &spec::profile_kinds[0];
  std::string probe, weight; // instead of a kind: any probe, and what each of its events weighs (empty: 1)
  session::TargetFilter filter;
  std::vector<std::string> command; // words; empty: none
  uint64_t rate = 0;        // samples a second, of cycles events between two; 0: default_rate
  bool is_exact = false;    // kinds that are sampled take the stack of every event
  std::optional<double> max_cost; // estimated overhead, in percent of a CPU; none: 30 where every allocation is tracked, else no limit
  uint64_t duration_ns = 0; // 0: until the command or the process ends, or a signal
  bool only_ended = false;  // waits that last at the end do not count
  uint64_t split_ns = 0;    // length of the slices of time that are kept; 0: none
  bool has_links = false;   // of cpu and cycles: with the request that each thread worked on, where processes publish it
  runtime::Show languages = runtime::Show::folded;
  bool quiet = false;
  bool verbose = false;
};

// Of a clock so many a second that people are used to; of events so many that their stacks take less than 1% of a CPU.
constexpr uint64_t default_rate(const spec::ProfileKind& kind) { return kind.is_sampled && !kind.has_ticks ? 500 : 99; }

struct Recording {
  profile::Profile profile;
  int command_status = 0; // of the command: as a shell tells it, 128 and the signal if one ended it
  uint64_t ran_ns = 0;    // for how long acu ran, also before and after it recorded: of About::own_cpu_ns
};

base::Result<Recording> record(const SamplingOptions& options);

// What is seen of a recording while it goes on.
struct Look {
  profile::Profile& profile;              // its weights are the viewer's to set
  std::span<const profile::Gain> gains;   // since the last look; of leaks, all that is not freed
  uint64_t passed_ns = 0;                 // since the last look
  uint64_t time_ns = 0;                   // of this one, when the numbers were read: CLOCK_REALTIME
  bool is_state = false;                  // gains are no gains but all there is now
  std::string losses = {};                // "0 lost", or how much was lost and where
  uint64_t ran_ns = 0;                    // Recording::ran_ns so far
};

// Who looks at it (`acu top`).
struct Viewer {
  uint64_t period_ns = 1'000'000'000;
  bool is_by_wall_clock = false;   // looks are where multiples of the period begin since 1970; the first comes early
  int input_fd = -1;               // for `input`
  bool has_terminal = false;       // a command keeps off it
  std::function<void()> begin;     // all probes are there
  std::function<bool(const Look&)> look; // false: it has seen enough
  std::function<bool()> input;     // the descriptor is readable, or the terminal has another size. false: as above
  std::function<void()> end;       // nothing more is to be shown, but perhaps one last look
};

// As `record`; in the end the profile has its names, and what is told about it.
base::Result<Recording> watch(const SamplingOptions& options, const Viewer& viewer);

} // namespace flame
