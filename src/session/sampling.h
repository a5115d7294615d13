// A recording: the script of a kind (sampling_script.h) lives for a while like any other (life.h), then the
// stacks in its map become a profile::Profile.
#pragma once

#include "profile/profile.h"
#include "session/sampling_script.h"

#include <string>
#include <vector>

namespace session {

struct SamplingOptions {
  const spec::ProfileKind* kind = &spec::profile_kinds[0];
  std::string probe, weight; // instead of a kind: any probe, and what each of its events weighs (empty: 1)
  Filter filter;
  std::vector<std::string> command; // words; empty: none
  uint64_t rate = 99;
  double max_cost = 30;     // percent of a CPU, where every call of some functions is followed
  uint64_t duration_ns = 0; // 0: until the command or the process ends, or a signal
  bool quiet = false;
  bool verbose = false;
};

struct Recording {
  profile::Profile profile;
  int command_status = 0; // of the command: as a shell tells it, 128 and the signal if one ended it
};

base::Result<Recording> record(const SamplingOptions& options);

} // namespace session
